/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a role does in a turn under the wall clock: takes a burst of what has arrived, does what is due,
 * hands on what there is. Roles of one lcore hand over to each other directly, those of different ones
 * through cells: the same calls of the roles in either case.
 */
#include <rte_branch_prediction.h>

#include "record/mf_record.h"
#include "wall/link_end.h"

#define ITEMS RECORD_ITEMS_MAX

/** Whoever uses the node from outside. What is submitted starts in this turn. */
static __rte_noinline unsigned int poll_embedded(struct role *r, struct mf_node *h,
						 struct mf_embedded_client *g, mf_time now)
{
	unsigned int work = 0;

	for (; g != NULL; g = g->next)
		work += g->run(g, h, now);
	if (work > 0)
		r->next = now;
	return work;
}

/** A node's own turn, behind what has come. @return how much work it found */
static __rte_always_inline unsigned int run_node(struct wall *w, struct role *r, mf_time now)
{
	const struct node *n = &w->f->node[r->index];
	unsigned int work = 0;

	if (unlikely(n->embedded != NULL))
		work += poll_embedded(r, n->host, n->embedded, now);
	if (unlikely(r->channel != NULL) && w->memory[r->index].to_slow != NULL)
		work += wall_exchange_memory(w, r, now);
	/* What has come may have been dealt with: a memory node has nothing left to do. */
	if (r->given)
		r->next = mf_time_min(r->next, mf_below_next(&n->below));
	r->given = false;
	if (r->next <= now)
		role_run(r, now);
	return work;
}

static unsigned int poll_node(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	struct mf_node *h = r->host;
	unsigned int work = wall_take(wall_in(w, r->first_end), l->span, now);

	work += run_node(w, r, now);
	if (mf_node_tx_waits(h)) {
		role_is(r, ROLE_NODE);
		wall_give(&w->line[r->first_end], r, r->index, l->span, now, &work);
		/* What went out completes writes: they are due at once. */
		r->next = mf_time_min(r->next, mf_below_next(&w->f->node[r->index].below));
	}
	return work;
}

/** Of a node whose ends send apart. */
static __rte_noinline unsigned int poll_ends(struct wall *w, struct wall_lcore *l, struct role *r,
					     mf_time now)
{
	unsigned int ends = w->f->graph->role[r->index].ends, work = 0, spans;

	for (unsigned int k = 0; k < ends; k++)
		work += wall_take(wall_in(w, r->first_end + k), l->span, now);
	work += run_node(w, r, now);
	for (unsigned int k = 0; k < ends; k++) {
		if (!role_tx_waits(r, k))
			continue;
		spans = 0;
		wall_give(&w->line[r->first_end + k], r, k, l->span, now, &spans);
		work += spans;
		r->next = mf_time_min(r->next, mf_below_next(&w->f->node[r->index].below));
	}
	return work;
}

static __rte_noinline unsigned int poll_redundant(struct wall *w, struct wall_lcore *l, struct role *r,
						  mf_time now)
{
	struct mf_node *h = r->host;
	unsigned int work = redundancy_take(w, l, r, now);

	if (likely(mf_node_has_primary(h)))
		work += run_node(w, r, now);
	else
		role_run(r, now); /* the host asks for the epoch; client and embedded clients wait */
	if (mf_node_tx_waits(h)) {
		work += redundancy_give(w, l, r, now);
		r->next = mf_time_min(r->next, mf_below_next(&w->f->node[r->index].below));
	}
	return work;
}

/* A switch's turn is compiled twice: for one of two, and for one alone. */

static __rte_always_inline unsigned int switch_send(struct wall *w, struct wall_switch *s,
						    struct wall_lcore *l, struct role *r, mf_time now,
						    bool two)
{
	struct wall_link *line = &w->line[s->first_end];
	uint64_t *waiting = mf_sw_tx_set(r->sw);
	unsigned int words = (s->ports + 63) / 64, spans = 0;

	for (unsigned int k = 0; k < words; k++)
		for (uint64_t set = waiting[k]; set != 0; set &= set - 1) {
			unsigned int p = k * 64 + (unsigned int)__builtin_ctzll(set);

			if (!mf_sw_can_rx(r->sw))
				return spans;
			waiting[k] ^= set & -set;
			role_is(r, ROLE_SWITCH);
			if (two && unlikely(!wall_end_whole(&w->end[s->first_end + p])))
				redundancy_discard(r, p, l->span, now);
			else if (!wall_give(&line[p], r, p, l->span, now, &spans))
				waiting[k] |= set & -set;
		}
	return spans;
}

