/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of which examples are made. */
#ifndef STEPS_H
#define STEPS_H

#include <criterion/criterion.h>

#include "script.h"

static const struct mf_sched_ops *const policies[] = {&mf_sched_pim, &mf_sched_greedy};
#define BLOCK 640
#define EACH_POLICY(ops)                                                                                    \
	for (const struct mf_sched_ops *const *each = policies, *ops; each < policies + 2 && (ops = *each); \
	     each++)

static inline struct mf_sched_config fast_config(unsigned int ports)
{
	struct mf_sched_config c = plain_config(ports);

	for (unsigned int p = 0; p < ports; p++)
		c.period[p] = BLOCK;
	return c;
}

static inline void write_of(const struct mf_sched_ops *ops, struct mf_sched *s, mf_time at, unsigned int src,
			    unsigned int dst, uint8_t id, uint32_t size)
{
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND,
				 .at = at,
				 .src = src,
				 .dst = dst,
				 .id = id,
				 .size = size,
				 .cookie = MF_SCHED_NO_COOKIE};

	cr_assert_eq(ops->input(s, &m), 0);
}

static inline void read_of(const struct mf_sched_ops *ops, struct mf_sched *s, mf_time at, unsigned int c,
			   unsigned int m, uint8_t id, uint32_t size)
{
	struct mf_sched_msg msg = {.kind = MF_SCHED_DEMAND,
				   .at = at,
				   .src = m,
				   .dst = c,
				   .resp = true,
				   .id = id,
				   .size = size,
				   .request_blocks = 2,
				   .cookie = 1000u + id};

	cr_assert_eq(ops->input(s, &msg), 0);
}

static inline void control(const struct mf_sched_ops *ops, struct mf_sched *s, mf_time at,
			   enum mf_sched_msg_kind kind, unsigned int src, unsigned int dst, uint8_t id,
			   uint32_t size)
{
	struct mf_sched_msg m = {.kind = kind, .at = at, .src = src, .dst = dst, .id = id, .size = size};

	cr_assert_eq(ops->input(s, &m), 0);
}

/* Runs from event to event until time end. */
static inline unsigned int run(const struct mf_sched_ops *ops, struct mf_sched *s, mf_time end,
			       struct mf_sched_grant *g, unsigned int max)
{
	unsigned int n = 0;

	while (ops->next(s) <= end) {
		n += ops->run(s, ops->next(s), g + n, max - n);
		cr_assert_lt(n, max);
	}
	return n;
}

static inline struct mf_sched_stats stats(const struct mf_sched_ops *ops, struct mf_sched *s)
{
	struct mf_sched_stats st;

	ops->stats(s, &st);
	return st;
}

#endif
