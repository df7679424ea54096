/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "faults" and "disable" under the wall clock. Whose turn it is does what is due to itself, by its own
 * lcore: no
 * role waits for another one, and none is called by another one's lcore. The two ends of a link agree on what
 * is lost by a few words that each of them tells (wall_end.c).
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
	END_LOST, /**< it has none, and its outages are not over, or the other end does not know yet */
	END_READY, /**< it is for the next one: nothing of the last one can reach it any more */
};

/** An end of a link. Connections are numbered, from 1 on. */
struct wall_end {
	/* What it tells the other one */
	uint32_t connection_told __rte_cache_aligned; /**< the one that it has or waits for */
	uint32_t ready; /**< the one that it is ready for */
	uint32_t up; /**< of the switch: the one that is there */
	/* Its own */
	struct wall_end *other __rte_cache_aligned; /**< NULL: ports carry the link */
	struct wall_role *role;
	unsigned int node; /**< whose link it is */
	struct port_end *carried; /**< with ports */
	struct wall_link *out, *in;
	enum end_phase phase;
	uint32_t connection; /**< the one that it has or waits for */
	unsigned int cuts; /**< outages in force */
	bool fell; /**< one has begun since it waits, and may be over: an lcore has its turn when it has it */
	struct link_guard *guard; /**< NULL: corruption does nothing to it */
	bool disabled; /**< it is by this end's guard */
	mf_time repair; /**< until then */
};

/** What happens to what is sent one way, and whom it comes from and goes to. */
struct wall_harm {
	struct mf_fault *fault; /**< NULL: nothing */
	struct crossing held; /**< what has left it, each span behind a cell with its time */
	struct cell *cell;
	struct wall_end *from_end, *to_end; /**< NULL: of a port */
	struct wall_role *from, *to;
	mf_time now; /**< of the call of the stage under way */
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
	mf_time next; /**< of its outages */
	unsigned int dead; /**< outages in force that its process is gone by */
	unsigned int none[MF_CONFIG_WHATS]; /**< see exhaust_counts(); not EGRESS */
	unsigned int *closed; /**< [nodes], switch: the same of EGRESS */
};

struct wall_faults {
	struct wall_role *role; /**< [w->roles] */
	struct wall_end *end[MF_LINK_ENDS]; /**< [nodes]; role NULL: not of this process */
	struct wall_harm *harm[MF_LINK_ENDS]; /**< [nodes], by the end that sends */
	struct wall_harm *from_port[MF_LINK_ENDS]; /**< [nodes], by the end that receives */
};

/** What a role's clock shows. */
mf_time wall_role_clock(const struct wall_role *r, mf_time now);

/* wall_end.c */
/** What is due at an end. */
void wall_end_step(struct wall *w, struct wall_end *e);
/** One more outage that it is cut by, or one less. */
void wall_end_cut(struct wall_end *e);
void wall_end_mend(struct wall_end *e);

/* wall_harm.c */
/** @param up  from the node */
int wall_harm_init(struct wall *w, struct wall_harm *h, unsigned int node, bool up);
void wall_harm_fini(struct wall *w, struct wall_harm *h, unsigned int node, bool up);
/** What comes by itself, or was held back, goes. @return spans */
unsigned int wall_harm_turn(struct wall_link *l);
/** The link is lost: what is under way goes with it. */
void wall_harm_clear(struct wall_harm *h, mf_time now);

#endif
