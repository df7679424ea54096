/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric within somebody else's program: the engine of the wall clock, turned from outside. */
#include "run/mf_embed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_branch_prediction.h>
#include <rte_malloc.h>

#include "measure/mf_cycle_account.h"
#include "measure/mf_run_history.h"
#include "run/idle.h"
#include "wall/ports/mf_memif_sync.h"
#include "wall/ports/mf_port.h"
#include "wall/ports/mf_tunnel_stats.h"

/** Refuses crashes of a program's node: the program would live on, and wait for its answers for good. */
static bool crashes(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];

		for (unsigned int i = 0; i < c->link.n && c->class == MF_FAULT_NODE_CRASH; i++) {
			const struct mf_config_node *n = &f->config->node[c->link.node[i]];

			if (!n->compute || !f->plays.node[c->link.node[i]])
				continue;
			snprintf(err, errlen,
				 "faults[%u].node: '%s' is a node of a program, which does not crash", k,
				 n->name);
			return true;
		}
	}
	return false;
}

struct mf_fabric *mf_fabric_new_embedded(const struct mf_config *config, const struct mf_process_roles *plays,
					 char *err, size_t errlen)
{
	struct mf_fabric *f = fabric_new_idle(config, MF_CLOCK_WALL, false, plays, err, errlen);

	if (f == NULL || !crashes(f, err, errlen))
		return f;
	mf_fabric_free(f);
	return NULL;
}

/** The engine, and the options that it was started with. */
struct embedded {
	struct wall wall; /**< first: mf_fabric.embedded is this */
	struct mf_run_options options;
};

static void begin(struct wall *w)
{
	wall_begin(w);
	w->next_look = 0;
}

static int set_up(struct wall *w)
{
	struct mf_fabric *f = w->f;
	int err = wall_set_up(w);

	if (err == 0)
		err = cycles_init(f, w->lcores);
	return err == 0 ? wall_capture(w) : err;
}

int mf_fabric_start(struct mf_fabric *f, const struct mf_run_options *options)
{
	struct embedded *e;
	int err;

	if (f->clock != MF_CLOCK_WALL || f->embedded != NULL || options->record != NULL)
		return -EINVAL;
	e = rte_zmalloc("embedded", sizeof(*e), RTE_CACHE_LINE_SIZE);
	if (e == NULL)
		return -ENOMEM;
	e->options = *options;
	f->captures = options->captures;
	f->embedded = &e->wall;
	wall_init(&e->wall, f, &e->options);
	e->wall.turned = true;
	e->wall.next_waiting = MF_SEC(1);
	err = history_start(f, options->history);
	if (err == 0)
		err = set_up(&e->wall);
	if (err != 0)
		mf_fabric_end(f);
	else
		tunnel_stats_show(&e->wall);
	if (err == 0 && rendezvous_look(&e->wall))
		begin(&e->wall);
	return err;
}

unsigned int mf_fabric_turn(struct mf_fabric *f)
{
	struct wall *w = f->embedded;
	struct wall_lcore *l = &w->lcore[0];
	unsigned int work;
	mf_time now;

	if (unlikely(!w->met)) {
		if (rendezvous_look(w))
			begin(w);
		return 0;
	}
	now = wall_now(w);
	cycles_turn(f, 0, now);
	work = wall_turn(w, l, now);
	if (work > 0)
		w->worked = now;
	if (unlikely(now >= w->next_look))
		wall_look(w, now);
	return work;
}

#define RENDEZVOUS_PERIOD MF_MS(1) /**< between looks for partners, by who sleeps */

mf_time mf_fabric_next(struct mf_fabric *f)
{
	struct wall *w = f->embedded;
	mf_time now, due, by;

	wall_wake_arm(w);
	if (mf_fabric_turn(f) > 0)
		return 0;
	if (!w->met)
		return RENDEZVOUS_PERIOD;
	now = wall_now(w);
	due = wall_next(w, now);
	by = due != MF_NEVER ? due - mf_time_min(due, now) : MF_NEVER;
	wall_sleep(w, by);
	return by;
}

int mf_fabric_wake_fd(struct mf_fabric *f)
{
	return wall_wake_fd(f->embedded);
}

void mf_fabric_alarm(struct mf_fabric *f, mf_time by)
{
	wall_alarm(f->embedded, by);
}

bool mf_fabric_ready(const struct mf_fabric *f)
{
	return atomic_load_explicit(&f->embedded->met, memory_order_acquire);
}

bool mf_fabric_link_up(const struct mf_fabric *f, unsigned int node)
{
	return mf_fabric_ready(f) && rendezvous_link_up(f->embedded, node);
}

int mf_fabric_attach(struct mf_fabric *f, unsigned int node, struct mf_embedded_client *g)
{
	struct node *n = node < f->nodes && f->plays.node[node] ? &f->node[node] : NULL;

	if (n == NULL)
		return -ENOENT;
	if (n->client != NULL || (n->ether != NULL && f->config->node[node].ethernet >= 0))
		return -EBUSY;
	pthread_mutex_lock(&f->readers);
	mf_ether_free(n->ether); /* only counted what it got */
	n->ether = NULL;
	pthread_mutex_unlock(&f->readers);
	g->layer = n->layer;
	g->next = n->embedded;
	n->embedded = g;
	return 0;
}

void mf_fabric_detach(struct mf_fabric *f, unsigned int node, struct mf_embedded_client *g)
{
	struct mf_embedded_client **at = &f->node[node].embedded;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
}

void mf_fabric_end(struct mf_fabric *f)
{
	struct wall *w = f->embedded;

	if (w == NULL)
		return;
	if (w->met)
		rendezvous_is_over(w);
	rendezvous_leave(w);
	if (w->met)
		snapshot_end(f, wall_now(w));
	if (f->captures != NULL)
		capture_ring_stop(f->captures);
	wall_wake_end(w);
	wall_tear_down(w, 0);
	f->embedded = NULL;
	rte_free(w);
}

void mf_fabric_interrupts(void)
{
	memif_sync_interrupts();
}

struct mf_history_log *mf_fabric_history_log(struct mf_fabric *f, unsigned int node)
{
	return history_log(f, node);
}
