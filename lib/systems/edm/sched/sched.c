/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the ops table that are the same in every policy: all but create() and run(). */
#include <errno.h>

#include "systems/edm/sched/leave.h"

static bool acceptable(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (!inbox_of_pair(msg))
		return msg->kind <= MF_SCHED_FLUSH && inbox_origin(msg) < s->ports;
	if (msg->src >= s->ports || msg->dst >= s->ports)
		return false;
	return msg->kind != MF_SCHED_DEMAND || msg->size - 1 < SCHED_SIZE_MAX;
}

/** When a message takes effect: the queues take the time of an insert, flags none. */
static mf_time effective(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	mf_time at = msg->at;

	if (msg->kind == MF_SCHED_DEMAND || msg->kind == MF_SCHED_CANCEL || msg->kind == MF_SCHED_FLUSH)
		at += mf_time_min(s->config.insert, MF_NEVER - at);
	return mf_time_max(at, s->now);
}

static uint32_t pending(const struct mf_sched *s)
{
	return s->inbox.tail - s->inbox.head + s->forwards.tail - s->forwards.head;
}

/** A message that means nothing. A demand gives its cookie back. @return false: there is no room for that */
static bool drop(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (msg->kind == MF_SCHED_DEMAND) {
		if (s->dismissed_count >= MF_SCHED_PENDING * s->ports)
			return false;
		leave_dismissed(s, msg, msg->cookie, false);
	}
	s->stats.dropped_bad++;
	return true;
}

/** @return false: there is no room */
static bool take(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (!acceptable(s, msg))
		return drop(s, msg);
	if (pending(s) == MF_SCHED_PENDING * s->ports || (msg->kind == MF_SCHED_FLUSH && s->flushing))
		return false;
	s->flushing |= msg->kind == MF_SCHED_FLUSH;
	if (msg->kind == MF_SCHED_FORWARDED)
		forwards_add(&s->forwards, effective(s, msg), msg);
	else
		inbox_add(&s->inbox, effective(s, msg), msg);
	return true;
}

int mf_sched_input(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (take(s, msg))
		return 0;
	s->stats.refused++;
	return -ENOBUFS;
}

/** Those of a burst that were forwarded, up to one that is not, or is not as it should be. */
static unsigned int input_forwarded(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n)
{
	uint32_t room = MF_SCHED_PENDING * s->ports - pending(s);
	const unsigned int ports = s->ports;
	const mf_time now = s->now;
	struct forwards *f = &s->forwards;
	mf_time last = forwards_last(f);
	unsigned int i;

	n = n < room ? n : room;
	for (i = 0; i < n && msgs[i].kind == MF_SCHED_FORWARDED; i++) {
		const struct mf_sched_msg *msg = msgs + i;
		mf_time time = mf_time_max(msg->at, now);

		if ((msg->src >= ports) | (msg->dst >= ports) | (time < last))
			break;
		*forwards_at(f, f->tail + i) = (struct forwarded){time, msg->src, msg->dst, msg->size};
		last = time;
	}
	if (i)
		forwards_append(f, i);
	return i;
}

/** ... that are demands. */
static unsigned int input_demands(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n)
{
	uint32_t room = MF_SCHED_PENDING * s->ports - pending(s);
	struct inbox *b = &s->inbox;
	mf_time last = inbox_last(b);
	unsigned int i;

	n = n < room ? n : room;
	for (i = 0; i < n && msgs[i].kind == MF_SCHED_DEMAND && acceptable(s, msgs + i); i++) {
		struct inbox_entry *e = inbox_at(b, b->tail + i);

		e->time = effective(s, msgs + i);
		e->msg = msgs[i];
		if (e->time < last)
			break;
		last = e->time;
	}
	if (i)
		inbox_append(b, i);
	return i;
}

unsigned int mf_sched_inputs(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n)
{
	for (unsigned int i = 0, taken; i < n; i += taken) {
		taken = input_forwarded(s, msgs + i, n - i);
		taken += input_demands(s, msgs + i + taken, n - i - taken);
		if (taken)
			continue;
		if (!take(s, msgs + i))
			return i;
		taken = 1;
	}
	return n;
}

unsigned int mf_sched_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max)
{
	return s->run(s, now, grants, max);
}

mf_time mf_sched_next(const struct mf_sched *s)
{
	return mf_time_max(s->now, mf_time_min(sched_next_step(s), s->leaves));
}

void mf_sched_get_stats(const struct mf_sched *s, struct mf_sched_stats *out)
{
	*out = s->stats;
}
