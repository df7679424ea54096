/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "reference.h"
#include "script.h"

/* splitmix64 */
uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (rng_next(r) >> 32) * n >> 32;
}

bool rng_chance(struct rng *r, unsigned int percent)
{
	return rng_below(r, 100) < percent;
}

/* An assertion of Criterion costs more than a grant. */
static void require(bool ok, const char *what)
{
	if (!ok)
		cr_assert_fail("%s", what);
}

void messages_add(struct messages *list, struct mf_sched_msg m)
{
	if (list->n == list->room) {
		list->room = 2 * list->room + 64;
		list->m = realloc(list->m, list->room * sizeof(m));
	}
	list->m[list->n++] = m;
}

void grants_add(struct grants *list, const struct mf_sched_grant *g)
{
	if (list->n == list->room) {
		list->room = 2 * list->room + 64;
		list->g = realloc(list->g, list->room * sizeof(*g));
	}
	list->g[list->n++] = *g;
}

struct mf_sched_config plain_config(unsigned int ports)
{
	struct mf_sched_config c = {
		.ports = ports,
		.chunk = 256,
		.x = 3,
		.chunk_overhead = 2,
	};

	for (unsigned int p = 0; p < ports; p++)
		c.period[p] = p % 4 == 3 ? 2560 : 640;
	return c;
}

struct mf_sched_config random_config(struct rng *r, unsigned int ports)
{
	struct mf_sched_config c = plain_config(ports);
	static const uint32_t chunk[] = {16, 64, 128, 256, 4096, 65536};

	c.priority = rng_below(r, 2);
	c.order = rng_below(r, 2);
	c.release = rng_below(r, 3);
	c.chunk = chunk[rng_below(r, 6)];
	c.x = 1 + rng_below(r, 4);
	c.window = 1 + rng_below(r, 4 * c.chunk);
	c.iterations = rng_chance(r, 50) ? 0 : 1 + rng_below(r, 3);
	c.srpt_transfer = rng_below(r, 2);
	c.chunk_overhead = rng_below(r, 4);
	c.slots = c.release == MF_RELEASE_WIRE && rng_chance(r, 50);
	if (rng_chance(r, 60)) {
		c.insert = rng_below(r, 2) * 667;
		c.iteration = rng_below(r, 3) * 1000;
		c.ahead = rng_below(r, 3) * rng_below(r, 20000);
	}
	return c;
}

static uint32_t random_size(struct rng *r, uint32_t chunk)
{
	if (rng_chance(r, 2))
		return 65536;
	return rng_chance(r, 60) ? 1 + rng_below(r, 128)
				 : 1 + rng_below(r, 6 * chunk < 65536 ? 6 * chunk : 65536);
}

static void random_pair(struct rng *r, unsigned int ports, struct mf_sched_msg *m)
{
	m->src = rng_below(r, ports);
	m->dst = rng_chance(r, 20) ? 0 : rng_below(r, ports);
	m->resp = rng_below(r, 2);
}

static struct mf_sched_msg random_message(struct rng *r, const struct mf_sched_config *c, mf_time at)
{
	struct mf_sched_msg m = {.at = at, .id = rng_below(r, 12), .cookie = rng_next(r)};

	random_pair(r, c->ports, &m);
	m.kind = MF_SCHED_DEMAND;
	if (rng_chance(r, 10))
		m.kind = rng_chance(r, 40) ? MF_SCHED_CANCEL : MF_SCHED_HOLD + rng_below(r, 4);
	m.size = random_size(r, c->chunk);
	m.mega = rng_chance(r, 5);
	m.behind = rng_chance(r, 50) ? rng_below(r, 1u << rng_below(r, 17)) : 0;
	m.request_blocks = rng_below(r, 3) * 2;
	m.excess = rng_chance(r, 15);
	if (rng_chance(r, 2))
		m.size = rng_below(r, 2) * 65537;
	if (rng_chance(r, 1))
		m.src = c->ports + rng_below(r, 3);
	return m;
}

static void let_go(struct messages *list, unsigned int ports, mf_time at)
{
	for (unsigned int p = 0; p < ports; p++) {
		messages_add(list,
			     (struct mf_sched_msg){.at = at, .src = p, .dst = p, .kind = MF_SCHED_UNHOLD});
		messages_add(list, (struct mf_sched_msg){
					   .at = at, .src = p, .dst = p, .kind = MF_SCHED_UNHOLD_SRC});
	}
}

struct messages random_messages(struct rng *r, const struct mf_sched_config *c, size_t n)
{
	struct messages list = {0};
	mf_time at = 0, unit = rng_chance(r, 50) ? 1 : 640; /* coarse: many at the same time */
	uint32_t gap = 1 + rng_below(r, 40000 / c->ports / unit + 1);

	size_t flush = rng_below(r, 2 * n); /* of half of the scripts */

	while (list.n < n) {
		at += rng_below(r, 3) ? rng_below(r, gap + 1) * unit : 0;
		messages_add(&list, random_message(r, c, at));
		if (list.n == flush)
			messages_add(&list, (struct mf_sched_msg){.at = at,
								  .src = rng_below(r, c->ports),
								  .kind = MF_SCHED_FLUSH});
	}
	let_go(&list, c->ports, at);
	return list;
}

