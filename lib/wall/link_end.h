/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An end of a link under the wall clock. Where there are two switches, or faults, a link is lost and comes
 * back while all else runs: by an outage of the file, by a guard, or because all links of a switch are cut.
 * The two ends agree on what is lost by a few words that each of them tells the other (link_end.c). With one
 * switch and no faults nobody looks at them.
 */
#ifndef WALL_LINK_END_H
#define WALL_LINK_END_H

#include "fabric/mf_link_guard.h"
#include "wall/ports/mf_port.h"

struct wall_role;

enum end_phase {
	END_WHOLE, /**< it has a connection */
	END_LOST, /**< it has none: its outages are not over, or the other end does not know yet */
	END_READY, /**< it is ready for the next one: nothing of the last one can reach it any more */
};

/** Connections are numbered, from 1 on. */
struct wall_end {
	/* Numbers of connections that it tells the other end */
	uint32_t connection_told __rte_cache_aligned; /**< what it has or waits for */
	uint32_t ready; /**< what it is ready for */
	uint32_t up; /**< of the end that leads: what it has up */
	uint32_t cuts; /**< this one is told, too: its own outages in force */
	uint32_t lost; /**< told: it has no connection */
	/* Its own */
	struct wall_end *other __rte_cache_aligned; /**< NULL: ports carry the link */
	struct wall_switch *of; /**< its switch; of a node's end that at the other end */
	struct role *role; /**< NULL: the end is not of this process */
	const struct wall_role *impaired; /**< of its role; NULL: nothing is broken on purpose */
	uint32_t link; /**< in the graph, */
	enum mf_link_end side; /**< and which of its two ends */
	unsigned int port; /**< what its role calls the link */
	struct port_end *tunnel; /**< where ports carry the link; else NULL */
	struct wall_link *out, *in;
	enum end_phase phase;
	uint32_t connection; /**< the same as connection_told */
	unsigned int news; /**< of the switch, that it has seen */
	unsigned int cuts_seen; /**< node: cuts of the switch that are no reason to fall any more */
	bool fell; /**< a reason to lose the link has come since the last turn, and may be over already */
	bool anew; /**< switch: its role begins anew, and has to be told that the link is there */
	struct link_guard *guard; /**< NULL: corruption does nothing to it */
	bool disabled; /**< this end's guard has disabled the link, */
	mf_time repair; /**< until then */
};

/** Whether what is sent there may arrive, and what comes is taken. */
static inline bool wall_end_whole(const struct wall_end *e)
{
	return e->tunnel != NULL ? e->tunnel->open : e->phase == END_WHOLE;
}

/** Whether it has a connection, or is of another process. Any thread. */
bool wall_end_up(const struct wall_end *e);

/** Node: whether there is nothing to be done at it, unless by faults. */
static inline bool wall_end_quiet(const struct wall_end *e)
{
	return e->phase == END_WHOLE && e->news == atomic_load_explicit(&e->of->news, memory_order_relaxed);
}

/** Does what is due, in its role's turn; again at once there is nothing. Not where ports carry the link. */
void wall_end_step(struct wall_end *e, mf_time now);
/** Its role has forgotten all: the connection that it has, or is ready for, is none any more. */
void wall_end_fall(struct wall_end *e, mf_time now);
/** One more outage that cuts its link; one less. */
void wall_end_cut(struct wall_end *e);
void wall_end_mend(struct wall_end *e);
/** Whether an outage of either end is in force. */
bool wall_end_broken(const struct wall_end *e);
/**
 * Cuts the link when corruption was too much at this end (mf_link_guard.h), and mends it when that is over.
 * @param now  time of the run, whatever the role's clock shows
 */
void wall_end_guard(struct wall *w, struct wall_end *e, mf_time now);

/** Makes those of all links. wall_ends_tear_down() always follows. @return 0 or -ENOMEM */
int wall_ends_set_up(struct wall *w);
void wall_ends_tear_down(struct wall *w);

#endif
