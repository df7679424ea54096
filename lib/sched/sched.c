/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the ops table that are the same in every policy: all but create() and run(). */
#include <errno.h>
#include <string.h>

#include "leave.h"

/** Names a pair; of the others, HOLD and UNHOLD name a destination, and the rest a source. */
static bool of_pair(const struct mf_sched_msg *msg)
{
	return msg->kind < MF_SCHED_HOLD;
}

/** Whose messages of equal time keep their order: the compute node's, or the port's that is held. */
static unsigned int origin(const struct mf_sched_msg *msg)
{
	bool dst = of_pair(msg) ? msg->resp : msg->kind <= MF_SCHED_UNHOLD;

	return msg->src ^ ((msg->src ^ msg->dst) & -(unsigned int)dst);
}

static bool acceptable(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (!of_pair(msg))
		return msg->kind <= MF_SCHED_UNHOLD_SRC && origin(msg) < s->ports;
	if (msg->src >= s->ports || msg->dst >= s->ports)
		return false;
	return msg->kind != MF_SCHED_DEMAND || msg->size - 1 < SCHED_SIZE_MAX;
}

/** When a message takes effect: the queues take the time of an insert, flags none. */
static mf_time effective(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	mf_time at = msg->at;

	if (msg->kind == MF_SCHED_DEMAND || msg->kind == MF_SCHED_CANCEL)
		at += mf_time_min(s->config.insert, MF_NEVER - at);
	return mf_time_max(at, s->now);
}

static uint32_t pending(const struct mf_sched *s)
{
	return s->inbox.tail - s->inbox.head + s->forwards.tail - s->forwards.head;
}

static int refuse(struct mf_sched *s)
{
	s->stats.refused++;
	return -ENOBUFS;
}

/** A message that means nothing. A demand gives its cookie back. */
static int drop(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (msg->kind == MF_SCHED_DEMAND) {
		if (s->dismissed_count >= MF_SCHED_PENDING * s->ports)
			return refuse(s);
		leave_dismissed(s, msg, msg->cookie);
	}
	s->stats.dropped_bad++;
	return 0;
}

int mf_sched_input(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	if (!acceptable(s, msg))
		return drop(s, msg);
	if (pending(s) == MF_SCHED_PENDING * s->ports)
		return refuse(s);
	if (msg->kind == MF_SCHED_FORWARDED)
		forwards_add(&s->forwards, effective(s, msg), msg);
	else
		inbox_add(&s->inbox, effective(s, msg), origin(msg), msg);
	return 0;
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

const struct mf_sched_ops *mf_sched_find(const char *name)
{
	static const struct mf_sched_ops *const all[] = {&mf_sched_pim, &mf_sched_greedy};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}
