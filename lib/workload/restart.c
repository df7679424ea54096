/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target's link was lost, or the own one, or the own process was: nobody knows what its regions hold. Writes
 * that had completed may be lost on their way, and a memory node that was started again has nothing in it. What
 * is written from now on is known again; where nothing is ever written, nothing can be lost.
 */
#include "store_client.h"

/** What is under way, or waits for its verdict: it may have met either state, or may do so yet. */
static void forget(struct mf_client *c, uint32_t region)
{
	for (uint32_t i = 0; i < c->used; i++)
		if (c->slot[i].state != SLOT_FREE && c->slot[i].region == region)
			c->slot[i].check = false;
	shadow_lose(&c->shadow, region, c->stats.begun_all);
}

static void lose(struct mf_client *c, uint32_t region)
{
	c->stats.restarts++;
	if (c->store != NULL)
		store_lose(c, region);
	else if (c->shadow.regions > 0 && !c->constant)
		forget(c, region);
}

void mf_client_crashed(struct mf_client *c, mf_time now)
{
	client_fail_all(c, now);
	for (uint32_t i = 0; i < c->targets; i++)
		lose(c, i);
}

void client_restarted(void *ctx, uint16_t node)
{
	struct mf_client *c = ctx;

	for (uint32_t i = 0; i < c->targets; i++)
		if (c->target[i].node == node)
			lose(c, i);
}
