/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of messages, quarantine, and events: steps of messages whose date is known. Operations have timers
 * of their own (op_timer.c).
 *
 * All timers of a class have one length, so a FIFO holds them in order. Events are sorted by date;
 * most are put at the end.
 */
#include "systems/edm/host/state_table.h"

#define LATE MF_MS(10) /**< a host whose thread has its CPU is never so late for a timer */
#define PATIENCE MF_MS(20) /**< so long a host that was takes what has come before it judges its timers */
#define NOT_AGAIN MF_SEC(1) /**< who is always late would wait for ever */

static bool event_before(const struct host_state *a, const struct host_state *b)
{
	if (a->event_at != b->event_at)
		return a->event_at < b->event_at;
	if ((a->phase == HOST_SENT) != (b->phase == HOST_SENT))
		return b->phase == HOST_SENT;
	return (int32_t)(a->seq - b->seq) < 0;
}

#define EVENT_RING (HOST_RINGS + HOST_TIMERS)

/** Enters s by its date. */
void host_event_list(struct mf_host *h, struct host_state *s)
{
	uint32_t i = host_state_index(h, s), ring = EVENT_RING, before = h->state[ring].event_prev;

	s->flags |= HOST_HAS_EVENT;
	while (before != ring && event_before(s, &h->state[before]))
		before = h->state[before].event_prev;
	s->event_prev = before;
	s->event_next = h->state[before].event_next;
	h->state[before].event_next = i;
	h->state[s->event_next].event_prev = i;
	host_wake_by(h, s->event_at);
}

/** @param sent  what is sent at `now` has been, and not only what was before it */
static mf_time events_run(struct mf_host *h, mf_time now, bool sent)
{
	uint32_t ring = EVENT_RING, i;

	while ((i = h->state[ring].event_next) != ring) {
		struct host_state *s = &h->state[i];

		if (s->event_at > now || (s->event_at == now && s->phase == HOST_SENT && !sent))
			return s->event_at;
		host_event_drop(h, s);
		host_state_step(h, s);
	}
	return MF_NEVER;
}

/** First entry of a timer's list; its own, whose deadline is MF_NEVER, where there is none. */
static struct host_state *timer_head(const struct mf_host *h, enum host_timer_class c)
{
	return &h->state[h->state[HOST_RINGS + c].next];
}

static uint32_t op_timer_head(const struct mf_host *h, enum host_op_timer_class c)
{
	return h->op[h->op_rings + c].timer_next;
}

static bool timer_due(const struct mf_host *h, mf_time now)
{
	bool due = false;

	for (int c = 0; c < HOST_TIMERS; c++)
		due |= h->timer[c].at <= now;
	for (int c = 0; c < HOST_OP_TIMERS; c++)
		due |= h->op_timer[c].at <= now;
	return due;
}

/** Looks at the lists. @return the earliest deadline */
static mf_time timers_look(struct mf_host *h)
{
	mf_time first = MF_NEVER;

	for (enum host_timer_class c = 0; c < HOST_TIMERS; c++) {
		h->timer[c].at = timer_head(h, c)->deadline;
		first = mf_time_min(first, h->timer[c].at);
	}
	for (enum host_op_timer_class c = 0; c < HOST_OP_TIMERS; c++) {
		h->op_timer[c].at = h->op[op_timer_head(h, c)].c.done;
		first = mf_time_min(first, h->op_timer[c].at);
	}
	return first;
}

/** Ends one of the timers of a date. Under the wall clock an operation fails when it is told so. */
static void timer_expire(struct mf_host *h, mf_time date, mf_time now)
{
	for (enum host_op_timer_class c = 0; c < HOST_OP_TIMERS; c++)
		if (h->op[op_timer_head(h, c)].c.done == date) {
			host_op_expire(h, op_timer_head(h, c), h->shell.wall ? now : date);
			return;
		}
	for (enum host_timer_class c = 0; c < HOST_TIMERS; c++) {
		struct host_state *s = timer_head(h, c);

		if (s->deadline == date && c == HOST_TIMER_QUARANTINE)
			host_state_rested(h, s, date);
		else if (s->deadline == date && c == HOST_TIMER_GRANTS)
			host_state_opens(h, s, date);
		else if (s->deadline == date)
			host_state_expire(h, s);
		else
			continue;
		return;
	}
}

/** The first timer that has ended: behind what was before it, so that all is done in the order of dates. */
static void timers_run(struct mf_host *h, mf_time now)
{
	mf_time first = timers_look(h);

	if (first > now)
		return;
	events_run(h, first - 1, true);
	if (timers_look(h) == first)
		timer_expire(h, first, now);
}

/**
 * Wall clock: who stood still, alone or with the whole machine, has not waited for what came meanwhile, and
 * looks at that first. A switch does so, too (lib/systems/edm/switch/switch.c). Not with two switches: the
 * standby forgets what no operation can wait for any more, so none ends well after its timer.
 */
static bool excused(struct mf_host *h, mf_time now)
{
	mf_time due;

	if (!h->shell.wall || h->redundancy != NULL)
		return false;
	if (now < h->patient_until)
		return true;
	due = timer_head(h, HOST_TIMER_RETRY)->deadline;
	for (enum host_op_timer_class c = 0; c < HOST_OP_TIMERS; c++)
		due = mf_time_min(due, h->op[op_timer_head(h, c)].c.done);
	if (now < h->excuse_at || now < due || now - due < LATE)
		return false;
	h->patient_until = now + PATIENCE;
	h->excuse_at = now + NOT_AGAIN;
	return true;
}

static void wake_at_timer(struct mf_host *h, mf_time at, bool patient)
{
	host_wake_by(h, patient ? mf_time_max(at, h->patient_until) : at);
}

static void advance(struct mf_host *h, mf_time now, bool sent)
{
	bool patient = excused(h, now);

	while (unlikely(!patient && timer_due(h, now)))
		timers_run(h, now);
	h->wake = events_run(h, now, sent);
	for (int c = 0; c < HOST_TIMERS; c++)
		wake_at_timer(h, h->timer[c].at, patient);
	for (int c = 0; c < HOST_OP_TIMERS; c++)
		wake_at_timer(h, h->op_timer[c].at, patient);
}

/** Does what is due by now. */
HOST_ASIDE void host_advance(struct mf_host *h, mf_time now)
{
	advance(h, now, true);
}

/** ... before something that arrives: what is sent at the same time is so behind that. */
HOST_ASIDE void host_advance_rx(struct mf_host *h, mf_time now)
{
	advance(h, now, false);
}
