/* SPDX-License-Identifier: BSD-3-Clause */
/* Grant for grant the same as the definition, whatever the configuration, demand and way of calling. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "reference.h"
#include "script.h"

static void describe(const char *what, const struct mf_sched_grant *g)
{
	cr_log_error("%s: at %lu since %lu %u->%u id %u resp %d first %d last %d size %u iteration %u", what,
		     g->at, g->since, g->src, g->dst, g->id, g->resp, g->first, g->last, g->size,
		     g->iteration);
}

static bool equal(const struct mf_sched_grant *a, const struct mf_sched_grant *b)
{
	return a->at == b->at && a->since == b->since && a->src == b->src && a->dst == b->dst &&
	       a->id == b->id && a->resp == b->resp && a->first == b->first && a->last == b->last &&
	       a->mega == b->mega && a->size == b->size && a->cookie == b->cookie &&
	       a->iteration == b->iteration;
}

static void compare(uint64_t seed, const struct grants *got, const struct mf_sched_grant *want, size_t n)
{
	for (size_t i = 0; i < got->n && i < n; i++) {
		if (equal(&got->g[i], &want[i]))
			continue;
		describe("got", &got->g[i]);
		describe("want", &want[i]);
		cr_assert_fail("seed %lu: grant %zu of %zu differs", seed, i, n);
	}
	cr_assert_eq(got->n, n, "seed %lu: %zu grants, not %zu", seed, got->n, n);
}

/* All that came in is accounted for, and the queues are as they were. */
static void account(uint64_t seed, const struct mf_sched_stats *st, const struct mf_sched_config *c,
		    size_t demands)
{
	cr_assert_eq(st->entries, 0, "seed %lu: %lu entries left", seed, st->entries);
	cr_assert_eq(st->demand_octets, st->granted_octets + st->cancelled_octets + st->flushed_octets,
		     "seed %lu", seed);
	cr_assert_leq(st->demands + st->dropped_x, demands, "seed %lu", seed);
	cr_assert_leq(st->queue_max, 2 * c->x * c->ports, "seed %lu", seed);
	cr_assert_leq(st->matched_max, c->ports, "seed %lu", seed);
	if (c->iterations)
		cr_assert_leq(st->iterations_max, c->iterations, "seed %lu", seed);
}

/* For a CPU that has vectors of some width. */
static struct mf_sched *create(const struct mf_sched_ops *ops, struct mf_sched_config *c, struct rng *r)
{
	static const unsigned int bits[] = {64, 256, 512};

	c->max_simd_bits = bits[rng_below(r, 3)];
	return ops->create(c);
}

static void one_script(const struct mf_sched_ops *ops, uint64_t seed, struct mf_sched_config c,
		       struct messages script)
{
	struct rng r = {seed};
	struct messages all = {0};
	struct mf_sched *s = create(ops, &c, &r), *again = create(ops, &c, &r);
	struct grants got = {0}, other = {0};
	struct mf_sched_grant *want;
	struct mf_sched_stats st, st2;
	size_t wanted;

	cr_assert(s && again);
	play(ops, s, &c, &script, rng_below(&r, 2) * rng_below(&r, 3000), &all, &got);
	wanted = reference_run(&c, ops == &mf_sched_greedy, all.m, all.n, &want);
	compare(seed, &got, want, wanted);
	replay(ops, again, &all, &r, 1 + rng_below(&r, 3000), &other);
	compare(seed, &other, want, wanted);
	ops->stats(s, &st);
	ops->stats(again, &st2);
	account(seed, &st, &c, all.n);
	cr_assert_arr_eq(&st, &st2, sizeof(st), "seed %lu: statistics differ", seed);
	ops->destroy(s);
	ops->destroy(again);
	free(all.m);
	free(got.g);
	free(other.g);
	free(want);
}

static void one_case(const struct mf_sched_ops *ops, uint64_t seed, unsigned int ports, size_t n)
{
	struct rng r = {seed};
	struct mf_sched_config c = random_config(&r, ports);
	struct messages script = random_messages(&r, &c, n);

	one_script(ops, seed, c, script);
	free(script.m);
}

