/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link that is cut and comes back. It is down as long as any outage, or corruption, wants it to be:
 *
 *               first cut          block lock lost         last outage over, and block lock
 *     LINK_WHOLE ------> LINK_DARK ---------------> LINK_LOST -----------------------------> LINK_WHOLE
 *                        all that is sent           both ends                    the switch may say
 *                        and was is lost            are told                     that it is not ready
 */
#include "fabric/mf_link_guard.h"
#include "virtual/outages.h"

/*
 * Blocks until a receiver without a signal has lost its block lock, and has it again (IEEE 802.3
 * 49.2.13.3).
 */
#define LOCK_LOST 16
#define LOCK_FOUND 64

/** Whether a node has a cable at all. */
static void unplug(const struct virtual *v, const struct mf_vertex *r)
{
	bool any = false;

	for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++)
		any |= v->outages->link[v->graph->end[e].link].cuts == 0;
	v->f->node[r->number].unplugged = !any;
}

/* What follows is done at both ends of a link, of which one that is a node comes first. */

static const struct mf_end *end_of(const struct virtual *v, unsigned int link, unsigned int end)
{
	return &v->graph->end[v->graph->link[link].end[end]];
}

static const struct mf_vertex *role_of(const struct virtual *v, const struct mf_end *e)
{
	return &v->graph->role[e->role];
}

static void for_ends(struct virtual *v, unsigned int link,
		     void (*fn)(struct virtual *v, const struct mf_end *e, const struct mf_vertex *r))
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct mf_end *e = end_of(v, link, i);

		fn(v, e, role_of(v, e));
	}
}

static void end_unplug(struct virtual *v, const struct mf_end *e, const struct mf_vertex *r)
{
	(void)e;
	if (r->kind == MF_VERTEX_NODE)
		unplug(v, r);
}

static void end_changed(struct virtual *v, const struct mf_end *e, const struct mf_vertex *r)
{
	(void)e;
	if (r->kind == MF_VERTEX_NODE)
		virtual_node_changed(v, r->number);
	else
		virtual_switch_changed(&v->sw[r->number]);
}

static void end_down(struct virtual *v, const struct mf_end *e, const struct mf_vertex *r)
{
	if (r->kind == MF_VERTEX_SWITCH)
		mf_sw_link_down(v->sw[r->number].sw, e->port, v->now);
	else if (v->outages->node[r->number].dead == 0)
		mf_node_link_down(v->f->node[r->number].host, e->port, v->now);
}

static void end_up(struct virtual *v, const struct mf_end *e, const struct mf_vertex *r)
{
	if (r->kind == MF_VERTEX_NODE)
		mf_node_link_up(v->f->node[r->number].host, e->port, v->now);
}

/** A switch may not be ready: it is asked again. A node always is. */
static bool is_ready(struct virtual *v, unsigned int link)
{
	bool ready = true;

	for (unsigned int i = 0; i < 2; i++) {
		const struct mf_end *e = end_of(v, link, i);
		const struct mf_vertex *r = role_of(v, e);

		if (r->kind == MF_VERTEX_SWITCH && !mf_sw_link_up(v->sw[r->number].sw, e->port, v->now)) {
			virtual_switch_changed(&v->sw[r->number]);
			ready = false;
		}
	}
	return ready;
}

static struct wire *wire_of(struct virtual *v, unsigned int link, unsigned int end)
{
	return &v->wire[v->graph->link[link].end[end]];
}

void virtual_link_cut(struct virtual *v, unsigned int link)
{
	struct link_place *p = &v->outages->link[link];

	if (p->cuts++ > 0)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		struct wire *w = wire_of(v, link, i);

		wire_clear(w, v->now);
		w->cut = true;
		if (w->fault != NULL)
			mf_fault_cut(w->fault, v->now);
	}
	p->at = MF_NEVER;
	for_ends(v, link, end_unplug);
	for (unsigned int i = 0; i < 2; i++)
		virtual_hears(v, wire_of(v, link, i)); /* nothing any more */
	if (p->phase == LINK_WHOLE) {
		p->phase = LINK_DARK;
		p->at = v->now + LOCK_LOST * (mf_time)v->f->link[link].period;
	}
	for (unsigned int i = 0; i < 2; i++)
		if (role_of(v, end_of(v, link, i))->kind == MF_VERTEX_NODE)
			virtual_node_changed(v, role_of(v, end_of(v, link, i))->number);
}

static mf_time lock_found(const struct virtual *v, unsigned int link)
{
	return v->now + LOCK_FOUND * (mf_time)v->f->link[link].period;
}

void virtual_link_mend(struct virtual *v, unsigned int link)
{
	struct link_place *p = &v->outages->link[link];

	if (--p->cuts > 0)
		return;
	for_ends(v, link, end_unplug);
	if (p->phase == LINK_LOST)
		p->at = lock_found(v, link);
}

static void lost(struct virtual *v, unsigned int link)
{
	struct link_place *p = &v->outages->link[link];

	p->phase = LINK_LOST;
	p->at = p->cuts == 0 ? lock_found(v, link) : MF_NEVER;
	if (v->f->routes != NULL)
		mf_routes_link(v->f->routes, link, false);
	for_ends(v, link, end_down);
	for_ends(v, link, end_changed);
}

static void found(struct virtual *v, unsigned int link)
{
	struct link_place *p = &v->outages->link[link];

	if (!is_ready(v, link)) {
		p->at = lock_found(v, link);
		return;
	}
	p->phase = LINK_WHOLE;
	p->at = MF_NEVER;
	for (unsigned int i = 0; i < 2; i++) {
		struct wire *w = wire_of(v, link, i);

		w->cut = false;
		if (w->fault != NULL)
			mf_fault_mend(w->fault, v->now);
	}
	if (v->f->routes != NULL)
		mf_routes_link(v->f->routes, link, true);
	for_ends(v, link, end_up);
	for_ends(v, link, end_changed);
}

void virtual_link_step(struct virtual *v, unsigned int link)
{
	if (v->outages->link[link].phase == LINK_DARK)
		lost(v, link);
	else
		found(v, link);
}

/* Corruption. */

/**
 * Both ends know that the link is disabled when word of it has gone to the other end, and back; a message
 * that had begun is over by then. A damaged block is seen up to a span late, if it stands in a frame or in
 * idle; so it is known before any span begins that is under way when the link is cut.
 */
void virtual_link_look(struct virtual *v, const struct wire *w)
{
	unsigned int link = virtual_link(v, w);
	const struct link_guard *g = &v->f->guards[link];
	struct link_place *p = &v->outages->link[link];
	mf_time at = guard_tripped(g);

	if (!g->on || at == MF_NEVER || g->disabled)
		return;
	at += 2 * v->late + 2 * v->f->link[link].delay;
	p->guard = mf_time_min(p->guard, mf_time_max(at, v->now + 2 * v->ahead));
	v->outage_next = mf_time_min(v->outage_next, p->guard);
}

void virtual_link_guard(struct virtual *v, unsigned int link)
{
	struct link_guard *g = &v->f->guards[link];
	struct link_place *p = &v->outages->link[link];
	mf_time over;

	p->guard = MF_NEVER;
	if (g->disabled) {
		for (int end = 0; end < MF_LINK_ENDS; end++)
			mf_guard_reset(&g->end[end]);
		guards_repair(v->f, link);
		virtual_link_mend(v, link);
		return;
	}
	g->disabled = true;
	guards_disable(v->f, link, guard_seen_by(g), v->options);
	over = guards_over(v->f, link);
	if (over != 0)
		p->guard = v->now + over;
	virtual_link_cut(v, link);
}
