/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a role does in a turn under the wall clock: takes a burst of what has arrived, does what is due,
 * hands on what there is. Roles of one lcore hand over to each other directly, those of different ones
 * through cells: the same calls of the roles in either case.
 */
#include <rte_branch_prediction.h>

#include "record.h"
#include "wall_port.h"

#define DESCRIPTORS RECORD_ITEMS_MAX

/** Whoever uses the node from outside. What is submitted starts in this turn. */
static unsigned int poll_guests(struct role *r, struct mf_host *h, struct mf_guest *g, mf_time now)
{
	unsigned int work = 0;

	for (; g != NULL; g = g->next)
		work += g->run(g, h, now);
	if (work > 0)
		r->next = now;
	return work;
}

static unsigned int poll_node(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	const struct node *n = &w->f->node[r->index];
	struct mf_host *h = n->host;
	unsigned int work = wall_take(&w->down[r->index], l->span, now);

	if (unlikely(n->guest != NULL))
		work += poll_guests(r, h, n->guest, now);
	/* What has come may have been dealt with: a memory node has nothing left to do. */
	if (r->given)
		r->next = mf_time_min(r->next, mf_host_next(h));
	r->given = false;
	if (r->next <= now)
		role_run(r, now);
	if (mf_host_tx_waits(h)) {
		wall_give(&w->up[r->index], r, r->index, l->span, now, &work);
		/* What went out completes writes: they are due at once. */
		r->next = mf_time_min(r->next, mf_host_next(h));
	}
	return work;
}

static unsigned int switch_send(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	uint64_t *waiting = mf_switch_tx_set(w->f->sw);
	unsigned int spans = 0;

	for (unsigned int k = 0; k <= (w->f->nodes - 1) / 64; k++)
		for (uint64_t set = waiting[k]; set != 0; set &= set - 1) {
			unsigned int p = k * 64 + (unsigned int)__builtin_ctzll(set);

			if (!mf_switch_can_rx(w->f->sw))
				return spans;
			waiting[k] ^= set & -set;
			if (!wall_give(&w->down[p], r, p, l->span, now, &spans))
				waiting[k] |= set & -set;
		}
	return spans;
}

static unsigned int poll_switch(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < w->crossed; i++)
		work += wall_take(&w->up[w->crossed_port[i]], l->span, now);
	if (mf_switch_next(w->f->sw) <= now)
		role_run(r, now);
	if (w->to_switch != NULL)
		work += wall_take_grants(w, r, now);
	work += switch_send(w, l, r, now);
	if (w->to_sched != NULL)
		wall_tell_sched(w, r, now);
	return work;
}

static unsigned int match(struct wall *w, struct role *r, mf_time now)
{
	struct mf_sched_grant grant[DESCRIPTORS];
	unsigned int granted, work = 0;

	do {
		granted = role_match(r, now, grant, DESCRIPTORS);
		for (unsigned int i = 0; i < granted; i++)
			role_grant(w->sw, now, &grant[i]);
		work += granted;
	} while (granted == DESCRIPTORS);
	return work;
}

/**
 * The scheduler of an lcore that polls the switch, too. Each demand is an instant of its own: while ports
 * have room it is granted as it comes, and need not be queued.
 */
static unsigned int poll_sched_here(struct wall *w, struct role *r, mf_time now)
{
	unsigned int told, work = 0;
	struct mf_sched_msg *msg;
	bool matched = false;

	while ((msg = role_sched_peek(w->sw, now, &told)) != NULL) {
		for (unsigned int i = 0; i < told; i++) {
			role_input(r, now, &msg[i]);
			matched = msg[i].kind == MF_SCHED_DEMAND;
			if (matched)
				work += match(w, r, now);
		}
		mf_switch_sched_advance(w->f->sw, told);
		work += told;
		/* After so many at the latest: the scheduler holds no more between two matchings. */
		if (!matched)
			work += match(w, r, now);
	}
	return r->next <= now ? work + match(w, r, now) : work;
}

unsigned int wall_poll(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	__atomic_store_n(&r->turns, r->turns + 1, __ATOMIC_RELAXED);
	switch (r->kind) {
	case ROLE_NODE:
		return poll_node(w, l, r, now);
	case ROLE_SWITCH:
		return poll_switch(w, l, r, now);
	case ROLE_PORT:
		return port_poll(w, l, r, now);
	default:
		return w->to_sched != NULL ? wall_poll_sched(w, r, now) : poll_sched_here(w, r, now);
	}
}
