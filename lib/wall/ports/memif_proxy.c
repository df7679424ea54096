/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/ports/memif_proxy.h"

#include "config/mf_memif.h"
#include "file/mf_socket_path.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_kvargs.h>
#include <rte_lcore.h>

#define PASSES 32 /* clients at a time: of several devices on one socket, and some that are none */
#define FDS 16 /* descriptors with a message at most; memif sends one */
#define MESSAGE 1024 /* octets of a message at most; memif sends 128 */
#define BACKLOG 16
#define LOOK_MS 500 /* between two looks whether its file is there */
#define CONNECT_S 2 /* seconds: the driver's thread may not get to its socket for that long */

enum side { CLIENT, DRIVER };

/** A client that is let through. */
struct pass {
	int end[2]; /**< by side. CLIENT -1: it has gone, but the driver has not said HELLO yet */
	bool greeted;
};

struct memif_proxy {
	char name[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char inner[32]; /**< name of the driver's own socket */
	bool file; /**< it has a name in the file system; else it is abstract */
	dev_t dev; /**< of the file, as it was made here, */
	ino_t ino;
	int listener, wake;
	atomic_bool closing;
	pthread_t thread;
	struct pass pass[PASSES];
	unsigned int passes;
	unsigned int users; /**< devices; under the lock */
	struct memif_proxy *next;
};

static pthread_mutex_t proxies_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memif_proxy *proxies;
static unsigned int proxies_made; /**< for the name of the next one */

/** @return its length */
static socklen_t address(const char *name, bool file, struct sockaddr_un *un)
{
	size_t at = file ? 0 : 1, len = strlen(name);

	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(un->sun_path + at, sizeof(un->sun_path) - at, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len); /* the zero before or behind */
}

/** Hands what has come from one side to the other. @return false: a side is gone */
static bool hand_over(const struct pass *p, enum side from)
{
	union {
		char octets[CMSG_SPACE(FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	char text[MESSAGE];
	struct iovec iov = {.iov_base = text, .iov_len = sizeof(text)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.octets,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(p->end[from], &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	bool sent;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	iov.iov_len = (size_t)n;
	m.msg_flags = 0;
	if (m.msg_controllen == 0)
		m.msg_control = NULL;
	sent = p->end[!from] < 0 || sendmsg(p->end[!from], &m, MSG_NOSIGNAL | MSG_DONTWAIT) == n;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c))
		for (size_t i = 0;
		     c->cmsg_type == SCM_RIGHTS && CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			close(fd);
		}
	return sent;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/** @return false: this pass is over */
static bool serve(struct pass *p, const short events[2])
{
	if (events[DRIVER] != 0) {
		if (!hand_over(p, DRIVER) || p->end[CLIENT] < 0)
			return false;
		p->greeted = true;
	}
	if (events[CLIENT] != 0 && !hand_over(p, CLIENT)) {
		if (p->greeted)
			return false;
		close_end(&p->end[CLIENT]); /* the driver must not know before it has sent HELLO */
	}
	return true;
}

static int connect_inner(const struct memif_proxy *d)
{
	const struct timeval patience = {.tv_sec = CONNECT_S};
	struct sockaddr_un un;
	socklen_t len = address(d->inner, false, &un);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&un, len) == 0)
		return fd;
	close(fd);
	return -1;
}

/** Whether it is no memif client: those wait for HELLO, and neither leave nor say anything before. */
static bool is_stranger(int fd)
{
	char c;

	return recv(fd, &c, sizeof(c), MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

static void let_in(struct memif_proxy *d)
{
	struct pass p = {.end = {-1, -1}};

	p.end[CLIENT] = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);
	if (p.end[CLIENT] < 0)
		return;
	if (!is_stranger(p.end[CLIENT]))
		p.end[DRIVER] = connect_inner(d);
	if (p.end[DRIVER] < 0)
		close_end(&p.end[CLIENT]); /* a memif client tries again */
	else
		d->pass[d->passes++] = p;
}

/** Serves all passes, and drops those that are over. @param polled  two of each */
static void serve_all(struct memif_proxy *d, const struct pollfd *polled)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < d->passes; i++, polled += 2) {
		const short events[2] = {polled[CLIENT].revents, polled[DRIVER].revents};
		struct pass p = d->pass[i];

		if (serve(&p, events)) {
			d->pass[kept++] = p;
			continue;
		}
		close_end(&p.end[CLIENT]);
		close_end(&p.end[DRIVER]);
	}
	d->passes = kept;
}

/** Where somebody was killed, and could not take the name with it, that is done now. */
static int bind_to(int fd, const struct memif_proxy *d)
{
	struct sockaddr_un un;
	socklen_t len = address(d->name, d->file, &un);
	int rc = bind(fd, (struct sockaddr *)&un, len) == 0 ? 0 : -errno;

	if (rc != -EADDRINUSE || !d->file)
		return rc;
	rc = socket_path_clear(d->name);
	if (rc != 0)
		return rc;
	return bind(fd, (struct sockaddr *)&un, len) == 0 ? 0 : -errno;
}

/** The file is ours: nothing else is taken away at the end. */
static void note_file(struct memif_proxy *d)
{
	struct stat st = {0};

	if (d->file && lstat(d->name, &st) == 0) {
		d->dev = st.st_dev;
		d->ino = st.st_ino;
	}
}

static bool has_file(const struct memif_proxy *d)
{
	struct stat st;

	return d->file && d->listener >= 0 && lstat(d->name, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       st.st_dev == d->dev && st.st_ino == d->ino;
}

/** @return a socket, or -errno */
static int listen_at(struct memif_proxy *d)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = bind_to(fd, d);
	if (rc == 0) {
		note_file(d);
		if (listen(fd, BACKLOG) == 0)
			return fd;
		rc = -errno;
	}
	close(fd);
	return rc;
}

/** Who has deleted the file has not meant us: it is made again, or nobody would find the way. */
static void look_for_name(struct memif_proxy *d)
{
	int fd;

	if (access(d->name, F_OK) == 0 || errno != ENOENT)
		return;
	fd = listen_at(d);
	if (fd < 0)
		return;
	close(d->listener);
	d->listener = fd;
}

static void *keep_proxy(void *arg)
{
	struct pollfd polled[2 + 2 * PASSES];
	struct memif_proxy *d = arg;
	int rc;

	while (!atomic_load_explicit(&d->closing, memory_order_acquire)) {
		unsigned int n = 2 + 2 * d->passes;

		polled[0] = (struct pollfd){.fd = d->wake, .events = POLLIN};
		/* Without room for another pass clients wait in the listener's backlog. */
		polled[1] = (struct pollfd){.fd = d->passes < PASSES ? d->listener : -1, .events = POLLIN};
		for (unsigned int i = 0; i < 2 * d->passes; i++)
			polled[2 + i] = (struct pollfd){.fd = d->pass[i / 2].end[i % 2], .events = POLLIN};
		rc = poll(polled, n, d->file ? LOOK_MS : -1);
		if (rc == 0)
			look_for_name(d);
		if (rc <= 0)
			continue;
		serve_all(d, polled + 2);
		if (polled[1].revents != 0)
			let_in(d);
	}
	return NULL;
}

static void destroy(struct memif_proxy *d)
{
	for (unsigned int i = 0; i < 2 * d->passes; i++)
		close_end(&d->pass[i / 2].end[i % 2]);
	if (has_file(d))
		unlink(d->name);
	close_end(&d->listener);
	close_end(&d->wake);
	free(d);
}

static int open_listener(struct memif_proxy *d)
{
	int fd = listen_at(d);

	if (fd < 0)
		return fd;
	d->listener = fd;
	return 0;
}

static int create(const char *name, bool file, struct memif_proxy **out)
{
	struct memif_proxy *d = calloc(1, sizeof(*d));
	int rc = 0;

	if (d == NULL)
		return -ENOMEM;
	d->file = file;
	d->users = 1;
	d->listener = -1;
	if (snprintf(d->name, sizeof(d->name), "%s", name) >= (int)sizeof(d->name) - !file)
		rc = -ENAMETOOLONG;
	/* Abstract, so that nobody takes it away. */
	snprintf(d->inner, sizeof(d->inner), "memfab-proxy-%d-%u", (int)getpid(), proxies_made++);
	d->wake = eventfd(0, EFD_CLOEXEC);
	if (rc == 0)
		rc = d->wake >= 0 ? open_listener(d) : -errno;
	if (rc == 0)
		rc = rte_ctrl_thread_create(&d->thread, "memfab-proxy", NULL, keep_proxy, d);
	if (rc != 0) {
		destroy(d);
		return rc;
	}
	d->next = proxies;
	proxies = d;
	*out = d;
	return 0;
}

static int find_or_create(const char *name, bool file, struct memif_proxy **out)
{
	struct memif_proxy *d;
	int rc = 0;

	pthread_mutex_lock(&proxies_lock);
	for (d = proxies; d != NULL && (strcmp(d->name, name) != 0 || d->file != file);)
		d = d->next;
	if (d != NULL) {
		d->users++;
		*out = d;
	} else {
		rc = create(name, file, out);
	}
	pthread_mutex_unlock(&proxies_lock);
	return rc;
}

/** The device with another socket. */
static int rewrite(const char *device, const struct rte_kvargs *args, const char *socket, bool file,
		   char *inner, size_t room)
{
	size_t len = (size_t)snprintf(inner, room, "%.*s,socket=%s,socket-abstract=%s",
				      (int)strcspn(device, ","), device, socket, file ? "no" : "yes");

	for (unsigned int i = 0; i < args->count && len < room; i++)
		if (strcmp(args->pairs[i].key, "socket") != 0 &&
		    strcmp(args->pairs[i].key, "socket-abstract") != 0)
			len += (size_t)snprintf(inner + len, room - len, ",%s=%s", args->pairs[i].key,
						args->pairs[i].value);
	return len < room ? 0 : -ENAMETOOLONG;
}

static int proxy_for(const char *device, const struct rte_kvargs *args, char *inner, size_t room,
		     struct memif_proxy **out)
{
	char path[sizeof(((struct memif *)0)->path) + MEMIF_HERE_LEN];
	struct memif m;
	int rc = 0;

	memif_read(device, &m);
	if (m.server) {
		rc = find_or_create(m.path, m.file, out);
		return rc == 0 ? rewrite(device, args, (*out)->inner, false, inner, room) : rc;
	}
	if (m.file) {
		memif_driver_path(&m, path, sizeof(path));
		rc = rewrite(device, args, path, true, inner, room);
	}
	return rc;
}

int memif_proxy_new(const char *device, char *inner, size_t room, struct memif_proxy **out)
{
	const char *comma = strchr(device, ',');
	struct rte_kvargs *args;
	int rc;

	*out = NULL;
	if ((size_t)snprintf(inner, room, "%s", device) >= room)
		return -ENAMETOOLONG;
	if (strncmp(device, "net_memif", 9) != 0 || comma == NULL)
		return 0;
	args = rte_kvargs_parse(comma + 1, NULL);
	if (args == NULL)
		return 0; /* the driver says what is wrong */
	rc = proxy_for(device, args, inner, room, out);
	rte_kvargs_free(args);
	return rc;
}

void memif_proxy_free(struct memif_proxy *d)
{
	struct memif_proxy **at = &proxies;
	const uint64_t one = 1;
	bool last;

	if (d == NULL)
		return;
	pthread_mutex_lock(&proxies_lock);
	last = --d->users == 0;
	while (last && *at != d)
		at = &(*at)->next;
	if (last) {
		*at = d->next;
		atomic_store_explicit(&d->closing, true, memory_order_release);
		while (write(d->wake, &one, sizeof(one)) < 0 && errno == EINTR)
			;
		pthread_join(d->thread, NULL);
		destroy(d);
	}
	pthread_mutex_unlock(&proxies_lock);
}
