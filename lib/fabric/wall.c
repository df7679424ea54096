/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wall clock: roles on poll-mode lcores, links are rings of spans, filled and read in place.
 *
 * Placement: the scheduler has an lcore of its own whenever there are two or more; the switch and the
 * nodes are dealt over the others and polled in turn. The main lcore serves the screen and Ctrl-C
 * between polls (D20).
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_peek_zc.h>

#include "fabric_priv.h"
#include "record.h"
#include "role.h"

#define BURST 8 /**< spans that a role takes from a ring in a turn */
#define DESCRIPTORS RECORD_ITEMS_MAX
#define SCHED_RING 8192 /**< descriptors between switch and scheduler, each way */
#define LOOK_PERIOD MF_MS(20) /**< how often the main lcore looks at the screen and the end */
#define COUNT_PERIOD MF_MS(10) /**< how often an lcore looks which of its nodes have finished */
#define QUIET_LOOKS 3 /**< looks without any work before the run is over */

/** One direction of a link. */
struct ring_link {
	struct rte_ring *ring;
	struct mf_scrambler scrambler; /**< the sender's */
	struct mf_scrambler descrambler __rte_cache_aligned; /**< the receiver's */
} __rte_cache_aligned;

struct wall_lcore {
	struct role **role;
	unsigned int roles;
	unsigned int id;
	/* written by its lcore, read by the main one */
	uint64_t work __rte_cache_aligned;
	unsigned int unfinished; /**< nodes that have something under way, or to begin */
	double cpu; /**< seconds, at the end */
	uint64_t yields;
} __rte_cache_aligned;

struct wall {
	struct mf_fabric *f;
	const struct mf_run_options *options;
	uint64_t tsc0, ps_mult; /**< ps = cycles * ps_mult >> 32 */
	struct ring_link *up, *down; /**< [ports] */
	struct rte_ring *to_sched, *to_switch;
	struct role *role;
	unsigned int roles;
	struct wall_lcore *lcore;
	unsigned int lcores;
	uint64_t *tx_pending; /**< the switch's: ports whose ring was full */
	atomic_bool stop;
	mf_time next_look;
	uint64_t work_seen;
	unsigned int quiet_looks;
	bool measured, stopped;
	double shown;
};

static inline mf_time wall_now(const struct wall *w)
{
	return (mf_time)((unsigned __int128)(rte_rdtsc() - w->tsc0) * w->ps_mult >> 32);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rings of spans */

static struct mf_span *slot(const struct rte_ring_zc_data *z, unsigned int i)
{
	return i < z->n1 ? (struct mf_span *)z->ptr1 + i : (struct mf_span *)z->ptr2 + (i - z->n1);
}

static bool can_rx(const struct wall *w, const struct role *r)
{
	return r->kind == ROLE_NODE ? mf_host_can_rx(w->f->node[r->index].host) : mf_switch_can_rx(w->f->sw);
}

/**
 * Hands what is in a ring to a role. It is dated by the call: its sender may have looked at the clock
 * later than this role did, and what is in the future would be sent by nobody.
 * @return spans taken
 */
static unsigned int take(struct wall *w, struct role *r, unsigned int port, struct ring_link *l, mf_time now)
{
	struct rte_ring_zc_data z;
	unsigned int n =
		rte_ring_dequeue_zc_burst_elem_start(l->ring, sizeof(struct mf_span), BURST, &z, NULL);
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct mf_span *s = slot(&z, i);

		if (!can_rx(w, r))
			break;
		s->start = now;
		if (w->f->link[r->kind == ROLE_NODE ? r->index : port].scramble)
			mf_descramble(&l->descrambler, s->word, s->count);
		role_rx(r, port, now, s);
	}
	rte_ring_dequeue_zc_elem_finish(l->ring, i);
	return i;
}

/**
 * Sends what a role has for a link, as far as the ring has room.
 * @return false: the ring is full and there is more
 */
static bool give(struct wall *w, struct role *r, unsigned int port, struct ring_link *l, mf_time now,
		 unsigned int *spans)
{
	struct rte_ring_zc_data z;

	for (;;) {
		if (rte_ring_enqueue_zc_burst_elem_start(l->ring, sizeof(struct mf_span), 1, &z, NULL) == 0)
			return false;
		struct mf_span *s = z.ptr1;

		if (role_tx(r, port, now, s) == 0) {
			rte_ring_enqueue_zc_elem_finish(l->ring, 0);
			return true;
		}
		if (w->f->link[r->kind == ROLE_NODE ? r->index : port].scramble)
			mf_scramble(&l->scrambler, s->word, s->count);
		rte_ring_enqueue_zc_elem_finish(l->ring, 1);
		++*spans;
	}
}

