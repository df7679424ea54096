/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches (EDM 3.3, docs/fault-tolerance.md) under the wall clock: what a node sends goes on both of its
 * links, and who gets no turns is cut off by the watchdog. How links go down and come up: link_end.c. Those
 * that ports carry have their own way (port.c): the switch ends their connections.
 */
#include <rte_branch_prediction.h>

#include "wall/shape.h"

#define GIVE_BURST 16 /**< spans that a node hands over in a turn, so that the others have theirs */

static unsigned int cuts_of(const struct wall_switch *s)
{
	return atomic_load_explicit(&s->cuts, memory_order_relaxed);
}

static unsigned int crashed_of(const struct wall_switch *s)
{
	return atomic_load_explicit(&s->crashed, memory_order_relaxed);
}

/* ---- nodes ---- */

/** Whether a node's link is up, with what is due to it. */
static inline bool look_at_link(struct wall *w, const struct role *r, unsigned int link, mf_time now)
{
	struct wall_end *e = &w->end[r->first_end + link];

	if (unlikely(!wall_end_quiet(e)) && e->other != NULL)
		wall_end_step(e, now);
	return r->links & 1u << link;
}

unsigned int redundancy_take(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	unsigned int work = 0;

	for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
		if (likely(look_at_link(w, r, link, now)))
			work += wall_take(wall_in(w, r->first_end + link), l->span, now);
	return work;
}

/** The links that are up. @return how many */
static unsigned int find_up(struct wall *w, const struct role *r, struct wall_link *up[MF_CONFIG_SWITCHES])
{
	unsigned int n = 0;

	for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
		if (likely(r->links & 1u << link))
			up[n++] = &w->line[r->first_end + link];
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

/** How many blocks may go on all links that are up. */
static unsigned int may_send(struct wall_link *const up[MF_CONFIG_SWITCHES], unsigned int n, mf_time now)
{
	unsigned int a = wall_may_send(up[0], now), b = n == 2 ? wall_may_send(up[1], now) : a;

	return a < b ? a : b;
}

/** Nothing waits: lines with a rate rest. */
static void rest(const struct role *r, struct wall_link *const up[MF_CONFIG_SWITCHES], unsigned int n)
{
	for (unsigned int k = 0; k < n && !role_tx_waits(r, 0); k++)
		if (unlikely(up[k]->shaper != NULL))
			shaper_rest(up[k]->shaper);
}

/* A span goes to both switches at once or waits, so that neither knows less than the other. */
unsigned int redundancy_give(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	struct wall_link *up[MF_CONFIG_SWITCHES];
	unsigned int n = find_up(w, r, up), work = 0;
	struct mf_span *s;

	while (n > 0 && work < GIVE_BURST && role_tx_waits(r, 0)) {
		unsigned int most = may_send(up, n, now);

		if (most == 0)
			break;
		if (likely(most == MF_SPAN_MAX))
			s = role_tx_in_place(r, 0, now, l->span);
		else
			s = role_tx(r, 0, now, most, l->span) > 0 ? l->span : NULL;
		if (s == NULL)
			break;
		if (n == 2)
			send_copy(up[1], l->mirror, s, now);
		wall_send(up[0], s, now);
		work++;
	}
	rest(r, up, n);
	return work;
}

/* ---- switches ---- */

void redundancy_discard(struct role *sw, unsigned int port, struct mf_span *scratch, mf_time now)
{
	while (role_tx_waits(sw, port) && role_tx_in_place(sw, port, now, scratch) != NULL)
		;
}

/** The switch forgets all and ends its connections: all its links were cut. */
static void crash(struct wall *w, struct wall_switch *s, struct role *r, unsigned int cuts, mf_time now)
{
	role_crash(r, now);
	for (unsigned int i = 0; i < s->ports; i++) {
		struct wall_end *e = &w->end[s->first_end + i];

		if (e->tunnel != NULL)
			mf_link_leave(e->tunnel->link, port_now(w));
		else if (e->role != NULL)
			wall_end_fall(e, now);
	}
	atomic_store_explicit(&s->reviving, true, memory_order_relaxed);
	atomic_store_explicit(&s->crashed, cuts, memory_order_release);
}

/** The other one had taken over: it begins again with nothing, and on the links that it has. */
static void begin_anew(struct wall *w, struct wall_switch *s, struct role *r, mf_time now)
{
	s->demoted++;
	role_crash(r, now);
	for (unsigned int i = 0; i < s->ports; i++)
		w->end[s->first_end + i].anew = true;
	atomic_store_explicit(&s->reviving, true, memory_order_relaxed);
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
	return whole ? !e->anew : e->tunnel != NULL;
}

static void bring_all_up(struct wall *w, struct wall_switch *s, mf_time now)
{
	bool calm = true, reviving = s->gone > 0;

	s->news_seen = atomic_load_explicit(&s->news, memory_order_acquire);
	for (unsigned int i = 0; i < s->ports; i++) {
		struct wall_end *e = &w->end[s->first_end + i];

		if (e->role == NULL || bring_up(e, now))
			continue;
		calm = false;
		reviving |= !wall_end_broken(e);
	}
	s->calm = calm;
	atomic_store_explicit(&s->reviving, reviving, memory_order_relaxed);
}

void redundancy_look(struct wall *w, struct role *r, mf_time now)
{
	struct wall_switch *s = &w->sw[r->index];
	unsigned int cuts;

	if (unlikely(mf_sw_demoted(r->sw)))
		begin_anew(w, s, r, now);
	else if (likely(s->calm && s->news_seen == atomic_load_explicit(&s->news, memory_order_relaxed)))
		return;
	cuts = cuts_of(s);
	if (cuts != crashed_of(s))
		crash(w, s, r, cuts, now);
	bring_all_up(w, s, now);
}

void redundancy_cut(struct wall_switch *s)
{
	atomic_fetch_add_explicit(&s->cuts, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->news, 1, memory_order_release);
}

/* ---- the watchdog's word ---- */

/** Whether the switch works, as far as this process knows; one of another process is taken for well. */
static bool is_well(const struct wall_switch *s)
{
	return s->sw == NULL ||
	       (cuts_of(s) == crashed_of(s) && !atomic_load_explicit(&s->reviving, memory_order_relaxed));
}

/**
 * Whether a cut is seen though r has no turns: by the switch, on another lcore, or by nodes that are here.
 */
static bool can_be_told(const struct wall *w, const struct wall_switch *s, const struct role *r)
{
	if (r->lcore != s->sw->lcore)
		return true;
	for (unsigned int i = 0; i < s->ports; i++)
		if (w->end[s->first_end + i].other != NULL)
			return true;
	return false;
}

bool redundancy_fail_over(struct wall *w, const struct role *r)
{
	struct wall_switch *s = &w->sw[r->index];

	if (r->kind != ROLE_SWITCH && r->kind != ROLE_SCHED)
		return false;
	if (cuts_of(s) != crashed_of(s))
		return true; /* it has been cut off, and has not seen that yet */
	if (!is_well(&w->sw[!r->index]) || !can_be_told(w, s, r))
		return false;
	redundancy_cut(s);
	return true;
}

/* ---- set-up ---- */

void redundancy_set_up(struct wall *w)
{
	if (w->redundant)
		w->fail_over = redundancy_fail_over;
}

void redundancy_tear_down(struct wall *w)
{
	for (unsigned int k = 0; w->sw != NULL && k < w->switches; k++) {
		w->f->backup.cuts += cuts_of(&w->sw[k]);
		w->f->backup.demoted += w->sw[k].demoted;
	}
}
