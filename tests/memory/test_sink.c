/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/mf_memory.h"

#define SIZE (UINT64_C(1) << 40)
#define PERIOD (UINT64_C(257) * 4096)

static const struct mf_memory_ops *const ops = &mf_memory_sink;

static struct mf_memory *create(uint64_t size)
{
	struct mf_memory_config config = {.size = size, .dram = MF_NS(82)};
	struct mf_memory *m = ops->create(&config);

	cr_assert(m != NULL, "errno %d", errno);
	return m;
}

Test(sink, found_by_name_and_faulty_sizes)
{
	struct mf_memory_config config = {.size = 0};

	cr_assert_eq(mf_memory_find("sink"), ops);
	cr_assert_null(mf_memory_flat.checked);
	cr_assert_null(ops->create(&config));
	cr_assert_eq(errno, EINVAL);
	config.size = MF_ADDR_MAX + 2;
	cr_assert_null(ops->create(&config));
	cr_assert_eq(errno, EINVAL);
	ops->destroy(NULL);
}

/* What is written as it is held, whole or in pieces of any length from any address, is right. */
Test(sink, contents_are_right_in_any_pieces)
{
	struct mf_memory *m = create(SIZE);
	uint8_t out[5000];
	uint64_t addr = PERIOD - 1777, octets = 0, writes = 0;

	for (uint32_t len = 1; len < sizeof(out); len = len * 3 + 1, addr += len * 97) {
		cr_assert_eq(mf_memory_write(ops, m, addr, len, mf_sink_content(addr)), MF_OK);
		cr_assert_eq(mf_memory_read(ops, m, addr, len, out), MF_OK);
		cr_assert_eq(memcmp(out, ops->at(m, addr, len), len), 0);
		octets += len;
		writes++;
	}
	cr_assert_eq(ops->checked(m)->wrong, 0);
	cr_assert_eq(ops->checked(m)->writes, writes);
	cr_assert_eq(ops->checked(m)->octets, octets);
	ops->destroy(m);
}

/* Times are those of flat memory; what is only tried is neither compared nor counted. */
Test(sink, access)
{
	static const uint8_t wrong[64] = {1};
	struct mf_memory_use use = {0};
	const struct mf_memory_config config = {.size = SIZE, .dram = MF_NS(82), .use = &use};
	struct mf_memory *m = ops->create(&config);
	struct mf_access read = {.addr = 4090, .len = 100, .hold = true, .dry = true};
	struct mf_access write = {.len = 64, .right = MF_RIGHT_WRITE, .data = wrong, .dry = true};
	struct mf_answer answer;

	cr_assert_not_null(m);
	ops->fetch(m, UINT64_MAX);
	cr_assert_eq(ops->access(m, &read, &answer), MF_OK);
	cr_expect_eq(answer.time, MF_NS(82));
	cr_assert_eq(ops->access(m, &write, &answer), MF_OK);
	cr_expect_eq(answer.time, 0);
	cr_expect(ops->held(m) == 0 && ops->checked(m)->writes == 0 && use.read == 0 && use.written == 0);
	read.dry = false;
	cr_assert_eq(ops->access(m, &read, &answer), MF_OK);
	cr_expect(answer.time == MF_NS(82) && answer.second == 0 && ops->held(m) == 1);
	cr_expect(answer.places.len[0] == 100 && answer.places.len[1] == 0);
	cr_expect_eq(memcmp(answer.places.at[0], mf_sink_content(4090), 100), 0);
	ops->let_go(m, &answer.places);
	write.dry = false;
	cr_assert_eq(ops->access(m, &write, &answer), MF_OK);
	cr_expect(ops->held(m) == 0 && ops->checked(m)->wrong == 1 && use.read == 100 && use.written == 64);
	ops->destroy(m);
}

/* Any octet that differs is found, and the first piece of them is told. */
Test(sink, each_wrong_octet_is_found)
{
	struct mf_memory *m = create(SIZE);
	uint8_t in[300];

	for (uint32_t i = 0; i < sizeof(in); i++) {
		memcpy(in, mf_sink_content(4000 + i), sizeof(in));
		in[i] ^= (uint8_t)(1 << i % 8);
		cr_assert_eq(mf_memory_write(ops, m, 4000 + i, sizeof(in), in), MF_OK);
		cr_assert_eq(ops->checked(m)->wrong, i + 1);
	}
	cr_assert_eq(ops->checked(m)->wrong_addr, 4000);
	cr_assert_eq(ops->checked(m)->wrong_octets, sizeof(in));
	ops->destroy(m);
}

/* What was meant for another place: any that is less than a period, or a power of two, away. */
Test(sink, another_place_has_another_content)
{
	struct mf_memory *m = create(SIZE);
	uint64_t wrong = 0;

	for (uint64_t away = 8; away < SIZE / 2; away *= 2) {
		mf_memory_write(ops, m, 123456, 8, mf_sink_content(123456 + away));
		cr_assert_eq(ops->checked(m)->wrong, ++wrong, "%lu away", away);
	}
	for (uint64_t away = 8; away < PERIOD; away += 8) {
		mf_memory_write(ops, m, 123456, 8, mf_sink_content(123456 + away));
		cr_assert_eq(ops->checked(m)->wrong, ++wrong, "%lu away", away);
	}
	ops->destroy(m);
}

Test(sink, limits)
{
	struct mf_memory *m = create(2 * (uint64_t)MF_SINK_RUN + 8);
	const uint64_t arg[2] = {0}, end = 2 * (uint64_t)MF_SINK_RUN + 8;
	uint64_t old;
	uint8_t octets[16] = {0};

	cr_assert_eq(ops->check(m, end - 8, 8), MF_OK);
	cr_assert_eq(ops->check(m, end - 8, 9), MF_ERR_RANGE);
	cr_assert_eq(mf_memory_write(ops, m, end - 8, 9, octets), MF_ERR_RANGE);
	cr_assert_eq(mf_memory_read(ops, m, end, 1, octets), MF_ERR_RANGE);
	cr_assert_eq(ops->zero(m, end, 1), MF_ERR_RANGE);
	cr_assert_null(ops->at(m, end, 1));
	cr_assert_null(ops->at(m, 0, MF_SINK_RUN + 1), "no run is longer");
	cr_assert_eq(mf_memory_rmw(ops, m, MF_RMW_CAS, 0, arg, &old), MF_ERR_OPCODE);
	cr_assert_eq(ops->checked(m)->writes, 0);
	ops->destroy(m);
}

/* The longest run, from each end of a period. */
Test(sink, the_longest_run_has_one_place)
{
	struct mf_memory *m = create(SIZE);
	const uint64_t from[] = {0, PERIOD - 1};

	for (int i = 0; i < 2; i++) {
		const uint8_t *at = ops->at(m, from[i], MF_SINK_RUN);
		uint64_t last = from[i] + MF_SINK_RUN - 8;

		cr_assert_not_null(at);
		cr_assert_eq(memcmp(at + MF_SINK_RUN - 8, mf_sink_content(last), 8), 0);
	}
	ops->destroy(m);
}
