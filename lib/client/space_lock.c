/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks in address spaces (Clio 4.5: rlock, "test and set"): a word that is 0, or names the queue that has
 * it. So who asks again, since it does not know what came of its CAS, finds itself.
 *
 *      1 + node 16 | how often the memory node has seen it begin anew 16 | its process and queue 32
 *
 * Who waits for long asks the memory node whether the holder is still there (MF_SPACE_LIFE). If not, it takes
 * the lock from it, which only one can.
 */
#include <errno.h>
#include <time.h>

#include "client/client.h"
#include "memory/mf_space.h"

#define WAIT_FIRST 2 /* us */
#define WAIT_MOST 500
#define ASK_AFTER 10000 /* us that it waited */
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

/** What is known of a node where a lock is. */
static int life_of(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, unsigned int node,
		   uint64_t *life)
{
	struct memfab_sqe what = {.op = MEMFAB_SPACE_LIFE, .node = mf_remote_node(ptr), .space = s};

	what.arg[1] = space_node_number(q, node);
	return sync_one(q, &what, life);
}

/** How a lock names the queue. */
static int name_of(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, uint64_t *name)
{
	unsigned int node = attachment_node(q->attachment);
	uint64_t life;
	int rc = life_of(q, s, ptr, node, &life);

	*name = (uint64_t)(node + 1) << 48 | (uint64_t)mf_space_life_begun(life) << 32 | q->holder;
	return rc;
}

/** Whether the holder of a lock is there no more. Where there are no leases nobody is known to be gone. */
static int is_gone(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, uint64_t holder,
		   bool *gone)
{
	uint64_t life;
	int rc = life_of(q, s, ptr, (unsigned int)(holder >> 48) - 1, &life);

	*gone = rc == 0 && life != 0 &&
		(mf_space_life_begun(life) != (uint16_t)(holder >> 32) || !mf_space_life_lives(life));
	return rc;
}

/** One try. @param from  what the lock is taken from: 0, or a holder that is gone. @param old  in it now */
static int try_lock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, uint64_t from,
		    uint64_t name, uint64_t *old)
{
	int rc = cas(q, s, ptr, from, name, old);

	return rc == 0 && *old != from && *old != name ? -EBUSY : rc;
}

int memfab_rlock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, int64_t timeout)
{
	int64_t wait = WAIT_FIRST, begin = now(), ask = begin + ASK_AFTER;
	uint64_t name, from = 0, old;
	unsigned int unsure = 0;
	int rc = name_of(q, s, ptr, &name);

	while (rc == 0) {
		rc = try_lock(q, s, ptr, from, name, &old);
		if (rc == 0)
			return old == from || unsure > 0 ? 0 : -EDEADLK;
		if (rc != -EBUSY && (rc != -EINPROGRESS || ++unsure == UNSURE_MOST))
			return rc;
		if (timeout >= 0 && now() - begin >= timeout)
			return rc == -EBUSY ? -ETIMEDOUT : rc;
		from = 0;
		if (rc == -EBUSY && old != 0 && now() >= ask) {
			bool gone;

			rc = is_gone(q, s, ptr, old, &gone);
			from = gone ? old : 0;
			ask = now() + ASK_AFTER;
			if (gone)
				continue;
		} else {
			rc = 0;
		}
		queue_turn_for(q, wait);
		wait = wait < WAIT_MOST ? 2 * wait : WAIT_MOST;
	}
	return rc;
}

int memfab_runlock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr)
{
	uint64_t name, old;
	int rc = name_of(q, s, ptr, &name);

	for (unsigned int unsure = 0; rc == 0;) {
		rc = cas(q, s, ptr, name, 0, &old);
		if (rc == 0)
			return old == name || unsure > 0 ? 0 : -EPERM;
		if (rc == -EINPROGRESS && ++unsure < UNSURE_MOST)
			rc = 0;
	}
	return rc;
}
