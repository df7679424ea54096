/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/mf_memif.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "file/mf_socket_path.h"

#define HERE "/proc/self/cwd/"
#define ROOT "/./"
#define DEFAULT_SOCKET "/run/memif.sock" /* as the driver has it */

static bool is(const char *at, size_t len, const char *what)
{
	return strlen(what) == len && strncmp(at, what, len) == 0;
}

/** One "key=value". */
static void take(struct memif *m, const char *arg, size_t len)
{
	size_t key = strcspn(arg, "=");
	const char *value = arg + key + 1;

	if (key >= len)
		return;
	len -= key + 1;
	if (is(arg, key, "role"))
		m->server = is(value, len, "server") || is(value, len, "master");
	else if (is(arg, key, "socket-abstract"))
		m->file = is(value, len, "no");
	else if (is(arg, key, "socket"))
		snprintf(m->path, sizeof(m->path), "%.*s", (int)len, value);
}

bool memif_read(const char *device, struct memif *out)
{
	if (strncmp(device, "net_memif", 9) != 0)
		return false;
	*out = (struct memif){.path = DEFAULT_SOCKET};
	for (const char *at = device + strcspn(device, ","); *at == ','; at += 1 + strcspn(at + 1, ","))
		take(out, at + 1, strcspn(at + 1, ","));
	return true;
}

bool memif_fits(const struct memif *m, char *why, size_t capacity)
{
	/* The zero before an abstract name, or after a path; the driver puts one after either. */
	size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - (m->file ? 1 : 2), len = strlen(m->path);

	if (m->file && m->path[0] != '/')
		most -= strlen(HERE);
	if (len <= most)
		return true;
	snprintf(why, capacity, "socket: its %s has %zu characters, at most %zu", m->file ? "path" : "name",
		 len, most);
	return false;
}

void memif_driver_path(const struct memif *m, char *out, size_t capacity)
{
	const char *slash = strrchr(m->path, '/');

	static_assert(sizeof(HERE) <= MEMIF_HERE_LEN && sizeof(ROOT) <= MEMIF_HERE_LEN, "room");
	if (m->path[0] != '/')
		snprintf(out, capacity, HERE "%s", m->path);
	else
		snprintf(out, capacity, "%s%s", slash == m->path ? ROOT : "",
			 slash == m->path ? slash + 1 : m->path);
}

static void folder_of(const char *path, char *folder, size_t capacity)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		snprintf(folder, capacity, ".");
	else
		snprintf(folder, capacity, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static int refuse(int rc, char *why, size_t capacity, const char *path, const char *what, const char *of)
{
	snprintf(why, capacity, "socket=%s: %s%s", path, what, of);
	return rc;
}

/** A path below a root. */
static void below(const char *root, const char *path, char *out, size_t capacity)
{
	snprintf(out, capacity, "%s%s", path[0] == '/' ? root : "", path);
}

/** The driver wants to read and write the folder at either end. */
static int check_folder(const struct memif *m, const char *root, char *why, size_t capacity)
{
	char folder[MF_CONFIG_DEVICE_LEN], at[PATH_MAX];
	struct stat st;

	folder_of(m->path, folder, sizeof(folder));
	below(root, folder, at, sizeof(at));
	if (stat(at, &st) != 0 && errno != EACCES)
		return refuse(-ENOENT, why, capacity, m->path, "there is no folder ", folder);
	if (errno != EACCES && !S_ISDIR(st.st_mode))
		return refuse(-ENOTDIR, why, capacity, m->path, "this is no folder: ", folder);
	if (faccessat(AT_FDCWD, at, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
		return refuse(-errno, why, capacity, m->path,
			      errno == EROFS ? "read-only file system: "
					     : "no right to read and write the folder ",
			      folder);
	return 0;
}

/** A server makes the socket itself, and a link is somebody's; a client may follow it. */
static int check_place(const struct memif *m, const char *root, char *why, size_t capacity)
{
	char at[PATH_MAX];
	const char *kind;
	struct stat st;
	int rc;

	below(root, m->path, at, sizeof(at));
	rc = m->server ? lstat(at, &st) : stat(at, &st);
	if (rc != 0 && errno == ENOENT)
		return 0;
	if (rc != 0)
		return refuse(-errno, why, capacity, m->path, strerror(errno), "");
	kind = socket_path_kind(&st);
	if (kind != NULL) {
		snprintf(why, capacity, "socket=%s: %s is there, and not a socket; it is left as it is",
			 m->path, kind);
		return -EEXIST;
	}
	if (!m->server && faccessat(AT_FDCWD, at, W_OK, AT_EACCESS) != 0)
		return refuse(-errno, why, capacity, m->path, "no right to connect to it", "");
	return 0;
}

int memif_check(const struct memif *m, const char *root, char *why, size_t capacity)
{
	int rc;

	if (!memif_fits(m, why, capacity))
		return -ENAMETOOLONG;
	if (!m->file)
		return 0;
	errno = 0;
	rc = check_folder(m, root, why, capacity);
	return rc == 0 ? check_place(m, root, why, capacity) : rc;
}