static __rte_always_inline unsigned int turn_switch(struct wall *w, struct wall_switch *s,
						    struct wall_lcore *l, struct role *r, mf_time now,
						    bool two)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < s->crosses; i++)
		work += wall_take(s->crossed[i], l->span, now);
	if (mf_sw_next(r->sw) <= now)
		role_run(r, now);
	if (s->to_switch != NULL)
		work += wall_take_grants(s, r, now);
	work += switch_send(w, s, l, r, now, two);
	if (s->to_sched != NULL)
		wall_tell_sched(s, r, now);
	return work;
}

static __rte_noinline unsigned int poll_one_of_two(struct wall *w, struct wall_lcore *l, struct role *r,
						   mf_time now)
{
	redundancy_look(w, r, now);
	return turn_switch(w, &w->sw[r->index], l, r, now, true);
}

static unsigned int poll_switch(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	struct wall_switch *s = &w->sw[r->index];

	if (unlikely(w->redundant))
		return poll_one_of_two(w, l, r, now);
	if (unlikely(s->routes_seen != atomic_load_explicit(&w->route_news, memory_order_relaxed)))
		wall_routes_look(w, s, now);
	return turn_switch(w, s, l, r, now, false);
}

static unsigned int match(struct wall_switch *s, struct role *r, mf_time now)
{
	uint64_t items[ITEMS * MF_ITEM_WORDS];
	unsigned int n, work = 0;

	do {
		n = role_take(r, now, items, ITEMS);
		role_give(s->sw, now, items, n);
		work += n;
	} while (n == ITEMS);
	return work;
}

/** The scheduler of an lcore that polls the switch, too: it answers in place. */
static unsigned int poll_sched_here(struct wall_switch *s, struct role *r, mf_time now)
{
	uint64_t answers[ITEMS * MF_ITEM_WORDS];
	unsigned int told, given, n, work = 0;
	void *items;

	while ((items = role_peek(s->sw, now, &told)) != NULL) {
		n = role_exchange(r, now, items, told, &given, answers, ITEMS);
		role_advance(s->sw, given);
		role_give(s->sw, now, answers, n);
		work += given + n;
		if (n == ITEMS)
			work += match(s, r, now);
	}
	if (work > 0)
		role_matched(r);
	if (r->next > now)
		return work;
	work += match(s, r, now);
	role_matched(r);
	return work;
}

static unsigned int poll_sched(struct wall_switch *s, struct role *r, mf_time now)
{
	return s->to_sched != NULL ? wall_poll_sched(s, r, now) : poll_sched_here(s, r, now);
}

/** Whether a slow path on the lcore of its node has nothing to do, as most often. */
static inline bool slow_rests(const struct wall *w, const struct role *r, mf_time now)
{
	const struct mf_vm_queue *asked = w->memory[r->index].asked;

	return asked != NULL && asked->items == 0 && r->next > now;
}

/** @param before  work of other roles in this turn */
static unsigned int poll(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now,
			 unsigned int before)
{
	__atomic_store_n(&r->turns, r->turns + 1, __ATOMIC_RELAXED);
	/* One after the other: a jump by a table costs some nanoseconds in each turn. */
	if (likely(r->kind == ROLE_NODE))
		return poll_node(w, l, r, now);
	if (likely(r->kind == ROLE_SWITCH))
		return poll_switch(w, l, r, now);
	if (likely(r->kind == ROLE_SCHED))
		return poll_sched(&w->sw[r->index], r, now);
	switch (r->kind) {
	case ROLE_REDUNDANT:
		return poll_redundant(w, l, r, now);
	case ROLE_ENDS:
		return poll_ends(w, l, r, now);
	case ROLE_SLOW:
		return slow_rests(w, r, now) ? 0 : wall_poll_slow(w, r, now, before > 0);
	default:
		return port_poll(w, l, r, now);
	}
}

/* One loop with all turns in it: what each of them would save on entry is saved once in a round. */
unsigned int wall_turn(struct wall *w, struct wall_lcore *l, mf_time now)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < l->roles; i++) {
		struct role *r = l->role[i];
		mf_time shown = now;

		if (unlikely(w->faults != NULL)) {
			mf_time clock = now;
			unsigned int mended = 0;
			bool runs = wall_fault_turn(w, r, &clock, &mended);

			work += mended;
			if (!runs)
				continue; /* a stalled role has no turn, which the watchdog sees */
			shown = clock;
		}
		work += poll(w, l, r, shown, work);
	}
	return work;
}
