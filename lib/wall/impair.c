/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What link.c does, for a way between two roles that something may happen to: spans pass a stage of
 * faults before they are handed over, or cross to the receiver's lcore.
 */
#include <errno.h>

#include "base/mf_table.h"
#include "fabric/mf_link_fault.h"
#include "wall/shape.h"

#define GIVE_BURST 16 /**< spans of a turn, as in link.c */

/*
 * A stage is given a span only if there is room for all that may come of it: a span of each block, the same
 * of its copy, of what was held back, and of the longest message, begun before, that is let go with it.
 */
#define HELD_CELLS 16384
#define HELD_ROOM 8192
static_assert(HELD_ROOM > 4 * 2 * MF_SPAN_MAX + 2 * (65536 / 8 + 32) / CELL_WORDS * 3 / 2, "what one makes");

enum way { WAY_GO, WAY_WAIT, WAY_LOSE };

/** What becomes of what is sent now. Without the link a switch's spans are lost, and a node's wait. */
static enum way way_of(const struct wall_link *l)
{
	const struct wall_end *from = l->impair->from_end, *to = l->impair->to_end;

	if (from != NULL && from->phase != END_WHOLE)
		return from->role->kind == ROLE_SWITCH ? WAY_LOSE : WAY_WAIT;
	if (l->crossing != NULL)
		return WAY_GO;
	if (from != NULL && to != NULL && to->phase != END_WHOLE) /* it is of this lcore, too */
		return to->connection == from->connection ? WAY_WAIT : WAY_LOSE;
	return l->impair->to->stalled ? WAY_WAIT : WAY_GO;
}

static bool has_room(const struct wall_link *l)
{
	if (l->impair->full > 0)
		return false;
	if (l->crossing != NULL)
		return crossing_room(l->crossing, CROSSING_SPAN + 1) > CROSSING_SPAN;
	return role_can_rx(l->to, l->port);
}

/** Hands a span on; it is dated by the receiver's clock. */
static void pass(struct wall_link *l, struct mf_span *s)
{
	mf_time now = wall_role_clock(l->impair->to, l->impair->from->now);

	if (l->shaper != NULL)
		shaper_leave(l->shaper, s->count);
	if (l->scramble)
		mf_scramble(&l->scrambler, s->word, s->count);
	if (l->crossing != NULL) {
		if (l->shaper != NULL)
			crossing_put_dated(l->crossing, l->impair->from->now + l->shaper->delay, s);
		else
			crossing_put_span(l->crossing, s);
		return;
	}
	if (l->scramble)
		mf_descramble(&l->descrambler, s->word, s->count);
	s->start = now;
	role_rx(l->to, l->port, now, s);
}

static void hold(void *ctx, struct mf_span *s)
{
	struct wall_impair *h = ctx;
	uint64_t due[1 + CELL_WORDS] = {s->start > h->now ? s->start : 0};

	crossing_put(&h->held, due, 1);
	crossing_put_span(&h->held, s);
}

static bool can_hold(struct wall_impair *h)
{
	return crossing_room(&h->held, HELD_ROOM) >= HELD_ROOM;
}

static void take_held(struct wall_impair *h)
{
	uint64_t due[1 + CELL_WORDS];

	crossing_take(&h->held, due);
	crossing_take_span(&h->held, &h->span);
}

/** Hands on what has left the stage and is due. @return spans */
static unsigned int release(struct wall_link *l)
{
	struct wall_impair *h = l->impair;
	unsigned int n = 0;
	const struct cell *c;

	while ((c = crossing_peek(&h->held)) != NULL && c->word[0] <= h->from->now && has_room(l)) {
		take_held(h);
		pass(l, &h->span);
		n++;
	}
	return n;
}

/** Whether there is room for a span, where it is not lost in any case. */
static bool can_send(struct wall_link *l)
{
	return l->impair->fault != NULL ? can_hold(l->impair) : has_room(l);
}

bool wall_impair_can_send(struct wall_link *l)
{
	return way_of(l) == WAY_GO && can_send(l);
}

void wall_impair_send(struct wall_link *l, struct mf_span *s)
{
	struct wall_impair *h = l->impair;

	if (l->shaper != NULL)
		l->shaper->owed += s->count;
	if (l->tap != NULL)
		capture_ring_span(l->tap, h->from->now, s);
	if (h->fault == NULL) {
		pass(l, s);
		return;
	}
	h->now = s->start = h->from->now;
	mf_fault_send(h->fault, s, hold, h);
	release(l);
}

/** What is sent next. @return NULL: the line has had no time for it; of no blocks: there is nothing */
static struct mf_span *next_span(struct wall_link *l, struct role *from, unsigned int port, mf_time now,
				 enum way way, struct mf_span *scratch)
{
	unsigned int most = MF_SPAN_MAX;
	struct mf_span *s;

	scratch->count = 0;
	if (l->shaper == NULL) {
		s = role_tx_in_place(from, port, now, scratch);
		return s != NULL ? s : scratch;
	}
	if (way != WAY_LOSE)
		most = shaper_allows(l->shaper, l->impair->from->now);
	if (most == 0)
		return NULL;
	scratch->count = (uint16_t)role_tx(from, port, now, most, scratch);
	return scratch;
}

bool wall_impair_give(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *scratch,
		      mf_time now, unsigned int *work)
{
	enum way way = way_of(l);
	bool room = way == WAY_LOSE || (way == WAY_GO && can_send(l));

	for (unsigned int i = 0; role_tx_waits(from, port); i++) {
		struct mf_span *s;

		if (!room || i == GIVE_BURST)
			return false;
		s = next_span(l, from, port, now, way, scratch);
		if (s == NULL)
			return false;
		if (s->count == 0)
			break;
		++*work;
		if (way == WAY_LOSE)
			continue;
		wall_send(l, s, now);
		room = can_send(l);
	}
	if (l->shaper != NULL)
		shaper_rest(l->shaper);
	return true;
}

unsigned int wall_impair_turn(struct wall_link *l)
{
	struct wall_impair *h = l->impair;

	if (h->fault == NULL || way_of(l) != WAY_GO)
		return 0;
	h->now = h->from->now;
	if (mf_fault_next(h->fault) <= h->now && can_hold(h))
		mf_fault_run(h->fault, h->now, hold, h);
	return release(l);
}

void wall_impair_clear(struct wall_impair *h)
{
	if (h->fault == NULL)
		return;
	mf_fault_cut(h->fault, h->from->now);
	while (crossing_peek(&h->held) != NULL)
		take_held(h);
}

int wall_impair_init(struct wall *w, struct wall_impair *h, uint32_t link, enum mf_link_end side)
{
	int err = link_fault_new(w->f, link, side, 0, NULL, &h->fault);

	if (err != 0 || h->fault == NULL)
		return err;
	h->cell = mf_table_new(HELD_CELLS, sizeof(*h->cell));
	if (h->cell == NULL)
		return -ENOMEM;
	crossing_init(&h->held, h->cell, HELD_CELLS);
	return 0;
}

void wall_impair_fini(struct wall *w, struct wall_impair *h, uint32_t link, enum mf_link_end side)
{
	link_fault_over(w->f, link, side, h->fault);
	mf_table_free(h->cell);
}
