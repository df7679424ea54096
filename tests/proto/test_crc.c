/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRCs against their definitions, bit by bit, and against each other. */
#include <string.h>

#include <rte_net_crc.h>

#include "proto_crc.h"
#include "random_msg.h"

#define SEED 0x5eed0002

TestSuite(crc, .timeout = 60);

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
		cr_assert_eq((mf_crc16_table(word, n) ^ MF_CRC16_GOOD) & 0xffff, right, "%u words", n);
		if (mf_crc16_has_clmul())
			cr_assert_eq((mf_crc16_clmul(word, n) ^ MF_CRC16_GOOD) & 0xffff, right, "%u words",
				     n);
		word[n - 1] |= (uint64_t)right << 48;
		cr_assert_eq(mf_crc16(word, n), MF_CRC16_GOOD);
	}
}

Test(crc, one_and_two_words_are_any_number)
{
	struct test_rng r = {SEED};

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t word[2] = {rnd(&r), rnd(&r)};
		uint16_t one = mf_crc16_table(word, 1), two = mf_crc16_table(word, 2);

		cr_assert(mf_crc16(word, 1) == one && mf_crc16(word, 2) == two);
		cr_assert(mf_crc16_one(word[0]) == one && mf_crc16_two(word[0], word[1]) == two);
	}
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
