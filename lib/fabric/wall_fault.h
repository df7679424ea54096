/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "faults" and "disable" under the wall clock. Each role does in its own turn, on its own lcore, what is
 * due to it: no role waits for another, and none is called by another's lcore. The two ends of a link agree
 * on what is lost by a few words that each of them tells the other (wall_end.c).
 */
#ifndef WALL_FAULT_H
#define WALL_FAULT_H

#include "guards.h"
#include "outage.h"
#include "stall.h"
#include "wall.h"

struct port_end;
struct wall_role;

enum end_phase {
	END_WHOLE, /**< it has a connection */
	END_LOST, /**< it has none: its outages are not over, or the other end does not know yet */
	END_READY, /**< it is ready for the next one: nothing of the last one can reach it any more */
};

/** An end of a link. Connections are numbered, from 1 on. */
struct wall_end {
	/* Numbers of connections that it tells the other end */
	uint32_t connection_told __rte_cache_aligned; /**< what it has or waits for */
	uint32_t ready; /**< what it is ready for */
	uint32_t up; /**< switch: what it has up */
	/* Its own */
	struct wall_end *other __rte_cache_aligned; /**< NULL: ports carry the link */
	struct wall_role *role;
	unsigned int node; /**< whose link it is */
	struct port_end *carried; /**< where ports carry the link; else NULL */
	struct wall_link *out, *in;
	enum end_phase phase;
	uint32_t connection; /**< the same as connection_told */
	unsigned int cuts; /**< outages in force */
	bool fell; /**< an outage has begun since the last turn, and may be over already */
	struct link_guard *guard; /**< NULL: corruption does nothing to it */
	bool disabled; /**< this end's guard has disabled the link, */
	mf_time repair; /**< until then */
};

/** What happens to what is sent one way, and whom it comes from and goes to. */
struct wall_harm {
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
	unsigned int none[MF_CONFIG_WHATS]; /**< see exhaust_counts(); all but EGRESS */
	unsigned int *closed; /**< [nodes]; switch: the same of the EGRESS of each port */
};

struct wall_faults {
	struct wall_role *role; /**< [w->roles] */
	struct wall_end *end[MF_LINK_ENDS]; /**< [nodes]; role NULL: it is not of this process */
	struct wall_harm *harm[MF_LINK_ENDS]; /**< [nodes], by the end that sends */
	struct wall_harm *from_port[MF_LINK_ENDS]; /**< [nodes], by the end that receives */
};

/** What a role's clock shows at `now`. */
mf_time wall_role_clock(const struct wall_role *r, mf_time now);

/* wall_end.c */
/** Does what is due at an end, in its role's turn. */
void wall_end_step(struct wall *w, struct wall_end *e);
/** One more outage that cuts its link; one less. */
void wall_end_cut(struct wall_end *e);
void wall_end_mend(struct wall_end *e);

/* wall_harm.c */
/** @param up  the way from the node to the switch @return 0 or -errno */
int wall_harm_init(struct wall *w, struct wall_harm *h, unsigned int node, bool up);
void wall_harm_fini(struct wall *w, struct wall_harm *h, unsigned int node, bool up);
/** Sends what is due: held back, or sent by the stage itself. @return spans */
unsigned int wall_harm_turn(struct wall_link *l);
/** The link is lost: what is under way goes with it. */
void wall_harm_clear(struct wall_harm *h, mf_time now);

#endif
