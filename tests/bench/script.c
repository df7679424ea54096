/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

char script_log[4096];

struct play {
	const struct script *script;
	char name;
	unsigned int at;
};

static void note(char c)
{
	size_t len = strlen(script_log);

	if (len + 1 < sizeof(script_log))
		script_log[len] = c;
}

static void *script_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	const struct script *script = line->param;
	struct play *p;

	(void)env;
	if (script->skip != NULL) {
		snprintf(why, BENCH_REASON, "%s", script->skip);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		abort();
	*p = (struct play){.script = script, .name = line->name[0]};
	note('(');
	return p;
}

static int script_run(void *state, struct bench_sample *out, char *why)
{
	struct play *p = state;
	unsigned int i = p->at++ % p->script->n;

	note(p->name);
	if (p->at == p->script->fail) {
		snprintf(why, BENCH_REASON, "as the script says");
		return -EIO;
	}
	*out = (struct bench_sample){.value = p->script->value[i], .got = p->script->share[i], .wall = 1};
	return 0;
}

static void script_close(void *state)
{
	note(')');
	free(state);
}

const struct bench_ops script_ops = {.open = script_open, .run = script_run, .close = script_close};
