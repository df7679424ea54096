/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "ird_board.h"
#include "mf_table.h"
#include "remote.h"

#define NIL MF_HEAP_NIL

void *ird_board_new(uint16_t nodes, const double *param)
{
	struct ird_board *b = calloc(1, sizeof(*b));

	(void)param;
	if (b == NULL)
		return NULL;
	b->nodes = nodes;
	b->free = NIL;
	b->demand = mf_table_new((size_t)nodes * remote_messages_max(nodes), sizeof(*b->demand));
	if (b->demand == NULL) {
		free(b);
		return NULL;
	}
	b->heap = (struct mf_heap){(uint8_t *)&b->demand[0].link, sizeof(*b->demand)};
	for (unsigned int i = 0; i < nodes; i++)
		b->receiver[i] =
			(struct ird_receiver){.pending = NIL, .waiting = NIL, .oldest = NIL, .youngest = NIL};
	return b;
}

void ird_board_free(void *board)
{
	struct ird_board *b = board;

	mf_table_free(b->demand);
	free(b);
}

static void wake(struct ird_board *b, uint16_t node)
{
	b->woken[node / 64] |= UINT64_C(1) << node % 64;
}

int ird_board_woken(void *board)
{
	struct ird_board *b = board;

	for (int w = 0; w < IRD_NODES_MAX / 64; w++)
		if (b->woken[w] != 0) {
			int bit = __builtin_ctzll(b->woken[w]);

			b->woken[w] &= b->woken[w] - 1;
			return w * 64 + bit;
		}
	return -1;
}

uint32_t ird_board_put(struct ird_board *b, uint16_t from, uint32_t message, uint16_t to, uint32_t len,
		       mf_time at)
{
	uint32_t i = b->free;
	struct ird_demand *d;

	if (i != NIL)
		b->free = b->demand[i].next;
	else
		i = b->fresh++;
	d = &b->demand[i];
	*d = (struct ird_demand){.len = len,
				 .message = message,
				 .age = b->ages++,
				 .from = from,
				 .to = to,
				 .generation = (uint16_t)(d->generation + 1),
				 .state = IRD_PENDING,
				 .listed = true};
	mf_heap_push(&b->heap, &b->receiver[to].pending, i, at);
	wake(b, to);
	return i;
}

struct ird_demand *ird_board_find(struct ird_board *b, uint32_t number, uint16_t generation, uint16_t from,
				  uint16_t to)
{
	struct ird_demand *d = number < b->fresh ? &b->demand[number] : NULL;

	if (d == NULL || d->state == IRD_FREE || d->state == IRD_ENDED || d->generation != generation ||
	    d->from != from || d->to != to)
		return NULL;
	return d;
}

/** It is in no heap any more. */
static void unlist(struct ird_board *b, uint32_t i)
{
	struct ird_demand *d = &b->demand[i];

	d->listed = false;
	if (d->state != IRD_ENDED)
		return;
	d->state = IRD_FREE;
	d->next = b->free;
	b->free = i;
}

static void push_waiting(struct ird_board *b, uint32_t i)
{
	struct ird_demand *d = &b->demand[i];

	d->state = IRD_WAITING;
	d->listed = true;
	mf_heap_push(&b->heap, &b->receiver[d->to].waiting, i, ird_rank(d, d->len - d->credited));
}

void ird_board_ripen(struct ird_board *b, uint16_t to, mf_time now)
{
	uint32_t *root = &b->receiver[to].pending;

	while (*root != NIL && mf_heap_at(&b->heap, *root)->key <= now) {
		uint32_t i = mf_heap_pop(&b->heap, root);

		if (b->demand[i].state == IRD_PENDING)
			push_waiting(b, i);
		else
			unlist(b, i);
	}
}

mf_time ird_board_ripens(const struct ird_board *b, uint16_t to)
{
	uint32_t root = b->receiver[to].pending;

	return root != NIL ? mf_heap_at(&b->heap, root)->key : MF_NEVER;
}

uint32_t ird_board_first(struct ird_board *b, uint16_t to)
{
	uint32_t *root = &b->receiver[to].waiting;

	while (*root != NIL && b->demand[*root].state != IRD_WAITING)
		unlist(b, mf_heap_pop(&b->heap, root));
	return *root;
}

static void untime(struct ird_board *b, uint32_t i)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_receiver *r = &b->receiver[d->to];

	if (!d->timed)
		return;
	d->timed = false;
	*(d->prev != NIL ? &b->demand[d->prev].next : &r->oldest) = d->next;
	*(d->next != NIL ? &b->demand[d->next].prev : &r->youngest) = d->prev;
}

/** To the end of the list of those with credits under way, if it has any. */
static void retime(struct ird_board *b, uint32_t i, mf_time now)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_receiver *r = &b->receiver[d->to];

	untime(b, i);
	d->credited_at = now;
	if (d->credited == d->received)
		return;
	d->timed = true;
	d->next = NIL;
	d->prev = r->youngest;
	*(r->youngest != NIL ? &b->demand[r->youngest].next : &r->oldest) = i;
	r->youngest = i;
}

void ird_board_credit(struct ird_board *b, uint32_t i, uint32_t octets, uint32_t most, mf_time now)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_receiver *r = &b->receiver[d->to];
	uint64_t rank;

	d->credited += octets;
	r->outstanding += octets;
	retime(b, i, now);
	/* It is the first, and stays so, as less is left of it; but of one that is credited again. */
	rank = ird_rank(d, d->len - d->credited);
	if (rank < mf_heap_at(&b->heap, i)->key)
		mf_heap_at(&b->heap, i)->key = rank;
	if (d->credited < d->len && d->credited - d->received < most)
		return;
	mf_heap_pop(&b->heap, &r->waiting);
	d->listed = false;
	d->state = IRD_FULL;
}

bool ird_board_came(struct ird_board *b, uint32_t i, uint32_t octets, mf_time now)
{
	struct ird_demand *d = &b->demand[i];

	d->received += octets;
	b->receiver[d->to].outstanding -= octets;
	retime(b, i, now);
	if (d->received == d->len) {
		d->state = IRD_CAME;
		return true;
	}
	if (d->state == IRD_FULL && d->credited < d->len)
		push_waiting(b, i);
	return false;
}

void ird_board_again(struct ird_board *b, uint32_t i, mf_time now)
{
	struct ird_demand *d = &b->demand[i];

	b->receiver[d->to].outstanding -= d->credited - d->received;
	d->credited = d->received;
	retime(b, i, now);
	if (d->state == IRD_FULL)
		push_waiting(b, i);
}

void ird_board_end(struct ird_board *b, uint32_t i)
{
	struct ird_demand *d = &b->demand[i];

	if (d->state == IRD_ENDED || d->state == IRD_FREE)
		return;
	b->receiver[d->to].outstanding -= d->credited - d->received;
	d->credited = d->received;
	untime(b, i);
	d->state = IRD_ENDED;
	wake(b, d->to);
	if (!d->listed)
		unlist(b, i);
}
