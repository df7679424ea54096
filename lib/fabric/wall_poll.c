/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a role does in a turn under the wall clock: takes a burst of what has arrived, does what is due,
 * hands on what there is. Links are rings of spans, filled and read in place.
 */
#include <rte_ring.h>
#include <rte_ring_peek_zc.h>

#include "record.h"
#include "wall.h"

#define BURST 8 /**< spans that a role takes from a ring in a turn */
#define DESCRIPTORS RECORD_ITEMS_MAX

/* Rings of spans */

static struct mf_span *slot(const struct rte_ring_zc_data *z, unsigned int i)
{
	return i < z->n1 ? (struct mf_span *)z->ptr1 + i : (struct mf_span *)z->ptr2 + (i - z->n1);
}

static bool can_rx(const struct wall *w, const struct role *r)
{
	return r->kind == ROLE_NODE ? mf_host_can_rx(w->f->node[r->index].host) : mf_switch_can_rx(w->f->sw);
}

/**
 * Hands what is in a ring to a role. It is dated by the call: its sender may have looked at the clock
 * later than this role did, and what is in the future would be sent by nobody.
 * @return spans taken
 */
static unsigned int take(struct wall *w, struct role *r, unsigned int port, struct ring_link *l, mf_time now)
{
	struct rte_ring_zc_data z;
	unsigned int n =
		rte_ring_dequeue_zc_burst_elem_start(l->ring, sizeof(struct mf_span), BURST, &z, NULL);
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct mf_span *s = slot(&z, i);

		if (!can_rx(w, r))
			break;
		s->start = now;
		if (w->f->link[r->kind == ROLE_NODE ? r->index : port].scramble)
			mf_descramble(&l->descrambler, s->word, s->count);
		role_rx(r, port, now, s);
	}
	rte_ring_dequeue_zc_elem_finish(l->ring, i);
	return i;
}

/**
 * Sends what a role has for a link, as far as the ring has room.
 * @return false: the ring is full and there is more
 */
static bool give(struct wall *w, struct role *r, unsigned int port, struct ring_link *l, mf_time now,
		 unsigned int *spans)
{
	struct rte_ring_zc_data z;

	for (;;) {
		if (rte_ring_enqueue_zc_burst_elem_start(l->ring, sizeof(struct mf_span), 1, &z, NULL) == 0)
			return false;
		struct mf_span *s = z.ptr1;

		if (role_tx(r, port, now, s) == 0) {
			rte_ring_enqueue_zc_elem_finish(l->ring, 0);
			return true;
		}
		if (w->f->link[r->kind == ROLE_NODE ? r->index : port].scramble)
			mf_scramble(&l->scrambler, s->word, s->count);
		rte_ring_enqueue_zc_elem_finish(l->ring, 1);
		++*spans;
	}
}

/* What a role does in a turn; each returns how much work it found */

static unsigned int poll_node(struct wall *w, struct role *r)
{
	struct mf_host *h = w->f->node[r->index].host;
	mf_time now = wall_now(w);
	unsigned int work = take(w, r, r->index, &w->down[r->index], now);

	if (work > 0 || r->next <= now)
		role_run(r, now);
	if (mf_host_tx_next(h, now) <= now)
		give(w, r, r->index, &w->up[r->index], now, &work);
	/* What went out completes writes: they are due at once. */
	r->next = mf_time_min(r->next, mf_host_next(h));
	return work;
}

static unsigned int poll_grants(struct wall *w, struct role *r, mf_time now)
{
	struct mf_sched_grant grant[DESCRIPTORS];
	unsigned int n =
		rte_ring_sc_dequeue_burst_elem(w->to_switch, grant, sizeof(grant[0]), DESCRIPTORS, NULL);

	for (unsigned int i = 0; i < n; i++) {
		grant[i].at = now; /* dated by the call, too */
		role_grant(r, now, &grant[i]);
	}
	return n;
}

static void switch_tell_sched(struct wall *w, struct role *r, mf_time now)
{
	struct mf_sched_msg msg[DESCRIPTORS];
	unsigned int room, n;

	while ((room = rte_ring_free_count(w->to_sched)) > 0) {
		n = role_to_sched(r, now, msg, RTE_MIN(room, (unsigned int)DESCRIPTORS));
		rte_ring_sp_enqueue_bulk_elem(w->to_sched, msg, sizeof(msg[0]), n, NULL);
		if (n < DESCRIPTORS)
			break;
	}
}

static unsigned int switch_send(struct wall *w, struct role *r, mf_time now)
{
	uint16_t port[MF_PORTS_MAX];
	unsigned int n = mf_switch_tx_ports(w->f->sw, port, MF_PORTS_MAX), spans = 0;

	for (unsigned int i = 0; i < n; i++)
		w->tx_pending[port[i] / 64] |= UINT64_C(1) << (port[i] % 64);
	for (unsigned int k = 0; k <= (w->f->nodes - 1) / 64; k++)
		for (uint64_t set = w->tx_pending[k]; set != 0; set &= set - 1) {
			unsigned int p = k * 64 + (unsigned int)__builtin_ctzll(set);

			if (!mf_switch_can_rx(w->f->sw))
				return spans;
			if (give(w, r, p, &w->down[p], now, &spans))
				w->tx_pending[k] &= ~(UINT64_C(1) << (p % 64));
		}
	return spans;
}

static unsigned int poll_switch(struct wall *w, struct role *r)
{
	mf_time now = wall_now(w);
	unsigned int work = 0;

	for (unsigned int p = 0; p < w->f->nodes; p++)
		if (w->up[p].ring != NULL)
			work += take(w, r, p, &w->up[p], now);
	if (mf_switch_next(w->f->sw) <= now)
		role_run(r, now);
	work += poll_grants(w, r, now);
	work += switch_send(w, r, now);
	switch_tell_sched(w, r, now);
	return work;
}

static unsigned int poll_sched(struct wall *w, struct role *r)
{
	struct mf_sched_msg msg[DESCRIPTORS];
	struct mf_sched_grant grant[DESCRIPTORS];
	mf_time now = wall_now(w);
	unsigned int room, n, work;

	/* While grants cannot leave, nothing is matched: what was taken in would find no room. */
	if (rte_ring_free_count(w->to_switch) == 0)
		return 0;
	n = work = rte_ring_sc_dequeue_burst_elem(w->to_sched, msg, sizeof(msg[0]), DESCRIPTORS, NULL);
	for (unsigned int i = 0; i < n; i++)
		role_input(r, now, &msg[i]);
	if (n == 0 && r->next > now)
		return 0;
	while ((room = rte_ring_free_count(w->to_switch)) > 0) {
		room = RTE_MIN(room, (unsigned int)DESCRIPTORS);
		n = role_match(r, now, grant, room);
		rte_ring_sp_enqueue_bulk_elem(w->to_switch, grant, sizeof(grant[0]), n, NULL);
		work += n;
		if (n < room)
			break;
	}
	return work;
}

unsigned int wall_poll(struct wall *w, struct role *r)
{
	switch (r->kind) {
	case ROLE_NODE:
		return poll_node(w, r);
	case ROLE_SWITCH:
		return poll_switch(w, r);
	default:
		return poll_sched(w, r);
	}
}
