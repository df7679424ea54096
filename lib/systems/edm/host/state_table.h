/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to the message state table at every message; state_table.c says how it works. */
#ifndef HOST_STATE_TABLE_H
#define HOST_STATE_TABLE_H

#include "systems/edm/host/overtaken.h"
#include "systems/edm/host/timers.h"

/** The lowest: what was used last is in the cache. */
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

/**
 * Writes take them in turn. A plain write is over when it is sent. If it is lost its circuit stands at the
 * switch until a chunk that was granted later has come, or a timer; a write that had its id by then would be
 * taken for it, and go in front of reads that were asked before.
 */
static inline uint8_t host_id_take_next(struct host_peer *p, uint8_t *next)
{
	unsigned int w = *next / 64, id;
	uint64_t free = p->ids[w] & UINT64_MAX << *next % 64;

	while (unlikely(free == 0)) {
		w = (w + 1) % (MF_IDS / 64);
		free = p->ids[w];
	}
	p->ids[w] ^= free & -free;
	p->free_ids--;
	id = w * 64 + (unsigned int)__builtin_ctzll(free);
	*next = (uint8_t)(id + 1);
	return (uint8_t)id;
}

static inline void host_id_free(struct host_peer *p, uint8_t id)
{
	p->ids[id / 64] |= UINT64_C(1) << (id % 64);
	p->free_ids++;
}

/** Takes an entry. There is one for each id, and what was used last is in the cache. */
static inline struct host_state *host_entry_take(struct mf_host *h)
{
	struct host_state *s;

	if (unlikely(h->state_free == HOST_NIL))
		return &h->state[h->state_fresh++];
	s = &h->state[h->state_free];
	h->state_free = s->next;
	return s;
}

/** Whether a message may begin to a destination: there is an id, or one that another use of it may take. */
static inline bool host_id_there(const struct mf_host *h, uint16_t node)
{
	return likely(h->peer[node].free_ids > 0) || (h->resting && h->resting[node] > 0);
}

/** Takes an id (there must be one) and an entry for it. */
static inline struct host_state *host_state_new(struct mf_host *h, uint16_t node, uint8_t kind)
{
	struct host_peer *p = &h->peer[node];
	bool early = p->free_ids == 0;

	if (unlikely(early))
		host_id_wake(h, node);

	uint8_t id = host_is_write(kind) ? host_id_take_next(p, &h->write_next[node]) : host_id_take(p);
	struct host_state *s = host_entry_take(h);

	h->entry[host_id_index(h, node, id)] = host_state_index(h, s);
	if (unlikely(h->use != NULL)) {
		h->use[host_id_index(h, node, id)]++;
		host_asks(h, node, id);
		s->applied = 0;
	}
	s->seq = h->seq++;
	s->moved = 0;
	s->node = node;
	s->id = id;
	s->kind = kind;
	s->phase = HOST_ACTIVE;
	s->status = MF_OK;
	s->flags = 0;
	s->again = 0;
	s->mark = 0;
	s->early = early;
	s->deadline = MF_NEVER;
	return s;
}

/** The message counts as one of the X of its pair (EDM 3.1.2). */
static inline void host_slot_hold(struct mf_host *h, struct host_state *s)
{
	s->flags |= HOST_HOLDS_SLOT;
	h->peer[s->node].active[host_is_write(s->kind)]++;
}

/** What a timer's end means: a read has zero octets (EDM 3.3), the rest may or may not have happened. */
static inline uint8_t host_expiry_status(const struct host_state *s)
{
	return s->kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN;
}

static inline bool host_state_waits(const struct host_state *s)
{
	return s->phase >= HOST_ACTIVE && s->phase <= HOST_AWAIT_ACK;
}

/**
 * The entry as something that arrives at `at` finds it: what expires by then has expired, whether or
 * not the timer was looked at; unless this host had no CPU until just now (timers.c, excused()).
 */
static inline struct host_state *host_state_find(struct mf_host *h, uint16_t node, uint8_t id, mf_time at)
{
	struct host_state *s = host_state_at(h, node, id);

	if (host_state_waits(s) && unlikely(at >= s->deadline || at >= h->op[s->op].c.done) &&
	    at >= h->patient_until)
		host_state_expire(h, s);
	return s;
}

#endif