/* What a role does in a turn; each returns how much work it found */

static unsigned int poll_node(struct wall *w, struct role *r)
{
	struct mf_host *h = w->f->node[r->index].host;
	mf_time now = wall_now(w);
	unsigned int work = take(w, r, r->index, &w->down[r->index], now);

	if (work > 0 || r->next <= now)
		role_run(r, now);
	if (mf_host_tx_next(h, now) <= now)
		give(w, r, r->index, &w->up[r->index], now, &work);
	/* What went out completes writes: they are due at once. */
	r->next = mf_time_min(r->next, mf_host_next(h));
	return work;
}

static unsigned int poll_grants(struct wall *w, struct role *r, mf_time now)
{
	struct mf_sched_grant grant[DESCRIPTORS];
	unsigned int n =
		rte_ring_sc_dequeue_burst_elem(w->to_switch, grant, sizeof(grant[0]), DESCRIPTORS, NULL);

	for (unsigned int i = 0; i < n; i++) {
		grant[i].at = now; /* dated by the call, too */
		role_grant(r, now, &grant[i]);
	}
	return n;
}

static void switch_tell_sched(struct wall *w, struct role *r, mf_time now)
{
	struct mf_sched_msg msg[DESCRIPTORS];
	unsigned int room, n;

	while ((room = rte_ring_free_count(w->to_sched)) > 0) {
		n = role_to_sched(r, now, msg, RTE_MIN(room, (unsigned int)DESCRIPTORS));
		rte_ring_sp_enqueue_bulk_elem(w->to_sched, msg, sizeof(msg[0]), n, NULL);
		if (n < DESCRIPTORS)
			break;
	}
}

static unsigned int switch_send(struct wall *w, struct role *r, mf_time now)
{
	uint16_t port[MF_PORTS_MAX];
	unsigned int n = mf_switch_tx_ports(w->f->sw, port, MF_PORTS_MAX), spans = 0;

	for (unsigned int i = 0; i < n; i++)
		w->tx_pending[port[i] / 64] |= UINT64_C(1) << (port[i] % 64);
	for (unsigned int k = 0; k <= (w->f->nodes - 1) / 64; k++)
		for (uint64_t set = w->tx_pending[k]; set != 0; set &= set - 1) {
			unsigned int p = k * 64 + (unsigned int)__builtin_ctzll(set);

			if (!mf_switch_can_rx(w->f->sw))
				return spans;
			if (give(w, r, p, &w->down[p], now, &spans))
				w->tx_pending[k] &= ~(UINT64_C(1) << (p % 64));
		}
	return spans;
}

static unsigned int poll_switch(struct wall *w, struct role *r)
{
	mf_time now = wall_now(w);
	unsigned int work = 0;

	for (unsigned int p = 0; p < w->f->nodes; p++)
		if (w->up[p].ring != NULL)
			work += take(w, r, p, &w->up[p], now);
	if (mf_switch_next(w->f->sw) <= now)
		role_run(r, now);
	work += poll_grants(w, r, now);
	work += switch_send(w, r, now);
	switch_tell_sched(w, r, now);
	return work;
}

static unsigned int poll_sched(struct wall *w, struct role *r)
{
	struct mf_sched_msg msg[DESCRIPTORS];
	struct mf_sched_grant grant[DESCRIPTORS];
	mf_time now = wall_now(w);
	unsigned int room, n, work;

	/* While grants cannot leave, nothing is matched: what was taken in would find no room. */
	if (rte_ring_free_count(w->to_switch) == 0)
		return 0;
	n = work = rte_ring_sc_dequeue_burst_elem(w->to_sched, msg, sizeof(msg[0]), DESCRIPTORS, NULL);
	for (unsigned int i = 0; i < n; i++)
		role_input(r, now, &msg[i]);
	if (n == 0 && r->next > now)
		return 0;
	while ((room = rte_ring_free_count(w->to_switch)) > 0) {
		room = RTE_MIN(room, (unsigned int)DESCRIPTORS);
		n = role_match(r, now, grant, room);
		rte_ring_sp_enqueue_bulk_elem(w->to_switch, grant, sizeof(grant[0]), n, NULL);
		work += n;
		if (n < room)
			break;
	}
	return work;
}

static unsigned int poll(struct wall *w, struct role *r)
{
	switch (r->kind) {
	case ROLE_NODE:
		return poll_node(w, r);
	case ROLE_SWITCH:
		return poll_switch(w, r);
	default:
		return poll_sched(w, r);
	}
}

/* The lcores */

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

