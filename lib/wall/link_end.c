/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link that is cut under the wall clock, and comes back. Either end may begin: it takes and sends nothing
 * any more and waits for the next connection. The other one sees that and does the same. From then on
 * nothing new comes into the ring between their lcores, so each end empties the one that it takes from, and
 * is ready.
 *
 *                 a reason of its own, or the         own outages over, and the other
 *                 other one waits for the next        one waits for it, too
 *     END_WHOLE -----------------------------> END_LOST -------------------------------> END_READY
 *         ^                                       ^   a reason of its own, or the other      |   |
 *         |                                       |   one waits for a later one              |   |
 *         |                                       +------------------------------------------+   |
 *         +--------------------------------------------------------------------------------------+
 *        the end that leads: the other one is ready, and its own role, too; the other one: the first is up
 *
 * The switch's end of a node's link leads, and of a link between switches its second end. Each word that is
 * told is written by one end alone, which has done all that the word says before. Behind it `news` of the
 * link's switches is counted up, so that an end with nothing to do looks at one word.
 *
 * Any thread cuts all links of a switch at once by counting `cuts` up. Both ends see that in their next
 * turns, which may be long after, and a switch that stands still does not: so it is each end's own reason,
 * once. A switch that has seen it tells how far (`crashed`) before it has a link up again; what it had seen
 * by then is no reason for the node any more.
 */
#include "wall/link_end.h"

#include <errno.h>

#include "base/mf_table.h"
#include "wall/shape.h"

