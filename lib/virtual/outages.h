/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of outages.c, link_state.c and stall.c: what breaks at a time, virtual clock. */
#ifndef VIRTUAL_OUTAGES_H
#define VIRTUAL_OUTAGES_H

#include "base/mf_pool.h"
#include "fabric/mf_outage.h"
#include "fabric/mf_stall.h"
#include "virtual/virtual.h"

/** DARK: it carries nothing, and the ends do not know yet; LOST: they do. */
enum link_phase { LINK_WHOLE, LINK_DARK, LINK_LOST };

/** A link. */
struct link_place {
	unsigned int cuts; /**< outages in force that cut it */
	unsigned int testing; /**< of the cuts: test patterns that have taken it */
	unsigned int none[MF_POOLS_MAX]; /**< of pools of the switch's port: see exhaust_counts() */
	enum link_phase phase;
	mf_time at; /**< of its next step; MF_NEVER: it waits for the last outage to end */
	mf_time full; /**< its ring is, both ways, until then */
	mf_time guard; /**< when corruption disables it, or it is repaired; MF_NEVER: neither */
	/** ps of blocks that its ring holds: a sender waits for a receiver that is more behind */
	mf_time room;
};

struct node_place {
	unsigned int dead; /**< outages in force that its process is gone by */
	unsigned int none[MF_POOLS_MAX]; /**< of its pools: see exhaust_counts() */
	struct stalls stalls;
};

struct switch_events {
	struct stalls sw, sched; /**< sched: and those of the switch, without which it cannot go on */
	unsigned int none[MF_POOLS_MAX]; /**< of its pools: see exhaust_counts() */
	mf_time closed; /**< the switch takes nothing before: the ring to a stalled scheduler is full */
};

struct virtual_outages {
	struct link_place *link; /**< [graph->links] */
	struct node_place *node; /**< [nodes] */
	struct switch_events *sw; /**< [switches] */
	struct outage *outage;
	unsigned int outages;
	bool slow; /**< a scheduler may fall behind, so that it may close its switch at any time */
};

/* test_pattern.c */
/** Makes f->test: what each link carries of the file's test patterns. @return 0 or -ENOMEM */
int virtual_tests_init(struct virtual *v);
/** When a pattern begins, ends, or has to go on; MF_NEVER: there is none. */
mf_time virtual_tests_next(const struct virtual *v);
/** Sends what was due before v->now, begins and ends what is due then. Called before anything else happens to
 * links. */
void virtual_tests_run(struct virtual *v);

/* link_state.c */
/** One more outage that cuts a link; one less. */
void virtual_link_cut(struct virtual *v, unsigned int link);
void virtual_link_mend(struct virtual *v, unsigned int link);
/** Does what is due at link_place.at. */
void virtual_link_step(struct virtual *v, unsigned int link);
/** Does what is due at link_place.guard: corruption disables the link, or it is repaired. */
void virtual_link_guard(struct virtual *v, unsigned int link);

#endif
