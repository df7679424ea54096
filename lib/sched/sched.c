/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every policy does alike: messages come in, take effect when their time has come, ports are
 * released, the policy matches, grants leave. Time goes in steps from event to event, so that the
 * outcome does not depend on when run() is called.
 */
#include <errno.h>
#include <string.h>

#include "core.h"

/**
 * A grant that leaves at a time: where to write it. One that leaves at once is written where the caller of
 * run() wants it, as none can leave before; the others wait.
 */
static struct mf_sched_grant *new_grant(struct mf_sched *s, mf_time at)
{
	uint32_t i = s->grant_free;

	if (at <= s->clock && s->given < s->max)
		return s->out + s->given++;
	if (i)
		s->grant_free = s->leaving.node[i].next;
	else
		i = ++s->grant_used;
	calendar_add(&s->leaving, i, at);
	return s->grant + i;
}

void mf_sched_issue(struct mf_sched *s, const struct sched_request *r, unsigned int iteration)
{
	unsigned int src = sched_key_src(r->key), dst = sched_key_dst(r->key);
	uint32_t queue = sched_queue(s, src, dst, sched_key_resp(r->key)), blocks;
	mf_time at = mf_time_max(s->clock + iteration * s->config.iteration,
				 mf_time_max(s->port[src].until[SCHED_SRC], s->port[dst].until[SCHED_DST]));
	struct mf_sched_grant *g;

	if (s->queue_left)
		s->queue_left[queue] = at = mf_time_max(at, s->queue_left[queue]);
	g = new_grant(s, at);
	g->at = at;
	g->iteration = iteration;
	blocks = mf_sched_queue_grant(s, r, queue, g);
	mf_sched_ports_take(s, g);
	mf_sched_ports_charge(s, src, at, blocks);
	s->stats.grants++;
	s->stats.granted_octets += g->size;
}

void mf_sched_dismiss(struct mf_sched *s, const struct mf_sched_msg *msg, uint32_t cookie)
{
	mf_time at = mf_time_max(s->clock, s->leaving.base);

	if (cookie == MF_SCHED_NO_COOKIE)
		return;
	*new_grant(s, at) = (struct mf_sched_grant){
		.at = at,
		.since = msg->at,
		.src = msg->src,
		.dst = msg->dst,
		.id = msg->id,
		.resp = msg->resp,
		.last = true,
		.cookie = cookie,
	};
}

void mf_sched_matched(struct mf_sched *s, unsigned int iterations, uint64_t grants)
{
	struct mf_sched_stats *st = &s->stats;

	if (!iterations)
		return;
	st->matchings++;
	st->iterations += iterations;
	if (iterations > st->iterations_max)
		st->iterations_max = iterations;
	if (grants > st->matched_max)
		st->matched_max = grants;
	s->clock += iterations * s->config.iteration;
	mf_sched_ports_reopen(s);
}

/** Whose messages of equal time keep their order: the compute node's, or the port's that is held. */
static unsigned int origin(const struct mf_sched_msg *msg)
{
	switch (msg->kind) {
	case MF_SCHED_HOLD:
	case MF_SCHED_UNHOLD:
		return msg->dst;
	case MF_SCHED_HOLD_SRC:
	case MF_SCHED_UNHOLD_SRC:
		return msg->src;
	default:
		return msg->resp ? msg->dst : msg->src;
	}
}

static bool acceptable(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (msg->kind > MF_SCHED_UNHOLD_SRC || origin(msg) >= s->ports)
		return false;
	if (msg->kind >= MF_SCHED_HOLD)
		return true;
	if (msg->src >= s->ports || msg->dst >= s->ports)
		return false;
	return msg->kind != MF_SCHED_DEMAND || (msg->size && msg->size <= SCHED_SIZE_MAX);
}

/** When a message takes effect: the queues take the time of an insert, flags none. */
static mf_time effective(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	bool queued = msg->kind == MF_SCHED_DEMAND || msg->kind == MF_SCHED_CANCEL;
	mf_time insert = queued ? s->config.insert : 0;
	mf_time at = msg->at < MF_NEVER - insert ? msg->at + insert : MF_NEVER;

	return mf_time_max(at, s->now);
}

int mf_sched_input(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (!acceptable(s, msg)) {
		s->stats.dropped_bad++;
		if (msg->kind == MF_SCHED_DEMAND)
			mf_sched_dismiss(s, msg, msg->cookie);
		return 0;
	}
	if (!inbox_add(&s->inbox, effective(s, msg), origin(msg), msg)) {
		s->stats.refused++;
		return -ENOBUFS;
	}
	return 0;
}

