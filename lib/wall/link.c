/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link under the wall clock: from the sender's multiplexer to the receiver, by way of cells where they are
 * polled by different lcores.
 */
#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "base/mf_cycles.h"
#include "wall/shape.h"

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

/** Of a link with a rate: what is due. */
static __rte_noinline unsigned int take_due(struct wall_link *l, struct mf_span *scratch, mf_time now)
{
	/* What a skewed role calls now is not when it is. */
	mf_time due = l->impair != NULL ? l->impair->to->now : now;
	uint64_t time[1 + CELL_WORDS];
	const struct cell *c;
	unsigned int n = 0;

	while (n < TAKE_BURST && (c = crossing_peek(l->in)) != NULL && c->word[0] <= due &&
	       role_can_rx(l->to, l->port)) {
		crossing_take(l->in, time);
		crossing_take_span(l->in, scratch);
		scratch->start = now;
		if (l->scramble)
			mf_descramble(&l->descrambler, scratch->word, scratch->count);
		role_rx(l->to, l->port, now, scratch);
		n++;
	}
	return n;
}

/* A span is dated by the call that takes it: its sender may have looked at the clock later than this role
 * did, and what is in the future would be sent by nobody. */
unsigned int wall_take_crossed(struct wall_link *l, struct mf_span *scratch, mf_time now)
{
	unsigned int n = 0;

	MF_CYCLES(MF_CYCLES_RING);
	if (unlikely(l->shaper != NULL))
		return take_due(l, scratch, now);
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
	const uint8_t kind = from->kind;
	unsigned int left = GIVE_BURST;
	struct mf_span *s;

	do {
		if (unlikely(left-- == 0 || !role_can_rx(l->to, l->port)))
			return false;
		role_is(from, kind);
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
		role_is(from, kind);
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

static bool can_send(struct wall_link *l)
{
	if (unlikely(l->impair != NULL))
		return wall_impair_can_send(l);
	if (l->crossing == NULL)
		return role_can_rx(l->to, l->port);
	return crossing_room(l->crossing, CROSSING_SPAN + 1) > CROSSING_SPAN;
}

unsigned int wall_may_send(struct wall_link *l, mf_time now)
{
	unsigned int most = MF_SPAN_MAX;

	if (unlikely(l->shaper != NULL))
		most = shaper_allows(l->shaper, l->impair != NULL ? l->impair->from->now : now);
	return can_send(l) ? most : 0;
}

void wall_send(struct wall_link *l, struct mf_span *span, mf_time now)
{
	if (unlikely(l->shaper != NULL))
		shaper_pass(l->shaper, span->count);
	if (unlikely(l->impair != NULL)) {
		wall_impair_send(l, span);
		return;
	}
	if (unlikely(l->tap != NULL))
		capture_ring_span(l->tap, now, span);
	if (l->scramble)
		scramble(l, span);
	if (l->crossing != NULL) {
		if (unlikely(l->shaper != NULL))
			crossing_put_dated(l->crossing, now + l->shaper->delay, span);
		else
			crossing_put_span(l->crossing, span);
		return;
	}
	if (l->scramble)
		descramble(l, span);
	role_rx(l->to, l->port, now, span);
}

/** On a link with a rate, that nothing else happens to. */
static __rte_noinline bool give_shaped(struct wall_link *l, struct role *from, unsigned int port,
				       struct mf_span *scratch, mf_time now, unsigned int *work)
{
	for (unsigned int left = GIVE_BURST; role_tx_waits(from, port); left--) {
		unsigned int most = shaper_allows(l->shaper, now);

		if (most == 0 || left == 0 || !can_send(l))
			return false;
		if (role_tx(from, port, now, most, scratch) == 0)
			break;
		wall_send(l, scratch, now);
		++*work;
	}
	shaper_rest(l->shaper);
	return true;
}

static __rte_noinline __rte_cold bool give_slow_path(struct wall_link *l, struct role *from,
						     unsigned int port, struct mf_span *scratch, mf_time now,
						     unsigned int *work)
{
	if (l->impair != NULL)
		return wall_impair_give(l, from, port, scratch, now, work);
	if (l->shaper != NULL)
		return give_shaped(l, from, port, scratch, now, work);
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
	if (unlikely(l->slow_path))
		return give_slow_path(l, from, port, scratch, now, work);
	if (l->crossing != NULL)
		return give_across(l, from, port, scratch, now, work);
	return hand_over(l, from, port, scratch, now, work, NULL);
}
