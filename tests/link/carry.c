/* SPDX-License-Identifier: BSD-3-Clause */
#include "carry.h"

struct rig *rig;

void carry_set_up(void)
{
	rig = rig_up(1);
}

void carry_tear_down(void)
{
	rig_free(rig);
}

void carry(uint64_t frames)
{
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = frames * FRAME;
	rig_until_delivered(rig, MF_SEC(20));
}

uint64_t replayed(void)
{
	return rig_stats(rig, RIG_NODE)->tx_replayed_frames;
}

bool lose_by_chance(struct rig *r, int from, struct mf_link_head *h)
{
	bool lost = mf_rng_double(&r->rng) < 0.05;

	r->count += lost && from == RIG_NODE && h->type == MF_LINK_DATA;
	return !lost;
}

bool lose_the_50th(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_NODE || h->type != MF_LINK_DATA || ++r->count != 50;
}
