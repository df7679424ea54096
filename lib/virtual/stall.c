/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is called when, where some role is stalled (mf_stall.h). */
#include "virtual/outages.h"

bool virtual_event_whole(const struct virtual *v, unsigned int i)
{
	return v->events->place[i].phase == LINK_WHOLE;
}

mf_time virtual_event_node(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct place *p = &v->events->place[i];

	return p->dead > 0 ? MF_NEVER : stalls_over(&p->stalls, t);
}

mf_time virtual_event_switch(const struct virtual *v, mf_time t)
{
	return stalls_over(&v->events->sw, t);
}

/** A receiver that has room takes what is sent at t; one that has not, only when it is awake again. */
static mf_time with_room(const struct wire *w, mf_time room, mf_time t, mf_time awake)
{
	return awake != t + w->delay && w->busy_until > awake + room ? awake - w->delay : t;
}

mf_time virtual_event_up(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct virtual_events *e = v->events;
	const struct place *p = &e->place[i];
	mf_time arrives;

	if (t == MF_NEVER || p->phase == LINK_LOST || p->dead > 0)
		return MF_NEVER;
	t = stalls_over(&p->stalls, mf_time_max(t, p->full));
	arrives = t + v->up[i].delay;
	return with_room(&v->up[i], p->room, t, mf_time_max(stalls_over(&e->sw, arrives), e->closed));
}

mf_time virtual_event_down(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct place *p = &v->events->place[i];

	if (t == MF_NEVER)
		return MF_NEVER;
	t = stalls_over(&v->events->sw, t);
	if (p->phase != LINK_WHOLE) /* what is sent is lost */
		return t;
	t = mf_time_max(t, p->full);
	return with_room(&v->down[i], p->room, t, stalls_over(&p->stalls, t + v->down[i].delay));
}

/** Blocks that start by then, of those that a sender could give out at now. */
static unsigned int blocks_until(const struct virtual *v, const struct wire *w, mf_time now, mf_time until)
{
	mf_time n = until > now ? (until - now) / w->timing->period + 1 : 1;

	return n < v->max ? (unsigned int)n : v->max;
}

/**
 * @param sender    when it stands still: what it has not sent by then goes later
 * @param receiver  and when its receiver does
 * @param awake     when that takes what starts at now
 */
static unsigned int blocks(const struct virtual *v, const struct wire *w, mf_time now,
			   const struct stalls *sender, const struct stalls *receiver, mf_time awake)
{
	mf_time until = mf_time_min(v->nodes->event_next, stalls_next(sender, now) - 1);

	if (awake != now + w->delay) /* it may have no room for the next */
		return 1;
	return blocks_until(v, w, now, mf_time_min(until, stalls_next(receiver, awake) - 1 - w->delay));
}

unsigned int virtual_event_up_blocks(const struct virtual *v, unsigned int i, mf_time now)
{
	const struct virtual_events *e = v->events;
	mf_time awake = mf_time_max(stalls_over(&e->sw, now + v->up[i].delay), e->closed);

	return blocks(v, &v->up[i], now, &e->place[i].stalls, &e->sw, awake);
}

unsigned int virtual_event_down_blocks(const struct virtual *v, unsigned int i)
{
	const struct stalls *node = &v->events->place[i].stalls;

	return blocks(v, &v->down[i], v->now, &v->events->sw, node,
		      stalls_over(node, v->now + v->down[i].delay));
}

/** When what is sent at `start` begins on a wire: its ends are awake then, and when it arrives. */
static mf_time awake_at(const struct virtual *v, const struct wire *w, mf_time start)
{
	unsigned int n = v->f->nodes, i = (unsigned int)(w - v->up);
	const struct virtual_events *e = v->events;
	const struct place *p = &e->place[i % n];
	const struct stalls *node = &p->stalls;
	bool up = i < n;
	mf_time at = stalls_over(up ? node : &e->sw, mf_time_max(start, p->full)) + w->delay;

	at = stalls_over(up ? &e->sw : node, at);
	if (up)
		at = mf_time_max(at, e->closed);
	return at - w->delay;
}

unsigned int virtual_event_date(const struct virtual *v, const struct wire *w, struct mf_span *span)
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

mf_time virtual_event_sched_next(const struct virtual *v, mf_time t)
{
	const struct stalls *s = &v->events->sched;

	return stalls_over(s, stalls_time(s, t));
}

mf_time virtual_event_sched_stalled(const struct virtual *v)
{
	mf_time over = stalls_over(&v->events->sched, v->now);

	return over == v->now ? 0 : over;
}

mf_time virtual_event_open(const struct virtual *v)
{
	const struct virtual_events *e = v->events;
	unsigned int left;

	if (e->slow || virtual_event_sched_stalled(v) != 0 || mf_sw_peek(v->sw, &left) != NULL)
		return v->now;
	return mf_time_min(v->nodes->event_next, stalls_next(&e->sched, v->now) - 1);
}

void virtual_event_date_in(const struct virtual *v, void *items, unsigned int n)
{
	const struct mf_item *item = mf_scheduler_channel(v->sched)->in;
	mf_time *at;

	for (unsigned int i = 0; i < n; i++) {
		at = mf_item_time(item, items, i);
		*at = stalls_clock(&v->events->sched, *at);
	}
}

/** What is dated by the scheduler's clock: when an item leaves, and what was before that. */
static void date_out(const struct virtual *v, const struct mf_item *item, mf_time *at)
{
	const struct mf_item_field *f = item->field;
	mf_time *before;

	*at = virtual_event_sched_next(v, *at);
	for (; f->name != NULL; f++) {
		if (f->check != MF_ITEM_TIME || f->offset == 0)
			continue;
		before = (mf_time *)(void *)((uint8_t *)at + f->offset);
		*before = mf_time_min(stalls_time(&v->events->sched, *before), *at);
	}
}

unsigned int virtual_event_sched_run(const struct virtual *v, void *out, unsigned int max)
{
	const struct mf_item *item = mf_scheduler_channel(v->sched)->out;
	unsigned int n = mf_scheduler_run(v->sched, stalls_clock(&v->events->sched, v->now), out, max);

	for (unsigned int i = 0; i < n; i++)
		date_out(v, item, mf_item_time(item, out, i));
	return n;
}

/** What is under way to the switch arrives at `closed` at the earliest, one behind the other. */
static void put_off(struct virtual *v, struct wire *w)
{
	mf_time at = v->events->closed;

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

void virtual_event_close(struct virtual *v, mf_time until)
{
	if (v->events->closed >= until)
		return;
	v->events->closed = until;
	v->arrivals.n = v->arrivals.next = 0;
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		put_off(v, &v->up[i]);
		virtual_switch_hears(v, i);
	}
}
