/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a partner that says nothing is dead or slow (docs/fault-tolerance.md, "Slow is not dead"). Each end
 * of a link that a port carries asks that now and then, and at no cost while its partner is heard: what
 * lib/link takes for silence, and what a switch takes for a grant that is not used, is then the time that
 * counts alone.
 */
#ifndef WALL_PORTS_PARTNER_H
#define WALL_PORTS_PARTNER_H

#include "wall/ports/neighbour.h"

struct wall;
struct wall_port;
struct port_end;

/** Of an end of a link. */
struct partner {
	struct mf_link_place place; /**< as it was told last */
	struct neighbour seen; /**< NEIGHBOUR_NONE: it is not on this host */
	bool here;
	bool suspect; /**< it has not been heard for so long that it is looked at; then: */
	mf_time unheard; /**< how long that was when it was looked at last, */
	mf_time counted; /**< so much of it counts, */
	mf_time held; /**< for so long its grants were kept in all, */
	mf_time recovers; /**< its link was recovering at the last look, at this time; MF_NEVER: it was not */
	struct neighbour_cpu had; /**< and what its thread had had of CPUs then */
};

/** What an end begins with; partner_fini() follows. */
void partner_init(struct partner *p);
void partner_fini(struct partner *p);

/** It may have told another place than before. */
void partner_told(struct partner *p, const struct mf_link_place *place);

/**
 * Looks at the partners of a port, by the thread that polls it.
 * @param now  time of the ports
 * @param at   time of the run
 */
void partners_look(const struct wall *w, struct wall_port *p, mf_time now, mf_time at);
/** The port had no turn for so long until now. */
void partners_away(struct wall_port *p, mf_time now, mf_time by);

#endif
