/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "systems/ird/ird_board.h"
#include "base/mf_table.h"
#include "systems/frames/mf_remote.h"

#define NIL MF_HEAP_NIL

static void set_up(struct ird_board *b)
{
	b->heap = (struct mf_heap){(uint8_t *)&b->demand[0].link, sizeof(*b->demand)};
	b->withdrawals = (struct mf_heap){(uint8_t *)b->withdrawal, sizeof(*b->withdrawal)};
	for (unsigned int i = 0; i < b->nodes; i++)
		b->node[i] = (struct ird_node){.pending = NIL,
					       .waiting = NIL,
					       .withdrawn = NIL,
					       .oldest = NIL,
					       .youngest = NIL,
					       .ripens = MF_NEVER,
					       .oldest_at = MF_NEVER,
					       .over = NIL};
}

void *ird_board_new(uint16_t nodes, const double *param)
{
	struct ird_board *b = aligned_alloc(_Alignof(struct ird_board), sizeof(*b));

	(void)param;
	if (b == NULL)
		return NULL;
	*b = (struct ird_board){.nodes = nodes, .messages = remote_messages_max(nodes)};
	b->demand = mf_table_new((size_t)nodes * b->messages, sizeof(*b->demand));
	b->withdrawal = mf_table_new((size_t)nodes * b->messages, sizeof(*b->withdrawal));
	if (b->demand == NULL || b->withdrawal == NULL) {
		ird_board_free(b);
		return NULL;
	}
	set_up(b);
	return b;
}

void ird_board_free(void *board)
{
	struct ird_board *b = board;

	mf_table_free(b->demand);
	mf_table_free(b->withdrawal);
	free(b);
}

/** Something is to come to a receiver, by its time. */
static void expect(struct ird_board *b, uint16_t to, mf_time at)
{
	struct ird_node *n = &b->node[to];

	if (at >= n->ripens)
		return;
	n->ripens = at;
	b->woken[to / 64] |= UINT64_C(1) << to % 64;
}

int ird_board_woken(void *board)
{
	struct ird_board *b = board;

	for (unsigned int w = 0; w <= (b->nodes - 1U) / 64; w++)
		if (b->woken[w] != 0) {
			int bit = __builtin_ctzll(b->woken[w]);

			b->woken[w] &= b->woken[w] - 1;
			return w * 64 + bit;
		}
	return -1;
}

/* The sender's */

uint16_t ird_board_put(struct ird_board *b, uint16_t from, uint32_t message, uint16_t to, uint32_t len,
		       mf_time at)
{
	struct ird_demand *d = ird_board_demand(b, from, message);

	*d = (struct ird_demand){.len = len,
				 .from = from,
				 .to = to,
				 .generation = (uint16_t)(d->generation + 1),
				 .state = IRD_PENDING};
	mf_heap_push(&b->heap, &b->node[to].pending, (uint32_t)(d - b->demand), at);
	expect(b, to, at);
	return d->generation;
}

void ird_board_withdraw(struct ird_board *b, uint16_t from, uint32_t message, mf_time now)
{
	const struct ird_demand *d = ird_board_demand(b, from, message);

	mf_heap_push(&b->withdrawals, &b->node[d->to].withdrawn, (uint32_t)(d - b->demand), now + b->delay);
	expect(b, d->to, now + b->delay);
}

void ird_board_acknowledged(struct ird_board *b, uint16_t from, uint32_t message)
{
	ird_board_demand(b, from, message)->state = IRD_FREE;
}

uint32_t ird_board_learn(struct ird_board *b, uint16_t from, mf_time now)
{
	uint32_t *root = &b->node[from].over, i;

	if (*root == NIL || mf_heap_at(&b->heap, *root)->key > now)
		return NIL;
	i = mf_heap_pop(&b->heap, root);
	b->demand[i].state = IRD_FREE;
	return i - from * b->messages;
}

/* The receiver's */

uint32_t ird_board_find(const struct ird_board *b, uint16_t from, uint32_t message, uint16_t generation,
			uint16_t to)
{
	const struct ird_demand *d;

	if (from >= b->nodes || message >= b->messages)
		return NIL;
	d = ird_board_demand(b, from, message);
	if (d->state == IRD_FREE || d->state == IRD_OVER || d->generation != generation || d->to != to)
		return NIL;
	return (uint32_t)(d - b->demand);
}