/* In one or two parts, after a while that depends on the grant alone. */
static void forward(const struct mf_sched_ops *ops, struct mf_sched *s, const struct mf_sched_grant *g,
		    struct messages *all)
{
	struct rng r = {g->at ^ (uint64_t)g->src << 40 ^ (uint64_t)g->dst << 50 ^ g->id};
	struct mf_sched_msg m = {.src = g->src, .dst = g->dst, .resp = g->resp, .kind = MF_SCHED_FORWARDED};
	uint32_t part = rng_below(&r, g->size + 1);

	m.at = g->at + 1 + rng_below(&r, 50000);
	m.size = part;
	require(ops->input(s, &m) == 0, "refused");
	messages_add(all, m);
	m.size = g->size - part;
	m.at += rng_below(&r, 2000);
	require(ops->input(s, &m) == 0, "refused");
	messages_add(all, m);
}

static mf_time take(const struct mf_sched_ops *ops, struct mf_sched *s, mf_time now, unsigned int max,
		    struct grants *out)
{
	struct mf_sched_grant g[64];
	unsigned int n;

	do {
		n = ops->run(s, now, g, max);
		for (unsigned int i = 0; i < n; i++) {
			require(g[i].at <= now, "a grant from the future");
			if (g[i].size) /* a dismissed demand's cookie is not a grant */
				grants_add(out, &g[i]);
		}
	} while (n == max);
	require(ops->next(s) >= now, "next() lies in the past");
	return ops->next(s);
}

void play(const struct mf_sched_ops *ops, struct mf_sched *s, const struct mf_sched_config *c,
	  const struct messages *script, mf_time early, struct messages *all, struct grants *out)
{
	size_t i = 0, answered = out->n;

	for (mf_time now = 0; now != MF_NEVER;) {
		for (; i < script->n && script->m[i].at <= now + early; i++) {
			require(ops->input(s, &script->m[i]) == 0, "refused");
			messages_add(all, script->m[i]);
		}
		now = take(ops, s, mf_time_min(now, ops->next(s)), 64, out);
		for (; answered < out->n; answered++)
			if (c->release == MF_RELEASE_WINDOW)
				forward(ops, s, &out->g[answered], all);
		now = ops->next(s);
		if (i < script->n)
			now = mf_time_min(now, script->m[i].at);
	}
}

/* Stable by time; at the same time by a rank of the origin. */
static void sort(struct messages *list, uint64_t salt)
{
	for (size_t i = 1; i < list->n; i++) {
		struct mf_sched_msg x = list->m[i];
		uint64_t rank = reference_origin(&x) * salt;
		size_t j = i;

		for (; j; j--) {
			const struct mf_sched_msg *y = &list->m[j - 1];

			if (y->at < x.at || (y->at == x.at && reference_origin(y) * salt <= rank))
				break;
			list->m[j] = *y;
		}
		list->m[j] = x;
	}
}

/* The messages of one time from one on, one by one or in bursts. */
static size_t hand_in(const struct mf_sched_ops *ops, struct mf_sched *s, const struct messages *list,
		      size_t from, struct rng *r)
{
	size_t end = from;

	while (end < list->n && list->m[end].at == list->m[from].at)
		end++;
	while (from < end) {
		unsigned int n = 1 + rng_below(r, end - from);

		if (n == 1)
			require(ops->input(s, &list->m[from]) == 0, "refused");
		else
			require(ops->inputs(s, &list->m[from], n) == n, "refused");
		from += n;
	}
	return end;
}

/* One that is all of its time, together with run() of that time. */
static void offer(const struct mf_sched_ops *ops, struct mf_sched *s, const struct mf_sched_msg *m,
		  struct grants *out)
{
	struct mf_sched_grant g[3];
	unsigned int n = ops->offer(s, m, m->at, g, 3);

	for (unsigned int i = 0; i < n; i++)
		if (g[i].size)
			grants_add(out, &g[i]);
	if (n == 3)
		take(ops, s, m->at, 3, out);
}

static bool is_alone(const struct messages *list, size_t i)
{
	return (i == 0 || list->m[i - 1].at != list->m[i].at) &&
	       (i + 1 == list->n || list->m[i + 1].at != list->m[i].at);
}

void replay(const struct mf_sched_ops *ops, struct mf_sched *s, const struct messages *all, struct rng *r,
	    mf_time tick, struct grants *out)
{
	struct messages list = {0};
	mf_time now = 0, next = 0;

	for (size_t i = 0; i < all->n; i++)
		messages_add(&list, all->m[i]);
	sort(&list, rng_next(r) | 1);
	for (size_t i = 0; i < list.n; now += tick) {
		while (i < list.n && list.m[i].at <= now) {
			/* all of a time come before run() of that time */
			if (i)
				take(ops, s, list.m[i].at - 1, 1 + rng_below(r, 3), out);
			if (is_alone(&list, i) && rng_chance(r, 50))
				offer(ops, s, &list.m[i++], out);
			else
				i = hand_in(ops, s, &list, i, r);
		}
		next = take(ops, s, now, 1 + rng_below(r, 3), out);
	}
	while (next != MF_NEVER)
		next = take(ops, s, next, 5, out);
	free(list.m);
}
