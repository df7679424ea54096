/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wall clock: roles on poll-mode lcores. The main lcore serves the screen and Ctrl-C between polls
 * and finds the end of the run (D20).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "measure/mf_cycle_account.h"
#include "measure/mf_live.h"
#include "measure/mf_run_history.h"
#include "measure/mf_series.h"
#include "wall/mf_wall_run.h"
#include "wall/mf_watchdog.h"
#include "wall/ports/mf_port.h"
#include "wall/ports/mf_tunnel_stats.h"

#define LOOK_PERIOD MF_MS(20) /**< how often the main lcore looks at the screen and the end */
#define COUNT_PERIOD MF_MS(10) /**< how often an lcore looks which of its nodes have finished */
#define QUIET_LOOKS 3 /**< looks without any work before the run is over */

/**
 * Behind the end of the last client: whatever works for longer than this is of no client any more, but faults
 * that come again and again.
 */
#define REST MF_SEC(1)

/** Whether this process has work of its own: else it is there for others as long as they want it. */
static bool has_load(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL || f->config->node[i].ethernet >= 0)
			return true;
	return false;
}

void wall_init(struct wall *w, struct mf_fabric *f, const struct mf_run_options *options)
{
	*w = (struct wall){
		.f = f,
		.options = options,
		.ps_mult = (uint64_t)(((unsigned __int128)MF_SEC(1) << 32) / rte_get_tsc_hz()),
		.loads = has_load(f),
		.switches = f->graph->switches,
		.redundant = f->config->backup.on,
		.graph_end = f->graph->end,
	};
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/**
 * Whether lcores share CPUs: more of them than CPUs that they may run on (D20). Then a loop that finds
 * nothing lets another one run. Not so for strangers on the CPU: they would get all of it.
 */
static bool cpu_is_shared(unsigned int lcore)
{
	rte_cpuset_t own = rte_lcore_cpuset(lcore);
	unsigned int id, n = 0;

	RTE_LCORE_FOREACH(id) {
		rte_cpuset_t other = rte_lcore_cpuset(id), both;

		CPU_AND(&both, &own, &other);
		n += CPU_COUNT(&both) > 0;
	}
	return n > (unsigned int)CPU_COUNT(&own);
}

#define SHARED_PERIOD MF_SEC(1)

/** What an lcore knows of the CPU that it is on. */
struct cpu_share {
	bool own; /**< by lcores of this process */
	long taken; /**< times that it was taken away for another thread */
	mf_time until; /**< so long it counts as shared */
};

/**
 * Where partners are other processes, they may be who wants the CPU: if it was taken away from this thread,
 * it counts as shared for a while. What else runs there then gets the time of polls that find nothing, too.
 */
static bool is_shared(const struct wall *w, struct cpu_share *c, mf_time now)
{
	struct rusage usage;

	if (!w->carries || c->own || getrusage(RUSAGE_THREAD, &usage) != 0)
		return c->own;
	if (usage.ru_nivcsw > c->taken)
		c->until = now + SHARED_PERIOD;
	c->taken = usage.ru_nivcsw;
	return now < c->until;
}

/** Nodes of an lcore whose clients have not finished: whoever waits for an answer waits for its timer. */
static unsigned int unfinished(const struct wall *w, const struct wall_lcore *l, mf_time now)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < l->roles; i++) {
		const struct role *r = l->role[i];
		const struct node *node = role_is_node(r) ? &w->f->node[r->index] : NULL;

		if (node != NULL && !node->gone)
			n += (node->client != NULL &&
			      !mf_client_finished(node->client, node_clock(w->f, r->index, now))) ||
			     (node->ether != NULL && !mf_ether_finished(node->ether));
	}
	return n;
}

/** No node is started again meanwhile. */
static void take_snapshot(struct mf_fabric *f, struct snapshot *s, mf_time now)
{
	pthread_mutex_lock(&f->readers);
	snapshot_take(f, s, now);
	pthread_mutex_unlock(&f->readers);
}

void wall_look(struct wall *w, mf_time now)
{
	struct mf_fabric *f = w->f;
	struct snapshot *due;

	w->look_due = w->next_look = now + LOOK_PERIOD;
	live_tick(f, w->options, now);
	while ((due = snapshot_due(f, now)) != NULL)
		take_snapshot(f, due, now);
}

/** After so long a chunk that was granted has come, or never will. */
static mf_time longest_grant(const struct mf_fabric *f)
{
	mf_time longest = 0;

	for (unsigned int k = 0; k < f->graph->switches; k++)
		longest = mf_time_max(longest, fabric_switch_config(f, k)->grant_timeout[MF_CLOCK_WALL]);
	return longest;
}

/** All clients have ended, and nothing of theirs is on its way. */
static bool is_at_rest(const struct wall *w, mf_time now)
{
	if (w->busy == now)
		return false;
	return w->quiet_looks >= QUIET_LOOKS || now - w->busy >= longest_grant(w->f) + REST;
}

