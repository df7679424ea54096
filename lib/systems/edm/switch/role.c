/* SPDX-License-Identifier: BSD-3-Clause */
/* EDM's switch as a role. Each function is the one of mf_switch.h that has its name. */
#include <assert.h>

#include "systems/edm/switch/mf_switch.h"

enum pool { EGRESS, REQUESTS };

static const struct mf_pool_desc pools[] = {
	[EGRESS] = {.key = "egress", .by_end = true}, [REQUESTS] = {.key = "requests"}, {0}};

static void destroy(void *self)
{
	mf_switch_free(self);
}

static bool can_rx(const void *self)
{
	return mf_switch_can_rx(self);
}

static void rx(void *self, unsigned int end, mf_time now, const struct mf_span *span)
{
	mf_switch_rx(self, end, now, span);
}

static unsigned int tx(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out)
{
	return mf_switch_tx(self, end, now, max, out);
}

static struct mf_span *tx_in_place(void *self, unsigned int end, mf_time now, struct mf_span *room)
{
	return mf_switch_tx_in_place(self, end, now, room);
}

static mf_time run(void *self, mf_time now)
{
	return mf_switch_run(self, now);
}

static bool busy(const void *self)
{
	return mf_switch_has_frames(self);
}

static void link_down(void *self, unsigned int end, mf_time now)
{
	mf_switch_link_down(self, end, now);
}

static bool link_up(void *self, unsigned int end, mf_time now)
{
	return mf_switch_link_up(self, end, now);
}

static void bear(void *self, unsigned int end, mf_time by)
{
	mf_switch_bear(self, end, by);
}

static int crash(void *self, mf_time now, struct mf_memory *memory)
{
	(void)memory; /* a switch has none */
	mf_switch_crash(self, now);
	return 0;
}

static void exhaust(void *self, unsigned int pool, unsigned int end, bool on)
{
	if (pool == EGRESS)
		mf_switch_close(self, end, on);
	else
		mf_switch_no_requests(self, on);
}

static bool has_requests(const void *self, unsigned int end, unsigned int n)
{
	return mf_switch_has_requests(self, end, n);
}

static void stats(const void *self, struct mf_role_stats *out)
{
	mf_role_stats_set(out, *mf_switch_stats(self));
}

/* Two switches */

static bool active(const void *self)
{
	uint16_t epoch;

	return mf_switch_active(self, &epoch);
}

static bool demoted(const void *self)
{
	return mf_switch_demoted(self);
}

static const struct mf_redundancy_ops redundancy = {.active = active, .demoted = demoted};

static bool possible(const void *self, const void *item)
{
	return mf_switch_possible(self, item);
}

static const struct mf_channel channel = {.in = &mf_sched_grant_item, .out = &mf_sched_msg_item};

const struct mf_role_ops mf_switch_role = {.kind = "edm-switch",
					   .pools = pools,
					   .destroy = destroy,
					   .can_rx = can_rx,
					   .rx = rx,
					   .tx = tx,
					   .tx_in_place = tx_in_place,
					   .run = run,
					   .busy = busy,
					   .link_down = link_down,
					   .link_up = link_up,
					   .bear = bear,
					   .crash = crash,
					   .exhaust = exhaust,
					   .has_requests = has_requests,
					   .counters = mf_switch_counters,
					   .stats = stats,
					   .channel = &channel,
					   .possible = possible,
					   .redundancy = &redundancy};
