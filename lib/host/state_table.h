/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to the message state table at every message; state_table.c says how it works. */
#ifndef HOST_STATE_TABLE_H
#define HOST_STATE_TABLE_H

#include "timers.h"

static inline uint8_t host_id_take(struct host_peer *p)
{
	unsigned int w = 0;
	uint64_t free;

	while (unlikely(p->ids[w] == 0))
		w++;
	free = p->ids[w];
	p->ids[w] = free & (free - 1);
	p->free_ids--;
	return (uint8_t)(w * 64 + (unsigned int)__builtin_ctzll(free));
}

static inline void host_id_free(struct host_peer *p, uint8_t id)
{
	p->ids[id / 64] |= UINT64_C(1) << (id % 64);
	p->free_ids++;
}

/** Takes an id (there must be one) and its entry. */
static inline struct host_state *host_state_new(struct mf_host *h, uint16_t node, uint8_t kind)
{
	uint8_t id = host_id_take(&h->peer[node]);
	struct host_state *s = &h->state[host_index(h, node, id)];

	s->seq = h->seq++;
	s->gen++;
	s->moved = 0;
	s->node = node;
	s->id = id;
	s->kind = kind;
	s->phase = HOST_ACTIVE;
	s->status = MF_OK;
	s->flags = 0;
	s->again = 0;
	return s;
}

/** The message counts as one of the X of its pair (EDM 3.1.2). */
static inline void host_slot_hold(struct mf_host *h, struct host_state *s)
{
	s->flags |= HOST_HOLDS_SLOT;
	h->peer[s->node].active[host_is_write(s->kind)]++;
}

/**
 * The entry as something that arrives at `at` finds it: what expires by then has expired, whether or
 * not the timer was looked at. Only entries that wait have a deadline that may have come.
 */
static inline struct host_state *host_state_find(struct mf_host *h, uint16_t node, uint8_t id, mf_time at)
{
	struct host_state *s = &h->state[host_index(h, node, id)];

	if (unlikely(at >= s->deadline) && s->phase >= HOST_ACTIVE && s->phase <= HOST_AWAIT_ACK)
		host_state_expire(h, s);
	return s;
}

#endif
