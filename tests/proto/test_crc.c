/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRCs against their definitions, bit by bit, and against each other. */
#include <stdlib.h>
#include <string.h>

#include <rte_net_crc.h>

#include "random_msg.h"
#include "systems/edm/proto/proto_crc.h"

#define SEED 0x5eed0002

/* The textbook: one bit at a time, in the order of the wire. */
static uint32_t by_bits(const uint8_t *octet, size_t len, uint32_t poly, uint32_t init)
{
	uint32_t crc = init;

	for (size_t i = 0; i < 8 * len; i++) {
		uint32_t out = (crc ^ (octet[i / 8] >> i % 8)) & 1;

		crc = crc >> 1 ^ (out ? poly : 0);
	}
	return crc ^ init;
}

Test(crc, check_values_of_the_standards)
{
	cr_assert_eq(by_bits((const uint8_t *)"123456789", 9, 0x8408, 0xffff), 0x906e, "CRC-16/X-25");
	cr_assert_eq(by_bits((const uint8_t *)"123456789", 9, 0x82f63b78, UINT32_MAX), 0xe3069283, "CRC-32C");
}

Test(crc, crc16_is_the_textbook_one)
{
	static uint64_t word[700];
	struct test_rng r = {SEED};

	for (unsigned int n = 1; n <= 700; n += n < 140 ? 1 : 37) {
		for (unsigned int i = 0; i < n; i++)
			word[i] = rnd(&r);
		word[n - 1] &= UINT64_MAX >> 16;

		uint16_t right = by_bits((const uint8_t *)word, 8 * n - 2, MF_CRC16_POLY, 0xffff);

		cr_assert_eq(rte_net_crc_calc(word, 8 * n - 2, RTE_NET_CRC16_CCITT), right);
		for (unsigned int v = 0; mf_crc16_variant(v); v++)
			cr_assert_eq((mf_crc16_variant(v)->words(word, n) ^ MF_CRC16_GOOD) & 0xffff, right,
				     "%s, %u words", mf_crc16_variant(v)->name, n);
		word[n - 1] |= (uint64_t)right << 48;
		cr_assert_eq(mf_crc16(word, n), MF_CRC16_GOOD);
	}
}

/* By table: the first variant. */
static uint16_t plain(const uint64_t *word, unsigned int n)
{
	return mf_crc16_variant(0)->words(word, n);
}

Test(crc, one_and_two_words_are_any_number)
{
	struct test_rng r = {SEED};

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t word[2] = {rnd(&r), rnd(&r)};

		for (unsigned int v = 0; mf_crc16_variant(v); v++) {
			const struct mf_crc16_ops *ops = mf_crc16_variant(v);

			cr_assert_eq(ops->one(word[0]), plain(word, 1), "%s", ops->name);
			cr_assert_eq(ops->two(word[0], word[1]), plain(word, 2), "%s", ops->name);
		}
	}
}

/* The data come from where they stand, to where the message is; nothing behind them is touched. */
static void copies(const struct mf_crc16_ops *ops, struct test_rng *r, unsigned int n)
{
	uint8_t *data = malloc(8 * n);
	uint64_t *word = malloc((n + 2) * sizeof(*word)), *right = malloc((n + 2) * sizeof(*right));

	cr_assert(data && word && right);
	for (unsigned int i = 0; i < 8 * n; i++)
		data[i] = (uint8_t)rnd(r);
	word[0] = right[0] = rnd(r);
	memcpy(right + 1, data, 8 * n);
	right[n + 1] = rnd(r);
	cr_assert_eq(ops->copy(word, data, n, right[n + 1]), plain(right, n + 2), "%s, %u", ops->name, n);
	cr_assert(memcmp(word, right, 8 * (n + 1)) == 0, "%s, %u", ops->name, n);
	free(data);
	free(word);
	free(right);
}

Test(crc, copying_adds_up_what_it_copies)
{
	struct test_rng r = {SEED};

	for (unsigned int v = 0; mf_crc16_variant(v); v++)
		for (unsigned int n = 1; n <= 600; n += n < 140 ? 1 : 37)
			copies(mf_crc16_variant(v), &r, n);
}

/* The widest one that is allowed is chosen; ways that the CPU does not have are not. */
Test(crc, selection)
{
	for (unsigned int v = 0; mf_crc16_variant(v); v++) {
		mf_proto_select(mf_crc16_variant(v)->simd_bits);
		cr_assert_eq(mf_crc16_ops, mf_crc16_variant(v));
		if (v > 0)
			cr_assert_gt(mf_crc16_variant(v)->simd_bits, mf_crc16_variant(v - 1)->simd_bits);
	}
	mf_proto_select(0);
	cr_assert_eq(mf_crc16_ops, mf_crc16_variant(0));
}

Test(crc, crc32c_is_the_textbook_one)
{
	uint64_t word[40];
	struct test_rng r = {SEED};

	for (unsigned int n = 0; n < 40; n++) {
		for (unsigned int i = 0; i <= n; i++)
			word[i] = rnd(&r);
		cr_assert_eq(mf_crc32c(word, n, word[n]),
			     by_bits((const uint8_t *)word, 8 * (n + 1), 0x82f63b78, UINT32_MAX));
	}
}
