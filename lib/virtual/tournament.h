/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event queue of the virtual clock: each actor has one time at which it wants to be called. Events
 * of equal time come in the order of the actors' numbers, so the order of a run follows from the fabric
 * alone.
 *
 * A tournament: a binary tree whose leaves are the actors, where each inner node has the lesser of its
 * children. To set a time is to play again the matches on the way to the root: always as many, each the
 * minimum of two words, without a branch that could be guessed wrong.
 *
 *     key: 0 | time since base | actor     the order of keys is that of events
 *          1 | 0 ............. | actor     too far ahead for the bits of a key: behind all of those
 *          1 | 1 ............. | 1 ...     never
 */
#ifndef VIRTUAL_TOURNAMENT_H
#define VIRTUAL_TOURNAMENT_H

#include <stdint.h>

#include "base/mf_time.h"

#define TOURNAMENT_FAR (UINT64_C(1) << 63)
#define TOURNAMENT_NEVER UINT64_MAX

struct tournament {
	uint64_t *node; /**< keys: [1] is the root, the children of i are at 2 * i and 2 * i + 1 */
	mf_time *due; /**< of each actor; MF_NEVER: it is not called */
	mf_time base;
	uint32_t leaves; /**< a power of two: actor i is at leaves + i */
	uint32_t actors;
	unsigned int bits; /**< of an actor in a key */
};

/** @return 0 or -ENOMEM */
int tournament_init(struct tournament *q, uint32_t actors);
void tournament_fini(struct tournament *q);

/** All that there is lies far ahead: moves the base there. */
void tournament_rebase(struct tournament *q);

static inline uint64_t tournament_key(const struct tournament *q, uint32_t actor, mf_time due)
{
	mf_time since = due > q->base ? due - q->base : 0;

	if (since < TOURNAMENT_FAR >> q->bits)
		return since << q->bits | actor;
	return due == MF_NEVER ? TOURNAMENT_NEVER : TOURNAMENT_FAR | actor;
}

/** Sets the time of an actor, earlier or later than before; MF_NEVER: it is not called. */
static inline void tournament_set(struct tournament *q, uint32_t actor, mf_time due)
{
	uint64_t *node = q->node, key;

	if (due == q->due[actor])
		return;
	q->due[actor] = due;
	key = tournament_key(q, actor, due);
	for (uint32_t i = q->leaves + actor; i > 1; i /= 2) {
		uint64_t other = node[i ^ 1];

		node[i] = key;
		key = other < key ? other : key;
	}
	node[1] = key;
}

/** Sets the time of an actor if that is earlier. */
static inline void tournament_hasten(struct tournament *q, uint32_t actor, mf_time due)
{
	if (due < q->due[actor])
		tournament_set(q, actor, due);
}

/** Actor of the next event. It keeps its time until tournament_set() changes it. */
static inline uint32_t tournament_actor(const struct tournament *q)
{
	return (uint32_t)q->node[1] & (q->leaves - 1);
}

/** The first of the part of the tree that an actor is in, one of 1 << level: it is soon called. */
static inline uint32_t tournament_soon(const struct tournament *q, uint32_t actor, unsigned int level)
{
	uint32_t part = q->bits > level ? (q->leaves + actor) >> (q->bits - level) : 1;

	return (uint32_t)q->node[part] & (q->leaves - 1);
}

/** Time of the next event, or MF_NEVER. */
static inline mf_time tournament_next(struct tournament *q)
{
	if (q->node[1] >= TOURNAMENT_FAR)
		tournament_rebase(q);
	return q->node[1] == TOURNAMENT_NEVER ? MF_NEVER : q->due[tournament_actor(q)];
}

#endif
