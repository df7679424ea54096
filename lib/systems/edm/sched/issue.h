/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grants of a matching: steps (4) and (5) of 3.1.1. They are made one after the other without a branch
 * on whether a demand is granted in full, which nobody could foretell. When all are made, those that are
 * leave their queues, and of the others the priority rises.
 */
#ifndef MF_SCHED_ISSUE_H
#define MF_SCHED_ISSUE_H

#ifdef __BMI2__
#include <immintrin.h>
#endif

#include "systems/edm/sched/leave.h"
#include "systems/edm/sched/ports.h"
#include "systems/edm/sched/queue.h"

static inline unsigned int issue_src(const struct sched_request *r)
{
	return r->low >> SCHED_KEY_SRC & 0x1ff;
}

static inline unsigned int issue_dst(const struct sched_request *r)
{
	return r->low >> SCHED_KEY_DST & 0x1ff;
}

static inline bool issue_resp(const struct sched_request *r)
{
	return r->low >> SCHED_KEY_RESP & 1;
}

static inline sched_key issue_key(const struct sched_request *r)
{
	return (sched_key)r->high << 64 | r->low;
}

static inline uint32_t issue_queue(const struct mf_sched *s, const struct sched_request *r)
{
	return sched_queue(s, issue_src(r), issue_dst(r), issue_resp(r));
}

/**
 * When the last grant of a queue of both directions leaves: the next does not leave before (D9). One of the
 * same direction leaves behind it anyway, as its ports are in use until then. One of the other direction
 * waits for its time with the source that is the destination here.
 */
static inline mf_time issue_behind(const struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	const struct mf_sched_grant *g = s->grant + dst;
	mf_time at;

	if (!s->config.ahead || s->direction)
		return 0;
	at = s->leaving.at[dst];
	return at & -(mf_time)((at != MF_NEVER) & (g->dst == src) & (g->resp != resp));
}

/** A grant of that iteration; all of it but what the queue knows. */
static inline struct mf_sched_grant *issue_grant(struct mf_sched *s, unsigned int src, unsigned int dst,
						 bool resp, unsigned int iteration)
{
	mf_time at = s->clock + iteration * s->config.iteration;
	struct mf_sched_grant *g;

	if (!s->window) {
		mf_time until = mf_time_max(s->until[SCHED_SRC][src], s->until[SCHED_DST][dst]);

		at = mf_time_max(mf_time_max(at, until), issue_behind(s, src, dst, resp));
	}
	g = leave_at(s, src, at);
	g->at = at;
	g->src = src;
	g->dst = dst;
	g->resp = resp;
	g->iteration = iteration;
	return g;
}

/** Whether the next grant of a demand leaves its queue to no other, to be granted in the same matching. */
static inline bool issue_goes_on(const struct mf_sched *s, const struct sched_demand *e)
{
	return !e->next | (e->remaining > s->config.chunk);
}

/** Grants a request. @return the grant */
static inline const struct mf_sched_grant *issue_one(struct mf_sched *s, struct sched_request *r)
{
	unsigned int src = issue_src(r), dst = issue_dst(r);
	struct mf_sched_grant *g = issue_grant(s, src, dst, issue_resp(r), r->iteration);
	uint32_t blocks;

	blocks = queue_grant(s, s->demand + r->demand, g);
	if (s->window) {
		sched_clear(&s->free[SCHED_SRC], src);
		sched_clear(&s->free[SCHED_DST], dst);
		ports_load(s, SCHED_SRC, src, g->size);
		ports_load(s, SCHED_DST, dst, g->size);
	} else {
		ports_take(s, g);
		ports_charge(s, src, g->at, blocks);
	}
	return g;
}

/** Grants requests. */
SCHED_PART void issue_all(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	unsigned int n = list->n, done = 0, left = 0;
	uint64_t octets = 0;

	for (unsigned int k = 0; k < n; k++) {
		const struct mf_sched_grant *g;

		g = issue_one(s, list->request + k);

		octets += g->size;
		list->done_of[done] = list->left_of[left] = k;
		done += g->last;
		left += !g->last;
	}
	list->done = done;
	list->left = left;
	s->stats.granted_octets += octets;
}

/** Which demands are granted. They are far away, so others are granted before they are looked at. */
static inline void issue_find(struct mf_sched *s)
{
	const struct sched_demand *demand = s->demand;
	const uint32_t *queue = s->queue;
	struct sched_issues *list = &s->issues;

	for (unsigned int k = list->found; k < list->n; k++) {
		uint32_t i = queue[list->request[k].demand];

		list->request[k].demand = i;
		__builtin_prefetch(demand + i, 1);
		__builtin_prefetch(&demand[i].flags, 1); /* which may be in the next line */
	}
	list->found = list->n;
}

