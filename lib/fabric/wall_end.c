/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link that is cut under the wall clock, and comes back. Either end may begin: it takes and sends nothing
 * any more and waits for the next connection. The other one sees that and does the same. From then on
 * nothing new comes into the ring between their lcores, so each end empties the one that it takes from, and
 * is ready.
 *
 *                 own outage, or the other one                own outages over, and the
 *                 waits for the next                          other one waits for it, too
 *     END_WHOLE -----------------------------> END_LOST -------------------------------> END_READY
 *         ^                                       ^   own outage, or the other one           |   |
 *         |                                       |   waits for a later one                  |   |
 *         |                                       +------------------------------------------+   |
 *         +--------------------------------------------------------------------------------------+
 *           switch: the node is ready, and the switch itself has swept the port; node: the switch is up
 *
 * Each word that is told is written by one end alone, which has done all that the word says before.
 */
#include "wall_fault.h"
#include "wall_port.h"

static uint32_t told(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void tell(uint32_t *word, uint32_t connection)
{
	__atomic_store_n(word, connection, __ATOMIC_RELEASE);
}

void wall_end_cut(struct wall_end *e)
{
	e->cuts++;
	e->fell = true;
	if (e->carried != NULL)
		e->carried->cut = true;
}

void wall_end_mend(struct wall_end *e)
{
	e->cuts--;
	if (e->carried != NULL)
		e->carried->cut = e->cuts > 0;
}

static bool is_switch(const struct wall_end *e)
{
	return e->role->role->kind == ROLE_SWITCH;
}

static mf_time clock_of(const struct wall_end *e)
{
	return wall_role_clock(e->role, e->role->now);
}

static void wait_for(struct wall_end *e, uint32_t connection)
{
	e->fell = false;
	e->phase = END_LOST;
	e->connection = connection;
	tell(&e->connection_told, connection);
}

static void lose(struct wall_end *e, uint32_t connection)
{
	wall_harm_clear(e->out->harm, e->role->now);
	e->in->in = NULL;
	if (e->role->dead == 0)
		role_link_lost(e->role->role, e->node, clock_of(e));
	wait_for(e, connection);
}

/** Throws away what came of the connection before. */
static void drain(struct crossing *c, struct mf_span *room)
{
	while (c != NULL && crossing_take_span(c, room))
		;
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

static void step(struct wall_end *e)
{
	uint32_t other = told(&e->other->connection_told);

	if (e->phase == END_WHOLE) {
		if (e->fell || other != e->connection)
			lose(e, other > e->connection ? other : e->connection + 1);
		return;
	}
	if (other > e->connection || (e->phase == END_READY && e->fell))
		wait_for(e, other > e->connection ? other : e->connection + 1);
	if (e->phase == END_LOST && e->cuts == 0 && other == e->connection) {
		drain(e->in->crossing, &e->out->harm->span);
		e->phase = END_READY;
		e->fell = false;
		tell(&e->ready, e->connection);
	}
	if (e->phase != END_READY)
		return;
	if (!is_switch(e)) {
		if (told(&e->other->up) == e->connection)
			rise(e);
	} else if (told(&e->other->ready) == e->connection &&
		   role_link_back(e->role->role, e->node, clock_of(e))) {
		rise(e);
		tell(&e->up, e->connection);
	}
}

/** Cuts the link when corruption was too much at this end (guards.h), and mends it when that is over. */
static void look_at_guard(struct wall *w, struct wall_end *e)
{
	enum mf_link_end own = is_switch(e) ? MF_LINK_SWITCH : MF_LINK_NODE;

	if (e->disabled) {
		if (e->role->now < e->repair)
			return;
		e->disabled = false;
		mf_guard_reset(&e->guard->end[own]);
		guards_repair(w->f, 0, e->node);
		wall_end_mend(e);
		return;
	}
	if (e->guard->end[own].tripped == MF_NEVER || e->phase != END_WHOLE ||
	    atomic_exchange(&e->guard->disabled, true))
		return;
	guards_disable(w->f, 0, e->node, own, w->options);
	e->disabled = true;
	e->repair = guards_over(w->f, 0, e->node);
	e->repair = e->repair != 0 ? e->role->now + e->repair : MF_NEVER;
	wall_end_cut(e);
}

void wall_end_step(struct wall *w, struct wall_end *e)
{
	if (e->guard != NULL)
		look_at_guard(w, e);
	if (e->other != NULL)
		step(e);
}
