/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/mf_output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file/place.h"

#define NAME_LEN 200 /* of the target's in the name beside it, which has a suffix */
#define TRIES 100

/** Those that are open, for the handler of a signal, which takes no lock. */
static struct mf_output *_Atomic all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enlist(struct mf_output *o)
{
	pthread_mutex_lock(&lock);
	o->owner = getpid();
	o->next = all;
	all = o;
	pthread_mutex_unlock(&lock);
}

static void strike(struct mf_output *o)
{
	pthread_mutex_lock(&lock);
	if (all == o)
		all = o->next;
	for (struct mf_output *i = all; i != NULL; i = i->next)
		if (i->next == o)
			i->next = o->next;
	pthread_mutex_unlock(&lock);
}

void mf_output_give_up_all(void)
{
	for (struct mf_output *o = all; o != NULL; o = o->next)
		if (o->beside != NULL && o->owner == getpid())
			unlink(o->beside);
}

int mf_output_descriptor(const char *path)
{
	static const char *const prefix[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;
	long n;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++) {
		size_t len = strlen(prefix[i]);

		if (strncmp(path, prefix[i], len) != 0 || path[len] < '0' || path[len] > '9')
			continue;
		n = strtol(path + len, &end, 10);
		return *end == '\0' && n < 1 << 20 ? (int)n : -1;
	}
	return -1;
}

/** Of one that is open for writing. @return another descriptor, or -errno */
static int open_descriptor(int number)
{
	int flags = fcntl(number, F_GETFL), fd;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	fd = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd >= 0 ? fd : -errno;
}

/** A new file in the target's folder, with the rights that a new one gets. @return descriptor or -errno */
static int create_beside(struct mf_output *o, const struct place *p)
{
	size_t capacity = strlen(p->folder) + NAME_LEN + 32;
	struct timespec t;
	int fd = -1;

	o->beside = malloc(capacity);
	if (o->beside == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < TRIES && fd < 0; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		snprintf(o->beside, capacity, "%s/%.*s.part-%x-%05lx", p->folder, NAME_LEN, p->name,
			 (unsigned int)getpid(), (unsigned long)t.tv_nsec / 100 & 0xfffff);
		fd = open(o->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd >= 0)
		return fd;
	fd = -errno;
	free(o->beside);
	o->beside = NULL;
	return fd;
}

/** What was the old one's is the new one's, as far as this process may say so. */
static void keep_rights(int fd, const struct stat *old)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	if ((st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
	    fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
		return; /* of another owner: with the rights of a new one */
	(void)fchmod(fd, old->st_mode & 0777);
}

/** Whether the file itself is mounted, so that no other can take its place. */
static bool mounted(const struct place *p)
{
	struct statx x;

	return statx(AT_FDCWD, p->path, 0, STATX_TYPE, &x) == 0 &&
	       (x.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static bool forbidden(int error)
{
	return error == -EACCES || error == -EPERM || error == -EROFS;
}

static int open_where_it_is(const struct place *p, const char *path)
{
	int fd = open(p->there && S_ISREG(p->st.st_mode) ? p->path : path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd >= 0 ? fd : -errno;
}

static int open_regular(struct mf_output *o, const struct place *p, const char *path)
{
	int fd;

	o->regular = true;
	o->replaces = p->there;
	/* Whoever protected a file against writing meant it. */
	if (p->there && faccessat(AT_FDCWD, p->path, W_OK, AT_EACCESS) != 0)
		return -errno;
	if (p->there && mounted(p))
		return open_where_it_is(p, path);
	fd = create_beside(o, p);
	if (fd < 0)
		return p->there && forbidden(fd) ? open_where_it_is(p, path) : fd;
	if (p->there)
		keep_rights(fd, &p->st);
	o->target = strdup(p->path);
	return fd;
}

static int open_path(struct mf_output *o, const char *path)
{
	struct place p;
	int rc = place_find(&p, path);

	if (rc == 0 && (p.name[0] == '\0' || (p.there && S_ISDIR(p.st.st_mode))))
		rc = path[0] == '\0' ? -ENOENT : -EISDIR;
	if (rc == 0)
		rc = p.there && !S_ISREG(p.st.st_mode) ? open_where_it_is(&p, path)
						       : open_regular(o, &p, path);
	place_fini(&p);
	return rc;
}

/** Puts what is whole in its place. @return 0 or -errno */
static int put(const struct mf_output *o)
{
	struct stat st;

	/* Where there was nothing there may be something by now: only a file is replaced. */
	if (lstat(o->target, &st) == 0 && !S_ISREG(st.st_mode))
		return -EEXIST;
	return rename(o->beside, o->target) == 0 ? 0 : -errno;
}

/**
 * All that was written is to be in the file. Where an old one is replaced it has to be on the disk before
 * that: if the machine fails then, one of the two is there. Where there was none there is nothing to lose,
 * and it is not waited for.
 */
static int settle(const struct mf_output *o)
{
	off_t end;

	if (o->beside != NULL)
		return o->replaces && fsync(o->fd) != 0 && errno != EINVAL ? -errno : 0;
	if (!o->regular)
		return 0;
	end = lseek(o->fd, 0, SEEK_CUR); /* what is left of the old one */
	return end >= 0 && ftruncate(o->fd, end) == 0 ? 0 : -errno;
}

static void forget(struct mf_output *o)
{
	free(o->target);
	free(o->beside);
	*o = (struct mf_output){.file = NULL};
}

int mf_output_open(struct mf_output *o, const char *path)
{
	int number = mf_output_descriptor(path), rc, fd = -1;

	*o = (struct mf_output){.file = NULL};
	o->fd = number >= 0 ? open_descriptor(number) : open_path(o, path);
	rc = o->fd < 0 ? o->fd : 0;
	if (rc == 0 && o->beside != NULL && o->target == NULL)
		rc = -ENOMEM;
	/* The stream has a descriptor of its own: whoever closes it loses no error of the last one. */
	if (rc == 0 && (fd = fcntl(o->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0)
		rc = -errno;
	if (rc == 0 && (o->file = fdopen(fd, "w")) == NULL)
		rc = -errno;
	if (rc == 0) {
		o->open = true;
		enlist(o);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	if (o->fd >= 0)
		close(o->fd);
	if (o->beside != NULL)
		unlink(o->beside);
	forget(o);
	return rc;
}

static int close_stream(FILE *file)
{
	bool failed;

	if (file == NULL)
		return 0;
	errno = 0;
	failed = fflush(file) != 0 || ferror(file) != 0;
	if (failed) {
		int e = errno;

		(void)fclose(file);
		return e != 0 ? -e : -EIO;
	}
	return fclose(file) == 0 ? 0 : -errno;
}

int mf_output_close(struct mf_output *o, int rc)
{
	int e;

	if (!o->open)
		return rc;
	e = close_stream(o->file);
	rc = rc != 0 ? rc : e;
	if (rc == 0)
		rc = settle(o);
	if (close(o->fd) != 0 && rc == 0)
		rc = -errno;
	if (o->beside != NULL && rc == 0)
		rc = put(o);
	if (o->beside != NULL && rc != 0)
		unlink(o->beside);
	strike(o);
	forget(o);
	return rc;
}
