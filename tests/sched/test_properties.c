/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every schedule has to be, checked from outside with senders that keep to the rules: no port
 * carries two chunks, pairs are served in order, matchings are maximal, nothing is lost or left.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "script.h"

#define PORTS_MAX 160
#define REQUEST_BLOCKS 3

struct demand {
	struct mf_sched_msg m;
	uint32_t remaining;
	bool started;
};

struct world {
	struct mf_sched_config c;
	const struct mf_sched_ops *ops;
	struct mf_sched *s;
	uint64_t seed;
	struct demand *d; /* not yet granted in full, in order of arrival */
	size_t held, total;
	mf_time src_until[PORTS_MAX], dst_until[PORTS_MAX];
	uint64_t octets;
	struct mf_sched_grant
		charged[PORTS_MAX]; /* of the iteration under way, whose requests are charged at its end */
	unsigned int charges, debt[PORTS_MAX];
	uint8_t id[PORTS_MAX][PORTS_MAX][2];
};

static bool same_queue(const struct world *w, const struct mf_sched_msg *a, const struct mf_sched_msg *b)
{
	unsigned int ac = a->resp ? a->dst : a->src, am = a->resp ? a->src : a->dst;
	unsigned int bc = b->resp ? b->dst : b->src, bm = b->resp ? b->src : b->dst;

	return ac == bc && am == bm && (w->c.order == MF_ORDER_PAIR || a->resp == b->resp);
}

static bool is_head(const struct world *w, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (same_queue(w, &w->d[j].m, &w->d[i].m))
			return false;
	return true;
}

static void ask(struct world *w, struct rng *r, mf_time at)
{
	struct mf_sched_msg m = {.at = at, .kind = MF_SCHED_DEMAND, .src = rng_below(r, w->c.ports)};
	unsigned int active = 0;

	m.dst = rng_chance(r, 30) ? 1 : rng_below(r, w->c.ports);
	m.resp = rng_below(r, 2);
	m.size = rng_chance(r, 70) ? 1 + rng_below(r, 100) : 1 + rng_below(r, 2000);
	m.mega = rng_chance(r, 5);
	m.request_blocks = REQUEST_BLOCKS;
	for (size_t i = 0; i < w->held; i++)
		active += w->d[i].m.src == m.src && w->d[i].m.dst == m.dst && w->d[i].m.resp == m.resp;
	if (active == w->c.x)
		return;
	m.id = w->id[m.src][m.dst][m.resp]++;
	cr_assert_eq(w->ops->input(w->s, &m), 0);
	w->d[w->held++] = (struct demand){.m = m, .remaining = m.size};
	w->total++;
}

static size_t find(const struct world *w, const struct mf_sched_grant *g)
{
	for (size_t i = 0; i < w->held; i++)
		if (w->d[i].m.src == g->src && w->d[i].m.dst == g->dst && w->d[i].m.id == g->id &&
		    w->d[i].m.resp == g->resp)
			return i;
	cr_assert_fail("seed %lu: a grant for nothing", w->seed);
	return 0;
}

/*
 * D2: forwarded requests and /G/ take their part of the source's link in the other direction, a chunk at
 * a time. It needs no matching, so ahead of time it may be granted to leave before a chunk that was
 * granted earlier: then it is not looked at.
 */
static void charge(struct world *w)
{
	const unsigned int chunk = (w->c.chunk + 7) / 8 + w->c.chunk_overhead;

	for (unsigned int i = 0; i < w->charges; i++) {
		const struct mf_sched_grant *g = &w->charged[i];
		mf_time *until = &w->dst_until[g->src], from = mf_time_max(*until, g->at);
		unsigned int *debt = &w->debt[g->src], blocks;

		*debt += g->resp && g->first ? REQUEST_BLOCKS : 1;
		if (*debt < chunk)
			continue;
		blocks = w->c.slots ? chunk : *debt;
		*until = from + blocks * (mf_time)w->c.period[g->src];
		*debt -= blocks;
	}
	w->charges = 0;
}

