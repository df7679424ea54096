/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every policy does alike: messages take effect when their time has come, ports are released, the
 * policy matches, grants leave. Time goes in steps from event to event, so that the outcome does not
 * depend on when run() is called.
 */
#ifndef MF_SCHED_RUN_H
#define MF_SCHED_RUN_H

#include "leave.h"
#include "ports.h"
#include "queue.h"

/** Makes the matching that begins at clock. */
typedef void run_match(struct mf_sched *s);

/**
 * The eligible candidate of a destination that has the highest priority (3.1.1, steps (2) and (3)).
 * @return its place in the list; count: there is none
 */
static inline uint32_t run_best(struct mf_sched *s, const struct sched_list *l)
{
	const sched_key *keys = list_keys(l);
	uint32_t at = scan_free(keys, l->count, 0, &s->free[SCHED_SRC]);

	if (s->window)
		while (at < l->count && !ports_fit(s, keys[at]))
			at = scan_free(keys, l->count, at + 1, &s->free[SCHED_SRC]);
	return at;
}

/** Lists the destinations that are active and free. The others need not be looked at. */
static inline unsigned int run_active(struct mf_sched *s, uint16_t *list)
{
	for (unsigned int w = 0; w < s->words; w++)
		s->active.word[w] &= s->free[SCHED_DST].word[w];
	return scan_ports(&s->active, s->words, list);
}

/** Destinations of the list may have been taken out of active. */
static inline void run_activated(struct mf_sched *s)
{
	s->active_any = 0;
	for (unsigned int w = 0; w < s->words; w++)
		s->active_any |= s->active.word[w];
}

/** A destination is active no more, if so. */
static inline void run_deactivate(struct mf_sched *s, unsigned int dst, bool so)
{
	s->active.word[dst / 64] &= ~((uint64_t)so << dst % 64);
}

/**
 * When the last grant of a queue of both directions leaves: the next does not leave before (D9). One of the
 * same direction leaves behind it anyway, as its ports are in use until then. One of the other direction
 * waits for its time with the source that is the destination here.
 */
static inline mf_time run_behind(const struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	const struct mf_sched_grant *g = s->grant + dst;
	mf_time at;

	if (!s->config.ahead || s->direction)
		return 0;
	at = s->leaving.at[dst];
	return at & -(mf_time)((at != MF_NEVER) & (g->dst == src) & (g->resp != resp));
}

/** A grant of that iteration; all of it but what the queue knows. */
static inline struct mf_sched_grant *run_grant(struct mf_sched *s, unsigned int src, unsigned int dst,
					       bool resp, unsigned int iteration)
{
	mf_time until = mf_time_max(s->port[src].until[SCHED_SRC], s->port[dst].until[SCHED_DST]);
	mf_time decided = s->clock + iteration * s->config.iteration;
	mf_time at = mf_time_max(mf_time_max(decided, until), run_behind(s, src, dst, resp));
	struct mf_sched_grant *g = leave_at(s, src, at);

	g->at = at;
	g->src = src;
	g->dst = dst;
	g->resp = resp;
	g->iteration = iteration;
	return g;
}

/** Steps (4) and (5) of 3.1.1. */
static inline void run_issue(struct mf_sched *s, const struct sched_request *r, unsigned int iteration)
{
	unsigned int src = sched_key_src(r->key), dst = sched_key_dst(r->key);
	bool resp = sched_key_resp(r->key);
	struct mf_sched_grant *g = run_grant(s, src, dst, resp, iteration);
	uint32_t blocks = queue_grant(s, r, sched_queue(s, src, dst, resp), g);

	ports_take(s, g);
	ports_charge(s, src, g->at, blocks);
	s->stats.granted_octets += g->size;
}

/** Ends a matching of so many iterations, all of which granted something. */
static inline void run_matched(struct mf_sched *s, unsigned int iterations, uint64_t grants)
{
	struct mf_sched_stats *st = &s->stats;

	if (!iterations)
		return;
	st->matchings++;
	st->grants += grants;
	st->iterations += iterations;
	if (iterations > st->iterations_max)
		st->iterations_max = iterations;
	if (grants > st->matched_max)
		st->matched_max = grants;
	s->clock += iterations * s->config.iteration;
}

static inline void run_apply(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	switch (msg->kind) {
	case MF_SCHED_DEMAND:
		queue_add(s, msg);
		break;
	case MF_SCHED_FORWARDED:
		ports_forwarded(s, msg);
		break;
	case MF_SCHED_CANCEL:
		queue_cancel(s, msg);
		break;
	case MF_SCHED_HOLD:
		ports_hold(s, SCHED_DST, msg->dst);
		break;
	case MF_SCHED_UNHOLD:
		ports_unhold(s, SCHED_DST, msg->dst);
		break;
	case MF_SCHED_HOLD_SRC:
		ports_hold(s, SCHED_SRC, msg->src);
		break;
	default:
		ports_unhold(s, SCHED_SRC, msg->src);
	}
}

