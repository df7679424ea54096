/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link under the wall clock: from the sender's multiplexer to the receiver, by way of a ring where
 * they are polled by different lcores.
 */
#include <rte_branch_prediction.h>
#include <rte_ring.h>
#include <rte_ring_peek_zc.h>

#include "mf_cycles.h"
#include "wall.h"

#define TAKE_BURST 8 /**< spans that a role takes from a ring in a turn */
#define GIVE_BURST 16 /**< spans that it hands over in a turn, so that the others have theirs */

static struct mf_span *slot(const struct rte_ring_zc_data *z, unsigned int i)
{
	return i < z->n1 ? (struct mf_span *)z->ptr1 + i : (struct mf_span *)z->ptr2 + (i - z->n1);
}

static void scramble(struct wall_link *l, struct mf_span *s)
{
	MF_CYCLES(MF_CYCLES_SCRAMBLE);
	mf_scramble(&l->scrambler, s->word, s->count);
}

static void descramble(struct wall_link *l, struct mf_span *s)
{
	MF_CYCLES(MF_CYCLES_DESCRAMBLE);
	mf_descramble(&l->descrambler, s->word, s->count);
}

/* A span is dated by the call that takes it: its sender may have looked at the clock later than this role
 * did, and what is in the future would be sent by nobody. */
unsigned int wall_take(struct wall_link *l, mf_time now)
{
	struct rte_ring_zc_data z;
	unsigned int n, i;

	if (l->ring == NULL)
		return 0;
	MF_CYCLES(MF_CYCLES_RING);
	n = rte_ring_dequeue_zc_burst_elem_start(l->ring, sizeof(struct mf_span), TAKE_BURST, &z, NULL);
	if (n == 0)
		return 0;
	for (i = 0; i < n && role_can_rx(l->to); i++) {
		struct mf_span *s = slot(&z, i);

		s->start = now;
		if (l->scramble)
			descramble(l, s);
		role_rx(l->to, l->port, now, s);
	}
	rte_ring_dequeue_zc_elem_finish(l->ring, i);
	return i;
}

static bool hand_over(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *room,
		      mf_time now, unsigned int *work)
{
	struct mf_span *s;

	for (unsigned int i = 0; i < GIVE_BURST; i++) {
		if (unlikely(!role_can_rx(l->to)))
			return false;
		s = role_tx_in_place(from, port, now, room);
		if (s == NULL)
			return true;
		if (l->scramble) {
			scramble(l, s);
			descramble(l, s);
		}
		role_rx(l->to, l->port, now, s);
		++*work;
	}
	return false;
}

bool wall_give(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *scratch,
	       mf_time now, unsigned int *work)
{
	struct rte_ring_zc_data z;

	if (l->ring == NULL)
		return hand_over(l, from, port, scratch, now, work);
	MF_CYCLES(MF_CYCLES_RING);
	for (;;) {
		if (rte_ring_enqueue_zc_burst_elem_start(l->ring, sizeof(struct mf_span), 1, &z, NULL) == 0)
			return false;
		struct mf_span *s = z.ptr1;

		if (role_tx(from, port, now, s) == 0) {
			rte_ring_enqueue_zc_elem_finish(l->ring, 0);
			return true;
		}
		if (l->scramble)
			scramble(l, s);
		rte_ring_enqueue_zc_elem_finish(l->ring, 1);
		++*work;
	}
}