static void check_grant(struct world *w, const struct mf_sched_grant *g)
{
	size_t i = find(w, g);
	struct demand *d = &w->d[i];
	uint32_t size = reference_size(&w->c, d->remaining, g);

	cr_assert(is_head(w, i), "seed %lu: out of order", w->seed);
	cr_assert_eq(g->size, size, "seed %lu", w->seed);
	cr_assert_eq(g->since, d->m.at, "seed %lu", w->seed);
	cr_assert_geq(g->at, d->m.at + w->c.insert, "seed %lu", w->seed);
	cr_assert_eq(g->first, !d->started, "seed %lu", w->seed);
	cr_assert_eq(g->last, size == d->remaining, "seed %lu", w->seed);
	cr_assert_geq(g->at, w->src_until[g->src], "seed %lu: source %u is busy", w->seed, g->src);
	cr_assert_geq(g->at, w->dst_until[g->dst], "seed %lu: destination %u is busy", w->seed, g->dst);
	if (w->c.release == MF_RELEASE_WIRE && !w->c.ahead)
		w->charged[w->charges++] = *g;
	d->started = true;
	d->remaining -= size;
	w->octets += size;
	w->src_until[g->src] = w->dst_until[g->dst] = reference_until(&w->c, g);
	if (g->last)
		memmove(d, d + 1, (--w->held - i) * sizeof(*d));
}

/* Step (6) of 3.1.1: forever, so nothing is left that could be granted. */
static void check_maximal(const struct world *w, mf_time now)
{
	for (size_t i = 0; i < w->held; i++) {
		const struct mf_sched_msg *m = &w->d[i].m;

		cr_assert(w->src_until[m->src] > now || w->dst_until[m->dst] > now || !is_head(w, i),
			  "seed %lu: %u->%u unmatched at %lu", w->seed, m->src, m->dst, now);
	}
}

/* Runs to time now. */
static void advance(struct world *w, mf_time now)
{
	struct mf_sched_grant g[PORTS_MAX * 4];
	unsigned int all = w->ops->run(w->s, now, g, PORTS_MAX * 4), n = 0;

	cr_assert_lt(all, PORTS_MAX * 4);
	for (unsigned int i = 0; i < all; i++)
		if (g[i].size) /* a dismissed demand's cookie is not a grant */
			g[n++] = g[i];
	for (unsigned int i = 0; i < n; i++) {
		if (i && (g[i].at != g[i - 1].at || g[i].iteration != g[i - 1].iteration))
			charge(w);
		check_grant(w, &g[i]);
	}
	charge(w);
	if (!w->c.iteration && !w->c.insert && !w->c.iterations && !w->c.ahead)
		check_maximal(w, now);
}

static void one_case(const struct mf_sched_ops *ops, uint64_t seed, unsigned int ports, unsigned int n)
{
	static struct world w;
	struct rng r = {seed};
	struct mf_sched_stats st;
	mf_time now = 0, next = 0;

	w = (struct world){
		.c = random_config(&r, ports), .ops = ops, .seed = seed, .d = calloc(n, sizeof(*w.d))};
	if (w.c.release == MF_RELEASE_WINDOW)
		w.c.release = MF_RELEASE_WIRE;
	w.s = ops->create(&w.c);
	cr_assert(w.s);
	while (n || w.held) {
		mf_time wake;

		for (; n && next <= now; next += rng_below(&r, 20000 / ports), n--)
			ask(&w, &r, now);
		wake = ops->next(w.s);
		now = n && next < wake ? next : wake;
		cr_assert_neq(now, MF_NEVER, "seed %lu: starved", seed);
		advance(&w, now);
	}
	ops->stats(w.s, &st);
	cr_assert_eq(st.entries, 0);
	cr_assert_eq(st.demands, w.total);
	cr_assert_eq(st.granted_octets, w.octets);
	cr_assert_eq(st.dropped_x + st.dropped_bad + st.refused, 0, "seed %lu", seed);
	cr_assert_leq(st.queue_max, 2 * w.c.x * ports);
	cr_assert_eq(ops->next(w.s), MF_NEVER);
	ops->destroy(w.s);
	free(w.d);
}

static void cases(const struct mf_sched_ops *ops, uint64_t seed)
{
	struct rng r = {seed};

	for (unsigned int i = 0; i < 2000; i++)
		one_case(ops, rng_next(&r), 2 + rng_below(&r, i % 40 ? 12 : PORTS_MAX - 2), 300);
}

Test(sched_properties, pim)
{
	cases(&mf_sched_pim, 21);
}

Test(sched_properties, greedy)
{
	cases(&mf_sched_greedy, 22);
}
