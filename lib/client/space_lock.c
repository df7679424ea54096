/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks in address spaces (Clio 4.5: rlock, "test and set"): a word that is 0, or names the queue that has
 * it. So who asks again, since it does not know what came of its CAS, finds itself.
 */
#include <errno.h>
#include <time.h>

#include "client/client.h"

#define WAIT_FIRST 2 /* us */
#define WAIT_MOST 500
#define UNSURE_MOST 3 /* times in a row that the target did not say what came of it */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int cas(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, uint64_t expected,
	       uint64_t desired, uint64_t *old)
{
	*old = expected;
	return memfab_ratomic(q, s, MEMFAB_CAS, ptr, desired, old);
}

int memfab_rlock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, int64_t timeout)
{
	int64_t wait = WAIT_FIRST, begin = now();
	unsigned int unsure = 0;

	for (;;) {
		uint64_t old;
		int rc = cas(q, s, ptr, 0, q->holder, &old);

		if (rc != 0 && (rc != -EINPROGRESS || ++unsure == UNSURE_MOST))
			return rc;
		if (rc == 0 && (old == 0 || old == q->holder))
			return old == 0 || unsure > 0 ? 0 : -EDEADLK;
		if (timeout >= 0 && now() - begin >= timeout)
			return rc == 0 ? -ETIMEDOUT : rc;
		queue_turn_for(q, wait);
		wait = wait < WAIT_MOST ? 2 * wait : WAIT_MOST;
	}
}

int memfab_runlock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr)
{
	for (unsigned int unsure = 0;;) {
		uint64_t old;
		int rc = cas(q, s, ptr, q->holder, 0, &old);

		if (rc == 0)
			return old == q->holder || unsure > 0 ? 0 : -EPERM;
		if (rc != -EINPROGRESS || ++unsure == UNSURE_MOST)
			return rc;
	}
}
