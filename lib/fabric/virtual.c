/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock: one event loop, deterministic. An event is a span, a deadline or a transmission,
 * never a block (D18), but in the block-by-block reference mode, where every span has one block.
 *
 * Every actor has one time at which it wants to be called. Actors of equal time are called in the
 * order of their numbers: first what arrives, then what is sent, then what is decided; and what is
 * decided and has to go at once goes at that time still. So the last block of a message leaves before
 * anybody asks whether it has left, in whatever spans.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "event.h"
#include "fabric_priv.h"
#include "stages.h"
#include "wire.h"

#define GRANTS 64
#define MONITOR_PERIOD MF_US(1)

struct virtual
{
	struct mf_fabric *f;
	const struct mf_run_options *options;
	struct event_queue queue;
	struct wire *up, *down; /**< [nodes]: from the node, to the node */
	struct flight_pool pool;
	struct mf_span span; /**< the one that is sent or received */
	unsigned int max; /**< blocks a span */
	mf_time now;
	mf_time next_snapshot;
	bool over;
};

/* Actors, in the order of their calls. */
static uint32_t actor_up(const struct virtual *v, unsigned int i)
{
	(void)v;
	return i;
}

static uint32_t actor_down(const struct virtual *v, unsigned int i)
{
	return v->f->nodes + i;
}

static uint32_t actor_node_tx(const struct virtual *v, unsigned int i)
{
	return 2 * v->f->nodes + i;
}

static uint32_t actor_port_tx(const struct virtual *v, unsigned int i)
{
	return 3 * v->f->nodes + i;
}

static uint32_t actor_switch(const struct virtual *v)
{
	return 4 * v->f->nodes;
}

static uint32_t actor_sched(const struct virtual *v)
{
	return 4 * v->f->nodes + 1;
}

static uint32_t actor_node(const struct virtual *v, unsigned int i)
{
	return 4 * v->f->nodes + 2 + i;
}

static uint32_t actor_monitor(const struct virtual *v)
{
	return 5 * v->f->nodes + 2;
}

/** Sends the span. @return number of blocks, or -errno */
static int send(struct virtual *v, struct wire *w, uint32_t actor, enum stage_place from, enum stage_place to)
{
	int err;

	if (v->f->stages != NULL)
		stages_link(v->f->stages, w->timing, &v->span, from, to);
	err = wire_send(w, &v->pool, &v->span, v->now);
	event_set(&v->queue, actor, wire_due(w));
	v->f->info.spans++;
	return err < 0 ? err : v->span.count;
}

static void receive(struct virtual *v, struct wire *w, uint32_t actor)
{
	wire_receive(w, &v->pool, &v->span);
	event_set(&v->queue, actor, wire_due(w));
}

/** Hands over what the switch has for the scheduler, and looks which ports have something to send. */
static void after_switch(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	struct mf_sched_msg msg[GRANTS];
	uint16_t port[MF_PORTS_MAX];
	unsigned int n, told = 0;

	while ((n = mf_switch_to_sched(f->sw, msg, GRANTS)) > 0)
		for (unsigned int i = 0; i < n; i++, told++)
			f->sched_ops->input(f->sched, &msg[i]);
	if (told > 0)
		event_set(&v->queue, actor_sched(v), f->sched_ops->next(f->sched));
	n = mf_switch_tx_ports(f->sw, port, MF_PORTS_MAX);
	for (unsigned int i = 0; i < n; i++)
		event_set(&v->queue, actor_port_tx(v, port[i]),
			  mf_time_max(v->now, mf_switch_tx_next(f->sw, port[i], v->now)));
	event_hasten(&v->queue, actor_switch(v), mf_time_max(v->now, mf_switch_next(f->sw)));
}

static void run_switch(struct virtual *v)
{
	event_set(&v->queue, actor_switch(v), MF_NEVER);
	mf_switch_run(v->f->sw, v->now);
	after_switch(v);
}

