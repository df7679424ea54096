/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "memory/mf_bandwidth.h"

#define DRAM MF_NS(82)
#define SIZE 65536

static const struct mf_memory_ops *ops; /* of the bandwidth that was made last */
static struct mf_memory *flat;

static struct mf_memory *start(uint64_t rate)
{
	const struct mf_memory_config c = {.size = SIZE, .numa_node = -1, .dram = DRAM};

	struct mf_bandwidth *b;

	flat = mf_memory_flat.create(&c);
	b = mf_bandwidth_new(rate, &mf_memory_flat, flat);
	ops = mf_bandwidth_ops(b);
	return mf_bandwidth_memory(b);
}

static void stop(struct mf_memory *m)
{
	mf_bandwidth_free((struct mf_bandwidth *)m);
	mf_memory_flat.destroy(flat);
}

static struct mf_answer ask(struct mf_memory *m, enum mf_right right, mf_time at, uint32_t len)
{
	static const uint8_t data[SIZE];
	const struct mf_access a = {
		.at = at, .data = data, .len = len, .right = (uint8_t)right, .op = MF_RMW_FADD};
	struct mf_answer answer;

	cr_assert_eq(ops->access(m, &a, &answer), MF_OK);
	return answer;
}

Test(bandwidth, alone)
{
	struct mf_memory *m = start(UINT64_C(100000000000)); /* 80 ps a byte */
	struct mf_answer a;

	cr_expect_eq(ask(m, MF_RIGHT_READ, MF_US(1), 64).time, 64 * 80 + DRAM);
	cr_expect_eq(ask(m, MF_RIGHT_WRITE, MF_US(2), 4096).time, 4096 * 80);
	a = ask(m, MF_RIGHT_RMW, MF_US(3), 8);
	cr_expect_eq(a.time, 2 * (8 * 80 + DRAM));
	cr_expect_eq(a.second, 8 * 80 + DRAM);
	stop(m);
}

/* Reads and writes wait for each other, in the order of the calls. */
Test(bandwidth, shared)
{
	struct mf_memory *m = start(UINT64_C(8000000000)); /* 1 ns a byte */

	cr_expect_eq(ask(m, MF_RIGHT_READ, 1000, 100).time, MF_NS(100) + DRAM);
	cr_expect_eq(ask(m, MF_RIGHT_WRITE, 1000, 50).time, MF_NS(150));
	cr_expect_eq(ask(m, MF_RIGHT_READ, MF_NS(101), 10).time, MF_NS(60) + DRAM, "50 ns of waiting");
	cr_expect_eq(ask(m, MF_RIGHT_READ, MF_NS(161), 10).time, MF_NS(10) + DRAM, "idle just now");
	cr_expect_eq(ask(m, MF_RIGHT_READ, MF_US(1), 10).time, MF_NS(10) + DRAM, "idle for long");
	stop(m);
}

/* A byte at 7 Gb/s takes 1142 6/7 ps: after any number of them the server is where it must be. */
Test(bandwidth, does_not_drift)
{
	static const uint64_t rates[] = {UINT64_C(7000000000), UINT64_C(3333333333), UINT64_C(51200000000),
					 1000003, UINT64_C(999999999999999)};

	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct mf_memory *m = start(rates[i]);
		uint64_t bytes = 0;

		for (uint32_t k = 0; k < 20000; k++) {
			uint32_t len = 1 + k * 31 % 97;
			unsigned __int128 parts;

			bytes += len;
			parts = (unsigned __int128)bytes * 8 * MF_SEC(1);
			cr_assert_eq(ask(m, MF_RIGHT_WRITE, 0, len).time,
				     (mf_time)((parts + rates[i] - 1) / rates[i]), "%lu: access %u", rates[i],
				     k);
		}
		stop(m);
	}
}

/* What is refused, or only tried, takes nothing from others. */
Test(bandwidth, only_what_is_done_counts)
{
	struct mf_memory *m = start(UINT64_C(8000000000));
	struct mf_access a = {.addr = SIZE, .len = 4096, .right = MF_RIGHT_READ};
	struct mf_answer answer;

	cr_expect_eq(ops->access(m, &a, &answer), MF_ERR_RANGE);
	a.addr = 0;
	a.dry = true;
	cr_expect_eq(ops->access(m, &a, &answer), MF_OK);
	cr_expect_eq(answer.time, MF_NS(4096) + DRAM, "it says what it would take");
	cr_expect_eq(ask(m, MF_RIGHT_READ, 0, 8).time, MF_NS(8) + DRAM);
	mf_bandwidth_restart((struct mf_bandwidth *)m, flat);
	cr_expect_eq(ask(m, MF_RIGHT_READ, 0, 8).time, MF_NS(8) + DRAM, "nothing is under way");
	stop(m);
}

Test(bandwidth, the_rest_is_the_memory_s_below)
{
	struct mf_memory *m = start(1000000);
	const struct mf_access a = {.len = 64, .right = MF_RIGHT_READ, .hold = true};
	struct mf_answer answer;
	uint64_t word = 5;

	cr_assert_eq(mf_memory_write(ops, m, 8, 8, &word), MF_OK);
	cr_expect_eq(ops->at(m, 8, 8), mf_memory_flat.at(flat, 8, 8));
	cr_expect_eq(*(const uint64_t *)ops->at(m, 8, 8), 5);
	cr_expect_eq(ops->check(m, SIZE - 8, 8), MF_OK);
	cr_expect_eq(ops->check(m, SIZE - 8, 9), MF_ERR_RANGE);
	cr_expect_eq(ops->zero(m, 0, SIZE), MF_OK);
	cr_expect_eq(*(const uint64_t *)ops->at(m, 8, 8), 0);
	cr_assert_eq(ops->access(m, &a, &answer), MF_OK);
	cr_expect(ops->held(m) == 1 && mf_memory_flat.held(flat) == 1);
	ops->let_go(m, &answer.places);
	cr_expect(ops->held(m) == 0 && mf_memory_flat.held(flat) == 0);
	stop(m);
}
