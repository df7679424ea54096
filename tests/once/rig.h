/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts, switch and scheduler, with a stage of faults (lib/fault) at either direction of every link: virtual
 * time, no engine. The last node is the memory node, and all others ask it.
 */
#ifndef RIG_H
#define RIG_H

#include "fault/mf_fault.h"
#include "systems/edm/host/mf_host.h"
#include "systems/edm/sched/mf_sched.h"
#include "systems/edm/switch/mf_switch.h"

#define RIG_NODES 3
#define RIG_MEMORY (RIG_NODES - 1)
#define RIG_PERIOD 2560
#define RIG_DELAY MF_NS(30)
#define RIG_WIRE 4096 /* spans under way */

struct rig_span {
	mf_time at;
	struct mf_span span;
};

struct rig_wire {
	struct rig *r;
	struct mf_fault *fault; /**< NULL: none */
	struct rig_span *span; /**< RIG_WIRE */
	unsigned int head, tail;
	bool dead; /**< nothing comes through */
};

struct rig_config {
	struct mf_fault_rule rule[MF_FAULT_CLASSES];
	unsigned int rules;
	bool once;
	uint32_t retries, mega, chunk, x;
	mf_time retry_timeout, timeout;
	uint64_t seed;
};

struct rig {
	struct rig_config config;
	mf_time now;
	struct mf_host *host[RIG_NODES];
	struct mf_memory *memory;
	struct mf_switch *sw;
	struct mf_sched *sched;
	struct rig_wire up[RIG_NODES], down[RIG_NODES];
	uint64_t fired[MF_FAULT_CLASSES]; /**< of each rule, when it is healed */
	/** A completion at a node; what it submits goes at once. */
	void (*completed)(void *ctx, unsigned int node, const struct mf_completion *c);
	void *ctx;
};

struct rig *rig_new(const struct rig_config *config);
void rig_free(struct rig *r);
/** Runs until nothing is left to do, or until a time. */
void rig_run(struct rig *r, mf_time until);
/** Whatever was to happen on the links from now on does not. */
void rig_heal(struct rig *r);
/** The link of a node is lost for a while; with a new life of its process. */
void rig_cut(struct rig *r, unsigned int node, mf_time time, bool restart);

#endif
