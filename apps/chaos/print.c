/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "print.h"
#include "progress.h"

static const char *const sum_names[SUMS] = {
	[SUM_COMPLETED] = "operations completed",
	[SUM_FAILED] = "operations failed",
	[SUM_VERIFIED] = "reads and atomics compared",
	[SUM_GRANTS] = "grants held against the rules",
	[SUM_WORDS] = "words with an order that explains all",
	[SUM_GAVE_UP] = "words that the search gave up",
	[SUM_REFUSED] = "operations without the right, none of which was done",
	[SUM_CALM] = "runs that went on behind their faults",
	[SUM_CUT] = "messages cut at a switch",
	[SUM_TWICE] = "runs repeated and compared",
	[SUM_GRAPHS] = "runs of several switches",
	[SUM_MOVED] = "runs in which flows moved and none may fail",
	[SUM_BLOCKS] = "blocks delivered, in their places",
	[SUM_CONNECTIONS] = "connections",
};

void print_tally(const struct trial *t, const struct tally *tally, const bool *on)
{
	printf("%-16s %12s %12s\n", "class", "fired", "in runs");
	for (unsigned int i = 0; t->classes[i] != NULL; i++)
		if (on == NULL || on[i])
			printf("%-16s %12" PRIu64 " %12" PRIu64 "\n", t->classes[i], tally->fired[i],
			       tally->cases[i]);
	printf("%-16s %12" PRIu64 " %12" PRIu64 "\n\n", "all", tally->fired_all, tally->runs);
	for (unsigned int i = 0; i < SUMS; i++)
		if (tally->sum[i] > 0)
			printf("%12" PRIu64 " %s\n", tally->sum[i], sum_names[i]);
	printf("%12.1f seconds\n", tally->seconds);
}

const char *print_never(const struct trial *t, const struct tally *tally, const bool *on)
{
	for (unsigned int i = 0; t->classes[i] != NULL; i++)
		if ((on == NULL || on[i]) && tally->fired[i] == 0)
			return t->classes[i];
	return NULL;
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

void print_progress(void *ctx, uint64_t runs, uint64_t fired)
{
	struct progress_lines l = {.n = 0};
	time_t *shown = ctx, t = now();

	if (t == *shown || isatty(STDERR_FILENO) != 1)
		return;
	*shown = t;
	progress_add(&l, "%" PRIu64 " runs, %" PRIu64 " faults", runs, fired);
	progress_add(&l, "%" PRIu64 " runs", runs);
	progress_put(&l);
}

void print_progress_end(void)
{
	if (isatty(STDERR_FILENO) == 1)
		fputs("\r\033[K", stderr);
}
