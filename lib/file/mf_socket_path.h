/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands at the path where a socket is to be. A process that was killed leaves its socket behind, and
 * the next one takes the place; anything else that stands there is somebody's, and is never removed.
 */
#ifndef MF_SOCKET_PATH_H
#define MF_SOCKET_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * @return "a regular file" and so on, of what is not a socket; NULL: a socket. Symbolic links count as such
 */
const char *socket_path_kind(const struct stat *st);

/**
 * Whether a process has the socket at path, as far as this one may know: not where it is refused. Nobody is
 * connected to, and the one who serves notices nothing.
 * @return 0: nobody; -EADDRINUSE: somebody; or why it is not known
 */
int socket_path_served(const char *path);

/**
 * Makes room for a socket at path: removes one that nobody has, and nothing else.
 * @return 0: there is room; -EADDRINUSE: somebody serves it; -EEXIST: something else is there; or -errno
 */
int socket_path_clear(const char *path);

#endif