/** Nodes of an lcore whose clients have not finished: whoever waits for an answer waits for its timer. */
static unsigned int unfinished(const struct wall *w, const struct wall_lcore *l, mf_time now)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < l->roles; i++) {
		const struct node *node = &w->f->node[l->role[i]->index];

		if (l->role[i]->kind == ROLE_NODE)
			n += (node->client != NULL && !mf_client_finished(node->client, now)) ||
			     (node->ether != NULL && !mf_ether_finished(node->ether));
	}
	return n;
}

/** The end of the run, the snapshots, the screen: on the main lcore, between polls. */
static void look_around(struct wall *w, mf_time now)
{
	struct mf_fabric *f = w->f;
	const struct mf_run_options *o = w->options;
	unsigned int left = 0;
	uint64_t work = 0;
	double t;

	w->next_look = now + LOOK_PERIOD;
	if (!w->measured && now >= f->measure) {
		snapshot_take(f, &f->at_measure, now);
		w->measured = true;
	}
	if (!w->stopped && now >= f->stop) {
		snapshot_take(f, &f->at_stop, now);
		w->stopped = true;
	}
	for (unsigned int i = 0; i < w->lcores; i++)
		work += __atomic_load_n(&w->lcore[i].work, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < w->lcores; i++)
		left += __atomic_load_n(&w->lcore[i].unfinished, __ATOMIC_RELAXED);
	w->quiet_looks = work == w->work_seen ? w->quiet_looks + 1 : 0;
	w->work_seen = work;
	if (o->interrupt != NULL && atomic_load_explicit(o->interrupt, memory_order_relaxed)) {
		f->info.interrupted = true;
		atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	}
	if (w->stopped && ((left == 0 && w->quiet_looks >= QUIET_LOOKS) || now >= f->stop + f->drain))
		atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	if (o->progress != NULL && (t = seconds(CLOCK_MONOTONIC)) - w->shown >= 1.0) {
		w->shown = t;
		o->progress(o->progress_ctx, (double)now / (double)f->stop, now);
	}
}

static int lcore_main(void *arg)
{
	struct wall *w = arg;
	struct wall_lcore *l = NULL;
	bool main_lcore = rte_lcore_id() == rte_get_main_lcore();
	double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	bool shared = cpu_is_shared(rte_lcore_id());
	mf_time next_count = 0;

	for (unsigned int i = 0; i < w->lcores; i++)
		if (w->lcore[i].id == rte_lcore_id())
			l = &w->lcore[i];
	if (l == NULL)
		return 0;
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		unsigned int work = 0;
		mf_time now;

		for (unsigned int i = 0; i < l->roles; i++)
			work += poll(w, l->role[i]);
		__atomic_store_n(&l->work, l->work + work, __ATOMIC_RELAXED);
		now = wall_now(w);
		if (main_lcore && now >= w->next_look)
			look_around(w, now);
		if (now >= next_count) {
			next_count = now + COUNT_PERIOD;
			__atomic_store_n(&l->unfinished, unfinished(w, l, now), __ATOMIC_RELAXED);
		}
		if (work == 0 && shared) {
			l->yields++;
			sched_yield();
		}
	}
	l->cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return 0;
}

/* Set-up */

static struct rte_ring *new_ring(const char *name, unsigned int esize, unsigned int count)
{
	ssize_t size = rte_ring_get_memsize_elem(esize, count);
	struct rte_ring *r = size > 0 ? rte_zmalloc(name, (size_t)size, RTE_CACHE_LINE_SIZE) : NULL;

