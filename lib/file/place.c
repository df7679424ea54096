/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

/** Sets folder and name of the path. @return 0 or -ENOMEM */
static int split(struct place *p)
{
	const char *slash = strrchr(p->path, '/');
	size_t len = slash == NULL ? 0 : (size_t)(slash - p->path);

	free(p->folder);
	p->name = slash == NULL ? p->path : slash + 1;
	p->folder = slash == NULL ? strdup(".") : slash == p->path ? strdup("/") : strndup(p->path, len);
	return p->folder != NULL ? 0 : -ENOMEM;
}

/** Follows a link whose end is not there by one step. @return 1; 0: it is none; -errno */
static int follow(struct place *p)
{
	char to[PATH_MAX], *path;
	ssize_t n = readlink(p->path, to, sizeof(to));
	size_t capacity;

	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	if ((size_t)n == sizeof(to))
		return -ENAMETOOLONG;
	capacity = strlen(p->folder) + (size_t)n + 2;
	path = malloc(capacity);
	if (path == NULL)
		return -ENOMEM;
	if (to[0] == '/')
		path[0] = '\0';
	else
		strcat(strcpy(path, p->folder), "/");
	strncat(path, to, (size_t)n);
	free(p->path);
	p->path = path;
	return 1;
}

int place_find(struct place *p, const char *path)
{
	int rc = 1;

	*p = (struct place){.path = strdup(path)};
	if (p->path == NULL)
		return -ENOMEM;
	if (stat(path, &p->st) == 0) {
		char *whole = realpath(path, NULL);

		p->there = true;
		if (whole != NULL) { /* of what has no path, such as a pipe, it is as it was */
			free(p->path);
			p->path = whole;
		}
		return split(p);
	}
	if (errno != ENOENT)
		return -errno;
	for (unsigned int i = 0; i < LINKS_MAX && rc == 1; i++) {
		rc = split(p);
		if (rc == 0)
			rc = follow(p);
	}
	return rc == 1 ? -ELOOP : rc;
}

void place_fini(struct place *p)
{
	free(p->path);
	free(p->folder);
	p->path = p->folder = NULL;
}
