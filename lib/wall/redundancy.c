/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches (EDM 3.3, docs/fault-tolerance.md) under the wall clock: what a node sends goes on both of its
 * links, and who gets no turns is cut off by the watchdog. How links go down and come up: link_end.c. Those
 * that ports carry have their own way (port.c): the switch ends their connections.
 */
#include <rte_branch_prediction.h>

#include "wall/link_end.h"

#define GIVE_BURST 16 /**< spans that a node hands over in a turn, so that the others have theirs */

static unsigned int cuts_of(const struct wall_net *net)
{
	return atomic_load_explicit(&net->cuts, memory_order_relaxed);
}

static unsigned int crashed_of(const struct wall_net *net)
{
	return atomic_load_explicit(&net->crashed, memory_order_relaxed);
}

/* ---- nodes ---- */

/** Whether a node's link is up, with what is due to it. */
static inline bool look_at_link(struct wall *w, const struct role *r, unsigned int link, mf_time now)
{
	struct wall_end *e = &w->net[link].end[MF_LINK_NODE][r->index];

	if (unlikely(!wall_end_quiet(e)) && e->other != NULL)
		wall_end_step(e, now);
	return r->links & 1u << link;
}

unsigned int twin_take(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	unsigned int work = 0;

	for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
		if (likely(look_at_link(w, r, link, now)))
			work += wall_take(&w->net[link].down[r->index], l->span, now);
	return work;
}

/** The links that are up. @return how many */
static unsigned int find_up(struct wall *w, const struct role *r, struct wall_link *up[MF_CONFIG_SWITCHES])
{
	unsigned int n = 0;

	for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
		if (likely(r->links & 1u << link))
			up[n++] = &w->net[link].up[r->index];
	return n;
}

static void send_copy(struct wall_link *l, struct mf_span *room, const struct mf_span *s, mf_time now)
{
	room->start = s->start;
	room->period = s->period;
	room->count = s->count;
	room->flags = s->flags;
	mf_blocks_copy(room->word, room->sync, s->word, s->sync, s->count);
	wall_send(l, room, now);
}

/* A span goes to both switches at once or waits, so that neither knows less than the other. */
unsigned int twin_give(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	struct wall_link *up[MF_CONFIG_SWITCHES];
	unsigned int n = find_up(w, r, up), work = 0;
	struct mf_span *s;

	while (n > 0 && work < GIVE_BURST && role_tx_waits(r, 0)) {
		if (!wall_can_send(up[0]) || !wall_can_send(up[n - 1]))
			break;
		s = role_tx_in_place(r, 0, now, l->span);
		if (s == NULL)
			break;
		if (n == 2)
			send_copy(up[1], l->mirror, s, now);
		wall_send(up[0], s, now);
		work++;
	}
	return work;
}

/* ---- switches ---- */

void twin_discard(struct role *sw, unsigned int port, struct mf_span *scratch, mf_time now)
{
	while (role_tx_waits(sw, port) && role_tx_in_place(sw, port, now, scratch) != NULL)
		;
}

/** The switch forgets all and ends its connections: all its links were cut. */
static void crash(struct wall *w, struct wall_net *net, struct role *r, unsigned int cuts, mf_time now)
{
	role_crash(r, now);
	for (unsigned int i = 0; i < w->f->nodes; i++) {
		struct wall_end *e = &net->end[MF_LINK_SWITCH][i];

		if (e->carried != NULL)
			mf_link_leave(e->carried->link, port_now(w));
		else if (e->role != NULL)
			wall_end_fall(e, now);
	}
	atomic_store_explicit(&net->reviving, true, memory_order_relaxed);
	atomic_store_explicit(&net->crashed, cuts, memory_order_release);
}

/** The other one had taken over: it begins again with nothing, and on the links that it has. */
static void begin_anew(struct wall *w, struct wall_net *net, struct role *r, mf_time now)
{
	net->deposed++;
	role_crash(r, now);
	for (unsigned int i = 0; i < w->f->nodes; i++)
		net->end[MF_LINK_SWITCH][i].anew = true;
	atomic_store_explicit(&net->reviving, true, memory_order_relaxed);
}

/** What is due at a switch's end. @return nothing is left that this process can do */
static bool bring_up(struct wall_end *e, mf_time now)
{
	bool whole;

	if (e->other != NULL)
		wall_end_step(e, now);
	whole = wall_end_whole(e);
	if (whole && unlikely(e->anew))
		e->anew = !role_link_back(e->role, e->port, now);
	return whole ? !e->anew : e->carried != NULL;
}

static void bring_all_up(struct wall *w, struct wall_net *net, mf_time now)
{
	bool calm = true, reviving = net->gone > 0;

	net->news_seen = atomic_load_explicit(&net->news, memory_order_acquire);
	for (unsigned int i = 0; i < w->f->nodes; i++) {
		struct wall_end *e = &net->end[MF_LINK_SWITCH][i];

		if (e->role == NULL || bring_up(e, now))
			continue;
		calm = false;
		reviving |= !wall_end_broken(e);
	}
	net->calm = calm;
	atomic_store_explicit(&net->reviving, reviving, memory_order_relaxed);
}

void twin_look(struct wall *w, struct role *r, mf_time now)
{
	struct wall_net *net = &w->net[r->net];
	unsigned int cuts;

	if (unlikely(mf_sw_deposed(r->sw)))
		begin_anew(w, net, r, now);
	else if (likely(net->calm &&
			net->news_seen == atomic_load_explicit(&net->news, memory_order_relaxed)))
		return;
	cuts = cuts_of(net);
	if (cuts != crashed_of(net))
		crash(w, net, r, cuts, now);
	bring_all_up(w, net, now);
}

void twin_cut(struct wall_net *net)
{
	atomic_fetch_add_explicit(&net->cuts, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&net->news, 1, memory_order_release);
}

/* ---- the watchdog's word ---- */

/** Whether the switch works, as far as this process knows; one of another process is taken for well. */
static bool is_well(const struct wall_net *net)
{
	return net->sw == NULL || (cuts_of(net) == crashed_of(net) &&
				   !atomic_load_explicit(&net->reviving, memory_order_relaxed));
}

/**
 * Whether a cut is seen though r has no turns: by the switch, on another lcore, or by nodes that are here.
 */
static bool can_be_told(const struct wall *w, const struct wall_net *net, const struct role *r)
{
	if (r->lcore != net->sw->lcore)
		return true;
	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (net->end[MF_LINK_SWITCH][i].other != NULL)
			return true;
	return false;
}

bool twin_fail_over(struct wall *w, const struct role *r)
{
	struct wall_net *net = &w->net[r->net];

	if (r->kind != ROLE_SWITCH && r->kind != ROLE_SCHED)
		return false;
	if (cuts_of(net) != crashed_of(net))
		return true; /* it has been cut off, and has not seen that yet */
	if (!is_well(&w->net[!r->net]) || !can_be_told(w, net, r))
		return false;
	twin_cut(net);
	return true;
}

/* ---- set-up ---- */

void twin_set_up(struct wall *w)
{
	if (w->nets > 1)
		w->fail_over = twin_fail_over;
}

void twin_tear_down(struct wall *w)
{
	for (unsigned int k = 0; k < w->nets; k++) {
		w->f->backup.cuts += cuts_of(&w->net[k]);
		w->f->backup.deposed += w->net[k].deposed;
	}
}
