/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems/frames/stamp.h"

mf_time stack_stamp(const struct mf_stack_config *c, enum mf_stage stage, mf_time from, mf_time cost)
{
	if (stack_stamps(c))
		c->probe->stamp(c->probe->ctx, c->node, MF_PROBE_ANY, 0, stage, from, from + cost);
	return from + cost;
}

void stack_stamp_tx(const struct mf_stack_config *c, mf_time from)
{
	mf_time made = stack_stamp(c, MF_STAGE_PROTOCOL, from, c->timing.cost[MF_STAGE_PROTOCOL]);

	stack_stamp(c, MF_STAGE_MAC, made, c->timing.cost[MF_STAGE_MAC]);
}

void stack_stamp_start(const struct mf_stack_config *c, mf_time from, bool write)
{
	if (!stack_stamps(c))
		return;
	c->probe->start(c->probe->ctx, write);
	stack_stamp_tx(c, from);
}

void stack_stamp_rx(const struct mf_stack_config *c, mf_time from)
{
	mf_time up = stack_stamp(c, MF_STAGE_MAC, from, c->timing.cost[MF_STAGE_MAC]);

	stack_stamp(c, MF_STAGE_PROTOCOL, up, c->timing.cost[MF_STAGE_PROTOCOL]);
}

mf_time stack_stamp_access(const struct mf_stack_config *c, mf_time from, const struct mf_answer *a)
{
	mf_time first = stack_stamp(c, MF_STAGE_DRAM, from, a->time - a->second);

	return a->second != 0 ? stack_stamp(c, MF_STAGE_DRAM, first, a->second) : first;
}
