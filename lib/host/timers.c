/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read and write timers (EDM 3.3), quarantine, and events: steps of messages whose date is known.
 *
 * All timers of a class have one length, so a FIFO holds them in order. Events are sorted by date;
 * most are put at the end.
 */
#include "host.h"

static void wake_by(struct mf_host *h, mf_time at)
{
	if (at < h->wake)
		h->wake = at;
}

void host_timer_start(struct mf_host *h, struct host_state *s, enum host_timer_class c, mf_time from)
{
	struct host_timer *t = &h->timer[c];
	uint32_t i = host_state_index(h, s);

	s->deadline = MF_NEVER;
	if (t->timeout == 0)
		return;
	s->deadline = from + t->timeout;
	s->timer = c;
	s->next = HOST_NIL;
	s->prev = t->tail;
	if (t->tail == HOST_NIL) {
		t->head = i;
		t->at = s->deadline;
		wake_by(h, t->at);
	} else {
		h->state[t->tail].next = i;
	}
	t->tail = i;
}

/* t->at stays: a wake-up too many now and then costs less than a look at the next entry each time. */
void host_timer_stop(struct mf_host *h, struct host_state *s)
{
	struct host_timer *t;

	s->deadline = MF_NEVER;
	if (s->timer == HOST_NO_TIMER)
		return;
	t = &h->timer[s->timer];
	s->timer = HOST_NO_TIMER;
	if (s->prev == HOST_NIL)
		t->head = s->next;
	else
		h->state[s->prev].next = s->next;
	if (s->next == HOST_NIL)
		t->tail = s->prev;
	else
		h->state[s->next].prev = s->prev;
}

static bool event_before(const struct host_state *a, const struct host_state *b)
{
	if (a->event_at != b->event_at)
		return a->event_at < b->event_at;
	return (int32_t)(a->seq - b->seq) < 0;
}

/** The step that the phase of s says is taken at date. */
void host_event_put(struct mf_host *h, struct host_state *s, mf_time date)
{
	uint32_t i = host_state_index(h, s), before = h->event_tail;

	s->event_at = date;
	s->flags |= HOST_HAS_EVENT;
	while (before != HOST_NIL && event_before(s, &h->state[before]))
		before = h->state[before].event_prev;
	s->event_prev = before;
	s->event_next = before == HOST_NIL ? h->event_head : h->state[before].event_next;
	if (before == HOST_NIL)
		h->event_head = i;
	else
		h->state[before].event_next = i;
	if (s->event_next == HOST_NIL)
		h->event_tail = i;
	else
		h->state[s->event_next].event_prev = i;
	wake_by(h, date);
}

void host_event_drop(struct mf_host *h, struct host_state *s)
{
	if (!(s->flags & HOST_HAS_EVENT))
		return;
	s->flags &= (uint8_t)~HOST_HAS_EVENT;
	if (s->event_prev == HOST_NIL)
		h->event_head = s->event_next;
	else
		h->state[s->event_prev].event_next = s->event_next;
	if (s->event_next == HOST_NIL)
		h->event_tail = s->event_prev;
	else
		h->state[s->event_next].event_prev = s->event_prev;
}

/** The end of a timer is an event, too, so that all that is due is done in the order of dates. */
static void timer_expire(struct mf_host *h, struct host_state *s)
{
	if (s->phase == HOST_QUARANTINE)
		host_state_late(h, s, s->deadline);
	else
		host_state_find(h, s->node, s->id, s->deadline);
}

static void timer_run(struct mf_host *h, struct host_timer *t, mf_time now)
{
	while (t->head != HOST_NIL && h->state[t->head].deadline <= now)
		timer_expire(h, &h->state[t->head]);
	t->at = t->head == HOST_NIL ? MF_NEVER : h->state[t->head].deadline;
}

static void events_run(struct mf_host *h, mf_time now)
{
	while (h->event_head != HOST_NIL && h->state[h->event_head].event_at <= now) {
		struct host_state *s = &h->state[h->event_head];

		host_event_drop(h, s);
		host_state_step(h, s);
	}
}

/** Does what is due by now. */
void host_advance(struct mf_host *h, mf_time now)
{
	for (int c = 0; c < HOST_TIMERS; c++)
		if (h->timer[c].at <= now)
			timer_run(h, &h->timer[c], now);
	events_run(h, now);
	h->wake = h->event_head == HOST_NIL ? MF_NEVER : h->state[h->event_head].event_at;
	for (int c = 0; c < HOST_TIMERS; c++)
		wake_by(h, h->timer[c].at);
}
