/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a test: one run after the other. */
#ifndef RUN_H
#define RUN_H

#include <pthread.h>

#include "counters.h"
#include "history_option.h"
#include "outcome.h"
#include "progress.h"

/** A test under way, and what has come of it. */
struct run {
	struct mf_config *config; /**< of the fabric; its workload is the test's while it runs */
	enum mf_clock clock;
	struct test test;
	/** Called with each run's outcome on the thread that runs the test. Or NULL */
	void (*each)(void *ctx, const struct outcome *o);
	void *ctx;
	bool silent; /**< no line of progress */
	bool stays; /**< other tests follow: processes that play the other roles are to stay */
	const struct mf_history_target *history; /**< of its one run; NULL: none */
	struct output *history_out;
	bool wrote; /**< memory that other processes play holds what a run of this one has written */
	struct outcome *outcome;
	int points, done; /**< runs, and those that are over */
	char err[512]; /**< of a run that could not be made */

	/* Who looks at the fabric or stops it from another thread holds the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /**< fabric comes or goes */
	struct mf_fabric *fabric; /**< that is running, or NULL */
	bool stop; /**< asked for */
	unsigned int generation; /**< of the fabric, from 1 on */
	struct counters last; /**< as the last run left them */

	/* The engine's thread only. */
	struct progress progress;
	mf_time window_at;
	uint64_t window_octets;
	double peak;
};

/** @return 0 or -ENOMEM; run_fini() follows in any case */
int run_init(struct run *r, struct mf_config *config, enum mf_clock clock);
void run_fini(struct run *r);

/**
 * Runs a test that was checked to its end, or until it is stopped or interrupted. What came of an earlier
 * one is dropped. Wall clock: on EAL's main lcore.
 * @return 0 or -errno with err
 */
int run_test(struct run *r, const struct test *t);

/**
 * After tests that have stayed: tells the processes of the other roles that this one is done.
 * @return 0 or -errno with err
 */
int run_goodbye(struct run *r);

/** Any thread: no more load, then the report. */
void run_stop(struct run *r);

/** Any thread: the counters of now, or as the last run left them. @return false: none has begun yet */
bool run_counters(struct run *r, struct counters *c);

/** Every run was sound, and there was one. @param why  the first reason why not */
bool run_sound(const struct run *r, const char **why);

#endif
