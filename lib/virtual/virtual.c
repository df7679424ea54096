/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock: one thread, deterministic. An event is a span, a deadline or a transmission, never a
 * block (D18), but in the block-by-block reference mode, where every span has one block.
 *
 * The nodes and the switch are called in turn, each for a stretch of time (virtual.h). No stretch goes beyond
 * the time of the monitor, which looks at both of them; its times do not depend on how many events there are.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/mf_table.h"
#include "virtual/mf_virtual_run.h"
#include "virtual/virtual.h"

#define MONITOR_PERIOD MF_US(1)
#define AHEAD_MAX MF_SEC(1)
#define FAR (MF_NEVER - 2 * AHEAD_MAX) /**< of no interest, and may be added to */

static bool wires_idle(const struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (!wire_idle(&v->up[i], v->now) || !wire_idle(&v->down[i], v->now))
			return false;
	return v->twin == NULL || wires_idle(v->twin);
}

/**
 * Blocks of frames are given out late: those that a node, or its ports, have begun by now go.
 * @return 0 or -errno
 */
static int send_begun(struct virtual *v, unsigned int i)
{
	int n;

	while ((n = virtual_node_tx(v, i)) > 0)
		;
	for (struct virtual *net = v; net != NULL && n == 0; net = net->twin)
		while ((n = virtual_port_tx(net, i)) > 0)
			;
	return n;
}

static int take_snapshot(struct virtual *v, struct snapshot *s)
{
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		int err = v->f->node[i].host != NULL ? send_begun(v, i) : 0;

		if (err < 0)
			return err;
	}
	snapshot_take(v->f, s, v->now);
	return 0;
}

/** Nothing has been under way for as long as the run is to settle; or the drain takes too long. */
static bool is_over(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	bool quiet = fabric_quiet(f, v->now) && wires_idle(v);

	if (!quiet || v->quiet_from == 0)
		v->quiet_from = v->now;
	f->quiet = quiet;
	return (quiet && v->now >= v->quiet_from + v->options->settle) ||
	       v->now >= f->stop + f->drain + v->options->settle;
}

/** Time of the first event of the switch, or of both. */
static mf_time switches_next(struct virtual *v)
{
	mf_time next = virtual_switch_next(v);

	return v->twin == NULL ? next : mf_time_min(next, virtual_switch_next(v->twin));
}

/** When the last block arrives that is on a wire now; at the latest. */
static mf_time wires_busy_until(const struct virtual *v)
{
	mf_time last = 0;

	for (unsigned int i = 0; i < v->f->nodes; i++)
		last = mf_time_max(last, mf_time_max(v->up[i].busy_until, v->down[i].busy_until));
	return v->twin == NULL ? last : mf_time_max(last, wires_busy_until(v->twin));
}

/** When it may be over, or quiet, or no longer so: something happens then, or has lasted for long enough. */
static mf_time end_may_be(struct virtual *v)
{
	const struct mf_fabric *f = v->f;
	mf_time end = f->stop + f->drain + v->options->settle, busy;

	end = mf_time_min(end, mf_time_min(v->event_next, mf_time_min(v->nodes_next, switches_next(v))));
	if (f->quiet)
		end = mf_time_min(end, v->quiet_from + v->options->settle);
	if (end <= v->now + MONITOR_PERIOD)
		return end;
	busy = wires_busy_until(v);
	return busy > v->now ? mf_time_min(end, busy) : end;
}

/**
 * When the end is looked for next. An idle fabric that waits for a timer is not looked at all the time. Looks
 * that are left out count as the events that they would be: so the count does not depend on them.
 */
static mf_time look_for_end(struct virtual *v)
{
	mf_time t = end_may_be(v);
	uint64_t looks = t > v->now ? (t - v->now + MONITOR_PERIOD - 1) / MONITOR_PERIOD : 1;

	v->f->info.events += looks - 1;
	return v->now + looks * MONITOR_PERIOD;
}

/** When it is to be seen whether a load that has an end has come to it: soon, for how long it has lasted. */
static mf_time look_again(mf_time now)
{
	return now + mf_time_max(MONITOR_PERIOD, now / 1024);
}

/** Takes the snapshots and finds the end. */
static int monitor(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	struct snapshot *due;
	int err = 0;

	v->now = v->monitor_next;
	if (v->twin != NULL)
		v->twin->now = v->now;
	f->info.events++;
	live_tick(f, v->options, v->now);
	while (err == 0 && (due = snapshot_due(f, v->now)) != NULL)
		err = take_snapshot(v, due);
	if (v->now >= f->stop) {
		v->over = is_over(v);
		if (!v->over)
			v->monitor_next = look_for_end(v);
		return err;
	}
	v->monitor_next = v->now < f->measure ? f->measure : f->stop;
	if (f->finite)
		v->monitor_next = mf_time_min(v->monitor_next, look_again(v->now));
	if (v->options->tick_period != 0)
		v->monitor_next = mf_time_min(v->monitor_next, v->now + v->options->tick_period);
	return err;
}

