/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Share and rate are virtual scheduling (GCRA): of each pair, and of each port, one time is kept, that at
 * which the next demand would come if all came in even steps. A demand moves it on by what it costs, and may
 * come before it by the burst that is allowed.
 */
#include <errno.h>

#include "base/mf_table.h"
#include "systems/edm/switch/limits.h"
#include "systems/edm/switch/outstanding.h"

#define EXPIRED_MOST 10 /* doublings of the time for which one who lets grants expire is not believed */

int limits_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	sw->limit = config->limits;
	if (sw->limit.share == 0 && sw->limit.rate == 0 && sw->limit.outstanding == 0)
		return 0;
	sw->limited = true;
	sw->asked = mf_table_new(sw->shell.ports, sizeof(*sw->asked));
	sw->pair_due = mf_table_new((size_t)sw->shell.ports * sw->shell.ports, sizeof(*sw->pair_due));
	sw->port_limit = mf_table_new(sw->shell.ports, sizeof(*sw->port_limit));
	if (sw->asked == NULL || sw->pair_due == NULL || sw->port_limit == NULL)
		return -ENOMEM;
	return outstanding_init(sw);
}

void limits_fini(struct mf_switch *sw)
{
	mf_table_free(sw->asked);
	mf_table_free(sw->pair_due);
	mf_table_free(sw->port_limit);
	outstanding_fini(sw);
}

/** One more that costs so much. @return whether it comes within what is allowed */
static bool in_time(mf_time *due, mf_time cost, mf_time burst, mf_time at)
{
	if (*due > at && *due - at > burst)
		return false;
	*due = mf_time_max(*due, at) + cost;
	return true;
}

/** Says to who asks that nothing comes of it. Of two switches: in words of its own, which no node says. */
static void answer(struct mf_switch *sw, const struct mf_msg *m, uint16_t port, mf_time now, mf_time at)
{
	bool redundant = sw->standby != NULL;
	const struct mf_msg err = {.kind = MF_ERR,
				   .src = m->dst,
				   .dst = port,
				   .id = m->id,
				   .status = MF_ERR_RESOURCE,
				   .of = redundant ? MF_NOTIFY : m->kind,
				   .epoch = redundant ? 0 : m->epoch};

	forward_single(sw, m->dst, port, mf_proto_put_single(&err), now, at);
}

static bool refuse(struct mf_switch *sw, const struct mf_msg *m, uint16_t port, mf_time now, mf_time at,
		   uint64_t *count)
{
	++*count;
	answer(sw, m, port, now, at);
	return false;
}

/**
 * The links of the wall clock have no rate that could be shared. What is shared there is what a memory node
 * is asked for: time is counted in blocks of all demands for it, so who asks for no more than his part of all
 * of them is never beyond it, however fast the machine is.
 */
static bool in_share(struct mf_switch *sw, uint16_t port, uint16_t mn, uint32_t blocks, mf_time when)
{
	mf_time block = sw->limit.share, *due = &sw->pair_due[port * sw->shell.ports + mn];

	if (sw->window)
		when = sw->asked[mn] += blocks;
	else
		block *= sw->port[mn].shell.period;
	return in_time(due, blocks * block, sw->limit.burst * block, when);
}

bool limits_demand(struct mf_switch *sw, const struct mf_msg *m, uint16_t port, uint32_t blocks, mf_time now,
		   mf_time at, bool *excess)
{
	const struct mf_switch_limits *l = &sw->limit;
	struct port_limit *p = &sw->port_limit[port];
	mf_time when = mf_time_max(now, at);

	if (m->kind == MF_NOTIFY && when < p->believed)
		return refuse(sw, m, port, now, at, &sw->stats.refused_expired);
	if (l->rate != 0 && !in_time(&p->due, l->rate, l->rate * (l->rate_burst - 1), when))
		return refuse(sw, m, port, now, at, &sw->stats.refused_rate);
	if (!outstanding_take(sw, port, m->dst, m->id, m->kind != MF_NOTIFY))
		return refuse(sw, m, port, now, at, &sw->stats.refused_outstanding);
	*excess = l->share != 0 && !in_share(sw, port, m->dst, blocks, when);
	sw->stats.excess += *excess;
	return true;
}

void limits_expired(struct mf_switch *sw, uint16_t port, mf_time now)
{
	struct port_limit *p = &sw->port_limit[port];

	/* What expires within that time was granted before it began. */
	if (now < p->believed)
		return;
	p->believed = now + (sw->grant_timeout << p->expired);
	p->expired += p->expired < EXPIRED_MOST;
}

void limits_kept(struct mf_switch *sw, uint16_t port)
{
	sw->port_limit[port].expired = 0;
}

void limits_cancelled(struct mf_switch *sw, const struct mf_sched_msg *msg)
{
	if (msg->kind == MF_SCHED_FLUSH)
		outstanding_flush(sw, msg->src);
	else
		outstanding_over(sw, msg->src, msg->dst, msg->id, msg->resp);
}

void limits_granted(struct mf_switch *sw, const struct mf_sched_grant *g)
{
	/* Of nothing, and not refused: of one that comes again, and is still there; or of a flush. */
	if (g->last && (g->size != 0 || g->refused))
		outstanding_over(sw, g->src, g->dst, g->id, g->resp);
}

void limits_dropped(struct mf_switch *sw, const struct mf_msg *m, uint16_t port)
{
	bool resp = m->kind != MF_NOTIFY;

	outstanding_over(sw, resp ? m->dst : port, resp ? port : m->dst, m->id, resp);
}
