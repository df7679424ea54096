/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plain mirroring (EDM 3.3): two schedulers, each of which hears of the same demands over cables of its own.
 * When do they make the same schedule? What docs/fault-tolerance.md says of lock-step is measured here; with
 * --verbose its table is printed.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "systems/edm/sched/mf_sched.h"

#define PORTS 16
#define DEMANDS 2000
#define GAP MF_NS(6) /* between two demands, in the mean */
#define T MF_NS(20) /* what comes within it comes together */
#define SEEDS 50

/** One way of doing it. */
struct way {
	mf_time skew; /**< the two cables of a node differ by up to that, beyond what both know */
	bool together; /**< demands of a unit of T count as of its end, and their ports order them */
	bool slotted; /**< nodes send demands at multiples of T alone */
};

struct demand {
	mf_time sent;
	struct mf_sched_msg msg;
};

struct redundant {
	struct mf_sched *sched;
	struct mf_sched_msg msg[DEMANDS];
	struct mf_sched_grant grant[2 * DEMANDS];
	unsigned int grants;
};

static int by_time(const void *a, const void *b)
{
	const struct mf_sched_msg *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->src != y->src ? x->src - y->src : x->id - y->id;
}

/** What one switch makes of the demands. @param late  what each cable takes beyond what is known */
static void schedule(struct redundant *t, const struct demand *d, const struct way *way, const mf_time *late)
{
	struct mf_sched_config c = {
		.ports = PORTS, .priority = MF_SCHED_FCFS, .chunk = 64, .x = 128, .chunk_overhead = 2};
	unsigned int n;

	for (unsigned int i = 0; i < PORTS; i++)
		c.period[i] = 2560;
	t->sched = mf_sched_pim.create(&c);
	cr_assert_not_null(t->sched);
	for (unsigned int i = 0; i < DEMANDS; i++) {
		t->msg[i] = d[i].msg;
		t->msg[i].at = d[i].sent + late[d[i].msg.src];
		if (way->together)
			t->msg[i].at = (t->msg[i].at / T + 1) * T;
	}
	qsort(t->msg, DEMANDS, sizeof(t->msg[0]), by_time);
	t->grants = 0;
	for (unsigned int i = 0; i < DEMANDS; i++) {
		while (mf_sched_pim.next(t->sched) < t->msg[i].at)
			t->grants += mf_sched_pim.run(t->sched, mf_sched_pim.next(t->sched),
						      &t->grant[t->grants], 2 * DEMANDS - t->grants);
		cr_assert_eq(mf_sched_pim.input(t->sched, &t->msg[i]), 0);
	}
	do {
		n = mf_sched_pim.run(t->sched, MF_MS(100), &t->grant[t->grants], 2 * DEMANDS - t->grants);
		t->grants += n;
	} while (n > 0);
	cr_assert_eq(t->grants, DEMANDS);
	mf_sched_pim.destroy(t->sched);
}

static bool same(const struct redundant *a, const struct redundant *b)
{
	bool same = a->grants == b->grants;

	for (unsigned int i = 0; i < a->grants && same; i++)
		same = a->grant[i].src == b->grant[i].src && a->grant[i].dst == b->grant[i].dst &&
		       a->grant[i].id == b->grant[i].id && a->grant[i].size == b->grant[i].size;
	return same;
}

/** @return of so many seeds, with how many both switches make the same schedule */
static unsigned int equal(const struct way *way)
{
	static struct redundant a, b;
	static struct demand d[DEMANDS];
	unsigned int count = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint8_t id[PORTS] = {0};
		mf_time late[2][PORTS] = {{0}}, now = 0;
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "lockstep", 0);
		for (unsigned int i = 0; i < PORTS && way->skew > 0; i++)
			late[mf_rng_below(&rng, 2)][i] = mf_rng_below(&rng, way->skew);
		for (unsigned int i = 0; i < DEMANDS; i++) {
			uint16_t src = (uint16_t)mf_rng_below(&rng, PORTS);

			now += mf_rng_below(&rng, 2 * GAP);
			d[i] = (struct demand){
				.sent = way->slotted ? (now / T + 1) * T : now,
				.msg = {.src = src,
					.dst = (uint16_t)((src + 1 + mf_rng_below(&rng, PORTS - 1)) % PORTS),
					.kind = MF_SCHED_DEMAND,
					.id = id[src]++,
					.size = 64,
					.request_blocks = 1,
					.cookie = MF_SCHED_NO_COOKIE},
			};
		}
		schedule(&a, d, way, late[0]);
		schedule(&b, d, way, late[1]);
		count += same(&a, &b);
	}
	cr_log_info("skew %5lu ps, %s, %s: %u of %u", way->skew, way->together ? "units of T" : "as it comes",
		    way->slotted ? "sent at multiples of T" : "sent at any time", count, SEEDS);
	return count;
}

/** Where both cables of each node are known to the last, both switches do the same whatever they do. */
Test(lockstep, same_cables)
{
	for (unsigned int way = 0; way < 4; way++)
		cr_expect_eq(equal(&(struct way){.together = way & 1, .slotted = way & 2}), SEEDS);
}

/** By the time of arrival alone, a difference of less than a block's time is too much. */
Test(lockstep, as_it_comes)
{
	cr_expect_lt(equal(&(struct way){.skew = MF_NS(1)}), SEEDS / 2);
	cr_expect_eq(equal(&(struct way){.skew = MF_NS(19)}), 0);
}

/** Units of T do not help by themselves: some demand is on both sides of the end of a unit. */
Test(lockstep, units_alone)
{
	cr_expect_lt(equal(&(struct way){.skew = MF_NS(1), .together = true}), SEEDS / 2);
	cr_expect_eq(equal(&(struct way){.skew = MF_NS(19), .together = true}), 0);
}

/** Where nodes send at multiples of T, any difference below T is tolerated, and no other. */
Test(lockstep, units_and_slots)
{
	for (mf_time skew = MF_NS(1); skew <= T; skew += T / 4)
		cr_expect_eq(equal(&(struct way){.skew = skew, .together = true, .slotted = true}), SEEDS);
	cr_expect_lt(equal(&(struct way){.skew = 2 * T, .together = true, .slotted = true}), SEEDS / 2);
}
