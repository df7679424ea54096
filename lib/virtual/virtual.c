/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock: one thread, deterministic. An event is a span, a deadline or a transmission, never a
 * block (D18), but in the block-by-block reference mode, where every span has one block.
 *
 * The two classes are called in turn, each for a stretch of time (virtual.h). No stretch goes beyond the time
 * of the monitor, which looks at all; its times do not depend on how many events there are.
 */
#include <errno.h>
#include <time.h>

#include "measure/mf_series.h"
#include "virtual/mf_virtual_run.h"
#include "virtual/virtual.h"

#define MONITOR_PERIOD MF_US(1)
#define FAR (MF_NEVER - 2 * VIRTUAL_AHEAD_MAX) /**< of no interest, and may be added to */

static bool wires_idle(const struct virtual *v)
{
	for (uint32_t i = 0; i < v->graph->ends; i++)
		if (!wire_idle(&v->wire[i], v->now))
			return false;
	return true;
}

/**
 * Blocks of frames are given out late: those that a node, or the ports of its links, have begun by now go.
 * @return 0 or -errno
 */
static int send_begun(struct virtual *v, unsigned int i)
{
	const struct mf_vertex *r = &v->graph->role[i];
	int n = virtual_node_begun(v, i);

	for (uint32_t e = r->first_end; e < r->first_end + r->ends && n == 0; e++) {
		const struct wire *w = virtual_back(v, &v->wire[e]);

		while (w->to != NULL && (n = virtual_port_tx(w->to, w->number)) > 0)
			;
	}
	return n;
}

