/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link under the wall clock: from the sender's multiplexer to the receiver, by way of cells where they are
 * polled by different lcores.
 */
#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "base/mf_cycles.h"
#include "wall/wall.h"

#define TAKE_BURST 8 /**< spans that a role takes from a ring in a turn */
#define GIVE_BURST 16 /**< spans that it hands over in a turn, so that the others have theirs */

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
unsigned int wall_take_crossed(struct wall_link *l, struct mf_span *scratch, mf_time now)
{
	unsigned int n = 0;

	MF_CYCLES(MF_CYCLES_RING);
	while (n < TAKE_BURST && crossing_peek(l->in) != NULL && role_can_rx(l->to, l->port)) {
		crossing_take_span(l->in, scratch);
		scratch->start = now;
		if (l->scramble)
			descramble(l, scratch);
		role_rx(l->to, l->port, now, scratch);
		n++;
	}
	return n;
}

/* Of both ways there are two, so that where nothing is captured no span is asked about. */

static __rte_always_inline bool hand_over(struct wall_link *l, struct role *from, unsigned int port,
					  struct mf_span *room, mf_time now, unsigned int *work,
					  struct capture_tap *tap)
{
	unsigned int left = GIVE_BURST;
	struct mf_span *s;

	do {
		if (unlikely(left-- == 0 || !role_can_rx(l->to, l->port)))
			return false;
		s = role_tx_in_place(from, port, now, room);
		if (unlikely(s == NULL))
			break;
		if (tap != NULL)
			capture_ring_span(tap, now, s);
		if (l->scramble) {
			scramble(l, s);
			descramble(l, s);
		}
		role_rx(l->to, l->port, now, s);
		++*work;
	} while (role_tx_waits(from, port));
	return true;
}

static __rte_always_inline bool send_across(struct wall_link *l, struct role *from, unsigned int port,
					    struct mf_span *room, mf_time now, unsigned int *work,
					    struct capture_tap *tap)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_span *s;

	while (role_tx_waits(from, port)) {
		if (unlikely(crossing_room(l->crossing, CROSSING_SPAN) < CROSSING_SPAN))
			return false;
		s = role_tx_in_place(from, port, now, room);
		if (unlikely(s == NULL))
			break;
		if (tap != NULL)
			capture_ring_span(tap, now, s);
		if (l->scramble)
			scramble(l, s);
		crossing_put_span(l->crossing, s);
		++*work;
	}
	return true;
}

bool wall_can_send(struct wall_link *l)
{
	if (unlikely(l->harm != NULL))
		return wall_harm_can_send(l);
	if (l->crossing == NULL)
		return role_can_rx(l->to, l->port);
	return crossing_room(l->crossing, CROSSING_SPAN) >= CROSSING_SPAN;
}

void wall_send(struct wall_link *l, struct mf_span *span, mf_time now)
{
	if (unlikely(l->harm != NULL)) {
		wall_harm_send(l, span);
		return;
	}
	if (unlikely(l->tap != NULL))
		capture_ring_span(l->tap, now, span);
	if (l->scramble)
		scramble(l, span);
	if (l->crossing != NULL) {
		crossing_put_span(l->crossing, span);
		return;
	}
	if (l->scramble)
		descramble(l, span);
	role_rx(l->to, l->port, now, span);
}

static __rte_noinline __rte_cold bool give_odd(struct wall_link *l, struct role *from, unsigned int port,
					       struct mf_span *scratch, mf_time now, unsigned int *work)
{
	if (l->harm != NULL)
		return wall_harm_give(l, from, port, scratch, now, work);
	if (l->crossing == NULL)
		return hand_over(l, from, port, scratch, now, work, l->tap);
	return send_across(l, from, port, scratch, now, work, l->tap);
}

static __rte_noinline bool give_across(struct wall_link *l, struct role *from, unsigned int port,
				       struct mf_span *scratch, mf_time now, unsigned int *work)
{
	return send_across(l, from, port, scratch, now, work, NULL);
}

/* In the loop that polls, for which programs are compiled as a whole. */
__rte_always_inline bool wall_give(struct wall_link *l, struct role *from, unsigned int port,
				   struct mf_span *scratch, mf_time now, unsigned int *work)
{
	if (unlikely(l->odd))
		return give_odd(l, from, port, scratch, now, work);
	if (l->crossing != NULL)
		return give_across(l, from, port, scratch, now, work);
	return hand_over(l, from, port, scratch, now, work, NULL);
}