/**
 * How long a side can be run whose own next event is at own, and the other's at other: what the other does
 * first may reach it, or the answer to what it does itself first.
 */
static mf_time horizon(const struct virtual *v, mf_time own, mf_time other)
{
	mf_time until = mf_time_min(mf_time_min(own, FAR) + 2 * v->ahead, mf_time_min(other, FAR) + v->ahead);

	until = mf_time_min(until - 1, v->monitor_next); /* what arrives then comes first */
	return mf_time_min(until, v->event_next);
}

/** The nodes for a stretch of time, then the switch. */
static int stretch(struct virtual *v)
{
	int err = virtual_nodes(v, horizon(v, v->nodes_next, switches_next(v)));
	mf_time until = horizon(v, switches_next(v), v->nodes_next);

	if (err == 0 && v->twin != NULL)
		err = virtual_switch(v->twin, until);
	return err == 0 ? virtual_switch(v, until) : err;
}

static int switches_one(struct virtual *v, enum virtual_call what)
{
	int n = virtual_switch_one(v, what);

	if (n != 0 || v->twin == NULL)
		return n;
	v->twin->now = v->twin->switch_done = v->now;
	return virtual_switch_one(v->twin, what);
}

/**
 * Where a link takes no time, or the stages of an operation are to be told in their order: one event of
 * those that are next. At one time what arrives at the switch, then at a node; what a node sends; what the
 * switch sends and decides; what a node decides.
 */
static int together(struct virtual *v)
{
	int n;

	v->now = v->nodes_done = v->switch_done = mf_time_min(v->nodes_next, switches_next(v));
	n = switches_one(v, VIRTUAL_RX);
	if (n == 0)
		n = virtual_node_one(v, VIRTUAL_RX);
	if (n == 0)
		n = virtual_node_one(v, VIRTUAL_TX);
	if (n == 0)
		n = switches_one(v, VIRTUAL_RUN);
	if (n == 0)
		n = virtual_node_one(v, VIRTUAL_RUN);
	v->nodes_next = virtual_nodes_first(v);
	if (v->twin != NULL) /* what arrives at the second switch */
		v->nodes_next = mf_time_min(v->nodes_next, event_next(&v->twin->step));
	return n < 0 ? n : 0;
}

/** What is due next: what breaks, and the monitor, when all before them is done. */
static int step(struct virtual *v)
{
	mf_time next = mf_time_min(v->nodes_next, switches_next(v));

	if (v->event_next < next && v->event_next <= v->monitor_next)
		return virtual_event(v);
	if (v->monitor_next < next)
		return monitor(v);
	v->over = next == MF_NEVER;
	if (v->over)
		return 0;
	if (__builtin_expect(v->unsettled, 0))
		virtual_event_settle(v);
	if (v->ahead == 0)
		return together(v);
	return stretch(v);
}

void virtual_capture(struct virtual *v, const struct wire *w)
{
	unsigned int n = v->f->nodes, i = (unsigned int)(w - v->up);
	struct capture_tap *tap = capture_tap(v->captures, i % n, i >= n);

	if (tap != NULL)
		capture_sort_span(tap, &v->span);
}

/** What both sides have done is complete, but for blocks of frames that are given out late. */
static void write_captured(struct virtual *v)
{
	mf_time done = mf_time_min(v->nodes_done, v->switch_done);

	capture_sort_until(v->captures, done > v->late ? done - v->late : 0);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** The screen and Ctrl-C. @return false: interrupted */
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
	uint64_t looked = 0;
	int err = 0;

	while (!v->over && err == 0) {
		err = step(v);
		if (v->captures != NULL)
			write_captured(v);
		if (v->f->info.events >> 16 != looked) {
			looked = v->f->info.events >> 16;
			if (!look_around(v, &shown))
				break;
		}
	}
	if (!v->over)
		v->now = mf_time_max(v->nodes_done, v->switch_done);
	virtual_tests_end(v);
	snapshot_end(v->f, v->now);
	return err;
}

/**
 * A link's delay, less what the end of a frame, with the gap behind it, is given out late; and half of what
 * nodes take to know of each other beside the network.
 */
