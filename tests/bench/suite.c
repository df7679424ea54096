/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all lines. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

void bench_add(struct bench_suite *s, const struct bench_line *line)
{
	if (s->lines == s->room) {
		s->room = s->room > 0 ? 2 * s->room : 64;
		s->line = realloc(s->line, s->room * sizeof(struct bench_line *));
		if (s->line == NULL)
			abort();
	}
	s->line[s->lines] = malloc(sizeof(*line));
	if (s->line[s->lines] == NULL)
		abort();
	*s->line[s->lines++] = *line;
}

const struct bench_line *bench_find(const struct bench_suite *s, const char *name)
{
	for (unsigned int i = 0; i < s->lines; i++)
		if (strcmp(s->line[i]->name, name) == 0)
			return s->line[i];
	return NULL;
}

void bench_suite_free(struct bench_suite *s)
{
	for (unsigned int i = 0; i < s->lines; i++)
		free(s->line[i]);
	free(s->line);
}

bool bench_named(const char *patterns, const char *name)
{
	while (*patterns != '\0') {
		size_t len = strcspn(patterns, ",");
		char one[BENCH_TEXT];

		if (len < sizeof(one)) {
			memcpy(one, patterns, len);
			one[len] = '\0';
			if (fnmatch(one, name, 0) == 0)
				return true;
		}
		patterns += len + (patterns[len] == ',');
	}
	return false;
}