static void wait_for_credit(struct ird_board *b, uint32_t i)
{
	struct ird_demand *d = &b->demand[i];

	d->state = IRD_WAITING;
	mf_heap_push(&b->heap, &b->node[d->to].waiting, i, ird_rank(d->len - d->credited, d->age));
}

/** Out of the list of those with credits under way. */
static void untime(struct ird_board *b, uint32_t i)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_node *n = &b->node[d->to];

	if (!d->timed)
		return;
	d->timed = false;
	*(d->prev != NIL ? &b->demand[d->prev].next : &n->oldest) = d->next;
	*(d->next != NIL ? &b->demand[d->next].prev : &n->youngest) = d->prev;
	if (d->prev == NIL)
		n->oldest_at = d->next != NIL ? b->demand[d->next].credited_at : MF_NEVER;
}

/** To the end of that list, if it has any. */
static void retime(struct ird_board *b, uint32_t i, mf_time now)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_node *n = &b->node[d->to];

	untime(b, i);
	d->credited_at = now;
	if (d->credited == d->received)
		return;
	d->timed = true;
	d->next = NIL;
	d->prev = n->youngest;
	*(n->youngest != NIL ? &b->demand[n->youngest].next : &n->oldest) = i;
	n->youngest = i;
	if (d->prev == NIL)
		n->oldest_at = now;
}

/** What is credited and did not come is not waited for. */
static void take_back(struct ird_board *b, struct ird_demand *d)
{
	b->node[d->to].outstanding -= d->credited - d->received;
	d->credited = d->received;
}

static void withdrawn(struct ird_board *b, uint32_t i, mf_time now)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_node *n = &b->node[d->to];

	if (d->state == IRD_OVER)
		return;
	if (d->state == IRD_PENDING)
		mf_heap_remove(&b->heap, &n->pending, i);
	else if (d->state == IRD_WAITING)
		mf_heap_remove(&b->heap, &n->waiting, i);
	take_back(b, d);
	untime(b, i);
	ird_board_over(b, i, now);
}

static mf_time first_of(const struct mf_heap *h, uint32_t root)
{
	return root != NIL ? mf_heap_at(h, root)->key : MF_NEVER;
}

void ird_board_ripen(struct ird_board *b, uint16_t to, mf_time now)
{
	struct ird_node *n = &b->node[to];

	if (n->ripens > now)
		return;
	while (first_of(&b->withdrawals, n->withdrawn) <= now)
		withdrawn(b, mf_heap_pop(&b->withdrawals, &n->withdrawn), now);
	while (first_of(&b->heap, n->pending) <= now) {
		uint32_t i = mf_heap_pop(&b->heap, &n->pending);

		b->demand[i].age = n->ages++;
		wait_for_credit(b, i);
	}
	n->ripens = mf_time_min(first_of(&b->heap, n->pending), first_of(&b->withdrawals, n->withdrawn));
}

void ird_board_credit(struct ird_board *b, uint32_t i, uint32_t octets, uint32_t most, mf_time now)
{
	struct ird_demand *d = &b->demand[i];
	struct ird_node *n = &b->node[d->to];

	d->credited += octets;
	n->outstanding += octets;
	retime(b, i, now);
	d->link.key = ird_rank(d->len - d->credited, d->age); /* it is the first, and stays so */
	if (d->credited < d->len && d->credited - d->received < most)
		return;
	mf_heap_pop(&b->heap, &n->waiting);
	d->state = IRD_FULL;
}

bool ird_board_came(struct ird_board *b, uint32_t i, uint32_t octets, mf_time now)
{
	struct ird_demand *d = &b->demand[i];

	d->received += octets;
	b->node[d->to].outstanding -= octets;
	retime(b, i, now);
	if (d->received == d->len) {
		d->state = IRD_CAME;
		return true;
	}
	if (d->state == IRD_FULL && d->credited < d->len)
		wait_for_credit(b, i);
	return false;
}

void ird_board_retransmit(struct ird_board *b, uint32_t i, mf_time now)
{
	struct ird_demand *d = &b->demand[i];

	take_back(b, d);
	retime(b, i, now);
	if (d->state == IRD_WAITING)
		mf_heap_remove(&b->heap, &b->node[d->to].waiting, i);
	wait_for_credit(b, i);
}

void ird_board_over(struct ird_board *b, uint32_t i, mf_time now)
{
	struct ird_demand *d = &b->demand[i];

	d->state = IRD_OVER;
	mf_heap_push(&b->heap, &b->node[d->from].over, i, now + b->delay);
}
