/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of /proc, /sys and /dev below a root, which is "" on a real machine. Only regular files are read, and
 * nothing waits: a file that is not there, or not to be read, is an answer like any other.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_PATH 512

/** The whole file, at most a MiB of it. @return to be freed; NULL: cannot be read */
char *tree_read(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Its first line without the white space around it. @return false: cannot be read, and out is empty */
bool tree_line(const char *root, char *out, size_t capacity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** A whole number in its first line, decimal or 0x.... @return false: cannot be read, or is none */
bool tree_number(const char *root, int64_t *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The last component of what a symbolic link points to. */
bool tree_link(const char *root, char *out, size_t capacity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

bool tree_exists(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Whether this process may read and write it. */
bool tree_usable(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Calls each(ctx, name) for what is in a folder, by name. @return how many */
unsigned int tree_each(const char *root, void (*each)(void *ctx, const char *name), void *ctx,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Finds a line that begins with key in text. @return what follows key, or NULL */
const char *tree_key(const char *text, const char *key);

#endif
