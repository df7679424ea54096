/* SPDX-License-Identifier: BSD-3-Clause */
/* Which repetitions count, when there are enough, and what figure they give. */
#include <stdlib.h>

#include "bench.h"

double bench_share(const struct bench_sample *s)
{
	return s->wall > 0 ? s->got / s->wall : 0;
}

bool bench_counts(const struct bench_tally *t, unsigned int i)
{
	return bench_share(&t->sample[i]) >= t->share;
}

unsigned int bench_counted(const struct bench_tally *t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->samples; i++)
		n += bench_counts(t, i);
	return n;
}

bool bench_wants(const struct bench_tally *t)
{
	if (t->status == BENCH_SKIPPED || t->status == BENCH_FAILED)
		return false;
	return bench_counted(t) < t->want && t->samples < BENCH_TRIES * t->want;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void bench_judge(struct bench_tally *t)
{
	double value[BENCH_SAMPLES_MAX];
	unsigned int n = 0;

	if (t->status == BENCH_SKIPPED || t->status == BENCH_FAILED)
		return;
	for (unsigned int i = 0; i < t->samples; i++)
		if (bench_counts(t, i))
			value[n++] = t->sample[i].value;
	t->status = n > 0 && n >= t->want ? BENCH_MEASURED : BENCH_NOISY;
	if (t->status == BENCH_NOISY)
		return;
	qsort(value, n, sizeof(value[0]), by_value);
	t->median = (value[(n - 1) / 2] + value[n / 2]) / 2;
	t->min = value[0];
	t->max = value[n - 1];
}

double bench_ratio(const struct bench_result *r, unsigned int beside)
{
	const struct bench_tally *b = &r->beside[beside];

	if (r->tally.status != BENCH_MEASURED || b->status != BENCH_MEASURED || b->median <= 0)
		return 0;
	return r->tally.median / b->median;
}

bool bench_has_verdict(const struct bench_result *r)
{
	if (r->line->goal_kind == BENCH_GOAL_RATIO)
		return r->besides > 0 && bench_ratio(r, 0) > 0;
	return r->line->goal_kind == BENCH_GOAL && r->tally.status == BENCH_MEASURED;
}

bool bench_met(const struct bench_result *r)
{
	double figure = r->line->goal_kind == BENCH_GOAL_RATIO ? bench_ratio(r, 0) : r->tally.median;

	return r->line->better == BENCH_LOWER ? figure <= r->line->goal : figure >= r->line->goal;
}
