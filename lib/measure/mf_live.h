/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of a fabric, while it runs and after: those that the result is made of.
 *
 * Any thread may read them while the fabric runs, and nothing is stopped for that: each counter is a
 * whole number of a moment ago, not all of them of the same moment. Who writes them never waits and
 * needs no barrier; a reader that wants a consistent picture takes it after the run.
 */
#ifndef MF_LIVE_H
#define MF_LIVE_H

#include "fabric/mf_run.h"
#include "measure/mf_window.h"
#include "systems/mf_node.h"
#include "systems/edm/sched/mf_sched.h"
#include "systems/mf_sw.h"
#include "workload/mf_workload.h"

/** Time of the run; the one of the last tick while it runs. */
mf_time mf_fabric_now(const struct mf_fabric *f);

/**
 * Asks for the end of the load, for any thread: at the next tick nothing more is begun, then the run
 * drains and ends as ever. Not for a run that is recorded: the replay would not know.
 */
void mf_fabric_stop(struct mf_fabric *f);

/**
 * Between these two no node is started again (`node_crash`), so that what mf_fabric_sent() has given stays
 * where it is: the lcore of a node that is to be started again waits. Not from a tick, and not twice.
 */
void mf_fabric_hold(struct mf_fabric *f);
void mf_fabric_let_go(struct mf_fabric *f);

/** NULL: there is no node at the port, or it has none. */
const struct mf_client_stats *mf_fabric_client(const struct mf_fabric *f, unsigned int node);
const struct mf_ether_stats *mf_fabric_ether(const struct mf_fabric *f, unsigned int node);
/** @return false: there is no node at the port; nothing was written */
bool mf_fabric_host(const struct mf_fabric *f, unsigned int node, struct mf_host_stats *out);
/** What that end has sent and received. While the fabric runs, for another thread: see mf_fabric_hold(). */
const struct mf_mux_stats *mf_fabric_sent(const struct mf_fabric *f, unsigned int node, enum mf_link_end end);
const struct mf_demux_stats *mf_fabric_received(const struct mf_fabric *f, unsigned int node,
						enum mf_link_end end);
/** Of all switches together; of all schedulers. */
void mf_fabric_switch(const struct mf_fabric *f, struct mf_switch_stats *out);
void mf_fabric_sched(const struct mf_fabric *f, struct mf_sched_stats *out);
/**
 * What the stacks above the MAC of nodes [from, to) have counted together, in one network.
 * @param tier  of the file; 0 where there are none
 * @param out  room for MF_COUNTERS_MAX
 * @return how many counters; 0: none of these nodes is here and has such a stack
 */
unsigned int mf_fabric_stack(const struct mf_fabric *f, unsigned int tier, unsigned int from, unsigned int to,
			     struct mf_counter *out);
/** The same of what forwards for such stacks in the switch. */
unsigned int mf_fabric_bridge(const struct mf_fabric *f, unsigned int tier, struct mf_counter *out);

/** The same of the policies of schedulers. */
unsigned int mf_fabric_policy(const struct mf_fabric *f, unsigned int tier, struct mf_counter *out);

/** All clients have begun what they are to begin, and all of that has completed or failed. */
bool mf_fabric_clients_done(const struct mf_fabric *f);

/** After the run, virtual clock: from the submission of a write to its effect at the memory, ps. Or NULL */
const struct mf_hist *mf_fabric_effect(const struct mf_fabric *f);
const struct mf_run_info *mf_fabric_info(const struct mf_fabric *f);

#endif