static void cases(const struct mf_sched_ops *ops, uint64_t seed, unsigned int count, unsigned int ports_min,
		  unsigned int ports_max, size_t n)
{
	struct rng r = {seed};

	for (unsigned int i = 0; i < count; i++) {
		uint64_t next = rng_next(&r);

		one_case(ops, next, ports_min + rng_below(&r, ports_max - ports_min + 1), n);
	}
}

Test(sched_reference, pim_few_ports)
{
	cases(&mf_sched_pim, 1, 1000, 2, 6, 120);
}

Test(sched_reference, pim_rack)
{
	cases(&mf_sched_pim, 2, 100, 7, 70, 500);
}

Test(sched_reference, pim_many_ports)
{
	cases(&mf_sched_pim, 3, 8, 120, 300, 1500);
	cases(&mf_sched_pim, 4, 4, 512, 512, 2500);
}

/* Three destinations that all sources have demand for, in both directions, so that their lists are long. */
static struct messages incast(struct rng *r, const struct mf_sched_config *c)
{
	struct messages list = {0};

	for (unsigned int p = 0; p < 3; p++)
		messages_add(&list, (struct mf_sched_msg){.kind = MF_SCHED_HOLD, .dst = p});
	for (unsigned int i = 0; i < 6 * c->ports; i++) {
		struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .at = i * 10, .cookie = MF_SCHED_NO_COOKIE};

		m.src = i / 2 % c->ports;
		m.dst = i / 2 / c->ports;
		m.resp = i % 2;
		m.size = 1 + rng_below(r, 2 * c->chunk < 65536 ? 2 * c->chunk : 65536);
		m.request_blocks = 2;
		messages_add(&list, m);
	}
	for (unsigned int p = 0; p < 3; p++)
		messages_add(&list, (struct mf_sched_msg){.kind = MF_SCHED_UNHOLD, .at = MF_US(1), .dst = p});
	return list;
}

Test(sched_reference, pim_long_lists)
{
	struct rng r = {8};

	for (unsigned int i = 0; i < 4; i++) {
		struct mf_sched_config c = random_config(&r, 512 - 60 * i);
		struct messages script = incast(&r, &c);

		one_script(&mf_sched_pim, i, c, script);
		free(script.m);
	}
}

/* Demands of many chunks that come together while windows are wide: matchings repeat themselves. */
static struct messages bursts(struct rng *r, const struct mf_sched_config *c)
{
	struct messages list = {0};
	mf_time at = 0;

	for (unsigned int b = 0; b < 6; b++, at += rng_below(r, 50000)) {
		for (unsigned int n = rng_below(r, 2 * c->ports); n; n--) {
			struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .at = at, .id = list.n};

			m.src = rng_below(r, c->ports);
			m.dst = rng_below(r, rng_chance(r, 30) ? 2 : c->ports);
			m.resp = rng_below(r, 2);
			m.size = rng_chance(r, 40) ? c->chunk : 1 + rng_below(r, 8 * c->chunk);
			m.mega = rng_chance(r, 3);
			m.behind = rng_below(r, 2) * 12;
			m.cookie = MF_SCHED_NO_COOKIE;
			messages_add(&list, m);
		}
	}
	return list;
}

Test(sched_reference, pim_repeats)
{
	struct rng r = {9};

	for (unsigned int i = 0; i < 3000; i++) {
		struct mf_sched_config c = random_config(&r, 4 + rng_below(&r, i % 8 ? 12 : 60));
		struct messages script;

		c.release = MF_RELEASE_WINDOW;
		c.slots = false;
		c.chunk = 16 << rng_below(&r, 5);
		c.window = c.chunk * (1 + rng_below(&r, 40));
		c.iteration = c.insert = 0;
		script = bursts(&r, &c);
		one_script(&mf_sched_pim, i, c, script);
		free(script.m);
	}
}

Test(sched_reference, greedy_few_ports)
{
	cases(&mf_sched_greedy, 5, 1000, 2, 6, 120);
}

Test(sched_reference, greedy_rack)
{
	cases(&mf_sched_greedy, 6, 100, 7, 70, 400);
}

Test(sched_reference, greedy_many_ports)
{
	cases(&mf_sched_greedy, 7, 4, 120, 512, 1000);
}