/** The end of the run, the snapshots, the screen: on the main lcore, between polls. */
static void look_around(struct wall *w, mf_time now)
{
	struct mf_fabric *f = w->f;
	const struct mf_run_options *o = w->options;
	unsigned int left = 0;
	uint64_t work = 0;
	double t;

	for (unsigned int i = 0; i < w->lcores; i++)
		left += __atomic_load_n(&w->lcore[i].unfinished, __ATOMIC_RELAXED);
	wall_look(w, now);
	for (unsigned int i = 0; i < w->lcores; i++)
		work += __atomic_load_n(&w->lcore[i].work, __ATOMIC_RELAXED);
	w->quiet_looks = work == w->work_seen || w->carries ? w->quiet_looks + 1 : 0;
	w->work_seen = work;
	if (o->interrupt != NULL && atomic_load_explicit(o->interrupt, memory_order_relaxed)) {
		f->info.interrupted = true;
		atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	}
	if (left > 0)
		w->busy = now;
	if (f->at_stop.taken && (is_at_rest(w, now) || now >= f->stop + f->drain))
		w->finished = true;
	if (now >= f->stop + f->drain)
		rendezvous_mend(w);
	if ((w->finished || !w->loads) && rendezvous_is_over(w))
		atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	if (o->progress != NULL && (t = seconds(CLOCK_MONOTONIC)) - w->shown >= 1.0) {
		w->shown = t;
		o->progress(o->progress_ctx, (double)now / (double)f->stop, now);
	}
}

/** No node is started again meanwhile. While another thread reads, the step goes on: no lcore waits. */
static void take_step(struct mf_fabric *f, mf_time now)
{
	if (pthread_mutex_trylock(&f->readers) != 0)
		return;
	series_step(f, now);
	pthread_mutex_unlock(&f->readers);
}

/** Steps that are over end more often than the rest is looked at. */
static void look(struct wall *w, mf_time now)
{
	if (now >= w->look_due)
		look_around(w, now);
	if (series_due(w->f, now))
		take_step(w->f, now);
	w->next_look = mf_time_min(w->look_due, series_next(w->f->series));
}

/** From now on it has to give its roles their turns. */
static void begin_watched(struct wall_lcore *l)
{
	l->tid = gettid();
	if (pthread_getcpuclockid(pthread_self(), &l->cpu_clock) == 0)
		atomic_store_explicit(&l->runs, true, memory_order_release);
}

static int lcore_main(void *arg)
{
	struct wall *w = arg;
	struct wall_lcore *l = NULL;
	bool main_lcore = rte_lcore_id() == rte_get_main_lcore();
	double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	struct cpu_share cpu_share = {.own = cpu_is_shared(rte_lcore_id())};
	bool shared = cpu_share.own;
	mf_time next_count = 0;

	for (unsigned int i = 0; i < w->lcores; i++)
		if (w->lcore[i].id == rte_lcore_id())
			l = &w->lcore[i];
	if (l == NULL)
		return 0;
	begin_watched(l);
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		/* One clock for all roles: what begins in this turn ends in a later one. */
		mf_time now = wall_now(w);
		unsigned int work;

		cycles_turn(w->f, (unsigned int)(l - w->lcore), now);
		work = wall_turn(w, l, now);
		if (work > 0)
			__atomic_store_n(&l->work, l->work + work, __ATOMIC_RELAXED);
		if (main_lcore && now >= w->next_look)
			look(w, now);
		if (now >= next_count) {
			next_count = now + COUNT_PERIOD;
			shared = is_shared(w, &cpu_share, now);
			__atomic_store_n(&l->unfinished, unfinished(w, l, now), __ATOMIC_RELAXED);
		}
		if (work == 0 && shared)
			sched_yield();
	}
	atomic_store_explicit(&l->runs, false, memory_order_relaxed);
	cycles_turn(w->f, (unsigned int)(l - w->lcore), MF_NEVER);
	l->cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return 0;
}

static mf_time now_of(const void *ctx)
{
	return port_now(ctx);
}

int wall_capture(struct wall *w)
{
	return w->f->captures != NULL ? capture_ring_start(w->f->captures, now_of, w) : 0;
}

static mf_time history_now(void *ctx)
{
	return wall_now(ctx);
}

void wall_begin(struct wall *w)
{
	w->tsc0 = rte_rdtsc();
	history_clock(w->f, history_now, w, w->tsc0, rte_get_tsc_hz());
	if (w->f->captures != NULL)
		capture_ring_shift(w->f->captures, port_now_at(w, w->tsc0));
}

static int run(struct wall *w)
{
	double wall = seconds(CLOCK_MONOTONIC);
	int err;

	wall_begin(w);
	w->f->running = w;
	w->shown = wall;
	err = watch_start(w);
	if (err != 0)
		return err;
	err = rte_eal_mp_remote_launch(lcore_main, w, CALL_MAIN);
	rte_eal_mp_wait_lcore();
	watch_stop(w);
	w->f->running = NULL;
	snapshot_end(w->f, wall_now(w));
	w->f->info.host_seconds = seconds(CLOCK_MONOTONIC) - wall;
	for (unsigned int i = 0; i < w->lcores; i++)
		w->f->info.cpu_seconds += w->lcore[i].cpu;
	return err;
}

int wall_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	struct wall w;
	int err;

	wall_init(&w, f, options);
	err = wall_set_up(&w);
	if (err == 0)
		err = cycles_init(f, w.lcores);
	if (err == 0)
		err = wall_capture(&w);
	if (err == 0) {
		tunnel_stats_show(&w);
		err = rendezvous_wait(&w);
	}
	if (err == 0)
		err = run(&w);
	if (err == 0)
		err = w.err;
	if (err == 0)
		rendezvous_leave(&w);
	if (f->captures != NULL)
		capture_ring_stop(f->captures);
	return wall_tear_down(&w, err);
}
