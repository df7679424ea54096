/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches (EDM 3.3, docs/fault-tolerance.md) under the wall clock: what a node sends goes on both of its
 * links, and a link goes down, and comes up, while all else runs.
 *
 * Any thread cuts all links of a switch at once by counting `cuts` up. Node and switch see that in their
 * next turns, which may be long after. Nothing from before the cut may pass for new, so a link with both
 * ends in this process comes up in steps, each of which is told by setting a word to the number of the cut:
 *
 *      cuts       the node goes to the other switch, and neither sends nor takes anything here
 *      crashed    the switch has forgotten all, and neither sends nor takes anything
 *      dry        the node has thrown away what the switch had sent
 *      whole      the switch has thrown away what the node had sent, and has the link up; so has the node
 *
 * Links that ports carry have their own way to come up (wall_port.c): the switch ends their connections.
 */
#include <rte_branch_prediction.h>
#include <rte_malloc.h>

#include "wall_port.h"

#define GIVE_BURST 16 /**< spans that a node hands over in a turn, so that the others have theirs */

static bool is_carried(const struct wall_link *l)
{
	return l->to->kind == ROLE_PORT;
}

static unsigned int cuts_of(const struct wall_net *net)
{
	return atomic_load_explicit(&net->cuts, memory_order_relaxed);
}

static unsigned int crashed_of(const struct wall_net *net)
{
	return atomic_load_explicit(&net->crashed, memory_order_acquire);
}

/* ---- nodes ---- */

/** The node's part of bringing up a link that no port carries. */
static void await(struct wall_net *net, struct wall_lcore *l, struct role *r, unsigned int link, mf_time now)
{
	struct wall_twin *t = &net->twin[r->index];

	if (crashed_of(net) != t->cuts)
		return;
	if (atomic_load_explicit(&t->dry, memory_order_relaxed) != t->cuts) {
		wall_drain(&net->down[r->index], l->span);
		atomic_store_explicit(&t->dry, t->cuts, memory_order_release);
	}
	if (atomic_load_explicit(&t->whole, memory_order_acquire) == t->cuts)
		role_link_back(r, link, now);
}

/** Whether a node's link is up, with what is due to it. */
static bool look_at_link(struct wall *w, struct wall_lcore *l, struct role *r, unsigned int link, mf_time now)
{
	struct wall_net *net = &w->net[link];
	struct wall_twin *t = &net->twin[r->index];
	unsigned int cuts = cuts_of(net);
	bool up = r->links & 1u << link;

	if (unlikely(t->cuts != cuts) && !is_carried(&net->up[r->index])) {
		t->cuts = cuts;
		if (up)
			role_link_lost(r, link, now);
		up = false;
	}
	if (unlikely(!up) && !is_carried(&net->up[r->index]))
		await(net, l, r, link, now);
	return r->links & 1u << link;
}

unsigned int twin_take(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	unsigned int work = 0;

	for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
		if (likely(look_at_link(w, l, r, link, now)))
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

bool twin_whole(const struct wall_net *net, unsigned int port)
{
	const struct wall_link *down = &net->down[port];

	if (is_carried(down))
		return down->to->carrier->end[down->port].open;
	return atomic_load_explicit(&net->twin[port].whole, memory_order_relaxed) ==
	       atomic_load_explicit(&net->crashed, memory_order_relaxed);
}

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
		const struct wall_link *down = &net->down[i];

		if (down->to != NULL && is_carried(down))
			mf_link_leave(down->to->carrier->end[down->port].link, port_now(w));
	}
	atomic_store_explicit(&net->reviving, true, memory_order_relaxed);
	atomic_store_explicit(&net->crashed, cuts, memory_order_release);
}

/** The switch's part of bringing up a link. @return false: it has to be called again */
static bool revive_port(struct wall *w, struct wall_net *net, struct wall_lcore *l, struct role *r,
			unsigned int port, mf_time now)
{
	struct wall_twin *t = &net->twin[port];
	unsigned int cuts = atomic_load_explicit(&net->crashed, memory_order_relaxed);

	if (twin_whole(net, port))
		return role_link_back(r, port, now);
	if (is_carried(&net->down[port]))
		return true;
	if (atomic_load_explicit(&t->dry, memory_order_acquire) != cuts)
		return false;
	wall_drain(&w->net[r->net].up[port], l->span);
	if (!role_link_back(r, port, now))
		return false;
	atomic_store_explicit(&t->whole, cuts, memory_order_release);
	return true;
}

/** After a crash: brings links up, until none is left that this process can bring up. */
static void revive(struct wall *w, struct wall_net *net, struct wall_lcore *l, struct role *r, mf_time now)
{
	bool all = true;

	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (net->down[i].to != NULL)
			all &= revive_port(w, net, l, r, i, now);
	atomic_store_explicit(&net->reviving, !all, memory_order_relaxed);
}

void twin_look(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	struct wall_net *net = &w->net[r->net];
	unsigned int cuts = cuts_of(net);

	if (unlikely(cuts != crashed_of(net))) {
		crash(w, net, r, cuts, now);
	} else if (unlikely(mf_switch_deposed(r->sw))) {
		net->deposed++;
		role_crash(r, now);
		atomic_store_explicit(&net->reviving, true, memory_order_relaxed);
	}
	if (unlikely(atomic_load_explicit(&net->reviving, memory_order_relaxed)))
		revive(w, net, l, r, now);
}

void twin_cut(struct wall_net *net)
{
	atomic_fetch_add_explicit(&net->cuts, 1, memory_order_relaxed);
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
		if (net->down[i].to != NULL && !is_carried(&net->down[i]))
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

int twin_set_up(struct wall *w)
{
	for (unsigned int k = 0; k < w->nets && w->nets > 1; k++) {
		struct wall_net *net = &w->net[k];

		net->twin = rte_calloc(NULL, w->f->nodes, sizeof(*net->twin), RTE_CACHE_LINE_SIZE);
		if (net->twin == NULL)
			return -ENOMEM;
		w->fail_over = twin_fail_over;
	}
	return 0;
}

void twin_tear_down(struct wall *w)
{
	for (unsigned int k = 0; k < w->nets; k++) {
		w->f->backup.cuts += cuts_of(&w->net[k]);
		w->f->backup.deposed += w->net[k].deposed;
		rte_free(w->net[k].twin);
	}
}
