/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process knows its own links and nodes. Over links between switches, and between nodes, it tells its
 * partners how far it knows the same of others, its reach:
 *
 *      0      it is not so here
 *      n      it is so here, and in all processes that are fewer than n such links away
 *
 * So a process reaches one further than the partner that reaches least. Who reaches further than the two
 * processes that are furthest from each other (mf_topology_width()) knows that it is so everywhere:
 *
 *      A ------- B ------- C          so in A, B, C:  1 1 1, 2 2 2, 3 3 3: everywhere
 *                                     so in A, B:     1 1 0, 2 1 0, 2 1 0, ...
 *
 * That all was connected, or is done, stays said, by READY and DONE: a process that comes back finds it and
 * begins, whatever else is away. What is told is never taken back within a connection (lib/link), so a reach
 * of n is told as n bits. A client that is started again when it was done, and told, may so find that those
 * leave who are further away.
 */
#include "wall/ports/reach.h"

#include <errno.h>
#include <stdio.h>

#include "wall/ports/mf_port.h"

/* Of the 16 bits of a state, behind READY and DONE: */
#define REACH_MAX 7
#define READY_AT 2
#define DONE_AT (READY_AT + REACH_MAX)
#define REACH_BITS ((1U << REACH_MAX) - 1)
static_assert(DONE_AT + REACH_MAX <= 16, "both fit");

static bool is_elsewhere(const struct port_end *e)
{
	return e->trunk && !e->near;
}

/** How far all partners reach. No partners: as far as can be. */
static unsigned int least(const struct wall *w, unsigned int at)
{
	unsigned int n = REACH_MAX;

	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++) {
			const struct port_end *e = &w->port[i].end[k];
			unsigned int state = __atomic_load_n(&e->partner_state, __ATOMIC_RELAXED);

			if (is_elsewhere(e))
				n = RTE_MIN(n, (unsigned int)__builtin_popcount(state >> at & REACH_BITS));
		}
	return n;
}

bool reach_has_partners(const struct wall *w)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++)
			if (is_elsewhere(&w->port[i].end[k]))
				return true;
	return false;
}

int reach_set_up(struct wall *w, char *err, size_t errlen)
{
	int links = 0;

	if (reach_has_partners(w))
		links = mf_topology_width(w->f->graph);
	if (links < 0) {
		snprintf(err, errlen, "no memory");
		return links;
	}
	w->reach_all = (uint16_t)(links + 1);
	if (links < REACH_MAX)
		return 0;
	snprintf(err, errlen,
		 "processes are up to %d links between switches, or nodes, from each other: at most %d are "
		 "possible",
		 links, REACH_MAX - 1);
	return -EINVAL;
}

/** Some partner knows that it is so everywhere, or was: who comes back believes it. */
static bool is_told(const struct wall *w, uint16_t bit)
{
	bool told = false;

	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++) {
			const struct port_end *e = &w->port[i].end[k];

			told |= is_elsewhere(e) && __atomic_load_n(&e->partner_state, __ATOMIC_RELAXED) & bit;
		}
	return told;
}

static void extend(const struct wall *w, uint16_t *reach, bool here, unsigned int at, uint16_t bit)
{
	if (is_told(w, bit))
		*reach = w->reach_all;
	else if (*reach < w->reach_all)
		*reach = (uint16_t)(here ? RTE_MIN(1 + least(w, at), (unsigned int)w->reach_all) : 0);
}

bool reach_ready(struct wall *w, bool here)
{
	extend(w, &w->reach_ready, here, READY_AT, MF_LINK_READY);
	return w->reach_ready == w->reach_all;
}

bool reach_is_told(const struct wall *w)
{
	return is_told(w, MF_LINK_READY);
}

bool reach_done(struct wall *w, bool here)
{
	extend(w, &w->reach_done, here, DONE_AT, MF_LINK_DONE);
	return w->reach_done == w->reach_all;
}

uint16_t reach_state(const struct wall *w)
{
	unsigned int ready = (1U << w->reach_ready) - 1, done = (1U << w->reach_done) - 1;

	return (uint16_t)((w->reach_ready == w->reach_all ? MF_LINK_READY : 0) |
			  (w->reach_done == w->reach_all ? MF_LINK_DONE : 0) | ready << READY_AT |
			  done << DONE_AT);
}