static mf_time look_ahead(const struct mf_fabric *f)
{
	const mf_time *cost = f->timing.cost;
	mf_time least = MF_NEVER;

	if (f->stages != NULL)
		return 0;
	if (f->stack_shared != NULL)
		least = (cost[MF_STAGE_PROTOCOL] + cost[MF_STAGE_MAC]) / 2;
	for (unsigned int i = 0; i < f->nodes; i++) {
		mf_time late = 2 * (mf_time)f->link[i].period;

		if (f->node[i].host != NULL)
			least = mf_time_min(least, f->link[i].delay > late ? f->link[i].delay - late : 0);
		if (f->node[i].host != NULL && f->backup.sw != NULL) {
			mf_time second = f->link[fabric_link(f, 1, i)].delay;

			least = mf_time_min(least, second > late ? second - late : 0);
		}
	}
	return mf_time_min(least, AHEAD_MAX);
}

/** What there is for each switch. @return 0 or -ENOMEM */
static int network_init(struct virtual *v)
{
	unsigned int n = v->f->nodes;

	v->arrives = v->event_next = MF_NEVER;
	v->up = mf_table_new_dense(2 * n, sizeof(*v->up));
	v->rings = mf_table_new_dense(2 * n, WIRE_FIRST * sizeof(*v->rings));
	if (v->up == NULL || v->rings == NULL || flights_init(&v->flights, 2 * n) != 0)
		return -ENOMEM;
	v->down = v->up + n;
	for (unsigned int i = 0; i < n; i++) {
		wire_init(&v->up[i], &v->link[i], &v->flights, v->rings + i * WIRE_FIRST);
		wire_init(&v->down[i], &v->link[i], &v->flights, v->rings + (n + i) * WIRE_FIRST);
		wire_whole(&v->down[i], true, 0);
	}
	return virtual_switch_init(v);
}

static void network_fini(struct virtual *v)
{
	if (v->down != NULL)
		virtual_fault_fini(v);
	virtual_event_fini(v);
	for (unsigned int i = 0; v->down != NULL && i < 2 * v->f->nodes; i++)
		wire_fini(&v->up[i]);
	mf_table_free(v->up);
	mf_table_free(v->rings);
	flights_fini(&v->flights);
	event_fini(&v->queue);
	event_fini(&v->step);
	arrivals_fini(&v->arrivals);
}

/** The second switch, and the wires to it. */
static int twin_init(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	struct virtual *t;
	int err;

	if (f->backup.sw == NULL)
		return 0;
	t = v->twin = calloc(1, sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	t->f = f;
	t->options = v->options;
	t->sw = f->backup.sw;
	t->sched = f->backup.sched;
	t->link = f->link + fabric_link(f, 1, 0);
	t->number = 1;
	t->nodes = v;
	t->max = v->max;
	t->ahead = v->ahead;
	err = network_init(t);
	if (err == 0 && v->ahead == 0)
		err = event_init(&t->step, f->nodes);
	return err == 0 ? virtual_fault_init(t) : err;
}

static int set_up(struct virtual *v)
{
	mf_time tick = v->options->tick_period;
	unsigned int n = v->f->nodes;
	int err = network_init(v);

	v->turn = malloc(n * sizeof(*v->turn));
	v->next = malloc(n * sizeof(*v->next));
	if (err != 0 || v->turn == NULL || v->next == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		v->next[i] = v->turn[i].run = v->f->node[i].host != NULL ? 0 : MF_NEVER;
		v->turn[i].tx = MF_NEVER;
	}
	v->monitor_next = tick != 0 ? mf_time_min(tick, v->f->measure) : v->f->measure;
	v->ahead = look_ahead(v->f);
	for (unsigned int i = 0; i < n; i++)
		v->late = mf_time_max(v->late, (mf_time)v->f->link[i].period * (MF_SPAN_MAX + 4));
	err = virtual_fault_init(v);
	if (err == 0)
		err = twin_init(v);
	if (err == 0)
		err = virtual_event_init(v);
	return err == 0 ? virtual_nodes_init(v) : err;
}

static void tear_down(struct virtual *v)
{
	if (v->twin != NULL)
		network_fini(v->twin);
	free(v->twin);
	network_fini(v);
	free(v->turn);
	free(v->next);
}

int virtual_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	struct virtual v = {.f = f,
			    .sw = f->sw,
			    .sched = f->sched,
			    .link = f->link,
			    .options = options,
			    .captures = f->captures,
			    .max = options->block_by_block ? 1 : MF_SPAN_MAX};
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	int err;

	v.nodes = &v;
	err = set_up(&v);
	if (v.captures != NULL)
		capture_sort_init(v.captures);
	if (err == 0)
		err = loop(&v);
	if (v.captures != NULL)
		capture_sort_until(v.captures, MF_NEVER);
	if (f->stages != NULL)
		stages_end(f->stages);
	tear_down(&v);
	/* In this order: it has not taken more of a CPU than there was of it. */
	f->info.cpu_seconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	f->info.host_seconds = seconds(CLOCK_MONOTONIC) - wall;
	return err;
}
