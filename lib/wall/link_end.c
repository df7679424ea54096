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
 *           switch: the node is ready, and the switch itself has swept the port; node: the switch is up
 *
 * Each word that is told is written by one end alone, which has done all that the word says before. Behind it
 * `news` of the network is counted up, so that who has nothing to do need not look at all words.
 *
 * Any thread cuts all links of a switch at once by counting `cuts` up. Both ends see that in their next
 * turns, which may be long after, and a switch that stands still does not: so it is each end's own reason,
 * once. A switch that has seen it tells how far (`crashed`) before it has a link up again; what it had seen
 * by then is no reason for the node any more.
 */
#include "wall/link_end.h"

#include <errno.h>

#include "base/mf_table.h"
#include "wall/outages.h"

static uint32_t told(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void tell(struct wall_end *e, uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	atomic_fetch_add_explicit(&e->net->news, 1, memory_order_release);
}

void wall_end_cut(struct wall_end *e)
{
	tell(e, &e->cuts, e->cuts + 1);
	e->fell = true;
	if (e->carried != NULL)
		e->carried->cut = true;
}

void wall_end_mend(struct wall_end *e)
{
	tell(e, &e->cuts, e->cuts - 1);
	if (e->carried != NULL)
		e->carried->cut = e->cuts > 0;
}

bool wall_end_broken(const struct wall_end *e)
{
	return e->cuts > 0 || (e->other != NULL && told(&e->other->cuts) > 0);
}

static bool is_switch(const struct wall_end *e)
{
	return e->role->kind == ROLE_SWITCH;
}

static void wait_for(struct wall_end *e, uint32_t connection)
{
	e->fell = false;
	e->phase = END_LOST;
	e->connection = connection;
	tell(e, &e->connection_told, connection);
}

static void lose(struct wall_end *e, uint32_t connection, mf_time now)
{
	if (e->out->harm != NULL)
		wall_harm_clear(e->out->harm);
	e->in->in = NULL;
	if (e->harmed == NULL || e->harmed->dead == 0)
		role_link_lost(e->role, e->port, now);
	wait_for(e, connection);
}

/** The next connection is there. Scramblers begin anew, as those of the other end do. */
static void rise(struct wall_end *e)
{
	e->phase = END_WHOLE;
	e->in->in = e->in->crossing;
	e->in->descrambler.state = e->out->scrambler.state = MF_SCRAMBLER_INIT;
	if (e->guard != NULL)
		mf_guard_reset(&e->guard->end[is_switch(e) ? MF_LINK_SWITCH : MF_LINK_NODE]);
}

static void rise_switch(struct wall_end *e, mf_time now)
{
	if (told(&e->other->ready) != e->connection || !role_link_back(e->role, e->port, now))
		return;
	rise(e);
	tell(e, &e->up, e->connection);
}

static void rise_node(struct wall_end *e, mf_time now)
{
	if (told(&e->other->up) != e->connection)
		return;
	e->net_cuts = atomic_load_explicit(&e->net->crashed, memory_order_acquire);
	rise(e);
	role_link_back(e->role, e->port, now);
}

/** All links of the switch were cut; it finds that itself (redundancy.c). */
static void look_at_cuts(struct wall_end *e)
{
	unsigned int cuts = atomic_load_explicit(&e->net->cuts, memory_order_relaxed);

	e->fell |= cuts != e->net_cuts;
	e->net_cuts = cuts;
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

	e->news = atomic_load_explicit(&e->net->news, memory_order_acquire);
	other = told(&e->other->connection_told);
	if (!is_switch(e))
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
	if (is_switch(e))
		rise_switch(e, now);
	else
		rise_node(e, now);
}

/** @return when the link is mended, or its local fault over; MF_NEVER: never */
static mf_time disable(struct wall *w, struct wall_end *e, unsigned int net, mf_time now)
{
	mf_time over;

	guards_disable(w->f, net, e->node, is_switch(e) ? MF_LINK_SWITCH : MF_LINK_NODE, w->options);
	over = guards_over(w->f, net, e->node);
	return over != 0 ? now + over : MF_NEVER;
}

void wall_end_guard(struct wall *w, struct wall_end *e, mf_time now)
{
	enum mf_link_end own = is_switch(e) ? MF_LINK_SWITCH : MF_LINK_NODE;
	unsigned int net = (unsigned int)(e->net - w->net);

	if (e->guard == NULL)
		return;
	if (e->disabled) {
		if (now < e->repair)
			return;
		e->disabled = false;
		mf_guard_reset(&e->guard->end[own]);
		guards_repair(w->f, net, e->node);
		wall_end_mend(e);
		return;
	}
	if (e->guard->end[own].tripped == MF_NEVER || e->phase != END_WHOLE ||
	    atomic_exchange(&e->guard->disabled, true))
		return;
	e->repair = disable(w, e, net, now);
	e->disabled = true;
	wall_end_cut(e);
}

/* Set-up. */

static void init_end(struct wall *w, struct wall_net *net, struct role *r, unsigned int node)
{
	unsigned int number = (unsigned int)(net - w->net), at;
	bool of_switch = r->kind == ROLE_SWITCH;
	struct wall_end *e = &net->end[of_switch ? MF_LINK_SWITCH : MF_LINK_NODE][node];

	*e = (struct wall_end){.net = net, .role = r, .node = node};
	e->port = r->kind == ROLE_TWIN ? number : node;
	e->connection = e->connection_told = e->up = 1;
	e->out = of_switch ? &net->down[node] : &net->up[node];
	if (meet_carried(w, number, node)) {
		struct role *port =
			meet_port_role(w, number, node, of_switch ? MF_LINK_SWITCH : MF_LINK_NODE, &at);

		e->carried = &port->carrier->end[at];
		e->in = &e->carried->in;
	} else {
		e->other = &net->end[of_switch ? MF_LINK_NODE : MF_LINK_SWITCH][node];
		e->in = of_switch ? &net->up[node] : &net->down[node];
	}
}

static void init_ends(struct wall *w, struct wall_net *net)
{
	for (unsigned int i = 0; i < w->roles; i++)
		if (role_is_node(&w->role[i]))
			init_end(w, net, &w->role[i], w->role[i].index);
	for (unsigned int n = 0; n < w->f->nodes && net->sw != NULL; n++)
		if (net->down[n].to != NULL)
			init_end(w, net, net->sw, n);
	net->calm = true;
}

int wall_ends_set_up(struct wall *w)
{
	for (unsigned int k = 0; k < w->nets; k++) {
		for (int end = 0; end < MF_LINK_ENDS; end++) {
			w->net[k].end[end] = mf_table_new(w->f->nodes, sizeof(*w->net[k].end[end]));
			if (w->net[k].end[end] == NULL)
				return -ENOMEM;
		}
		init_ends(w, &w->net[k]);
	}
	return 0;
}

void wall_ends_tear_down(struct wall *w)
{
	for (unsigned int k = 0; k < w->nets; k++)
		for (int end = 0; end < MF_LINK_ENDS; end++)
			mf_table_free(w->net[k].end[end]);
}
