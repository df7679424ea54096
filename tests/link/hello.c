/* SPDX-License-Identifier: BSD-3-Clause */
#include "hello.h"

struct rig *rig;

void hello_set_up(void)
{
	rig = rig_new(1);
}

void hello_tear_down(void)
{
	rig_free(rig);
}

void hello_start(void)
{
	rig_start(rig, 0);
	rig_start(rig, 1);
}

struct mf_link_status hello_status(int end)
{
	struct mf_link_status s;

	mf_link_status(rig->end[end].link, &s);
	return s;
}

struct mf_link_hello hello_of(int end)
{
	struct mf_link_hello b = {.epoch = hello_status(end).epoch,
				  .partner = hello_status(!end).epoch,
				  .fabric = 0xfab,
				  .features = MF_LINK_RETRANSMITS | MF_LINK_PROVES,
				  .period = 2560,
				  .window = 256,
				  .blocks = 520,
				  .node = end == RIG_SWITCH ? MF_LINK_NODE_SWITCH : 7};

	return b;
}

bool hello_lose_half(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	(void)h;
	return mf_rng_below(&r->rng, 2) == 0;
}
