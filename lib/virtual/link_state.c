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
static void unplug(const struct virtual *v, unsigned int i)
{
	const struct virtual *first = v->nodes, *second = first->twin;

	v->f->node[i].unplugged =
		first->events->place[i].cuts > 0 && (second == NULL || second->events->place[i].cuts > 0);
}

void virtual_link_cut(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	if (p->cuts++ > 0)
		return;
	for (struct wire *w = &v->up[i]; w != NULL; w = w == &v->up[i] ? &v->down[i] : NULL) {
		wire_clear(w, v->now);
		w->cut = true;
		if (w->fault != NULL)
			mf_fault_cut(w->fault, v->now);
	}
	p->at = MF_NEVER;
	unplug(v, i);
	if (p->phase == LINK_WHOLE) {
		p->phase = LINK_DARK;
		p->at = v->now + LOCK_LOST * (mf_time)v->link[i].period;
	}
	virtual_node_changed(v, i);
}

static mf_time lock_found(const struct virtual *v, unsigned int i)
{
	return v->now + LOCK_FOUND * (mf_time)v->link[i].period;
}

void virtual_link_mend(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	if (--p->cuts > 0)
		return;
	unplug(v, i);
	if (p->phase == LINK_LOST)
		p->at = lock_found(v, i);
}

static void lost(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	p->phase = LINK_LOST;
	p->at = p->cuts == 0 ? lock_found(v, i) : MF_NEVER;
	if (p->dead == 0)
		mf_node_link_down(v->f->node[i].host, v->number, v->now);
	mf_sw_link_down(v->sw, i, v->now);
	virtual_node_changed(v, i);
	virtual_switch_changed(v);
}

static void found(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	if (!mf_sw_link_up(v->sw, i, v->now)) {
		p->at = lock_found(v, i); /* asked again */
		virtual_switch_changed(v);
		return;
	}
	p->phase = LINK_WHOLE;
	p->at = MF_NEVER;
	for (struct wire *w = &v->up[i]; w != NULL; w = w == &v->up[i] ? &v->down[i] : NULL) {
		w->cut = false;
		if (w->fault != NULL)
			mf_fault_mend(w->fault, v->now);
	}
	mf_node_link_up(v->f->node[i].host, v->number, v->now);
	virtual_node_changed(v, i);
	virtual_switch_changed(v);
}

void virtual_link_step(struct virtual *v, unsigned int i)
{
	if (v->events->place[i].phase == LINK_DARK)
		lost(v, i);
	else
		found(v, i);
}

/* Corruption. */

/**
 * Both ends know that the link is disabled when word of it has gone to the other end, and back; a message
 * that had begun is over by then. A damaged block is seen up to a span late, if it stands in a frame or in
 * idle; so it is known before any span begins that is under way when the link is cut.
 */
void virtual_link_look(struct virtual *v, unsigned int i)
{
	const struct link_guard *g = &v->f->guards[fabric_link(v->f, v->number, i)];
	struct virtual *nodes = v->nodes;
	mf_time at = guard_tripped(g);
	struct place *p = &v->events->place[i];

	if (at == MF_NEVER || g->disabled)
		return;
	at += 2 * nodes->late + 2 * v->link[i].delay;
	p->guard = mf_time_min(p->guard, mf_time_max(at, v->now + 2 * v->ahead));
	nodes->event_next = mf_time_min(nodes->event_next, p->guard);
}

void virtual_link_guard(struct virtual *v, unsigned int i)
{
	struct link_guard *g = &v->f->guards[fabric_link(v->f, v->number, i)];
	struct place *p = &v->events->place[i];
	mf_time over;

	p->guard = MF_NEVER;
	if (g->disabled) {
		for (int end = 0; end < MF_LINK_ENDS; end++)
			mf_guard_reset(&g->end[end]);
		guards_repair(v->f, v->number, i);
		virtual_link_mend(v, i);
		return;
	}
	g->disabled = true;
	guards_disable(v->f, v->number, i, guard_seen_by(g), v->options);
	over = guards_over(v->f, v->number, i);
	if (over != 0)
		p->guard = v->now + over;
	virtual_link_cut(v, i);
}
