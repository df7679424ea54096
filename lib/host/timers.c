/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read and write timers (EDM 3.3), quarantine, and events: steps of messages whose date is known.
 *
 * All timers of a class have one length, so a FIFO holds them in order. Events are sorted by date;
 * most are put at the end.
 */
#include "state_table.h"

#define LATE MF_MS(10) /**< a host whose thread has its CPU is never so late for a timer */
#define PATIENCE MF_MS(20) /**< so long a host that was takes what has come before it judges its timers */
#define NOT_AGAIN MF_SEC(1) /**< who is always late would wait for ever */

static bool event_before(const struct host_state *a, const struct host_state *b)
{
	if (a->event_at != b->event_at)
		return a->event_at < b->event_at;
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

/** The end of a timer is an event, too, so that all that is due is done in the order of dates. */
static void timer_expire(struct mf_host *h, struct host_state *s)
{
	if (s->phase == HOST_QUARANTINE)
		host_state_rested(h, s, s->deadline);
	else
		host_state_expire(h, s);
}

/** First entry of a timer's list; its own, whose deadline is MF_NEVER, where there is none. */
static struct host_state *timer_head(const struct mf_host *h, enum host_timer_class c)
{
	return &h->state[h->state[HOST_RINGS + c].next];
}

static void timer_run(struct mf_host *h, enum host_timer_class c, mf_time now)
{
	while (timer_head(h, c)->deadline <= now)
		timer_expire(h, timer_head(h, c));
	h->timer[c].at = timer_head(h, c)->deadline;
}

static mf_time events_run(struct mf_host *h, mf_time now)
{
	uint32_t ring = EVENT_RING, i;

	while ((i = h->state[ring].event_next) != ring) {
		struct host_state *s = &h->state[i];

		if (s->event_at > now)
			return s->event_at;
		host_event_drop(h, s);
		host_state_step(h, s);
	}
	return MF_NEVER;
}

/**
 * Wall clock: who stood still, alone or with the whole machine, has not waited for what came meanwhile, and
 * looks at that first. A switch does so, too (lib/switch/switch.c). Not with two switches: the standby forgets
 * what no operation can wait for any more, so none ends well after its timer.
 */
static bool excused(struct mf_host *h, mf_time now)
{
	mf_time due = MF_NEVER;

	if (!h->wall || h->twin != NULL)
		return false;
	if (now < h->patient_until)
		return true;
	for (enum host_timer_class c = 0; c < HOST_TIMERS; c++)
		if (c != HOST_TIMER_QUARANTINE)
			due = mf_time_min(due, timer_head(h, c)->deadline);
	if (now < h->excuse_at || now < due || now - due < LATE)
		return false;
	h->patient_until = now + PATIENCE;
	h->excuse_at = now + NOT_AGAIN;
	return true;
}

/** What has not come in time. */
static void timers_run(struct mf_host *h, mf_time now)
{
	for (enum host_timer_class c = 0; c < HOST_TIMERS; c++)
		if (h->timer[c].at <= now)
			timer_run(h, c, now);
}

/** Does what is due by now. */
HOST_ASIDE void host_advance(struct mf_host *h, mf_time now)
{
	bool patient = excused(h, now);

	if (!patient)
		timers_run(h, now);
	h->wake = events_run(h, now);
	for (enum host_timer_class c = 0; c < HOST_TIMERS; c++)
		host_wake_by(h, patient ? mf_time_max(h->timer[c].at, h->patient_until) : h->timer[c].at);
}