/**
 * Applies the messages of one instant, up to a position: by origin, those of one as they came. It makes no
 * difference when FORWARDED is applied among the others, so it is at once.
 */
static inline void run_instant(struct mf_sched *s, uint32_t end)
{
	struct sched_map origins = {{0}};
	uint16_t origin[SCHED_LIST];
	struct inbox_entry *e;
	unsigned int n;

	for (uint32_t i = s->inbox.head; i != end; i++) {
		uint32_t *chain = s->instant[(e = inbox_at(&s->inbox, i))->origin];

		if (e->msg.kind == MF_SCHED_FORWARDED) {
			ports_forwarded(s, &e->msg);
			continue;
		}
		if (sched_test(&origins, e->origin))
			inbox_at(&s->inbox, chain[1])->next = i;
		else
			chain[0] = i;
		chain[1] = i;
		sched_set(&origins, e->origin);
	}
	n = scan_ports(&origins, s->words, origin);
	for (unsigned int k = 0; k < n; k++) {
		const uint32_t *chain = s->instant[origin[k]];
		uint32_t i = chain[0], next = i;

		do {
			e = inbox_at(&s->inbox, i = next);
			next = e->next;
			run_apply(s, &e->msg);
		} while (i != chain[1]);
	}
}

/**
 * A demand of one chunk that comes when nothing else can be matched, and finds its pair's queue empty and its
 * ports free, is all of the next matching, of any policy. So it is granted without having been in the queue.
 * @return false: that is not so
 */
static inline bool run_express(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	unsigned int src = msg->src, dst = msg->dst;
	struct mf_sched_grant *g;

	if (s->active_any || s->releases <= s->clock || (msg->size > s->config.chunk && !msg->mega) ||
	    s->queue[sched_queue(s, src, dst, msg->resp)] || !sched_test(&s->free[SCHED_SRC], src) ||
	    !sched_test(&s->free[SCHED_DST], dst))
		return false;
	if (s->window &&
	    !(ports_room(s, SCHED_SRC, src, msg->size) && ports_room(s, SCHED_DST, dst, msg->size)))
		return false;
	g = run_grant(s, src, dst, msg->resp, 1);
	queue_pass(s, msg, g);
	if (s->window) {
		ports_pass(s, SCHED_SRC, src, g->size);
		ports_pass(s, SCHED_DST, dst, g->size);
	} else {
		ports_take(s, g);
		ports_charge(s, src, g->at, msg->resp ? msg->request_blocks : 1);
		ports_settle(s);
	}
	s->stats.granted_octets += g->size;
	run_matched(s, 1, 1);
	return true;
}

/** Applies what takes effect at clock: one instant after the other. */
static inline void run_inbox(struct mf_sched *s)
{
	struct inbox *b = &s->inbox;

	do {
		uint32_t end = b->head + 1;

		while (end != b->tail && inbox_at(b, end)->time == b->first)
			end++;
		if (end == b->head + 1)
			run_apply(s, &inbox_at(b, b->head)->msg);
		else
			run_instant(s, end);
		inbox_drop(b, end);
	} while (b->first <= s->clock);
}

/**
 * Messages that take effect at clock. What was forwarded before a demand makes no difference to where that
 * stands in the order of its instant.
 */
static inline void run_messages(struct mf_sched *s)
{
	struct inbox *b = &s->inbox;
	const struct inbox_entry *e;

	while ((e = inbox_at(b, b->head))->msg.kind == MF_SCHED_FORWARDED) {
		ports_forwarded(s, &e->msg);
		inbox_drop(b, b->head + 1);
		if (b->first > s->clock)
			return;
	}
	if (e->msg.kind == MF_SCHED_DEMAND &&
	    (b->head + 1 == b->tail || inbox_at(b, b->head + 1)->time > s->clock) && run_express(s, &e->msg))
		inbox_drop(b, b->head + 1);
	else
		run_inbox(s);
}

static inline __attribute__((always_inline)) unsigned int run_with(run_match *match, struct mf_sched *s,
								   mf_time now, struct mf_sched_grant *grants,
								   unsigned int max)
{
	s->out = grants;
	s->given = 0;
	s->max = max;
	for (;;) {
		mf_time t = sched_next_step(s);

		if (s->leaves <= mf_time_min(t, now))
			leave_by(s, mf_time_min(t, now));
		if (t > now || s->given == max || t == MF_NEVER)
			break;
		s->clock = t;
		if (s->inbox.first <= t)
			run_messages(s);
		if (s->releases <= t)
			ports_release(s);
		if (s->active_any)
			match(s);
	}
	s->now = mf_time_max(s->now, now);
	s->max = 0; /* input() has nowhere to write grants to */
	return s->given;
}

#endif
