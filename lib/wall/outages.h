/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "faults" and "disable" under the wall clock. Each role does in its own turn, on its own lcore, what is
 * due to it: no role waits for another, and none is called by another's lcore. How a link is lost and comes
 * back: link_end.c.
 */
#ifndef WALL_OUTAGES_H
#define WALL_OUTAGES_H

#include "fabric/mf_outage.h"
#include "fabric/mf_stall.h"
#include "wall/link_end.h"

/** What happens to what is sent one way, and whom it comes from and goes to. */
struct wall_impair {
	struct mf_fault *fault; /**< the stage; NULL: no rule is for this way */
	struct crossing held; /**< spans that have left it, each behind a cell with its time */
	struct cell *cell; /**< of `held` */
	struct wall_end *from_end, *to_end; /**< NULL: that end is a port */
	struct wall_role *from, *to;
	unsigned int full; /**< outages in force that the ring of this way is full by; the sender's */
	mf_time now; /**< of the call of the stage that is under way */
	struct mf_span span;
};

struct wall_role {
	struct role *role;
	mf_time now; /**< of the turn under way; what the role itself sees is wall_role_clock() of it */
	struct stalls stalls;
	bool stalled;
	const struct skew *skew; /**< of its clock; NULL: it is right */
	struct outage *outage;
	unsigned int outages;
	mf_time next; /**< when the next of its outages begins or ends */
	unsigned int dead; /**< node: outages in force that its process is gone by */
	unsigned int none[MF_POOLS_MAX]; /**< of its pools, see exhaust_counts(); of a port its mbufs */
	unsigned int (*closed)[MF_POOLS_MAX]; /**< [ports]; switch: of pools that each port has */
};

struct wall_faults {
	struct wall_role *role; /**< [w->roles] */
	struct wall_impair *impair; /**< [ends of the graph], by the end that sends */
	struct wall_impair *from_port; /**< the same by the end that receives */
};

static inline struct wall_role *wall_faults_of(const struct wall *w, const struct role *r)
{
	return &w->faults->role[r - w->role];
}

/** What a role's clock shows at `now`; clock.c */
mf_time wall_role_clock(const struct wall_role *r, mf_time now);

/* impair.c */
/** What end `side` of a link of the graph sends. @return 0 or -errno */
int wall_impair_init(struct wall *w, struct wall_impair *h, uint32_t link, enum mf_link_end side);
void wall_impair_fini(struct wall *w, struct wall_impair *h, uint32_t link, enum mf_link_end side);
/** Sends what is due: held back, or sent by the stage itself. @return spans */
unsigned int wall_impair_turn(struct wall_link *l);
/** The link is lost: what is under way goes with it. */
void wall_impair_clear(struct wall_impair *h);

#endif