/** A grant as the words that it is stored in. */
struct issue_words {
	mf_time at, since;
	uint64_t names; /* dst, resp, id, src, first, last */
	uint64_t size; /* mega, size */
	uint32_t cookie, iteration;
} __attribute__((may_alias));

static_assert(sizeof(struct issue_words) == sizeof(struct mf_sched_grant), "grant");

/** dst, resp, id and src of a key, from its bit of dst on, at their places in issue_words.names. */
static inline uint64_t issue_names(uint64_t key)
{
#ifdef __BMI2__
	return _pdep_u64(key, UINT64_C(0x1ffff0101ff));
#else
	return (key & 0x1ff) | (key >> 9 & 1) << 16 | (key >> 10 & 0xff) << 24 | (key >> 18 & 0x1ff) << 32;
#endif
}
static_assert(SCHED_KEY_RESP == SCHED_KEY_DST + 9 && SCHED_KEY_ID == SCHED_KEY_DST + 10 &&
		      SCHED_KEY_SRC == SCHED_KEY_DST + 18,
	      "names of a key");

/**
 * The grants of requests up to one, which leave at once.
 * @param megas  there may be some among them
 */
static inline void issue_write_with(struct mf_sched *s, unsigned int end, bool megas)
{
	struct sched_issues *list = &s->issues;
	struct mf_sched_grant *g = s->out + s->given;
	const struct sched_request *r = list->request;
	struct sched_demand *demand = s->demand;
	const uint32_t chunk = s->config.chunk;
	const mf_time at = s->clock;
	unsigned int done = list->written ? list->done : 0;
	uint64_t octets = list->octets;

	for (unsigned int k = list->written; k < end; k++) {
		struct issue_words *w = (struct issue_words *)(g + k);
		struct sched_demand *e = demand + r[k].demand;
		uint64_t low = r[k].low, mega = megas & low;
		uint32_t rest = e->remaining, size = chunk | -(uint32_t)mega, flags = e->flags;

		size = size < rest ? size : rest;
		w->at = at;
		w->since = e->since;
		w->names = issue_names(low >> SCHED_KEY_DST) |
			   (uint64_t)(~flags & SCHED_STARTED) << (48 - 2) | (uint64_t)(size == rest) << 56;
		w->size = mega | (uint64_t)size << 32;
		w->cookie = e->cookie;
		w->iteration = r[k].iteration;
		e->remaining = rest - size;
		e->flags = flags | SCHED_STARTED;
		octets += size;
		list->left_of[k - done] = list->done_of[done] = k;
		done += size == rest;
	}
	list->written = end;
	list->octets = octets;
	list->done = done;
	list->left = end - done;
}

static inline void issue_write(struct mf_sched *s, unsigned int end)
{
	if (s->megas)
		issue_write_with(s, end, true);
	else
		issue_write_with(s, end, false);
}

/** WINDOW: the ports of grants have more outstanding. */
SCHED_PART void issue_load(struct mf_sched *s, const struct mf_sched_grant *g, unsigned int n)
{
	for (const struct mf_sched_grant *end = g + n; g < end; g++) {
		ports_load(s, SCHED_SRC, g->src, g->size);
		ports_load(s, SCHED_DST, g->dst, g->size);
	}
}

/** WIRE: what tells the sources of grants to send takes their links. */
SCHED_PART void issue_charge(struct mf_sched *s, const struct mf_sched_grant *g,
			     const struct sched_request *r, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++, g++) {
		const struct sched_demand *e = s->demand + r[k].demand;

		ports_charge(s, g->src, g->at, (g->resp && g->first) ? queue_request(e->flags) : 1);
	}
}

/** Grants that all leave now. */
SCHED_PART void issue_here(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	struct mf_sched_grant *g = s->out + s->given;
	unsigned int n = list->n;
	bool even;

	issue_write(s, n);
	even = !s->megas && list->octets == (uint64_t)n * s->config.chunk;
	s->stats.granted_octets += list->octets;
	s->given += n;
	if (s->window) {
		issue_load(s, g, n);
		return;
	}
	ports_take_all(s, g, n, even);
	if (s->config.release == MF_RELEASE_WIRE)
		issue_charge(s, g, list->request, n);
}

/** Whether grants leave when they are made: a free port's last grant is over, but where it is taken ahead. */
static inline bool issue_at_once(const struct mf_sched *s, unsigned int n)
{
	return !s->config.iteration && !s->config.slots && (s->window || !s->config.ahead) &&
	       s->given + n <= s->max;
}

