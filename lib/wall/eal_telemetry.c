/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/eal_telemetry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "file/mf_socket_path.h"

#define SOCKET "dpdk_telemetry.v2"
#define ANSWER_S 5 /* seconds: its thread may have no CPU */
#define PATH_ROOM sizeof(((struct sockaddr_un *)0)->sun_path)

/** As EAL has it. */
static const char *base(void)
{
	const char *dir = getenv("RUNTIME_DIRECTORY");

	if (dir == NULL)
		dir = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	return dir != NULL ? dir : "/tmp";
}

static int make(const char *folder, char *why, size_t whylen)
{
	int rc = mkdir(folder, 0700) == 0 || errno == EEXIST ? 0 : -errno;

	if (rc == 0)
		rc = access(folder, R_OK | W_OK | X_OK) == 0 ? 0 : -errno;
	if (rc != 0)
		snprintf(why, whylen, "cannot make the folder %s of its socket: %s", folder, strerror(-rc));
	return rc;
}

/** Telemetry takes away what is in its way. */
static int check_place(const char *path, char *why, size_t whylen)
{
	struct stat st;

	if (strlen(path) >= PATH_ROOM) {
		snprintf(why, whylen, "the path of its socket has %zu characters, at most %zu: %s",
			 strlen(path), PATH_ROOM - 1, path);
		return -ENAMETOOLONG;
	}
	if (lstat(path, &st) != 0 || socket_path_kind(&st) == NULL)
		return 0;
	snprintf(why, whylen, "%s: %s is there, and not a socket; it is left as it is", path,
		 socket_path_kind(&st));
	return -EEXIST;
}

int eal_telemetry_prepare(const char *prefix, char *folder, size_t room, char *why, size_t whylen)
{
	size_t len = (size_t)snprintf(folder, room, "%s/dpdk/%s/" SOCKET, base(), prefix);
	int rc;

	if (len >= room) {
		snprintf(why, whylen, "the path of its socket has %zu characters, at most %zu", len,
			 PATH_ROOM - 1);
		return -ENAMETOOLONG;
	}
	rc = check_place(folder, why, whylen);
	snprintf(folder, room, "%s/dpdk", base());
	if (rc == 0)
		rc = make(folder, why, whylen);
	snprintf(folder, room, "%s/dpdk/%s", base(), prefix);
	return rc == 0 ? make(folder, why, whylen) : rc;
}

/** It greets who connects. */
static int greets(int fd, const struct sockaddr_un *un)
{
	const struct timeval patience = {.tv_sec = ANSWER_S};
	char text[1024];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)un, sizeof(*un)) != 0)
		return -errno;
	return recv(fd, text, sizeof(text), 0) > 0 ? 0 : -ETIMEDOUT;
}

int eal_telemetry_answers(const char *folder, char *why, size_t whylen)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc = -errno;

	if (fd >= 0) {
		snprintf(un.sun_path, sizeof(un.sun_path), "%s/" SOCKET, folder);
		rc = greets(fd, &un);
		close(fd);
	}
	if (rc != 0)
		snprintf(why, whylen, "nobody answers at its socket %s/" SOCKET ": %s", folder,
			 strerror(-rc));
	return rc;
}
