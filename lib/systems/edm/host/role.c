/* SPDX-License-Identifier: BSD-3-Clause */
/* EDM's host as a role. Each function is the one of mf_host.h that has its name. */
#include "systems/edm/host/mf_host.h"

/* In the order of enum mf_host_pool. */
static const struct mf_pool_desc pools[] = {
	{.key = "queue"}, {.key = "grants"}, {.key = "buffers"}, {.key = "room"}, {0}};

static_assert(MF_HOST_QUEUE == 0 && MF_HOST_GRANTS == 1 && MF_HOST_BUFFERS == 2 && MF_HOST_MUX == 3,
	      "their places in the table");

static void destroy(void *self)
{
	mf_host_free(self);
}

static bool can_rx(const void *self)
{
	return mf_host_can_rx(self);
}

static void rx(void *self, unsigned int end, mf_time now, const struct mf_span *span)
{
	mf_host_rx_by(self, end, now, span);
}

static unsigned int tx(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out)
{
	(void)end; /* what goes by one link goes by the other, too */
	return mf_host_tx(self, now, max, out);
}

static struct mf_span *tx_in_place(void *self, unsigned int end, mf_time now, struct mf_span *room)
{
	(void)end;
	return mf_host_tx_in_place(self, now, room);
}

static mf_time run(void *self, mf_time now)
{
	return mf_host_run(self, now);
}

static mf_time next(const void *self)
{
	return mf_host_next(self);
}

static void link_down(void *self, unsigned int end, mf_time now)
{
	mf_host_link_down(self, end, now);
}

static bool link_up(void *self, unsigned int end, mf_time now)
{
	mf_host_link_up(self, end, now);
	return true;
}

static int crash(void *self, mf_time now, struct mf_memory *memory)
{
	return mf_host_restart(self, now, memory);
}

static void exhaust(void *self, unsigned int pool, unsigned int end, bool on)
{
	(void)end;
	mf_host_exhaust(self, (enum mf_host_pool)pool, on);
}

static const struct mf_demux *demux(const void *self, unsigned int end)
{
	return mf_host_demux_of(self, end);
}

static const struct mf_demux *heard(const void *self)
{
	return mf_host_demux(self);
}

static void stats(const void *self, struct mf_role_stats *out)
{
	mf_role_stats_set(out, *mf_host_stats(self));
}

/* Clients */

static int submit(void *self, mf_time now, const struct mf_op *op)
{
	return mf_host_submit(self, now, op);
}

static unsigned int completions(void *self, mf_time now, struct mf_completion *out, unsigned int max)
{
	return mf_host_completions(self, now, out, max);
}

static uint32_t outstanding(const void *self)
{
	return mf_host_outstanding(self);
}

static void on_frame(void *self, mf_node_frame_fn fn, void *ctx)
{
	mf_host_on_frame(self, fn, ctx);
}

static void on_restart(void *self, mf_node_restart_fn fn, void *ctx)
{
	mf_host_on_restart(self, fn, ctx);
}

static bool link_is_lost(const void *self)
{
	return mf_host_link_is_lost(self);
}

static void under_way(const void *self, uint16_t node, void (*fn)(void *ctx, uint64_t user), void *ctx)
{
	mf_host_under_way(self, node, fn, ctx);
}

static const struct mf_requester_ops requester = {.submit = submit,
						  .completions = completions,
						  .outstanding = outstanding,
						  .on_frame = on_frame,
						  .on_restart = on_restart,
						  .link_is_lost = link_is_lost,
						  .under_way = under_way};

/* Two switches */

static bool has_primary(const void *self)
{
	return mf_host_has_primary(self);
}

static uint16_t epoch(const void *self)
{
	return mf_host_epoch(self);
}

static bool tells(const void *self)
{
	return mf_host_tells(self);
}

static const struct mf_redundancy_ops redundancy = {.active = has_primary, .epoch = epoch, .tells = tells};

const struct mf_role_ops mf_host_role = {.kind = "edm-host",
					 .pools = pools,
					 .destroy = destroy,
					 .can_rx = can_rx,
					 .rx = rx,
					 .tx = tx,
					 .tx_in_place = tx_in_place,
					 .run = run,
					 .next = next,
					 .link_down = link_down,
					 .link_up = link_up,
					 .crash = crash,
					 .exhaust = exhaust,
					 .demux = demux,
					 .heard = heard,
					 .counters = mf_host_counters,
					 .stats = stats,
					 .requester = &requester,
					 .redundancy = &redundancy};
