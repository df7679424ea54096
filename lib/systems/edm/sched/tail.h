/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a queue with two demands or more knows of itself, so that nobody has to walk it to add one: its
 * last demand, how many it holds of each kind, and which ids. A queue with one demand has no such
 * entry up to date: most never have two.
 *
 * Ids are known by their low 6 bits. A bit that is not set says that no such id is there; one that is set
 * asks for a look. While two demands share a bit none is cleared, until the queue has run empty.
 */
#ifndef MF_SCHED_TAIL_H
#define MF_SCHED_TAIL_H

#include <stdbool.h>
#include <stdint.h>

struct sched_tail {
	uint64_t ids[2]; /* by resp */
	uint32_t last;
	uint8_t held[2]; /* by resp */
	bool shared;
};

static inline uint64_t tail_bit(uint8_t id)
{
	return UINT64_C(1) << id % 64;
}

/** Begins with the only demand that there is. */
static inline void tail_begin(struct sched_tail *t, uint32_t only, bool resp, uint8_t id)
{
	*t = (struct sched_tail){.last = only};
	t->ids[resp] = tail_bit(id);
	t->held[resp] = 1;
}

/** Whether a demand of this id may be there. */
static inline bool tail_may_have(const struct sched_tail *t, bool resp, uint8_t id)
{
	return t->ids[resp] & tail_bit(id);
}

static inline void tail_add(struct sched_tail *t, uint32_t last, bool resp, uint8_t id)
{
	t->shared |= tail_may_have(t, resp, id);
	t->ids[resp] |= tail_bit(id);
	t->held[resp]++;
	t->last = last;
}

static inline void tail_remove(struct sched_tail *t, bool resp, uint8_t id)
{
	t->held[resp]--;
	if (!t->shared)
		t->ids[resp] &= ~tail_bit(id);
}

#endif