static uint32_t told(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void tell(struct wall_end *e, uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	atomic_fetch_add_explicit(&e->of->news, 1, memory_order_release);
	if (e->other != NULL && e->other->of != e->of)
		atomic_fetch_add_explicit(&e->other->of->news, 1, memory_order_release);
}

void wall_end_cut(struct wall_end *e)
{
	tell(e, &e->cuts, e->cuts + 1);
	e->fell = true;
	if (e->tunnel != NULL)
		e->tunnel->cut = true;
}

void wall_end_mend(struct wall_end *e)
{
	tell(e, &e->cuts, e->cuts - 1);
	if (e->tunnel != NULL)
		e->tunnel->cut = e->cuts > 0;
}

bool wall_end_broken(const struct wall_end *e)
{
	return e->cuts > 0 || (e->other != NULL && told(&e->other->cuts) > 0);
}

bool wall_end_up(const struct wall_end *e)
{
	return e->role == NULL || !(e->tunnel != NULL ? told(&e->tunnel->lost) : told(&e->lost));
}

/** Of the two ends the one whose link is up first. */
static bool leads(const struct wall_end *e)
{
	return e->side == MF_LINK_SWITCH;
}

static void tell_routes(struct wall_end *e, bool lost)
{
	tell(e, &e->lost, lost);
	wall_routes_news(e->of->w);
}

static void wait_for(struct wall_end *e, uint32_t connection)
{
	e->fell = false;
	e->phase = END_LOST;
	e->connection = connection;
	tell(e, &e->connection_told, connection);
	tell_routes(e, true);
}

static void lose(struct wall_end *e, uint32_t connection, mf_time now)
{
	if (e->out->impair != NULL)
		wall_impair_clear(e->out->impair);
	e->in->in = NULL;
	if (e->impaired == NULL || e->impaired->dead == 0)
		role_link_lost(e->role, e->port, now);
	wait_for(e, connection);
}

/** The next connection is there. Scramblers begin anew, as those of the other end do. */
static void rise(struct wall_end *e)
{
	e->phase = END_WHOLE;
	e->in->in = e->in->crossing;
	e->in->descrambler.state = e->out->scrambler.state = MF_SCRAMBLER_INIT;
	if (e->out->shaper != NULL)
		shaper_restart(e->out->shaper);
	if (e->guard != NULL)
		mf_guard_reset(&e->guard->end[e->side]);
	tell_routes(e, false);
}

static void rise_first(struct wall_end *e, mf_time now)
{
	if (told(&e->other->ready) != e->connection || !role_link_back(e->role, e->port, now))
		return;
	rise(e);
	tell(e, &e->up, e->connection);
}

static void rise_second(struct wall_end *e, mf_time now)
{
	if (told(&e->other->up) != e->connection)
		return;
	e->cuts_seen = atomic_load_explicit(&e->of->crashed, memory_order_acquire);
	if (role_link_back(e->role, e->port, now))
		rise(e);
}

/** All links of the switch were cut; it finds that itself (redundancy.c). */
static void look_at_cuts(struct wall_end *e)
{
	unsigned int cuts = atomic_load_explicit(&e->of->cuts, memory_order_relaxed);

	e->fell |= cuts != e->cuts_seen;
	e->cuts_seen = cuts;
}

void wall_end_fall(struct wall_end *e, mf_time now)
{
	if (e->phase == END_WHOLE)
		lose(e, e->connection + 1, now);
	else if (e->phase == END_READY)
		wait_for(e, e->connection + 1);
}

void wall_end_step(struct wall_end *e, mf_time now)
{
	uint32_t other;

	e->news = atomic_load_explicit(&e->of->news, memory_order_acquire);
	other = told(&e->other->connection_told);
	if (role_is_node(e->role))
		look_at_cuts(e);
	if (e->phase == END_WHOLE) {
		if (e->fell || other != e->connection)
			lose(e, other > e->connection ? other : e->connection + 1, now);
		return;
	}
	if (other > e->connection || (e->phase == END_READY && e->fell))
		wait_for(e, other > e->connection ? other : e->connection + 1);
	if (e->phase == END_LOST && e->cuts == 0 && other == e->connection) {
		if (e->in->crossing != NULL)
			crossing_drain(e->in->crossing);
		e->phase = END_READY;
		e->fell = false;
		tell(e, &e->ready, e->connection);
	}
	if (e->phase != END_READY)
		return;
	if (leads(e))
		rise_first(e, now);
	else
		rise_second(e, now);
}

/** @return when the link is mended, or its local fault over; MF_NEVER: never */
static mf_time disable(struct wall *w, struct wall_end *e, mf_time now)
{
	mf_time over;

	guards_disable(w->f, e->link, e->side, w->options);
	over = guards_over(w->f, e->link);
	return over != 0 ? now + over : MF_NEVER;
}

void wall_end_guard(struct wall *w, struct wall_end *e, mf_time now)
{
	if (e->guard == NULL)
		return;
	if (e->disabled) {
		if (now < e->repair)
			return;
		e->disabled = false;
		mf_guard_reset(&e->guard->end[e->side]);
		guards_repair(w->f, e->link);
		wall_end_mend(e);
		return;
	}
	if (e->guard->end[e->side].tripped == MF_NEVER || e->phase != END_WHOLE ||
	    atomic_exchange(&e->guard->disabled, true))
		return;
	e->repair = disable(w, e, now);
	e->disabled = true;
	wall_end_cut(e);
}

/* Set-up. */

/** An end of a role of this process. @param end  in the graph */
static void init_end(struct wall *w, struct role *r, uint32_t end)
{
	const struct mf_end *g = &w->graph_end[end];
	const struct mf_vertex *own = &w->f->graph->role[g->role];
	const struct mf_vertex *peer = &w->f->graph->role[w->graph_end[g->peer].role];
	struct wall_end *e = &w->end[end];
	unsigned int at;

	*e = (struct wall_end){.role = r, .link = g->link, .port = role_port(r, end)};
	e->side = w->f->graph->link[g->link].end[MF_LINK_SWITCH] == end ? MF_LINK_SWITCH : MF_LINK_NODE;
	e->of = &w->sw[own->kind == MF_VERTEX_SWITCH    ? own->number
		       : peer->kind == MF_VERTEX_SWITCH ? peer->number
							: w->switches];
	e->connection = e->connection_told = e->up = 1;
	e->out = &w->line[end];
	if (fabric_is_tunnel(w->f, g->link)) {
		struct role *port = rendezvous_port_role(w, g->link, e->side, &at);

		e->tunnel = &port->carrier->end[at];
		e->in = &e->tunnel->in;
	} else {
		e->other = &w->end[g->peer];
		e->in = wall_in(w, end);
	}
}

int wall_ends_set_up(struct wall *w)
{
	const struct mf_topology *g = w->f->graph;

	w->end = mf_table_new(g->ends, sizeof(*w->end));
	if (w->end == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->roles; i++) {
		struct role *r = &w->role[i];
		const struct mf_vertex *v = NULL;

		if (role_is_node(r) || r->kind == ROLE_SWITCH)
			v = &g->role[w->graph_end[r->first_end].role];
		for (uint32_t k = 0; v != NULL && k < v->ends; k++)
			if (w->line[v->first_end + k].to != NULL)
				init_end(w, r, v->first_end + k);
	}
	for (unsigned int k = 0; k < w->switches; k++)
		w->sw[k].calm = true;
	return 0;
}

void wall_ends_tear_down(struct wall *w)
{
	mf_table_free(w->end);
}