	if (r != NULL && rte_ring_init(r, name, count, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
		rte_free(r);
		return NULL;
	}
	return r;
}

static int make_links(struct wall *w)
{
	unsigned int n = w->f->nodes;

	w->up = rte_calloc(NULL, n, sizeof(*w->up), RTE_CACHE_LINE_SIZE);
	w->down = rte_calloc(NULL, n, sizeof(*w->down), RTE_CACHE_LINE_SIZE);
	w->tx_pending = rte_calloc(NULL, (n + 63) / 64, sizeof(uint64_t), RTE_CACHE_LINE_SIZE);
	w->to_sched = new_ring("to_sched", sizeof(struct mf_sched_msg), SCHED_RING);
	w->to_switch = new_ring("to_switch", sizeof(struct mf_sched_grant), SCHED_RING);
	if (w->up == NULL || w->down == NULL || w->tx_pending == NULL || w->to_sched == NULL ||
	    w->to_switch == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		if (w->f->node[i].host == NULL)
			continue;
		struct ring_link *dir[2] = {&w->up[i], &w->down[i]};

		for (unsigned int k = 0; k < 2; k++) {
			dir[k]->ring =
				new_ring("link", sizeof(struct mf_span), w->f->config->node[i].link.ring);
			if (dir[k]->ring == NULL)
				return -ENOMEM;
			dir[k]->scrambler.state = dir[k]->descrambler.state = MF_SCRAMBLER_INIT;
		}
	}
	return 0;
}

static int make_records(struct wall *w)
{
	const char *dir = w->options->record;
	uint32_t config = 0;
	int err = record_folder(dir);

	if (err == 0)
		err = record_config(w->f->config, &config);
	for (unsigned int i = 0; i < w->roles && err == 0; i++) {
		w->role[i].record = record_open(dir, role_name(&w->role[i]), config);
		if (w->role[i].record == NULL)
			err = -errno;
	}
	return err;
}

static int make_roles(struct wall *w)
{
	w->role = calloc(w->f->nodes + 2, sizeof(*w->role));
	if (w->role == NULL)
		return -ENOMEM;
	w->roles = role_all(w->f, w->role);
	return w->options->record != NULL ? make_records(w) : 0;
}

static void assign(struct wall *w, unsigned int lcore, struct role *r)
{
	struct wall_lcore *l = &w->lcore[lcore];
	size_t at = strlen(w->f->info.placement);

	l->role[l->roles++] = r;
	snprintf(w->f->info.placement + at, sizeof(w->f->info.placement) - at, "%s%s@%u", at > 0 ? "," : "",
		 role_name(r), l->id);
}

/** Deals the roles over the lcores; see the head of this file. */
static int place(struct wall *w)
{
	unsigned int id, next, shared;
	bool own;

	w->lcore = rte_calloc(NULL, rte_lcore_count(), sizeof(*w->lcore), RTE_CACHE_LINE_SIZE);
	if (w->lcore == NULL)
		return -ENOMEM;
	w->lcore[w->lcores++].id = rte_get_main_lcore();
	RTE_LCORE_FOREACH_WORKER(id)
		w->lcore[w->lcores++].id = id;
	for (unsigned int i = 0; i < w->lcores; i++) {
		w->lcore[i].role = calloc(w->roles, sizeof(struct role *));
		if (w->lcore[i].role == NULL)
			return -ENOMEM;
	}
	own = w->lcores >= 2 && w->f->config->scheduler_own_lcore != MF_NO;
	shared = own ? w->lcores - 1 : w->lcores;
	assign(w, own ? w->lcores - 1 : 0, &w->role[0]);
	assign(w, 0, &w->role[1]);
	next = shared > 1 ? 1 : 0;
	for (unsigned int i = 2; i < w->roles; i++) {
		assign(w, next, &w->role[i]);
		next = (next + 1) % shared;
	}
	for (unsigned int i = 0; i < w->lcores; i++)
		w->lcore[i].unfinished = w->lcore[i].roles; /* until its lcore has looked */
	w->f->info.lcores = w->lcores;
	return 0;
}

static int tear_down(struct wall *w)
{
	int err = 0;

	for (unsigned int i = 0; i < w->roles; i++) {
		int e = record_close(w->role[i].record);

		err = err != 0 ? err : e;
	}
	for (unsigned int i = 0; i < w->f->nodes && w->up != NULL && w->down != NULL; i++) {
		rte_free(w->up[i].ring);
		rte_free(w->down[i].ring);
	}
	for (unsigned int i = 0; i < w->lcores; i++)
		free(w->lcore[i].role);
	rte_free(w->up);
	rte_free(w->down);
	rte_free(w->tx_pending);
	rte_free(w->to_sched);
	rte_free(w->to_switch);
	rte_free(w->lcore);
	free(w->role);
	return err;
}

static int run(struct wall *w)
{
	double wall = seconds(CLOCK_MONOTONIC);
	int err;

	w->ps_mult = (uint64_t)(((unsigned __int128)MF_SEC(1) << 32) / rte_get_tsc_hz());
	w->tsc0 = rte_rdtsc();
	w->shown = wall;
	err = rte_eal_mp_remote_launch(lcore_main, w, CALL_MAIN);
	rte_eal_mp_wait_lcore();
	w->f->ended = wall_now(w);
	if (w->f->at_stop.at == 0)
		snapshot_take(w->f, &w->f->at_stop, w->f->ended);
	w->f->info.host_seconds = seconds(CLOCK_MONOTONIC) - wall;
	for (unsigned int i = 0; i < w->lcores; i++)
		w->f->info.cpu_seconds += w->lcore[i].cpu;
	return err;
}

int wall_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	struct wall w = {.f = f, .options = options};
	int err = make_links(&w), e;

	if (err == 0)
		err = make_roles(&w);
	if (err == 0)
		err = place(&w);
	if (err == 0)
		err = run(&w);
	e = tear_down(&w);
	return err != 0 ? err : e;
}
