/* SPDX-License-Identifier: BSD-3-Clause */
/* One line: its repetitions, and between them those of what stands beside it. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/** A line, or a reference, while it is measured. */
struct subject {
	const struct bench_line *line;
	struct bench_tally *tally;
	void *state;
};

static void open_subject(struct subject *s, const struct bench_line *line, struct bench_tally *tally,
			 const struct bench_env *env)
{
	*s = (struct subject){.line = line, .tally = tally};
	memset(tally, 0, sizeof(*tally));
	tally->want = env->repetitions;
	tally->share = env->share;
	s->state = line->ops->open(line, env, tally->reason);
	if (s->state == NULL)
		tally->status = BENCH_SKIPPED;
}

static void repeat(struct subject *s)
{
	struct bench_sample *sample = &s->tally->sample[s->tally->samples];

	*sample = (struct bench_sample){0};
	if (s->line->ops->run(s->state, sample, s->tally->reason) != 0)
		s->tally->status = BENCH_FAILED;
	else
		s->tally->samples++;
}

static bool stopped(const struct bench_env *env)
{
	return env->stopped != NULL && env->stopped();
}

static void close_subject(struct subject *s)
{
	if (s->state != NULL)
		s->line->ops->close(s->state);
	bench_judge(s->tally);
}

/** Where the line itself has failed, nothing has to stand beside it. */
static bool any_wants(const struct subject *s, unsigned int n)
{
	if (s[0].tally->status == BENCH_FAILED)
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (bench_wants(s[i].tally))
			return true;
	return false;
}

bool bench_measure(const struct bench_suite *suite, const struct bench_line *line,
		   const struct bench_env *env, struct bench_result *out)
{
	struct subject s[1 + BENCH_BESIDE_MAX];
	unsigned int n = 1;

	memset(out, 0, sizeof(*out));
	out->line = line;
	open_subject(&s[0], line, &out->tally, env);
	for (unsigned int i = 0; i < BENCH_BESIDE_MAX && line->beside[i] != NULL && s[0].state != NULL; i++) {
		out->beside_line[i] = bench_find(suite, line->beside[i]);
		if (out->beside_line[i] == NULL)
			abort();
		open_subject(&s[n++], out->beside_line[i], &out->beside[i], env);
		out->besides++;
	}
	while (any_wants(s, n) && !stopped(env))
		for (unsigned int i = 0; i < n && !stopped(env); i++)
			if (bench_wants(s[i].tally))
				repeat(&s[i]);
	for (unsigned int i = 0; i < n; i++)
		close_subject(&s[i]);
	return !stopped(env);
}
