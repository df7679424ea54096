/* SPDX-License-Identifier: BSD-3-Clause */
/* A host of frames as a role. Each function is the one of mf_frame_host.h that has its name. */
#include "systems/frames/mf_frame_host.h"

static void destroy(void *self)
{
	mf_frame_host_free(self);
}

static void rx(void *self, unsigned int end, mf_time now, const struct mf_span *span)
{
	(void)end;
	mf_frame_host_rx(self, now, span);
}

static unsigned int tx(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out)
{
	(void)end;
	return mf_frame_host_tx(self, now, max, out);
}

static struct mf_span *tx_in_place(void *self, unsigned int end, mf_time now, struct mf_span *room)
{
	(void)end;
	return mf_frame_host_tx_in_place(self, now, room);
}

static mf_time run(void *self, mf_time now)
{
	return mf_frame_host_run(self, now);
}

static mf_time next(const void *self)
{
	return mf_frame_host_next(self);
}

static void link_down(void *self, unsigned int end, mf_time now)
{
	(void)end;
	mf_frame_host_link_lost(self, now);
}

static bool link_up(void *self, unsigned int end, mf_time now)
{
	(void)end;
	mf_frame_host_link_back(self, now);
	return true;
}

static const struct mf_pool_desc *policy_pools(const void *self)
{
	return mf_frame_host_pools(self);
}

static void exhaust(void *self, unsigned int pool, unsigned int end, bool on)
{
	(void)end;
	mf_frame_host_exhaust(self, pool, on);
}

static const struct mf_demux *demux(const void *self, unsigned int end)
{
	return end == 0 ? mf_frame_host_demux(self) : NULL;
}

static const struct mf_demux *heard(const void *self)
{
	return mf_frame_host_demux(self);
}

static void stats(const void *self, struct mf_role_stats *out)
{
	struct mf_frame_host_counts c;

	mf_frame_host_counts(self, &c);
	mf_role_stats_set(out, c);
}

static unsigned int policy(const void *self, struct mf_counter *out)
{
	return mf_frame_host_counters(self, out);
}

/* Clients */

static int submit(void *self, mf_time now, const struct mf_op *op)
{
	return mf_frame_host_submit(self, now, op);
}

static unsigned int completions(void *self, mf_time now, struct mf_completion *out, unsigned int max)
{
	return mf_frame_host_completions(self, now, out, max);
}

static uint32_t outstanding(const void *self)
{
	return mf_frame_host_outstanding(self);
}

static void on_frame(void *self, mf_node_frame_fn fn, void *ctx)
{
	mf_frame_host_on_frame(self, fn, ctx);
}

static const struct mf_requester_ops requester = {
	.submit = submit, .completions = completions, .outstanding = outstanding, .on_frame = on_frame};

const struct mf_role_ops mf_frame_host_role = {.kind = "frame-host",
					       .destroy = destroy,
					       .rx = rx,
					       .tx = tx,
					       .tx_in_place = tx_in_place,
					       .run = run,
					       .next = next,
					       .link_down = link_down,
					       .link_up = link_up,
					       .policy_pools = policy_pools,
					       .exhaust = exhaust,
					       .demux = demux,
					       .heard = heard,
					       .counters = mf_frame_host_table,
					       .stats = stats,
					       .policy = policy,
					       .requester = &requester};
