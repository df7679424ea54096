/* SPDX-License-Identifier: BSD-3-Clause */
/* Random demand: configurations, messages, and a fabric that answers grants. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "systems/edm/sched/mf_sched.h"

struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
/** @return 0..n-1 */
uint32_t rng_below(struct rng *r, uint32_t n);
bool rng_chance(struct rng *r, unsigned int percent);

/** Lists that grow. */
struct messages {
	struct mf_sched_msg *m;
	size_t n, room;
};
struct grants {
	struct mf_sched_grant *g;
	size_t n, room;
};

void messages_add(struct messages *list, struct mf_sched_msg m);
void grants_add(struct grants *list, const struct mf_sched_grant *g);

/** Everything at random: policies, timing, rates. */
struct mf_sched_config random_config(struct rng *r, unsigned int ports);

/** 25 and 100 Gb/s, chunks of 256 octets and two control blocks, X = 3; release by wire blocks. */
struct mf_sched_config plain_config(unsigned int ports);

/** Demands, some cancels, holds and nonsense between them, in order of time; at the end no hold is left. */
struct messages random_messages(struct rng *r, const struct mf_sched_config *c, size_t n);

/**
 * Runs until nothing is left to do. Messages are handed in up to `early` before their time. Each grant
 * is answered by FORWARDED messages after a while where the release is WINDOW.
 *
 * @param all what was handed in, answers included
 */
void play(const struct mf_sched_ops *ops, struct mf_sched *s, const struct mf_sched_config *c,
	  const struct messages *script, mf_time early, struct messages *all, struct grants *out);

/**
 * The same messages in another way: run() is called at every tick and at every message's time, those
 * of equal time but different compute nodes are shuffled, grants are taken a few at a time.
 */
void replay(const struct mf_sched_ops *ops, struct mf_sched *s, const struct messages *all, struct rng *r,
	    mf_time tick, struct grants *out);

#endif