static void run_sched(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	struct mf_sched_grant grant[GRANTS];
	unsigned int n;

	do {
		n = f->sched_ops->run(f->sched, v->now, grant, GRANTS);
		for (unsigned int i = 0; i < n; i++) {
			if (grant[i].first)
				f->sched_waited += grant[i].at - grant[i].since;
			mf_switch_grant(f->sw, v->now, &grant[i]);
		}
	} while (n == GRANTS);
	event_set(&v->queue, actor_sched(v), f->sched_ops->next(f->sched));
	after_switch(v);
}

/** Something came to a node or left it: when must it be called, when may it send? */
static void after_node(struct virtual *v, unsigned int i)
{
	struct mf_host *h = v->f->node[i].host;

	event_hasten(&v->queue, actor_node(v, i), mf_time_max(v->now, mf_host_next(h)));
	event_set(&v->queue, actor_node_tx(v, i), mf_time_max(v->now, mf_host_tx_next(h, v->now)));
}

static void run_node(struct virtual *v, unsigned int i)
{
	event_set(&v->queue, actor_node(v, i), mf_time_max(v->now, node_run(&v->f->node[i], v->now)));
	after_node(v, i);
}

static void run_up(struct virtual *v, unsigned int i)
{
	receive(v, &v->up[i], actor_up(v, i));
	mf_switch_rx(v->f->sw, i, v->now, &v->span);
	after_switch(v);
}

static void run_down(struct virtual *v, unsigned int i)
{
	receive(v, &v->down[i], actor_down(v, i));
	mf_host_rx(v->f->node[i].host, v->now, &v->span);
	after_node(v, i);
}

static enum stage_place node_place(const struct mf_fabric *f, unsigned int i)
{
	return f->node[i].memory != NULL ? PLACE_MEMORY : PLACE_COMPUTE;
}

/** @return number of blocks, or -errno */
static int run_node_tx(struct virtual *v, unsigned int i)
{
	int n = (int)mf_host_tx(v->f->node[i].host, v->now, v->max, &v->span);

	if (n > 0)
		n = send(v, &v->up[i], actor_up(v, i), node_place(v->f, i), PLACE_SWITCH);
	after_node(v, i);
	return n;
}

/** @return number of blocks, or -errno */
static int run_port_tx(struct virtual *v, unsigned int i)
{
	int n = (int)mf_switch_tx(v->f->sw, i, v->now, v->max, &v->span);

	if (n > 0)
		n = send(v, &v->down[i], actor_down(v, i), PLACE_SWITCH, node_place(v->f, i));
	event_set(&v->queue, actor_port_tx(v, i),
		  mf_time_max(v->now, mf_switch_tx_next(v->f->sw, i, v->now)));
	if (v->f->link[i].backlog_k != 0)
		after_switch(v);
	return n;
}

static bool wires_idle(const struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (!wire_idle(&v->up[i], v->now) || !wire_idle(&v->down[i], v->now))
			return false;
	return true;
}

/** Blocks of frames are given out late: those that have started by now are to be counted. */
static int take_snapshot(struct virtual *v, struct snapshot *s)
{
	int n;

	for (unsigned int i = 0; i < v->f->nodes; i++) {
		if (v->f->node[i].host == NULL)
			continue;
		while ((n = run_node_tx(v, i)) > 0 || (n == 0 && (n = run_port_tx(v, i)) > 0))
			;
		if (n < 0)
			return n;
	}
	snapshot_take(v->f, s, v->now);
	return 0;
}

/** Takes the snapshots and finds the end, at times that do not depend on how many events there are. */
static int run_monitor(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	mf_time next;
	int err = 0;

	live_tick(f, v->options, v->now);
	if (v->now == f->measure)
		err = take_snapshot(v, &f->at_measure);
	if (v->now == f->stop && err == 0)
		err = take_snapshot(v, &f->at_stop);
	if (v->now < f->measure)
		next = f->measure;
	else if (v->now < f->stop)
		next = f->stop;
	else
		next = v->now + MONITOR_PERIOD;
	if (v->options->tick_period != 0)
		next = mf_time_min(next, v->now + v->options->tick_period);
	if (v->now >= f->stop && fabric_quiet(f, v->now) && wires_idle(v))
		v->over = true;
	if (v->now >= f->stop + f->drain)
		v->over = true;
	event_set(&v->queue, actor_monitor(v), next);
	return err;
}

