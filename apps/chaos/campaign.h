/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many runs, each of a seed of its own, in processes of their own: what crashes or hangs takes nothing else
 * along, and is a violation like any other. The first violation ends the campaign.
 */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include <stdatomic.h>

#include "verdict.h"

#define JOBS_MAX 256

/** What is run, and by whom. */
struct trial {
	/** Runs one seed. @return 0; or what could not be run says so in v->reason, and is -errno */
	int (*run)(const void *ctx, uint64_t seed, struct verdict *v);
	const void *ctx;
	const char *const *classes; /**< names of what may fire; ends with NULL */
};

struct campaign {
	uint64_t seed, runs; /**< from seed on; runs 0: as many as there is time for */
	double seconds; /**< no more is begun then; 0: no limit */
	unsigned int jobs; /**< 1..JOBS_MAX */
	const atomic_bool *interrupt;
	void (*progress)(void *ctx, uint64_t runs, uint64_t fired); /**< now and then */
	void *progress_ctx;
};

/** What came of it. */
struct tally {
	uint64_t runs, fired_all;
	uint64_t fired[CLASSES_MAX], cases[CLASSES_MAX]; /**< by class; runs in which it fired */
	uint64_t sum[SUMS];
	double seconds;
	bool violated;
	uint64_t seed; /**< of the violation, */
	char reason[REASON_LEN]; /**< and what it is */
};

/** @return 0; -errno: there are no processes; a violation is none of that */
int campaign_run(const struct campaign *c, const struct trial *t, struct tally *out);

/**
 * One run in a process of its own. It hangs after as much time as each of many: a case that was made smaller
 * is repeated by whoever runs it alone.
 * @return 0 or -errno; a crash or hang is in v->reason
 */
int campaign_one(const struct trial *t, uint64_t seed, struct verdict *v);

#endif
