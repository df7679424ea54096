/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch of frames as a role. Each function is the one of mf_frame_switch.h that has its name. */
#include "systems/frames/mf_frame_switch.h"

static void destroy(void *self)
{
	mf_frame_switch_free(self);
}

static void rx(void *self, unsigned int end, mf_time now, const struct mf_span *span)
{
	mf_frame_switch_rx(self, end, now, span);
}

static unsigned int tx(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out)
{
	return mf_frame_switch_tx(self, end, now, max, out);
}

static struct mf_span *tx_in_place(void *self, unsigned int end, mf_time now, struct mf_span *room)
{
	return mf_frame_switch_tx_in_place(self, end, now, room);
}

static mf_time run(void *self, mf_time now)
{
	return mf_frame_switch_run(self, now);
}

static bool busy(const void *self)
{
	return mf_frame_switch_has_frames(self);
}

static void link_down(void *self, unsigned int end, mf_time now)
{
	mf_frame_switch_link_down(self, end, now);
}

static bool link_up(void *self, unsigned int end, mf_time now)
{
	return mf_frame_switch_link_up(self, end, now);
}

static const struct mf_pool_desc *policy_pools(const void *self)
{
	return mf_frame_switch_pools(self);
}

static void exhaust(void *self, unsigned int pool, unsigned int end, bool on)
{
	mf_frame_switch_exhaust(self, pool, end, on);
}

static void stats(const void *self, struct mf_role_stats *out)
{
	struct mf_frame_switch_counts c;

	mf_frame_switch_counts(self, &c);
	mf_role_stats_set(out, c);
}

static void depth(void *self, unsigned int end, bool anew, struct mf_queue_depth *out)
{
	mf_frame_switch_depth(self, end, anew, out);
}

static unsigned int policy(const void *self, struct mf_counter *out)
{
	return mf_frame_switch_counters(self, out);
}

const struct mf_role_ops mf_frame_switch_role = {.kind = "frame-switch",
						 .destroy = destroy,
						 .rx = rx,
						 .tx = tx,
						 .tx_in_place = tx_in_place,
						 .tx_makes_room = true,
						 .run = run,
						 .busy = busy,
						 .link_down = link_down,
						 .link_up = link_up,
						 .policy_pools = policy_pools,
						 .exhaust = exhaust,
						 .counters = mf_frame_switch_table,
						 .stats = stats,
						 .depth = depth,
						 .policy = policy};
