/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of sizes as simulators of flows have them in files: a size and the percentage (or the share)
 * of flows that are at most so long a line, with blanks between. The last line says whether it is percent.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_number.h"
#include "config/cfg.h"

#define LINE 256
#define BLANKS " \t\r\n"
#define PERCENT 100
#define LINES (2 * MF_CONFIG_POINTS_MAX) /* blank ones among them */

struct reading {
	struct cfg *c;
	const char *path;
	unsigned int line;
	struct mf_config_size *s;
};

/* The line of that file counts. */
static int fail(const struct reading *r, const char *reason)
{
	snprintf(r->c->err, r->c->errlen, "%s:%u: %s", r->path, r->line, reason);
	return -EINVAL;
}

/** Two numbers and nothing else. */
static bool read_pair(char *line, double *size, double *share)
{
	char *rest, *a = strtok_r(line, BLANKS, &rest), *b = strtok_r(NULL, BLANKS, &rest);
	const char *end = a != NULL ? mf_number_real(a, size) : NULL;

	if (end == NULL || *end != '\0' || b == NULL || strtok_r(NULL, BLANKS, &rest) != NULL)
		return false;
	end = mf_number_real(b, share);
	return end != NULL && *end == '\0';
}

static int read_line(const struct reading *r, char *line)
{
	struct mf_config_size *s = r->s;
	unsigned int n = s->n;
	char reason[128];
	double size, share;

	if (!read_pair(line, &size, &share))
		return fail(r, "is not a size and a percentage");
	if (size > MF_CONFIG_TRANSFER_MAX) {
		snprintf(reason, sizeof(reason), "size %.0f is more than %u, the most of one operation", size,
			 MF_CONFIG_TRANSFER_MAX);
		return fail(r, reason);
	}
	if (size != floor(size))
		return fail(r, "the size is no whole number of bytes");
	if (size == 0 && (n > 0 || share > 0))
		return fail(r, "a size of 0 can only be that of the first line, at 0 percent");
	if (n > 0 && (size < s->size[n - 1] || share < s->weight[n - 1]))
		return fail(r, "is less than the line before it");
	if (share > PERCENT)
		return fail(r, "is more than 100 percent");
	if (n == MF_CONFIG_POINTS_MAX)
		return fail(r, "there are more than 1024 lines");
	s->size[n] = (uint32_t)size;
	s->weight[n] = share;
	s->n++;
	return 0;
}

static int read_lines(struct reading *r, FILE *file)
{
	char line[LINE];
	int rc = 0;

	while (rc == 0 && fgets(line, sizeof(line), file) != NULL) {
		r->line++;
		if (strlen(line) == LINE - 1 && line[LINE - 2] != '\n')
			rc = fail(r, "the line is too long");
		else if (r->line > LINES)
			rc = fail(r, "there are too many lines");
		else if (line[strspn(line, BLANKS)] != '\0')
			rc = read_line(r, line);
	}
	return rc == 0 && ferror(file) ? fail(r, "cannot be read") : rc;
}

/** The last point has all: 100 percent, or a share of 1. */
static int scale(const struct reading *r)
{
	struct mf_config_size *s = r->s;
	double all = s->n > 0 ? s->weight[s->n - 1] : 0;

	if (s->n == 0)
		return fail(r, "there is no size");
	if (all != PERCENT && all != 1)
		return fail(r, "the last line is neither that of 100 percent nor of 1");
	for (unsigned int i = 0; i < s->n; i++) {
		s->weight[i] /= all;
		cfg_size_point(s, i);
	}
	return 0;
}

static int read_file(struct reading *r)
{
	FILE *file = fopen(r->path, "re");
	int rc;

	if (file == NULL) {
		snprintf(r->c->err, r->c->errlen, "%s: %s", r->path, strerror(errno));
		return -EINVAL;
	}
	rc = read_lines(r, file);
	fclose(file);
	r->line += r->line == 0; /* an empty file has a first line, too */
	return rc == 0 ? scale(r) : rc;
}

int cfg_size_file(struct cfg *c, const json_t *path, struct mf_config_size *s)
{
	struct reading r = {.c = c, .s = s};
	char *resolved;
	int rc;

	if (!json_is_string(path) || json_string_length(path) == 0)
		return cfg_fail_key(c, "file", "must be the path of a file");
	resolved = cfg_path(c, json_string_value(path));
	if (resolved == NULL)
		return cfg_fail_memory(c);
	r.path = resolved;
	rc = cfg_file(c, "file", resolved);
	if (rc == 0)
		rc = read_file(&r);
	free(resolved);
	return rc;
}
