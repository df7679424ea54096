/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mf_scheduler_exchange() gives the answers that the same items give one by one: the policy runs after each
 * demand and after the last item, and all answers are taken before the next item comes.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "systems/mf_scheduler.h"

#define PORTS 6
#define BATCH 32
#define CASES 200
#define STEPS 200
#define GRANTS 4096

struct side {
	struct mf_scheduler *sched;
	struct mf_sched_grant grant[GRANTS];
	unsigned int grants;
};

static struct mf_scheduler *make(const struct mf_sched_ops *ops)
{
	struct mf_sched_config c = {.ports = PORTS,
				    .release = MF_RELEASE_WINDOW,
				    .order = MF_ORDER_PAIR,
				    .chunk = 256,
				    .x = 8,
				    .window = 1024};
	struct mf_scheduler *s;

	for (unsigned int i = 0; i < PORTS; i++)
		c.period[i] = 2560;
	s = mf_scheduler_new(&mf_scheduler_of_demands, ops, ops->create(&c));
	cr_assert_not_null(s);
	cr_assert_eq(mf_scheduler_channel(s)->in->size, sizeof(struct mf_sched_msg));
	return s;
}

static struct mf_sched_msg demand(struct mf_rng *r)
{
	uint16_t src = (uint16_t)mf_rng_below(r, PORTS);

	return (struct mf_sched_msg){.kind = MF_SCHED_DEMAND,
				     .src = src,
				     .dst = (uint16_t)((src + 1 + mf_rng_below(r, PORTS - 1)) % PORTS),
				     .id = (uint8_t)mf_rng_below(r, 64),
				     .resp = mf_rng_below(r, 2),
				     .request_blocks = 2,
				     .size = (uint32_t)(1 + mf_rng_below(r, 1500)),
				     .cookie = MF_SCHED_NO_COOKIE};
}

/* What was granted leaves after a while, so that ports come free again. */
static struct mf_sched_msg message(struct mf_rng *r, const struct side *a, unsigned int *left)
{
	const struct mf_sched_grant *g;

	if (mf_rng_below(r, 3) != 0 || *left == a->grants)
		return demand(r);
	g = &a->grant[(*left)++];
	return (struct mf_sched_msg){.kind = MF_SCHED_FORWARDED,
				     .src = g->src,
				     .dst = g->dst,
				     .resp = g->resp,
				     .size = g->size,
				     .cookie = MF_SCHED_NO_COOKIE};
}

static void drain(struct side *s, mf_time now, unsigned int max)
{
	unsigned int n;

	do {
		cr_assert_leq(s->grants + max, GRANTS);
		n = mf_scheduler_run(s->sched, now, &s->grant[s->grants], max);
		s->grants += n;
	} while (n == max);
}

static void one_by_one(struct side *s, mf_time now, const struct mf_sched_msg *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_eq(mf_scheduler_give(s->sched, &m[i], 1), 1);
		if (m[i].kind == MF_SCHED_DEMAND || i + 1 == n)
			drain(s, now, 8);
	}
}

static void at_once(struct side *s, mf_time now, const struct mf_sched_msg *m, unsigned int n,
		    unsigned int max)
{
	unsigned int given, answers;

	for (unsigned int i = 0; i < n; i += given) {
		answers =
			mf_scheduler_exchange(s->sched, now, &m[i], n - i, &given, &s->grant[s->grants], max);
		cr_assert(given > 0 && given <= n - i);
		cr_assert(answers == max || given == n - i, "it stops where there is no room alone");
		s->grants += answers;
		if (answers == max)
			drain(s, now, max);
	}
}

static void same_grants(const struct side *a, const struct side *b, unsigned int seed, unsigned int step)
{
	const struct mf_item *item = mf_scheduler_channel(a->sched)->out;
	uint8_t x[MF_ITEM_MAX], y[MF_ITEM_MAX];
	char text[128] = "";
	size_t size;

	for (unsigned int i = 0; i < a->grants; i++) {
		size = mf_item_pack(item, &a->grant[i], 1, x);
		mf_item_pack(item, &b->grant[i], 1, y);
		mf_item_differ(item, y, size, x, size, text, sizeof(text));
		cr_assert_str_empty(text, "case %u, step %u, grant %u: %s", seed, step, i, text);
	}
}

static unsigned int one_case(const struct mf_sched_ops *ops, unsigned int seed)
{
	static struct side a, b;
	struct mf_sched_stats x, y;
	struct mf_sched_msg m[BATCH];
	unsigned int n, before, left = 0, total = 0;
	struct mf_rng r;
	mf_time now = 100;

	mf_rng_init(&r, seed, "exchange", 0);
	a.sched = make(ops);
	b.sched = make(ops);
	a.grants = b.grants = 0;
	for (unsigned int step = 0; step < STEPS; step++) {
		now += mf_rng_below(&r, 5);
		n = 1 + (unsigned int)mf_rng_below(&r, BATCH);
		for (unsigned int i = 0; i < n; i++)
			m[i] = message(&r, &a, &left);
		before = a.grants;
		mf_item_date(mf_scheduler_channel(a.sched)->in, m, n, now);
		one_by_one(&a, now, m, n);
		at_once(&b, now, m, n, 1 + (unsigned int)mf_rng_below(&r, BATCH));
		cr_assert_eq(a.grants, b.grants, "case %u, step %u", seed, step);
		same_grants(&a, &b, seed, step);
		cr_assert_eq(mf_scheduler_next(a.sched), mf_scheduler_next(b.sched));
		total += a.grants - before;
		memmove(a.grant, &a.grant[left], (a.grants - left) * sizeof(a.grant[0]));
		memmove(b.grant, &b.grant[left], (b.grants - left) * sizeof(b.grant[0]));
		a.grants = b.grants -= left;
		left = 0;
	}
	mf_scheduler_stats(a.sched, &x);
	mf_scheduler_stats(b.sched, &y);
	cr_assert_eq(x.grants, y.grants);
	cr_assert_eq(x.granted_octets, y.granted_octets);
	cr_assert_eq(x.refused + y.refused, 0);
	mf_scheduler_free(a.sched);
	mf_scheduler_free(b.sched);
	return total;
}

Test(exchange, gives_what_the_items_give_one_by_one)
{
	for (unsigned int seed = 0; seed < CASES; seed++)
		cr_assert_gt(one_case(&mf_sched_pim, seed) + one_case(&mf_sched_greedy, seed), 100);
}

Test(exchange, an_item_begins_with_its_time)
{
	struct mf_sched_msg m[3] = {{.at = 1}, {.at = 2}, {.at = 3}};
	struct mf_sched_grant g[2] = {{.at = 4}, {.at = 5}};

	mf_item_date(&mf_sched_msg_item, m, 2, 9);
	cr_expect(m[0].at == 9 && m[1].at == 9 && m[2].at == 3);
	cr_expect_eq(*mf_item_time(&mf_sched_grant_item, g, 1), 5);
}
