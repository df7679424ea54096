/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target's link was lost, or the own one, or the own process was: nobody knows what its regions hold.
 * Writes that had completed may be lost on their way, and a memory node that was started again has nothing
 * in it. What is written from now on is known again; where nothing is ever written, nothing can be lost.
 */
#include "workload/churn.h"
#include "workload/history.h"
#include "workload/store_client.h"

/** What is under way, or waits for its verdict: it may have met either state, or may do so yet. */
static void forget(struct mf_client *c, uint32_t region)
{
	for (uint32_t i = 0; i < c->used; i++)
		if (c->slot[i].state != SLOT_FREE && c->slot[i].region == region)
			c->slot[i].check = false;
	shadow_lose(&c->shadow, region, c->stats.begun_all);
}

/** The host has not begun it, or anew: the new memory node will see it. */
static void goes_on(void *ctx, uint64_t user)
{
	const struct mf_client *c = ctx;
	struct slot *s = &c->slot[user & c->slot_mask];

	if (s->state != SLOT_FORMER || s->user != user)
		return;
	s->state = SLOT_BUSY;
	if (!client_reads(s->kind))
		shadow_race(shadow_region(&c->shadow, s->region), s->offset, s->len);
}

/** Who comes back has nothing in it, and whatever had begun before is of no more effect. */
static void empty(struct mf_client *c, uint32_t region)
{
	for (uint32_t i = 0; i < c->used; i++) {
		struct slot *s = &c->slot[i];

		if (s->state == SLOT_FREE || s->region != region)
			continue;
		s->check = false;
		if (s->state == SLOT_BUSY)
			s->state = SLOT_FORMER;
	}
	shadow_clear(&c->shadow, region, c->stats.begun_all);
	mf_below_under_way(&c->below, client_target(c, region)->node, goes_on, c);
}

/** @param is_empty  who comes back has nothing in it, as far as we know */
static void lose(struct mf_client *c, uint32_t region, bool is_empty)
{
	c->stats.restarts++;
	if (c->history != NULL)
		client_history_cut(c, region);
	if (c->churn != NULL)
		churn_lose(c, region);
	else if (c->store != NULL)
		store_lose(c, region);
	else if (c->shadow.regions > 0 && !c->constant && is_empty)
		empty(c, region);
	else if (c->shadow.regions > 0 && !c->constant)
		forget(c, region);
}

void mf_client_crashed(struct mf_client *c, mf_time now)
{
	client_phases(c, now);
	if (c->history != NULL)
		client_history_turn(c, now);
	client_fail_all(c, now);
	for (uint32_t i = 0; i < c->targets; i++)
		lose(c, i, false);
}

void client_restarted(void *ctx, uint16_t node)
{
	struct mf_client *c = ctx;
	bool is_empty = c->lost_is_empty && !mf_node_link_is_lost(c->below.host);

	for (uint32_t i = 0; i < c->targets; i++)
		if (client_target(c, i)->node == node)
			lose(c, i, is_empty);
}
