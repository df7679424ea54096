/* SPDX-License-Identifier: BSD-3-Clause */
/* offer() of a descriptor does what input() of it and run() of its time do, down to the counters. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "steps.h"

#define CASES 400
#define STEPS 400
#define GRANTS 3

struct side {
	struct mf_sched *sched;
	struct mf_sched_grant grant[GRANTS];
	unsigned int grants;
};

/** As the wall clock calls: no scheduling time, windows; each of these is something else now and then. */
static struct mf_sched_config config_of(struct rng *r)
{
	struct mf_sched_config c = random_config(r, 2 + rng_below(r, 5));

	if (rng_chance(r, 70)) {
		c.release = MF_RELEASE_WINDOW;
		c.slots = false;
		c.insert = c.iteration = c.ahead = 0;
	}
	return c;
}

static struct mf_sched_msg message(struct rng *r, const struct mf_sched_config *c, mf_time now)
{
	struct mf_sched_msg m = {
		.at = now + 3 - rng_below(r, 8),
		.src = rng_below(r, c->ports + rng_chance(r, 2)),
		.dst = rng_below(r, c->ports + rng_chance(r, 2)),
		.kind = rng_chance(r, 90) ? MF_SCHED_DEMAND : rng_below(r, MF_SCHED_FLUSH + 1),
		.id = rng_below(r, 12),
		.resp = rng_below(r, 2),
		.mega = rng_chance(r, 5),
		.request_blocks = rng_below(r, 4),
		.excess = rng_chance(r, 10),
		.size = rng_chance(r, 70) ? 1 + rng_below(r, c->chunk) : rng_below(r, 5 * c->chunk),
		.cookie = rng_chance(r, 50) ? rng_next(r) : MF_SCHED_NO_COOKIE,
	};

	return m;
}

static void same(const struct mf_sched_ops *ops, const struct side *a, const struct side *b,
		 unsigned int seed)
{
	struct mf_sched_stats x = stats(ops, a->sched), y = stats(ops, b->sched);

	cr_assert_eq(a->grants, b->grants, "case %u", seed);
	cr_assert_eq(memcmp(a->grant, b->grant, a->grants * sizeof(a->grant[0])), 0, "case %u", seed);
	cr_assert_eq(memcmp(&x, &y, sizeof(x)), 0, "case %u", seed);
	cr_assert_eq(ops->next(a->sched), ops->next(b->sched), "case %u", seed);
}

/** What was granted is forwarded: some of it soon, some of it with what is granted later. */
static void forward(const struct mf_sched_ops *ops, struct side *a, struct side *b, struct rng *r,
		    mf_time now, struct grants *sent)
{
	for (unsigned int i = 0; i < a->grants; i++)
		grants_add(sent, &a->grant[i]);
	if (rng_chance(r, 60))
		return;
	for (size_t i = 0; i < sent->n; i++) {
		const struct mf_sched_grant *g = &sent->g[i];
		struct mf_sched_msg m = {.at = now + rng_below(r, 6),
					 .kind = MF_SCHED_FORWARDED,
					 .src = g->src,
					 .dst = g->dst,
					 .resp = g->resp,
					 .size = g->size};

		cr_assert_eq(ops->input(a->sched, &m), ops->input(b->sched, &m));
	}
	sent->n = 0;
}

static void one_case(const struct mf_sched_ops *ops, unsigned int seed)
{
	struct rng r = {seed};
	struct mf_sched_config c = config_of(&r);
	struct side a = {.sched = ops->create(&c)}, b = {.sched = ops->create(&c)};
	struct grants sent = {0};
	mf_time now = 100;

	memset(a.grant, 0, sizeof(a.grant)); /* octets between the fields are compared, too */
	memset(b.grant, 0, sizeof(b.grant));
	for (unsigned int i = 0; i < STEPS; i++) {
		struct mf_sched_msg m = message(&r, &c, now += rng_below(&r, 4));
		unsigned int max = 1 + rng_below(&r, GRANTS);

		a.grants = ops->offer(a.sched, &m, now, a.grant, max);
		(void)ops->input(b.sched, &m);
		b.grants = ops->run(b.sched, now, b.grant, max);
		same(ops, &a, &b, seed);
		forward(ops, &a, &b, &r, now, &sent);
		if (!rng_chance(&r, 20))
			continue;
		a.grants = ops->run(a.sched, now, a.grant, GRANTS);
		b.grants = ops->run(b.sched, now, b.grant, GRANTS);
		same(ops, &a, &b, seed);
		forward(ops, &a, &b, &r, now, &sent);
	}
	ops->destroy(a.sched);
	ops->destroy(b.sched);
	free(sent.g);
}

Test(sched_offer, input_and_run)
{
	EACH_POLICY(ops)
	for (unsigned int seed = 0; seed < CASES; seed++)
		one_case(ops, seed);
}