static void apply(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	switch (msg->kind) {
	case MF_SCHED_DEMAND:
		mf_sched_queue_add(s, msg);
		break;
	case MF_SCHED_CANCEL:
		mf_sched_queue_cancel(s, msg);
		break;
	case MF_SCHED_FORWARDED:
		mf_sched_ports_forwarded(s, msg);
		break;
	case MF_SCHED_HOLD:
	case MF_SCHED_UNHOLD:
		mf_sched_ports_hold(s, SCHED_DST, msg->dst, msg->kind == MF_SCHED_HOLD);
		break;
	default:
		mf_sched_ports_hold(s, SCHED_SRC, msg->src, msg->kind == MF_SCHED_HOLD_SRC);
	}
}

static void apply_chain(struct mf_sched *s, const uint32_t *chain)
{
	for (uint32_t i = chain[0];; i = inbox_at(&s->inbox, i)->next) {
		apply(s, &inbox_at(&s->inbox, i)->msg);
		if (i == chain[1])
			break;
	}
}

/** Messages of one instant, up to a position: by origin, those of one as they came. */
static void apply_instant(struct mf_sched *s, uint32_t end)
{
	uint64_t origins[SCHED_WORDS_MAX] = {0};

	for (uint32_t i = s->inbox.head; i != end; i++) {
		struct inbox_entry *e = inbox_at(&s->inbox, i);
		uint32_t *chain = s->instant[e->origin];

		if (sched_test(origins, e->origin))
			inbox_at(&s->inbox, chain[1])->next = i;
		else
			chain[0] = i;
		chain[1] = i;
		sched_set(origins, e->origin);
	}
	for (unsigned int w = 0; w < s->words; w++)
		for (; origins[w]; origins[w] &= origins[w] - 1)
			apply_chain(s, s->instant[w * 64 + __builtin_ctzll(origins[w])]);
}

/** Applies the messages of the earliest instant. */
static void take_instant(struct mf_sched *s)
{
	const struct inbox_entry *e = inbox_at(&s->inbox, s->inbox.head);
	uint32_t end = s->inbox.head + 1;
	mf_time time = e->time;

	while (end != s->inbox.tail && inbox_at(&s->inbox, end)->time == time)
		end++;
	if (end - s->inbox.head == 1)
		apply(s, &e->msg);
	else
		apply_instant(s, end);
	inbox_drop(&s->inbox, end);
}

/** When there is something to do next. A release matters only to demands that wait. */
static mf_time next_step(const struct mf_sched *s)
{
	mf_time t = inbox_time(&s->inbox);

	if (s->active_words)
		return s->clock;
	if (s->stats.entries)
		t = mf_time_min(t, s->release.first);
	return mf_time_max(t, s->clock);
}

static void step(struct mf_sched *s, mf_time t)
{
	s->clock = t;
	while (inbox_time(&s->inbox) <= t)
		take_instant(s);
	mf_sched_ports_release(s);
	if (s->active_words)
		s->match(s);
}

/** Hands out the grants that leave by t. */
static void leave(struct mf_sched *s, mf_time t)
{
	while (s->leaving.first <= t && s->given < s->max) {
		uint32_t i = calendar_take(&s->leaving);

		s->out[s->given++] = s->grant[i];
		s->leaving.node[i].next = s->grant_free;
		s->grant_free = i;
	}
}

unsigned int mf_sched_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max)
{
	s->out = grants;
	s->given = 0;
	s->max = max;
	for (;;) {
		mf_time t = next_step(s);

		leave(s, mf_time_min(t, now));
		if (s->given == max || t > now || t == MF_NEVER)
			break;
		step(s, t);
	}
	s->now = mf_time_max(s->now, now);
	s->max = 0; /* input() has nowhere to write grants to */
	return s->given;
}

mf_time mf_sched_next(const struct mf_sched *s)
{
	return mf_time_max(s->now, mf_time_min(next_step(s), s->leaving.first));
}

void mf_sched_get_stats(const struct mf_sched *s, struct mf_sched_stats *out)
{
	*out = s->stats;
}

const struct mf_sched_ops *mf_sched_find(const char *name)
{
	static const struct mf_sched_ops *const all[] = {&mf_sched_pim, &mf_sched_greedy};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}
