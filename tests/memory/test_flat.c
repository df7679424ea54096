/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <numa.h>
#include <stdlib.h>
#include <string.h>

#include "memory/mf_memory.h"

#define SEED 0x5eed0005
#define SIZE 200003 /* odd on purpose: the edge is not that of a page or word */

static const struct mf_memory_ops *const ops = &mf_memory_flat;

static struct mf_memory *create(uint64_t size)
{
	struct mf_memory_config config = {.size = size, .numa_node = -1, .dram = MF_NS(82)};
	struct mf_memory *m = ops->create(&config);

	cr_assert(m != NULL, "errno %d", errno);
	return m;
}

static uint64_t rnd(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

Test(flat, found_by_name)
{
	cr_assert_eq(mf_memory_find("flat"), &mf_memory_flat);
	cr_assert_null(mf_memory_find("fla"));
	cr_assert_null(mf_memory_find(""));
}

Test(flat, faulty_configurations)
{
	struct mf_memory_config config = {.size = 0, .numa_node = -1};

	errno = 0;
	cr_assert_null(ops->create(&config));
	cr_assert_eq(errno, EINVAL);
	config.size = MF_ADDR_MAX + 2;
	errno = 0;
	cr_assert_null(ops->create(&config));
	cr_assert_eq(errno, EINVAL);
	ops->destroy(NULL);
	ops->destroy(create(1));

	if (numa_available() < 0)
		return;
	config = (struct mf_memory_config){.size = 64, .numa_node = numa_max_node() + 1};
	errno = 0;
	cr_assert_null(ops->create(&config));
	cr_assert_eq(errno, EINVAL);
}

/* Placement and huge pages are taken where they are there; the memory works the same without. */
Test(flat, placement)
{
	for (int node = -1; node <= 0; node++) {
		for (int huge = 0; huge <= 1; huge++) {
			struct mf_memory_config config = {
				.size = 5 << 20, .numa_node = node, .huge_pages = huge};
			struct mf_memory *m = ops->create(&config);
			uint64_t word = 1;

			cr_assert(m != NULL, "node %d huge %d errno %d", node, huge, errno);
			cr_assert_eq(mf_memory_read(ops, m, config.size - 8, 8, &word), MF_OK);
			cr_assert_eq(word, 0, "zeroed");
			ops->destroy(m);
		}
	}
}

static void expect_range(struct mf_memory *m, uint64_t addr, uint64_t len, uint8_t status)
{
	static uint8_t buf[MF_MESSAGE_MAX];

	cr_assert_eq(ops->check(m, addr, len), status, "%lu + %lu", (unsigned long)addr, (unsigned long)len);
	if (len > sizeof(buf))
		return;
	memset(buf, 0xee, sizeof(buf));
	cr_assert_eq(mf_memory_read(ops, m, addr, len, buf), status);
	cr_assert_eq(buf[0], status == MF_OK && len > 0 ? 0 : 0xee);
	memset(buf, 0, sizeof(buf));
	cr_assert_eq(mf_memory_write(ops, m, addr, len, buf), status);
	cr_assert_eq(ops->at(m, addr, len) != NULL, status == MF_OK);
}

static void expect_edges(uint64_t size)
{
	struct mf_memory *m = create(size);
	const uint64_t lens[] = {0, 1, 2, 8, 64, 65535, 65536, 65537, UINT32_MAX, MF_ADDR_MAX, UINT64_MAX};
	const uint64_t far[] = {MF_ADDR_MAX - 65536, MF_ADDR_MAX - 1, MF_ADDR_MAX, MF_ADDR_MAX + 1,
				UINT64_MAX - 65535,  UINT64_MAX - 7,  UINT64_MAX};

	for (unsigned int i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		uint64_t len = lens[i];

		expect_range(m, 0, len, len <= size ? MF_OK : MF_ERR_RANGE);
		if (len <= size) {
			expect_range(m, size - len, len, MF_OK);
			expect_range(m, size - len + 1, len, MF_ERR_RANGE);
		}
		expect_range(m, size + 1, len, MF_ERR_RANGE);
		for (unsigned int j = 0; j < sizeof(far) / sizeof(far[0]); j++)
			expect_range(m, far[j], len, MF_ERR_RANGE);
	}
	ops->destroy(m);
}

Test(flat, edges)
{
	expect_edges(1);
	expect_edges(7);
	expect_edges(65536);
	expect_edges(SIZE);
}

static uint64_t rmw(struct mf_memory *m, uint8_t op, uint64_t arg0, uint64_t arg1)
{
	const uint64_t arg[2] = {arg0, arg1};
	uint64_t old = 0;

	cr_assert_eq(mf_memory_rmw(ops, m, op, 8, arg, &old), MF_OK);
	return old;
}

static uint64_t word_at_8(struct mf_memory *m)
{
	const uint8_t *o = ops->at(m, 8, 8);
	uint64_t word = 0;

	for (int i = 7; i >= 0; i--)
		word = word << 8 | o[i];
	return word;
}

Test(flat, read_modify_write)
{
	struct mf_memory *m = create(24);

	cr_assert_eq(rmw(m, MF_RMW_SWAP, 0x1122334455667788, 99), 0);
	cr_assert_eq(word_at_8(m), 0x1122334455667788, "little-endian");
	cr_assert_eq(rmw(m, MF_RMW_CAS, 5, 6), 0x1122334455667788);
	cr_assert_eq(word_at_8(m), 0x1122334455667788, "expected another value");
	cr_assert_eq(rmw(m, MF_RMW_CAS, 0x1122334455667788, UINT64_MAX), 0x1122334455667788);
	cr_assert_eq(rmw(m, MF_RMW_FADD, 3, 0), UINT64_MAX);
	cr_assert_eq(word_at_8(m), 2, "wraps");
	cr_assert_eq(rmw(m, MF_RMW_FOR, 0xf0, 0), 2);
	cr_assert_eq(rmw(m, MF_RMW_FAND, 0x72, 0), 0xf2);
	cr_assert_eq(word_at_8(m), 0x72);
	cr_assert(memcmp(ops->at(m, 0, 8), ops->at(m, 16, 8), 8) == 0, "the neighbours are as they were");
	ops->destroy(m);
}

Test(flat, read_modify_write_refused)
{
	struct mf_memory *m = create(20);
	const uint64_t arg[2] = {0, 7};
	uint64_t old = 42;

	for (uint64_t addr = 0; addr <= 12; addr++)
		cr_assert_eq(mf_memory_rmw(ops, m, MF_RMW_SWAP, addr, arg, &old),
			     addr % 8 ? MF_ERR_ALIGN : MF_OK);
	cr_assert_eq(mf_memory_rmw(ops, m, MF_RMW_SWAP, 16, arg, &old), MF_ERR_RANGE, "4 octets are there");
	cr_assert_eq(mf_memory_rmw(ops, m, MF_RMW_SWAP, UINT64_MAX - 7, arg, &old), MF_ERR_RANGE);
	for (unsigned int op = MF_RMW_OPS; op < 256; op++)
		cr_assert_eq(mf_memory_rmw(ops, m, (uint8_t)op, 0, arg, &old), MF_ERR_OPCODE);
	ops->destroy(m);
}

/* What is refused or only tried, and a hint, count nothing; another memory goes on with these numbers. */
Test(flat, use)
{
	struct mf_memory_use use = {0};
	const struct mf_memory_config config = {.size = 4096, .numa_node = -1, .use = &use};
	struct mf_memory *m = ops->create(&config);
	uint64_t word[8] = {0}, old;
	struct mf_answer answer;

	cr_assert_not_null(m);
	ops->fetch(m, 0);
	ops->fetch(m, UINT64_MAX);
	for (unsigned int right = 0; right < MF_RIGHTS; right++) {
		struct mf_access a = {.len = 8, .right = (uint8_t)right, .data = word, .dry = true};

		cr_expect_eq(ops->access(m, &a, &answer), MF_OK);
	}
	cr_expect_eq(mf_memory_write(ops, m, 4090, 16, word), MF_ERR_RANGE);
	cr_expect_null(ops->at(m, 4096, 1));
	cr_expect(use.read == 0 && use.written == 0);
	cr_expect_eq(mf_memory_write(ops, m, 8, 24, word), MF_OK);
	cr_expect_eq(mf_memory_read(ops, m, 8, 16, word), MF_OK);
	cr_expect_eq(ops->access(m, &(struct mf_access){.len = 32, .hold = true}, &answer), MF_OK);
	ops->let_go(m, &answer.places);
	cr_expect_not_null(ops->at(m, 0, 32));
	cr_expect(use.read == 48 && use.written == 24, "%lu, %lu", use.read, use.written);
	cr_expect_eq(mf_memory_rmw(ops, m, MF_RMW_FADD, 8, word, &old), MF_OK);
	cr_expect_eq(mf_memory_rmw(ops, m, MF_RMW_FADD, 9, word, &old), MF_ERR_ALIGN);
	cr_expect(use.read == 56 && use.written == 32, "%lu, %lu", use.read, use.written);
	ops->destroy(m);
	m = ops->create(&config);
	cr_assert_not_null(m);
	cr_expect_eq(mf_memory_read(ops, m, 0, 8, word), MF_OK);
	cr_expect_eq(use.read, 64);
	ops->destroy(m);
}

static struct mf_answer ask(struct mf_memory *m, struct mf_access a)
{
	struct mf_answer answer;

	cr_assert_eq(ops->access(m, &a, &answer), MF_OK);
	return answer;
}

/* A write is done for who sent it when the memory controller has it; an atomic reads, and then writes. */
Test(flat, time)
{
	struct mf_memory *m = create(65536);
	uint64_t word[2] = {7, 0};
	struct mf_answer a;

	cr_assert_eq(ask(m, (struct mf_access){.len = 1}).time, MF_NS(82));
	cr_assert_eq(ask(m, (struct mf_access){.len = 65536}).time, MF_NS(82));
	cr_assert_eq(ask(m, (struct mf_access){.len = 8, .right = MF_RIGHT_WRITE, .data = word}).time, 0);
	a = ask(m, (struct mf_access){.len = 8, .right = MF_RIGHT_RMW, .op = MF_RMW_FADD, .data = word});
	cr_assert_eq(a.time, 2 * MF_NS(82));
	cr_assert_eq(a.second, MF_NS(82));
	cr_assert_eq(a.old, 7);
	ops->destroy(m);
}

/* What is only tried changes nothing, and is refused as it would be. */
Test(flat, dry)
{
	struct mf_memory *m = create(64);
	const uint64_t word[2] = {7, 0};
	struct mf_access a = {.addr = 8, .len = 8, .right = MF_RIGHT_WRITE, .data = word, .dry = true};
	struct mf_answer answer;
	uint64_t found = 1;

	ask(m, a);
	a.right = MF_RIGHT_RMW;
	cr_assert_eq(ask(m, a).time, 2 * MF_NS(82));
	a.right = MF_RIGHT_READ;
	a.hold = true;
	ask(m, a);
	cr_assert_eq(ops->held(m), 0);
	cr_assert_eq(mf_memory_read(ops, m, 8, 8, &found), MF_OK);
	cr_assert_eq(found, 0);
	a.len = 57;
	cr_assert_eq(ops->access(m, &a, &answer), MF_ERR_RANGE);
	ops->destroy(m);
}

Test(flat, places_are_held_until_let_go)
{
	struct mf_memory *m = create(4096);
	struct mf_places p[3];

	for (int i = 0; i < 3; i++) {
		p[i] = ask(m, (struct mf_access){.addr = 64, .len = 64, .hold = true}).places;
		cr_assert_eq(ops->held(m), (uint64_t)i + 1);
		cr_assert_eq(p[i].at[0], ops->at(m, 64, 64));
		cr_assert_eq(p[i].len[0], 64);
		cr_assert_eq(p[i].len[1], 0);
	}
	for (int i = 0; i < 3; i++)
		ops->let_go(m, &p[i]);
	cr_assert_eq(ops->held(m), 0);
	ops->destroy(m);
}

/* Any part of a read, wherever it is cut. */
Test(flat, parts_of_two_places)
{
	const uint8_t first[5] = {0, 1, 2, 3, 4}, second[7] = {5, 6, 7, 8, 9, 10, 11};
	const struct mf_places p = {.at = {first, second}, .len = {5, 7}};

	for (uint32_t from = 0; from <= 12; from++)
		for (uint32_t len = 0; from + len <= 12; len++) {
			uint8_t out[13];

			memset(out, 0xee, sizeof(out));
			mf_places_copy(&p, from, len, out);
			for (uint32_t i = 0; i < len; i++)
				cr_assert_eq(out[i], from + i);
			cr_assert_eq(out[len], 0xee);
		}
}

static uint64_t naive_rmw(uint8_t *at, uint8_t op, const uint64_t arg[2])
{
	uint64_t old, now;

	memcpy(&old, at, 8);
	now = op == MF_RMW_FADD   ? old + arg[0]
	      : op == MF_RMW_SWAP ? arg[0]
	      : op == MF_RMW_FOR  ? old | arg[0]
	      : op == MF_RMW_FAND ? old & arg[0]
	      : old == arg[0]     ? arg[1]
				  : old;
	memcpy(at, &now, 8);
	return old;
}

/* Random accesses, in range and not, against an array. */
static void differential_step(struct mf_memory *m, uint8_t *model, uint64_t *seed)
{
	static uint8_t buf[MF_MESSAGE_MAX];
	uint64_t addr = rnd(seed) % (SIZE + 1000),
		 len = 1 + rnd(seed) % (rnd(seed) % 8 ? 300 : MF_MESSAGE_MAX);
	bool fits = addr + len <= SIZE;
	uint8_t status;

	if (rnd(seed) % 3 == 0) {
		status = mf_memory_read(ops, m, addr, len, buf);
		cr_assert(status != MF_OK || memcmp(buf, model + addr, len) == 0);
	} else if (rnd(seed) % 2 == 0) {
		memset(buf, (int)rnd(seed), len);
		status = mf_memory_write(ops, m, addr, len, buf);
		if (fits)
			memcpy(model + addr, buf, len);
	} else {
		uint8_t op = rnd(seed) % MF_RMW_OPS;
		uint64_t arg[2] = {rnd(seed), rnd(seed)}, old;

		addr &= ~UINT64_C(7);
		fits = addr + 8 <= SIZE;
		if (fits && rnd(seed) % 2)
			memcpy(&arg[0], model + addr, 8);
		status = mf_memory_rmw(ops, m, op, addr, arg, &old);
		cr_assert(!fits || old == naive_rmw(model + addr, op, arg));
	}
	cr_assert_eq(status, fits ? MF_OK : MF_ERR_RANGE);
}

Test(flat, like_an_array)
{
	struct mf_memory *m = create(SIZE);
	uint8_t *model = calloc(1, SIZE);
	uint64_t seed = SEED;

	cr_log_info("seed %#x", SEED);
	cr_assert(model != NULL);
	for (unsigned int i = 0; i < 30000; i++)
		differential_step(m, model, &seed);
	cr_assert(memcmp(model, ops->at(m, 0, SIZE), SIZE) == 0);
	free(model);
	ops->destroy(m);
}
