/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_MAX (1 << 20)
#define LINE 4096

__attribute__((format(printf, 3, 0))) static bool path_of(char *path, const char *root, const char *format,
							  va_list args)
{
	char tail[TREE_PATH];
	int n = vsnprintf(tail, sizeof(tail), format, args);

	return n >= 0 && (size_t)n < sizeof(tail) &&
	       snprintf(path, TREE_PATH, "%s%s", root, tail) < TREE_PATH;
}

#define PATH_OF(path, root, format)                         \
	({                                                  \
		va_list args_;                              \
		bool fits_;                                 \
		va_start(args_, format);                    \
		fits_ = path_of(path, root, format, args_); \
		va_end(args_);                              \
		fits_;                                      \
	})

/** At most room octets, and a zero behind. @return how many, or -1 */
static ssize_t slurp(const char *path, char *out, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	size_t len = 0;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		while ((n = read(fd, out + len, capacity - len)) > 0)
			len += (size_t)n;
	close(fd);
	out[len] = '\0';
	return n < 0 ? -1 : (ssize_t)len;
}

char *tree_read(const char *root, const char *format, ...)
{
	char path[TREE_PATH], *text = malloc(READ_MAX + 1);

	if (text != NULL && PATH_OF(path, root, format) && slurp(path, text, READ_MAX) >= 0)
		return text;
	free(text);
	return NULL;
}

/** In place. @return the first line without the white space around it */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strcspn(text, "\n");
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static bool line_of(const char *path, char *out, size_t capacity)
{
	char text[LINE + 1];

	out[0] = '\0';
	return slurp(path, text, LINE) >= 0 && snprintf(out, capacity, "%s", trim(text)) >= 0;
}

bool tree_line(const char *root, char *out, size_t capacity, const char *format, ...)
{
	char path[TREE_PATH];

	out[0] = '\0';
	return PATH_OF(path, root, format) && line_of(path, out, capacity);
}

bool tree_number(const char *root, int64_t *out, const char *format, ...)
{
	char path[TREE_PATH], line[64], *end;

	if (!PATH_OF(path, root, format) || !line_of(path, line, sizeof(line)))
		return false;
	errno = 0;
	*out = strtoll(line, &end, 0);
	return end != line && *end == '\0' && errno == 0;
}

bool tree_link(const char *root, char *out, size_t capacity, const char *format, ...)
{
	char path[TREE_PATH], target[TREE_PATH];
	const char *last;
	ssize_t n;

	out[0] = '\0';
	if (!PATH_OF(path, root, format))
		return false;
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(out, capacity, "%s", last != NULL ? last + 1 : target);
	return true;
}

bool tree_exists(const char *root, const char *format, ...)
{
	char path[TREE_PATH];

	return PATH_OF(path, root, format) && access(path, F_OK) == 0;
}

bool tree_usable(const char *root, const char *format, ...)
{
	char path[TREE_PATH];

	return PATH_OF(path, root, format) && access(path, R_OK | W_OK) == 0;
}

unsigned int tree_each(const char *root, void (*each)(void *ctx, const char *name), void *ctx,
		       const char *format, ...)
{
	char path[TREE_PATH];
	struct dirent **entry = NULL;
	unsigned int count = 0;
	int n = -1;

	if (PATH_OF(path, root, format))
		n = scandir(path, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (entry[i]->d_name[0] != '.') {
			each(ctx, entry[i]->d_name);
			count++;
		}
		free(entry[i]);
	}
	free(entry);
	return count;
}

const char *tree_key(const char *text, const char *key)
{
	for (size_t len = strlen(key); text != NULL && *text != '\0'; text++) {
		if (strncmp(text, key, len) == 0)
			return text + len;
		text = strchr(text, '\n');
		if (text == NULL)
			break;
	}
	return NULL;
}
