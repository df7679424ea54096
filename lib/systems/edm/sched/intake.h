/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages take effect. Those of one instant do so by origin, those of one origin as they came
 * (mf_sched_msg.at). Where all are demands nothing tells the order of their origins but the cookies of those
 * that are refused: so only these are put in order.
 */
#ifndef MF_SCHED_INTAKE_H
#define MF_SCHED_INTAKE_H

#include "systems/edm/sched/issue.h"

/** What is done with a message. */
typedef void intake_apply(struct mf_sched *s, const struct mf_sched_msg *msg);

/**
 * Dismisses a demand that found no room. The sender is told that it is beyond X, unless the same demand is
 * in the queue already (it was sent again), or it is beyond the share of its pair, as a flood is.
 */
static inline void intake_dismiss(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t head = s->queue[sched_queue(s, msg->src, msg->dst, msg->resp)];

	bool told = !msg->excess || s->config.tells_excess;

	leave_dismissed(s, msg, msg->cookie, told && !queue_has(s, head, msg->resp, msg->id));
}

static inline void intake_message(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	switch (msg->kind) {
	case MF_SCHED_DEMAND:
		if (queue_add(s, msg))
			queue_wake(s, msg->src, msg->dst);
		else
			intake_dismiss(s, msg);
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
	case MF_SCHED_FLUSH:
		queue_flush(s, msg);
		break;
	default:
		ports_unhold(s, SCHED_SRC, msg->src);
	}
}

/** Puts a message behind those of its origin. */
static inline void intake_chain(struct mf_sched *s, struct sched_map *origins, uint32_t position)
{
	unsigned int origin = inbox_origin(&inbox_at(&s->inbox, position)->msg);
	uint32_t *chain = s->instant[origin];

	if (sched_test(origins, origin))
		inbox_at(&s->inbox, chain[1])->next = position;
	else
		chain[0] = position;
	chain[1] = position;
	sched_set(origins, origin);
}

/** Goes through the messages of all origins. */
static inline void intake_chains(struct mf_sched *s, const struct sched_map *origins, intake_apply *apply)
{
	uint16_t origin[SCHED_LIST];
	unsigned int n = scan_ports(origins, s->words, origin);

	for (unsigned int k = 0; k < n; k++) {
		const uint32_t *chain = s->instant[origin[k]];
		uint32_t i = chain[0], next = i;

		do {
			const struct inbox_entry *e = inbox_at(&s->inbox, i = next);

			next = e->next;
			apply(s, &e->msg);
		} while (i != chain[1]);
	}
}

/** Messages of one instant, up to a position; a flush drops what came with it. */
SCHED_PART void intake_instant(struct mf_sched *s, uint32_t end)
{
	const struct mf_sched_msg *flush = NULL;
	struct sched_map origins = {{0}};

	for (uint32_t i = s->inbox.head; i != end; i++)
		if (inbox_at(&s->inbox, i)->msg.kind == MF_SCHED_FLUSH)
			flush = &inbox_at(&s->inbox, i)->msg;
		else
			intake_chain(s, &origins, i);
	intake_chains(s, &origins, intake_message);
	if (flush)
		intake_message(s, flush);
}

/** ... that are demands. */
SCHED_PART void intake_demands(struct mf_sched *s, uint32_t end)
{
	bool open = sched_map_equal(&s->free[SCHED_SRC], &s->all);
	struct sched_map refused = {{0}};

	for (uint32_t i = s->inbox.head; i != end; i++) {
		const struct mf_sched_msg *msg = &inbox_at(&s->inbox, i)->msg;

		if (!queue_add(s, msg))
			intake_chain(s, &refused, i);
		else if (!open)
			queue_wake(s, msg->src, msg->dst);
	}
	if (open)
		ports_wake(s, &s->all);
	if (sched_map_any(&refused))
		intake_chains(s, &refused, intake_dismiss);
}

/**
 * A demand of one chunk that comes when nothing else can be matched, and finds its pair's queue empty and its
 * ports free, is all of the next matching, of any policy. So it is granted without having been in the queue.
 * @return false: that is not so
 */
static inline bool intake_express(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	unsigned int src = msg->src, dst = msg->dst;
	struct mf_sched_grant *g;

	if (s->active_any || s->releases <= s->clock || (msg->size > s->config.chunk && !msg->mega) ||
	    !sched_test(&s->free[SCHED_SRC], src) || !sched_test(&s->free[SCHED_DST], dst) ||
	    (s->stats.entries && queue_holds(s, msg->resp, src, dst)))
		return false;
	if (s->window &&
	    !(ports_room(s, SCHED_SRC, src, msg->size) && ports_room(s, SCHED_DST, dst, msg->size)))
		return false;
	g = issue_grant(s, src, dst, msg->resp, 1);
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
	issue_matched(s, 1, 1);
	return true;
}

/** Applies what takes effect at clock: one instant after the other. */
static inline void intake_instants(struct mf_sched *s)
{
	struct inbox *b = &s->inbox;

	do {
		uint32_t end = b->head;
		bool demands = true;

		for (; end != b->tail && inbox_at(b, end)->time == b->first; end++)
			demands &= inbox_at(b, end)->msg.kind == MF_SCHED_DEMAND;
		if (end == b->head + 1)
			intake_message(s, &inbox_at(b, b->head)->msg);
		else if (demands)
			intake_demands(s, end);
		else
			intake_instant(s, end);
		inbox_drop(b, end);
	} while (b->first <= s->clock);
}

/** Messages that take effect at clock. */
static inline void intake(struct mf_sched *s)
{
	struct inbox *b = &s->inbox;
	const struct inbox_entry *e = inbox_at(b, b->head);

	if (e->msg.kind == MF_SCHED_DEMAND &&
	    (b->head + 1 == b->tail || inbox_at(b, b->head + 1)->time > s->clock) &&
	    intake_express(s, &e->msg))
		inbox_drop(b, b->head + 1);
	else
		intake_instants(s);
}

#endif
