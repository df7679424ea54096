/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to timers and events at every message; timers.c says how they work. */
#ifndef HOST_TIMERS_H
#define HOST_TIMERS_H

#include "base/mf_seeded_bug.h"
#include "systems/edm/host/host.h"

static inline void host_wake_by(struct mf_host *h, mf_time at)
{
	if (at < h->wake)
		h->wake = at;
}

static inline void host_timer_start(struct mf_host *h, struct host_state *s, enum host_timer_class c,
				    mf_time from)
{
	struct host_timer *t = &h->timer[c];
	uint32_t ring = HOST_RINGS + c, last = h->state[ring].prev, i = host_state_index(h, s);

	s->deadline = MF_NEVER;
	if (t->timeout == 0)
		return;
	s->deadline = from + t->timeout;
	s->flags |= HOST_TIMED;
	s->prev = last;
	s->next = ring;
	h->state[last].next = i;
	h->state[ring].prev = i;
	if (last == ring) {
		t->at = s->deadline;
		host_wake_by(h, t->at);
	}
}

/**
 * Starts the timer of an operation that has none. Its deadline is the last one, but where a piece of a long
 * transfer has ended before others were submitted.
 */
static inline void host_op_timer_start(struct mf_host *h, uint32_t i, mf_time from)
{
	struct host_op *o = &h->op[i];
	enum host_op_timer_class c = host_is_write(o->c.kind) ? HOST_OP_TIMER_WRITE : HOST_OP_TIMER_READ;
	struct host_timer *t = &h->op_timer[c];
	uint32_t ring = h->op_rings + c, before = h->op[ring].timer_prev, next;

	o->c.done = MF_NEVER;
	o->timer_prev = o->timer_next = i;
	if (t->timeout == 0 || MF_SEEDED_BUG(timer_forgotten))
		return;
	o->c.done = from + t->timeout;
	while (unlikely(before != ring && h->op[before].c.done > o->c.done))
		before = h->op[before].timer_prev;
	next = h->op[before].timer_next;
	o->timer_prev = before;
	o->timer_next = next;
	h->op[before].timer_next = i;
	h->op[next].timer_prev = i;
	if (before == ring) {
		t->at = o->c.done;
		host_wake_by(h, t->at);
	}
}

/** Its deadline stays. */
static inline void host_op_timer_stop(struct mf_host *h, uint32_t i)
{
	struct host_op *o = &h->op[i];

	h->op[o->timer_prev].timer_next = o->timer_next;
	h->op[o->timer_next].timer_prev = o->timer_prev;
	o->timer_prev = o->timer_next = i;
}

/* t->at stays: a wake-up too many now and then costs less than a look at the next entry each time. */
static inline void host_timer_stop(struct mf_host *h, struct host_state *s)
{
	s->deadline = MF_NEVER;
	if (!(s->flags & HOST_TIMED))
		return;
	s->flags &= (uint8_t)~HOST_TIMED;
	h->state[s->prev].next = s->next;
	h->state[s->next].prev = s->prev;
}

/**
 * The step that the phase of s says is taken at date. Under the wall clock that is now, the time of the
 * call: it is taken at once, and nothing ever stands in the list.
 */
static inline void host_event_put(struct mf_host *h, struct host_state *s, mf_time date)
{
	s->event_at = date;
	if (h->shell.wall)
		host_state_step(h, s);
	else
		host_event_list(h, s);
}

static inline void host_event_drop(struct mf_host *h, struct host_state *s)
{
	if (!(s->flags & HOST_HAS_EVENT))
		return;
	s->flags &= (uint8_t)~HOST_HAS_EVENT;
	h->state[s->event_prev].event_next = s->event_next;
	h->state[s->event_next].event_prev = s->event_prev;
}

#endif