static inline bool issue_alone(const struct mf_sched *s, unsigned int src, unsigned int dst)
{
	uint64_t others = s->list[dst].count;

	for (unsigned int w = 0; w < s->words; w++)
		others |= sched_order(s, 0, src)[w] | sched_order(s, 1, src)[w];
	return !others;
}

/** Demands that are granted in full leave: all of them before others take over, so that places hold. */
SCHED_PART void issue_done(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	unsigned int n = list->done, followed = 0;
	bool alone = list->alone;

	for (unsigned int k = 0; k < n; k++) {
		const struct sched_request *r = list->request + list->done_of[k];
		unsigned int src = issue_src(r), dst = issue_dst(r);
		const struct sched_list *l = s->list + dst;

		__builtin_prefetch(list_room(l), 1);
		__builtin_prefetch(list_far(l, SCHED_NAMED), 1);
		__builtin_prefetch(list_at(l, r->at), 1);
		__builtin_prefetch(sched_order(s, issue_resp(r), src) + dst / 64, 1);
	}
	for (unsigned int k = 0; k < n; k++) {
		const struct sched_request *r = list->request + list->done_of[k];
		unsigned int src = issue_src(r), dst = issue_dst(r);

		queue_withdraw(s, r->at, issue_resp(r), src, dst);
		if (s->demand[r->demand].next)
			list->done_of[followed++] = list->done_of[k];
		else
			queue_give_demand(s, r->demand, dst);
		alone = alone && !followed && issue_alone(s, src, dst);
	}
	list->done = followed;
	list->alone = alone;
}

/** Others take over. */
static inline void issue_follow(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;

	for (unsigned int k = 0; k < list->done; k++) {
		const struct sched_request *r = list->request + list->done_of[k];
		unsigned int dst = issue_dst(r);

		queue_succeed(s, issue_queue(s, r), issue_src(r), dst);
		queue_give_demand(s, r->demand, dst);
	}
}

/** What was not granted in full has a higher priority now: which one is in the requests. */
SCHED_PART void issue_rise(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	struct sched_list *lists = s->list;
	unsigned int behind = 0;

	for (unsigned int k = 0; k < list->left; k++) { /* most are the first in a list */
		const struct sched_request *r = list->request + list->left_of[k];

		if (r->at)
			list->behind[behind++] = list->left_of[k];
		else
			lists[issue_dst(r)].few[0] = issue_key(r);
	}
	for (unsigned int k = 0; k < behind; k++) {
		struct sched_request *r = list->request + list->behind[k];

		r->at = list_raise(lists + issue_dst(r), r->at, issue_key(r));
	}
}

/** Raises those that were not granted in full, by what they still want. */
SCHED_PART void issue_raise(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;

	if (s->config.priority == MF_SCHED_FCFS)
		return;
	for (unsigned int k = 0; k < list->left; k++) {
		struct sched_request *r = list->request + list->left_of[k];

		r->high = queue_lower(s, s->demand + r->demand, issue_key(r)) >> 64;
	}
	issue_rise(s);
}

/** The same where each was granted a chunk. */
static inline void issue_raise_evenly(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	const uint64_t chunk = (uint64_t)s->config.chunk << (SCHED_KEY_OCTETS - 64);

	if (s->config.priority == MF_SCHED_FCFS)
		return;
	for (unsigned int k = 0; k < list->left; k++)
		list->request[list->left_of[k]].high -= chunk;
	issue_rise(s);
}

/** The k-th request that is granted, in that iteration. Its destination is not free any more. */
static inline void issue_add(struct mf_sched *s, unsigned int k, sched_key key, uint16_t at,
			     unsigned int iteration)
{
	struct sched_request *r = s->issues.request + k;

	sched_clear(&s->free[SCHED_DST], sched_key_dst(key));
	r->low = (uint64_t)key;
	r->high = (uint64_t)(key >> 64);
	r->demand = sched_queue(s, sched_key_src(key), sched_key_dst(key), sched_key_resp(key));
	r->at = at;
	r->iteration = iteration;
	__builtin_prefetch(s->queue + r->demand);
}

/** The grants of requests. */
static inline void issue(struct mf_sched *s)
{
	issue_find(s);
	s->issues.alone = s->window;
	if (issue_at_once(s, s->issues.n))
		issue_here(s);
	else
		issue_all(s);
	s->issues.n = s->issues.found = s->issues.written = 0;
	s->issues.octets = 0;
	issue_done(s);
	if (s->config.slots)
		issue_raise(s);
	else
		issue_raise_evenly(s);
	issue_follow(s);
	ports_settle(s);
	if (!s->window)
		ports_begin(s);
}

/** Ends a matching of so many iterations, all of which granted something. */
static inline void issue_matched(struct mf_sched *s, unsigned int iterations, uint64_t grants)
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

#endif
