/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/mf_socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *socket_path_kind(const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFSOCK:
		return NULL;
	case S_IFREG:
		return "a regular file";
	case S_IFDIR:
		return "a folder";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	default:
		return "a device";
	}
}

/**
 * By a socket of another type than a server's: Linux finds who has the path, and then refuses for the type
 * (EPROTOTYPE), or for nobody has it (ECONNREFUSED). A datagram socket is reached, and gets nothing.
 */
int socket_path_served(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd, rc;

	if (snprintf(un.sun_path, sizeof(un.sun_path), "%s", path) >= (int)sizeof(un.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (const struct sockaddr *)&un, sizeof(un)) == 0 ? EPROTOTYPE : errno;
	close(fd);
	if (rc == ECONNREFUSED)
		return 0;
	return rc == EPROTOTYPE ? -EADDRINUSE : -rc;
}

int socket_path_clear(const char *path)
{
	struct stat before, now;
	int rc;

	if (lstat(path, &before) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (socket_path_kind(&before) != NULL)
		return -EEXIST;
	rc = socket_path_served(path);
	if (rc != 0)
		return rc;
	/* Another process may have made room, and its own socket, meanwhile. */
	if (lstat(path, &now) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (now.st_dev != before.st_dev || now.st_ino != before.st_ino ||
	    now.st_ctim.tv_sec != before.st_ctim.tv_sec || now.st_ctim.tv_nsec != before.st_ctim.tv_nsec)
		return -EADDRINUSE;
	return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}