static int call(struct virtual *v, uint32_t actor)
{
	unsigned int n = v->f->nodes;

	if (actor < n)
		run_up(v, actor);
	else if (actor < 2 * n)
		run_down(v, actor - n);
	else if (actor < 3 * n)
		return run_node_tx(v, actor - 2 * n);
	else if (actor < 4 * n)
		return run_port_tx(v, actor - 3 * n);
	else if (actor == actor_switch(v))
		run_switch(v);
	else if (actor == actor_sched(v))
		run_sched(v);
	else if (actor < actor_monitor(v))
		run_node(v, actor - actor_node(v, 0));
	else
		return run_monitor(v);
	return 0;
}

/**
 * What the event behind this one will look at is fetched meanwhile: in a large fabric it has left the
 * caches, since it was written, for what all the others do.
 */
static void look_ahead(const struct virtual *v)
{
	uint32_t actor = event_behind(&v->queue), n = v->f->nodes;

	if (actor < n)
		wire_fetch(&v->up[actor]);
	else if (actor < 2 * n)
		wire_fetch(&v->down[actor - n]);
	else if (actor >= actor_node(v, 0) && actor < actor_monitor(v) &&
		 v->f->node[actor - actor_node(v, 0)].client != NULL)
		mf_client_fetch(v->f->node[actor - actor_node(v, 0)].client);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** The screen and Ctrl-C, every 65,536 events. @return false: interrupted */
static bool look_around(struct virtual *v, double *shown)
{
	const struct mf_run_options *o = v->options;
	double t;

	if (o->interrupt != NULL && atomic_load_explicit(o->interrupt, memory_order_relaxed)) {
		v->f->info.interrupted = true;
		return false;
	}
	if (o->progress != NULL && (t = seconds(CLOCK_MONOTONIC)) - *shown >= 1.0) {
		*shown = t;
		o->progress(o->progress_ctx, (double)v->now / (double)v->f->stop, v->now);
	}
	return true;
}

static int loop(struct virtual *v)
{
	double shown = seconds(CLOCK_MONOTONIC);
	int err = 0;

	while (!v->over && err >= 0 && event_next(&v->queue) != MF_NEVER) {
		uint32_t actor = event_actor(&v->queue);

		v->now = event_next(&v->queue);
		look_ahead(v);
		err = call(v, actor);
		if ((++v->f->info.events & 0xffff) == 0 && !look_around(v, &shown))
			break;
	}
	v->f->ended = v->now;
	if (v->f->at_stop.at == 0)
		snapshot_take(v->f, &v->f->at_stop, v->now);
	return err < 0 ? err : 0;
}

static int set_up(struct virtual *v)
{
	mf_time tick = v->options->tick_period;
	unsigned int n = v->f->nodes;

	v->up = aligned_alloc(64, n * sizeof(*v->up));
	v->down = aligned_alloc(64, n * sizeof(*v->down));
	if (v->up == NULL || v->down == NULL || event_init(&v->queue, 5 * n + 3) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		wire_init(&v->up[i], &v->f->link[i]);
		wire_init(&v->down[i], &v->f->link[i]);
		if (v->f->node[i].host != NULL)
			event_set(&v->queue, actor_node(v, i), 0);
	}
	event_set(&v->queue, actor_monitor(v), tick != 0 ? mf_time_min(tick, v->f->measure) : v->f->measure);
	return 0;
}

static void tear_down(struct virtual *v)
{
	flight_fini(&v->pool);
	free(v->up);
	free(v->down);
	event_fini(&v->queue);
}

int virtual_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	struct virtual v = {.f = f, .options = options, .max = options->block_by_block ? 1 : MF_SPAN_MAX};
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	int err = set_up(&v);

	if (err == 0)
		err = loop(&v);
	if (f->stages != NULL)
		stages_end(f->stages);
	tear_down(&v);
	f->info.host_seconds = seconds(CLOCK_MONOTONIC) - wall;
	f->info.cpu_seconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	return err;
}