/** The same of ports of a switch that lead to another one. */
static int send_begun_between(struct virtual_switch *s)
{
	int n = 0;

	for (unsigned int i = 0; i < s->ports && n == 0; i++)
		while (s->out[i]->to != NULL && (n = virtual_port_tx(s, i)) > 0)
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
	for (unsigned int k = 0; k < v->switches; k++) {
		int err = send_begun_between(&v->sw[k]);

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
	bool quiet;

	fabric_rest(f, v->now);
	quiet = fabric_quiet(f, v->now) && wires_idle(v);
	if (!quiet || v->quiet_from == 0)
		v->quiet_from = v->now;
	f->quiet = quiet;
	return (quiet && v->now >= v->quiet_from + v->options->settle) ||
	       v->now >= f->stop + f->drain + v->options->settle;
}

/** Time of the next event of a class. */
static mf_time class_next(struct virtual *v, const struct virtual_class *c)
{
	mf_time next = c->nodes_next;

	for (unsigned int k = 0; k < c->switches; k++)
		next = mf_time_min(next, virtual_switch_next(&v->sw[c->sw[k]]));
	return next;
}

static mf_time next_of_all(struct virtual *v)
{
	return mf_time_min(class_next(v, &v->class[0]), class_next(v, &v->class[1]));
}

/** When the last block arrives that is on a wire now; at the latest. */
static mf_time wires_busy_until(const struct virtual *v)
{
	mf_time last = 0;

	for (uint32_t i = 0; i < v->graph->ends; i++)
		last = mf_time_max(last, v->wire[i].busy_until);
	return last;
}

/** When it may be over, or quiet, or no longer so: something happens then, or has lasted for long enough. */
static mf_time end_may_be(struct virtual *v)
{
	const struct mf_fabric *f = v->f;
	mf_time end = f->stop + f->drain + v->options->settle, busy;

	end = mf_time_min(end, mf_time_min(v->outage_next, next_of_all(v)));
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

	v->f->info.steps += looks - 1;
	return v->now + looks * MONITOR_PERIOD;
}

/** When it is to be seen whether a load that has an end has come to it: soon, for how long it has lasted. */
static mf_time look_again(mf_time now)
{
	return now + mf_time_max(MONITOR_PERIOD, now / 1024);
}

/** Takes the snapshots and finds the end. @return 0 or -errno */
static int look(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	struct snapshot *due;
	int err = 0;

	f->info.steps++;
	live_tick(f, v->options, v->now);
	while (err == 0 && (due = snapshot_due(f, v->now)) != NULL)
		err = take_snapshot(v, due);
	if (v->now >= f->stop) {
		v->over = is_over(v);
		if (!v->over)
			v->look_next = look_for_end(v);
		return err;
	}
	v->look_next = v->now < f->measure ? f->measure : f->stop;
	if (f->finite)
		v->look_next = mf_time_min(v->look_next, look_again(v->now));
	if (v->options->tick_period != 0)
		v->look_next = mf_time_min(v->look_next, v->now + v->options->tick_period);
	return err;
}

/** Looks, and ends steps: a step ends where the measured time begins and ends, too. @return 0 or -errno */
static int monitor(struct virtual *v)
{
	int err = 0;

	v->now = v->monitor_next;
	if (v->now >= v->look_next)
		err = look(v);
	if (err == 0 && series_due(v->f, v->now))
		series_step(v->f, v->now);
	v->monitor_next = mf_time_min(v->look_next, series_next(v->f->series));
	return err;
}

/**
 * How long a class can be run: what the other one does first may reach it, or the answer to what it does
 * itself first, or what is sent within it.
 */
static mf_time horizon(struct virtual *v, unsigned int class)
{
	mf_time own = mf_time_min(class_next(v, &v->class[class]), FAR);
	mf_time other = mf_time_min(class_next(v, &v->class[!class]), FAR);
	mf_time until = mf_time_min(own + 2 * v->ahead, other + v->ahead);

	if (__builtin_expect(v->within != MF_NEVER, 0))
		until = mf_time_min(until, own + v->within);
	until = mf_time_min(until - 1, v->monitor_next); /* what arrives then comes first */
	return mf_time_min(until, v->outage_next);
}

static int run_class(struct virtual *v, unsigned int class)
{
	struct virtual_class *c = &v->class[class];
	mf_time until = horizon(v, class);
	int err = c->nodes > 0 ? virtual_nodes(v, c, until) : 0;

	for (unsigned int k = c->switches; k-- > 0 && err == 0;)
		err = virtual_switch(&v->sw[c->sw[k]], until);
	c->done = v->now = until;
	return err;
}

static int stretch(struct virtual *v)
{
	int err = run_class(v, 0);

	return err == 0 ? run_class(v, 1) : err;
}

static int switches_one(struct virtual *v, enum virtual_call what)
{
	int n = 0;

	for (unsigned int k = 0; k < v->switches && n == 0; k++)
		n = virtual_switch_one(&v->sw[k], what);
	return n;
}

/**
 * Where a link takes no time, or the stages of an operation are to be told in their order: one event of
 * those that are next. At one time what arrives at a switch, then at a node; what a node sends; what a
 * switch sends and decides; what a node decides.
 */
static int together(struct virtual *v)
{
	int n;

	v->now = v->class[0].done = v->class[1].done = next_of_all(v);
	n = switches_one(v, VIRTUAL_RX);
	if (n == 0)
		n = virtual_node_one(v, VIRTUAL_RX);
	if (n == 0)
		n = virtual_node_one(v, VIRTUAL_TX);
	if (n == 0)
		n = switches_one(v, VIRTUAL_RUN);
	if (n == 0)
		n = virtual_node_one(v, VIRTUAL_RUN);
	v->class[0].nodes_next = v->class[1].nodes_next = tournament_next(&v->step);
	return n < 0 ? n : 0;
}

/** What is due next: what breaks, and the monitor, when all before them is done. */
static int step(struct virtual *v)
{
	mf_time next = next_of_all(v);

	if (v->outage_next < next && v->outage_next <= v->monitor_next)
		return virtual_outage(v);
	if (v->monitor_next < next)
		return monitor(v);
	v->over = next == MF_NEVER;
	if (v->over)
		return 0;
	if (__builtin_expect(v->unsettled, 0))
		virtual_outage_settle(v);
	if (v->ahead == 0)
		return together(v);
	return stretch(v);
}

static void capture(struct virtual *v, const struct wire *w, const struct mf_span *span)
{
	struct capture_tap *tap;
	bool down;
	int link = fabric_captured(v->f, v->graph->end[w->end].peer, &down);

	if (link < 0)
		return;
	tap = capture_tap(v->captures, (unsigned int)link, down);
	if (tap != NULL)
		capture_sort_span(tap, span);
}

void virtual_observe(struct virtual *v, const struct wire *w, const struct mf_span *span)
{
	if (v->captures != NULL)
		capture(v, w, span);
	if (v->f->series != NULL)
		series_sent(v->f->series, v->graph->end[w->end].peer, span);
}

/** All events before then are done. */
static mf_time done(const struct virtual *v)
{
	return mf_time_min(v->class[0].done, v->class[1].done);
}

/** What is done is complete, but for blocks of frames that are given out late. */
static void write_captured(struct virtual *v)
{
	mf_time until = done(v);

	capture_sort_until(v->captures, until > v->late ? until - v->late : 0);
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
		if (v->f->info.steps >> 16 != looked) {
			looked = v->f->info.steps >> 16;
			if (!look_around(v, &shown))
				break;
		}
	}
	if (!v->over)
		v->now = mf_time_max(v->class[0].done, v->class[1].done);
	virtual_tests_end(v);
	snapshot_end(v->f, v->now);
	return err;
}

int virtual_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	struct virtual v = {.f = f,
			    .graph = f->graph,
			    .options = options,
			    .captures = f->captures,
			    .observed = f->captures != NULL || f->series != NULL,
			    .max = options->block_by_block ? 1 : MF_SPAN_MAX};
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	int err;

	err = virtual_set_up(&v);
	if (v.captures != NULL)
		capture_sort_init(v.captures);
	if (err == 0)
		err = loop(&v);
	if (v.captures != NULL)
		capture_sort_until(v.captures, MF_NEVER);
	if (f->stages != NULL)
		stages_end(f->stages);
	virtual_tear_down(&v);
	/* In this order: it has not taken more of a CPU than there was of it. */
	f->info.cpu_seconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	f->info.host_seconds = seconds(CLOCK_MONOTONIC) - wall;
	return err;
}
