/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is called when, where some role is stalled (mf_stall.h). */
#include "virtual/outages.h"

static const struct link_place *place_of(const struct virtual *v, const struct wire *w)
{
	return &v->outages->link[virtual_link(v, w)];
}

/** Those of the role that a wire leads to. */
static const struct stalls *receiver(const struct virtual *v, const struct wire *w)
{
	return w->to != NULL ? &w->to->outages->sw : &v->outages->node[w->number].stalls;
}

static const struct stalls *sender(const struct virtual *v, const struct wire *w)
{
	return receiver(v, virtual_back(v, w));
}

/** When the role that a wire leads to takes what arrives at t. */
static mf_time takes(const struct virtual *v, const struct wire *w, mf_time t)
{
	t = stalls_over(receiver(v, w), t);
	return w->to != NULL ? mf_time_max(t, w->to->outages->closed) : t;
}

bool virtual_outage_whole(const struct virtual *v, const struct wire *w)
{
	return place_of(v, w)->phase == LINK_WHOLE;
}

mf_time virtual_outage_node(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct node_place *p = &v->outages->node[i];

	return p->dead > 0 ? MF_NEVER : stalls_over(&p->stalls, t);
}

mf_time virtual_outage_switch(const struct virtual_switch *s, mf_time t)
{
	return stalls_over(&s->outages->sw, t);
}

/** A receiver that has room takes what is sent at t; one that has not, only when it is awake again. */
static mf_time with_room(const struct virtual *v, const struct wire *w, mf_time t)
{
	mf_time awake = takes(v, w, t + w->delay);

	return awake != t + w->delay && w->busy_until > awake + place_of(v, w)->room ? awake - w->delay : t;
}

mf_time virtual_outage_node_sends(const struct virtual *v, unsigned int i, const struct wire *w, mf_time t)
{
	const struct node_place *n = &v->outages->node[i];
	const struct link_place *p = place_of(v, w);

	if (t == MF_NEVER || p->phase == LINK_LOST || n->dead > 0)
		return MF_NEVER;
	return with_room(v, w, stalls_over(&n->stalls, mf_time_max(t, p->full)));
}

mf_time virtual_outage_port_sends(const struct virtual_switch *s, unsigned int i, mf_time t)
{
	const struct wire *w = s->out[i];
	const struct link_place *p = place_of(s->v, w);

	if (t == MF_NEVER)
		return MF_NEVER;
	t = stalls_over(&s->outages->sw, t);
	if (p->phase != LINK_WHOLE) /* what is sent is lost */
		return t;
	return with_room(s->v, w, mf_time_max(t, p->full));
}

/** Blocks that start by then, of those that a sender could give out at v->now. */
static unsigned int blocks_until(const struct virtual *v, const struct wire *w, mf_time until)
{
	mf_time n = until > v->now ? (until - v->now) / w->timing->period + 1 : 1;

	return n < v->max ? (unsigned int)n : v->max;
}

unsigned int virtual_outage_blocks(const struct virtual *v, const struct wire *w)
{
	/* When the sender stands still: what it has not sent by then goes later. The same of the receiver. */
	mf_time until = mf_time_min(v->outage_next, stalls_next(sender(v, w), v->now) - 1);
	mf_time awake = takes(v, w, v->now + w->delay);

	if (awake != v->now + w->delay) /* it may have no room for the next */
		return 1;
	return blocks_until(v, w, mf_time_min(until, stalls_next(receiver(v, w), awake) - 1 - w->delay));
}

/** When what is sent at `start` begins on a wire: its ends are awake then, and when it arrives. */
static mf_time awake_at(const struct virtual *v, const struct wire *w, mf_time start)
{
	mf_time t = stalls_over(sender(v, w), mf_time_max(start, place_of(v, w)->full));

	return takes(v, w, t + w->delay) - w->delay;
}

unsigned int virtual_outage_date(const struct virtual *v, const struct wire *w, struct mf_span *span)
{
	mf_time start = span->start;
	unsigned int n = 1;

	span->start = awake_at(v, w, start);
	if (w->busy_until != 0 && w->busy_until + span->period > span->start + w->delay)
		span->start = w->busy_until + span->period - w->delay;
	while (n < span->count && awake_at(v, w, start + (mf_time)n * span->period) <= mf_span_at(span, n))
		n++;
	return n;
}

/* The scheduler. Its clock stands still while it, or its switch, is stalled: no port is released then. */

mf_time virtual_outage_sched_next(const struct virtual_switch *s, mf_time t)
{
	const struct stalls *st = &s->outages->sched;

	return stalls_over(st, stalls_time(st, t));
}

mf_time virtual_outage_sched_stalled(const struct virtual_switch *s)
{
	mf_time over = stalls_over(&s->outages->sched, s->v->now);

	return over == s->v->now ? 0 : over;
}

mf_time virtual_outage_open(const struct virtual_switch *s)
{
	const struct virtual *v = s->v;
	unsigned int left;

	if (v->outages->slow || virtual_outage_sched_stalled(s) != 0 || mf_sw_peek(s->sw, &left) != NULL)
		return v->now;
	return mf_time_min(v->outage_next, stalls_next(&s->outages->sched, v->now) - 1);
}

void virtual_outage_date_in(const struct virtual_switch *s, void *items, unsigned int n)
{
	const struct mf_item *item = mf_scheduler_channel(s->sched)->in;
	mf_time *at;

	for (unsigned int i = 0; i < n; i++) {
		at = mf_item_time(item, items, i);
		*at = stalls_clock(&s->outages->sched, *at);
	}
}

/** What is dated by the scheduler's clock: when an item leaves, and what was before that. */
static void date_out(const struct virtual_switch *s, const struct mf_item *item, mf_time *at)
{
	const struct mf_item_field *f = item->field;
	mf_time *before;

	*at = virtual_outage_sched_next(s, *at);
	for (; f->name != NULL; f++) {
		if (f->check != MF_ITEM_TIME || f->offset == 0)
			continue;
		before = (mf_time *)(void *)((uint8_t *)at + f->offset);
		*before = mf_time_min(stalls_time(&s->outages->sched, *before), *at);
	}
}

unsigned int virtual_outage_sched_run(const struct virtual_switch *s, void *out, unsigned int max)
{
	const struct mf_item *item = mf_scheduler_channel(s->sched)->out;
	unsigned int n = mf_scheduler_run(s->sched, stalls_clock(&s->outages->sched, s->v->now), out, max);

	for (unsigned int i = 0; i < n; i++)
		date_out(s, item, mf_item_time(item, out, i));
	return n;
}

/** What is under way to the switch arrives at `closed` at the earliest, one behind the other. */
static void put_off(const struct virtual_switch *s, struct wire *w)
{
	mf_time at = s->outages->closed;

	for (uint32_t i = 0; i < wire_flights(w); i++) {
		struct wire_entry *x = wire_flight(w, i);

		x->flight->start = mf_time_max(x->flight->start, at);
		x->due = mf_time_max(x->due, flight_due(w, x->flight));
		at = flight_last(x->flight) + x->flight->period;
		w->busy_until = mf_time_max(w->busy_until, at - x->flight->period);
	}
	if (wire_flights(w) > 0)
		w->due = wire_flight(w, 0)->due;
}

void virtual_outage_close(struct virtual_switch *s, mf_time until)
{
	if (s->outages->closed >= until)
		return;
	s->outages->closed = until;
	s->arrivals.n = s->arrivals.next = 0;
	for (unsigned int i = 0; i < s->ports; i++) {
		put_off(s, &s->in[i]);
		virtual_switch_hears(s, i);
	}
}
