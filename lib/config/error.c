/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about the fabric file: one line each, with the line of the file and the path of the key.
 *
 * jansson keeps no lines, so the text is searched for the path once more. It is known to be JSON then.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mf_file_type.h"
#include "config/cfg.h"

void cfg_push(struct cfg *c, const char *key)
{
	c->step[c->depth++] = (struct cfg_step){.key = key};
}

void cfg_push_index(struct cfg *c, size_t index)
{
	c->step[c->depth++] = (struct cfg_step){.index = index};
}

void cfg_pop(struct cfg *c)
{
	c->depth--;
}

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* p is at the opening quote; returns what follows the closing one. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++) {
		if (*p == '\\')
			p++;
	}
	return p < end ? p + 1 : end;
}

/* Returns what follows the value at p: the comma or closing bracket. */
static const char *skip_value(const char *p, const char *end)
{
	unsigned int open = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == '{' || *p == '[')
			open++;
		if (open == 0 && (*p == ',' || *p == '}' || *p == ']'))
			break;
		if (*p == '}' || *p == ']')
			open--;
		p++;
	}
	return p;
}

/* From the object at p to its key, and on to the value; NULL: not there (or written with escapes). */
static const char *find_key(const char *p, const char *end, const char *key, const char **at)
{
	size_t len = strlen(key);

	for (p = skip_blank(p + 1, end); p < end && *p == '"'; p = skip_blank(p + 1, end)) {
		const char *name = p + 1, *behind = skip_string(p, end);

		*at = p;
		p = skip_blank(skip_blank(behind, end) + 1, end);
		if ((size_t)(behind - name) == len + 1 && memcmp(name, key, len) == 0)
			return p;
		p = skip_value(p, end);
		if (p >= end || *p != ',')
			break;
	}
	return NULL;
}

static const char *find_index(const char *p, const char *end, size_t index)
{
	p = skip_blank(p + 1, end);
	for (; index > 0 && p < end; index--) {
		p = skip_value(p, end);
		p = p < end ? skip_blank(p + 1, end) : end;
	}
	return p < end ? p : NULL;
}

/* The line of the innermost step that can be found. */
static unsigned int find_line(const struct cfg *c)
{
	const char *end = c->text + c->len, *p = skip_blank(c->text, end), *at = p, *key_at = p;
	struct cfg_step step[CFG_DEPTH + 3];
	unsigned int line = 1, depth = cfg_steps(c, step);

	for (unsigned int i = 0; i < depth && p != NULL && p < end; i++) {
		if (step[i].key != NULL) {
			p = find_key(p, end, step[i].key, &key_at);
			at = p != NULL ? key_at : at;
		} else {
			p = find_index(p, end, step[i].index);
			at = p != NULL ? p : at;
		}
	}
	for (const char *q = c->text; q < at; q++)
		line += *q == '\n';
	return line;
}

/* One line of plain ASCII, whatever the file says. */
static void make_printable(char *s)
{
	for (; *s != '\0'; s++) {
		if (*s < ' ' || *s > '~')
			*s = '?';
	}
}

static void put_path(const struct cfg *c, char *buf, size_t capacity)
{
	struct cfg_step step[CFG_DEPTH + 3];
	unsigned int depth = cfg_steps(c, step);
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < depth && len < capacity; i++) {
		const struct cfg_step *s = &step[i];

		if (s->key != NULL)
			len += (size_t)snprintf(buf + len, capacity - len, "%s%.64s", i > 0 ? "." : "",
						s->key);
		else
			len += (size_t)snprintf(buf + len, capacity - len, "[%zu]", s->index);
	}
	make_printable(buf);
}

void cfg_where(struct cfg *c, const char *key, char *buf, size_t capacity)
{
	cfg_push(c, key);
	put_path(c, buf, capacity);
	cfg_pop(c);
}

void cfg_where_entry(struct cfg *c, const char *section, size_t index, char *buf, size_t capacity)
{
	const struct cfg_step was[2] = {c->step[0], c->step[1]};
	unsigned int depth = c->depth;

	c->depth = 0;
	cfg_push(c, section);
	cfg_push_index(c, index);
	put_path(c, buf, capacity);
	memcpy(c->step, was, sizeof(was));
	c->depth = depth;
}

static int fail(struct cfg *c, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static int fail(struct cfg *c, const char *format, va_list args)
{
	char path[512], reason[512];

	put_path(c, path, sizeof(path));
	vsnprintf(reason, sizeof(reason), format, args);
	make_printable(reason);
	if (c->file == NULL)
		snprintf(c->err, c->errlen, "%s: %s", path, reason);
	else
		snprintf(c->err, c->errlen, "%s:%u: %s%s%s", c->file, find_line(c), path,
			 path[0] != '\0' ? ": " : "", reason);
	return -EINVAL;
}

int cfg_fail(struct cfg *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail(c, format, args);
	va_end(args);
	return -EINVAL;
}

int cfg_fail_key(struct cfg *c, const char *key, const char *format, ...)
{
	va_list args;

	cfg_push(c, key);
	va_start(args, format);
	fail(c, format, args);
	va_end(args);
	cfg_pop(c);
	return -EINVAL;
}

int cfg_fail_json(struct cfg *c, const json_error_t *error)
{
	const char *other = mf_file_type(c->text, c->len);
	char reason[JSON_ERROR_TEXT_LENGTH];

	if (json_error_code(error) == json_error_out_of_memory)
		return cfg_fail_memory(c);
	snprintf(reason, sizeof(reason), "%s", error->text);
	make_printable(reason);
	if (other == NULL && strstr(reason, " near '/") != NULL)
		other = "JSON has no comments";
	snprintf(c->err, c->errlen, "%s:%d:%d: %s%s%s", c->file, error->line, error->column, reason,
		 other != NULL ? ": " : "", other != NULL ? other : "");
	return -EINVAL;
}

int cfg_fail_memory(struct cfg *c)
{
	snprintf(c->err, c->errlen, "%s: out of memory", c->file != NULL ? c->file : "workload");
	return -ENOMEM;
}
