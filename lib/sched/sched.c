/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every policy does alike: messages come in, take effect when their time has come, ports are
 * released, the policy matches, grants leave. Time goes in steps from event to event, so that the
 * outcome does not depend on when run() is called.
 */
#include <errno.h>
#include <string.h>

#include "core.h"

/** l of step (4) fits the budget of both ports (D4). */
static bool fits(const struct mf_sched *s, sched_key key)
{
	unsigned int src = sched_key_src(key), dst = sched_key_dst(key);
	const struct sched_queue *q = sched_queue(s, src, dst, sched_key_resp(key));
	uint64_t size = sched_next_size(s, s->demand + q->head), window = s->config.window;
	uint64_t from = s->port[SCHED_SRC][src].outstanding, to = s->port[SCHED_DST][dst].outstanding;

	return (!from || from + size <= window) && (!to || to + size <= window);
}

sched_key mf_sched_best(const struct mf_sched *s, unsigned int dst)
{
	const uint64_t *wanted = sched_row(s, s->wanted, dst);
	const sched_key *keys = sched_key_at(s, dst, 0, false);
	bool window = s->config.release == MF_RELEASE_WINDOW;
	sched_key best = SCHED_KEY_NONE;

	for (unsigned int i = 0; i < 2 * s->words; i++) {
		for (uint64_t left = wanted[i] & s->free[SCHED_SRC][i / 2]; left; left &= left - 1) {
			unsigned int src = i / 2 * 64 + __builtin_ctzll(left);
			sched_key key = keys[2 * src + i % 2];

			if (key < best && (!window || fits(s, key)))
				best = key;
		}
	}
	return best;
}

void mf_sched_issue(struct mf_sched *s, sched_key key, unsigned int iteration)
{
	unsigned int src = sched_key_src(key), dst = sched_key_dst(key);
	struct sched_queue *q = sched_queue(s, src, dst, sched_key_resp(key));
	mf_time decided = mf_time_max(q->left, s->clock + iteration * s->config.iteration);
	mf_time at = mf_sched_ports_at(s, src, dst, decided);
	struct mf_sched_grant *g = s->grant + agenda_add(&s->leaving, at, 0);
	uint8_t request_blocks;

	q->left = at;
	g->at = at;
	g->iteration = iteration;
	request_blocks = mf_sched_queue_grant(s, key, g);
	mf_sched_ports_take(s, g);
	mf_sched_ports_charge(s, g->src, at, g->resp && g->first ? request_blocks : 1);
	s->stats.grants++;
	s->stats.granted_octets += g->size;
}

void mf_sched_dismiss(struct mf_sched *s, const struct mf_sched_msg *msg, uint32_t cookie)
{
	uint32_t slot;

	if (cookie == MF_SCHED_NO_COOKIE)
		return;
	slot = agenda_add(&s->leaving, s->clock, 0);
	s->grant[slot] = (struct mf_sched_grant){
		.at = s->clock,
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
	uint32_t slot;

	if (!acceptable(s, msg)) {
		s->stats.dropped_bad++;
		if (msg->kind == MF_SCHED_DEMAND)
			mf_sched_dismiss(s, msg, msg->cookie);
		return 0;
	}
	slot = agenda_add(&s->pending, effective(s, msg), origin(msg));
	if (!slot) {
		s->stats.refused++;
		return -ENOBUFS;
	}
	s->msg[slot] = *msg;
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

/** When there is something to do next. A release matters only to demands that wait. */
static mf_time next_step(const struct mf_sched *s)
{
	mf_time t = agenda_time(&s->pending);

	if (s->active_words)
		return s->clock;
	if (s->stats.entries && s->releases)
		t = mf_time_min(t, s->release[0].time);
	return mf_time_max(t, s->clock);
}

static void step(struct mf_sched *s, mf_time t)
{
	s->clock = t;
	for (uint32_t slot; (slot = agenda_first(&s->pending)) && s->pending.node[slot].time <= t;) {
		apply(s, s->msg + slot);
		agenda_drop(&s->pending);
	}
	mf_sched_ports_release(s);
	if (s->active_words)
		s->match(s);
}

/** Hands out the grants that leave by t. */
static unsigned int leave(struct mf_sched *s, mf_time t, struct mf_sched_grant *grants, unsigned int max)
{
	unsigned int n = 0;

	for (uint32_t slot;
	     n < max && (slot = agenda_first(&s->leaving)) && s->leaving.node[slot].time <= t;) {
		grants[n++] = s->grant[slot];
		agenda_drop(&s->leaving);
	}
	return n;
}

unsigned int mf_sched_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max)
{
	unsigned int n = 0;

	for (;;) {
		mf_time t = next_step(s);

		n += leave(s, mf_time_min(t, now), grants + n, max - n);
		if (n == max || t > now || t == MF_NEVER)
			break;
		step(s, t);
	}
	s->now = mf_time_max(s->now, now);
	return n;
}

mf_time mf_sched_next(const struct mf_sched *s)
{
	return mf_time_max(s->now, mf_time_min(next_step(s), agenda_time(&s->leaving)));
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
