/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "base/mf_unit.h"

struct reading {
	const char *s;
	int rc;
	uint64_t value;
};

static const struct reading times[] = {
	{"0", 0, 0},
	{"0.0", 0, 0},
	{"0s", 0, 0},
	{"500ps", 0, 500},
	{"2.56ns", 0, 2560},
	{"2.560000ns", 0, 2560},
	{"82ns", 0, 82000},
	{"100us", 0, MF_US(100)},
	{"2ms", 0, MF_MS(2)},
	{"3s", 0, MF_SEC(3)},
	{"10min", 0, MF_SEC(600)},
	{"0.1min", 0, MF_SEC(6)},
	{"1.5h", 0, MF_SEC(5400)},
	{"2562.04h", 0, MF_SEC(9223344)},
	{"0.000000000001s", 0, 1},
	{"000000000000000000000001ps", 0, 1},
	{"0.00000000000000000000000000000s", 0, 0},
	{"9223372036854775807ps", 0, INT64_MAX},
	{"9223372.036854775807s", 0, INT64_MAX},
	{"9223372036854775808ps", -ERANGE, 0},
	{"9223372.036854775808s", -ERANGE, 0},
	{"9223373s", -ERANGE, 0},
	{"18446744073709551616ps", -ERANGE, 0},
	{"99999999999999999999999999s", -ERANGE, 0},
	{"2.5605ns", -EINVAL, 0},
	{"0.5ps", -EINVAL, 0},
	{"0.0000000000001s", -EINVAL, 0},
	{"0.0000000000000000001s", -EINVAL, 0},
	{"", -EINVAL, 0},
	{"5", -EINVAL, 0},
	{"ns", -EINVAL, 0},
	{".5ns", -EINVAL, 0},
	{"5.ns", -EINVAL, 0},
	{"5..0ns", -EINVAL, 0},
	{"-5ns", -EINVAL, 0},
	{"+5ns", -EINVAL, 0},
	{" 5ns", -EINVAL, 0},
	{"5 ns", -EINVAL, 0},
	{"5ns ", -EINVAL, 0},
	{"5NS", -EINVAL, 0},
	{"1e3ns", -EINVAL, 0},
	{"0x10ns", -EINVAL, 0},
	{"5m", -EINVAL, 0},
	{"2562.1h", -ERANGE, 0},
	{"1d", -EINVAL, 0},
	{"inf", -EINVAL, 0},
	{"nan", -EINVAL, 0},
	{"5nsns", -EINVAL, 0},
};

static const struct reading sizes[] = {
	{"0", 0, 0},
	{"64", 0, 64},
	{"1500B", 0, 1500},
	{"64KiB", 0, 65536},
	{"1.5KiB", 0, 1536},
	{"1MiB", 0, 1 << 20},
	{"4GiB", 0, UINT64_C(4) << 30},
	{"2TiB", 0, UINT64_C(2) << 40},
	{"9223372036854775807", 0, INT64_MAX},
	{"8388607TiB", 0, UINT64_C(8388607) << 40},
	{"8388608TiB", -ERANGE, 0},
	{"9223372036854775808", -ERANGE, 0},
	{"16777216TiB", -ERANGE, 0},
	{"1.3KiB", -EINVAL, 0},
	{"1.5B", -EINVAL, 0},
	{"1KB", -EINVAL, 0},
	{"1kiB", -EINVAL, 0},
	{"1K", -EINVAL, 0},
	{"-1", -EINVAL, 0},
	{"", -EINVAL, 0},
};

static const struct reading rates[] = {
	{"10G", 0, 6400},
	{"25G", 0, 2560},
	{"40G", 0, 1600},
	{"50G", 0, 1280},
	{"100G", 0, 640},
	{"200G", 0, 320},
	{"400G", 0, 160},
	{"800G", 0, 80},
	{"1G", 0, 64000},
	{"0G", -ERANGE, 0},
	{"30G", -EDOM, 0},
	{"1000G", 0, 64},
	{"1024G", -ERANGE, 0},
	{"1M", 0, 64000000},
	{"1.00M", 0, 64000000},
	{"1.25M", 0, 51200000},
	{"1.28M", 0, 50000000},
	{"0.001G", 0, 64000000},
	{"500M", 0, 128000},
	{"0.5G", 0, 128000},
	{"1000M", 0, 64000},
	{"2.5G", 0, 25600},
	{"1.5M", -EDOM, 0},
	{"1.0000001M", -EDOM, 0},
	{"0.999999M", -ERANGE, 0},
	{"1000.000000001G", -ERANGE, 0},
	{"1K", -EINVAL, 0},
	{"1T", -EINVAL, 0},
	{"25", -EINVAL, 0},
	{"25g", -EINVAL, 0},
	{"G", -EINVAL, 0},
	{"", -EINVAL, 0},
	{"25.5G", -EDOM, 0},
	{"-25G", -EINVAL, 0},
	{"99999999999999999999G", -ERANGE, 0},
};

Test(unit, times)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		mf_time t = 1;

		cr_assert_eq(mf_unit_time(times[i].s, &t), times[i].rc, "%s", times[i].s);
		if (times[i].rc == 0)
			cr_assert_eq(t, times[i].value, "%s: %lu", times[i].s, t);
	}
}

Test(unit, sizes)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t n = 1;

		cr_assert_eq(mf_unit_size(sizes[i].s, &n), sizes[i].rc, "%s", sizes[i].s);
		if (sizes[i].rc == 0)
			cr_assert_eq(n, sizes[i].value, "%s: %lu", sizes[i].s, n);
	}
}

Test(unit, rates)
{
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint32_t ps = 1;

		cr_assert_eq(mf_unit_rate(rates[i].s, &ps), rates[i].rc, "%s", rates[i].s);
		if (rates[i].rc == 0)
			cr_assert_eq(ps, rates[i].value, "%s: %u", rates[i].s, ps);
	}
}

Test(unit, bits_a_second)
{
	static const struct {
		const char *s;
		int rc;
		uint64_t bits;
		const char *back;
	} bits[] = {
		{"100G", 0, UINT64_C(100000000000), "100G"},
		{"12.8G", 0, UINT64_C(12800000000), "12.8G"},
		{"500M", 0, 500000000, "500M"},
		{"1500M", 0, 1500000000, "1.5G"},
		{"1.000001M", 0, 1000001, "1.000001M"},
		{"1000T", 0, UINT64_C(1000000000000000), "1000T"},
		{"0.5M", 0, 500000, "0.5M"},
		{"33.333333333G", 0, UINT64_C(33333333333), "33.333333333G"},
		{"1.0000001M", -EINVAL, 0, NULL},
		{"100", -EINVAL, 0, NULL},
		{"100g", -EINVAL, 0, NULL},
		{"100Gb", -EINVAL, 0, NULL},
		{"", -EINVAL, 0, NULL},
		{"-1G", -EINVAL, 0, NULL},
		{"none", -EINVAL, 0, NULL},
		{"99999999T", -ERANGE, 0, NULL},
		{"99999999999999999999G", -ERANGE, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		char back[MF_UNIT_LEN];
		uint64_t n = 1;

		cr_assert_eq(mf_unit_bits(bits[i].s, &n), bits[i].rc, "%s", bits[i].s);
		if (bits[i].rc != 0)
			continue;
		cr_assert_eq(n, bits[i].bits, "%s: %lu", bits[i].s, n);
		cr_assert_str_eq(mf_unit_put_bits(back, n), bits[i].back);
	}
}

Test(unit, a_block_is_66_bits_at_66_64_of_the_rate)
{
	for (uint32_t gbps = 1; gbps <= 800; gbps++) {
		char s[MF_UNIT_LEN], back[MF_UNIT_LEN];
		uint32_t ps;

		snprintf(s, sizeof(s), "%uG", gbps);
		if (mf_unit_rate(s, &ps) != 0)
			continue;
		/* 66 bits / (gbps * 66 / 64 Gb/s), in ps, multiplied out. */
		cr_assert_eq((uint64_t)ps * gbps * 66, UINT64_C(66) * 64 * 1000);
		cr_assert_str_eq(mf_unit_put_rate(back, ps), s);
	}
}

/* Each block time whose rate is of whole bits a second, from the slowest to the fastest. */
Test(unit, every_rate_there_is_is_read_as_it_is_written)
{
	unsigned int n = 0;

	for (uint64_t ps = MF_UNIT_BLOCK_MIN; ps <= MF_UNIT_BLOCK_MAX; ps++) {
		char s[MF_UNIT_LEN];
		uint32_t back = 0;

		if (UINT64_C(64000000000000) % ps != 0)
			continue;
		cr_assert_eq(mf_unit_block(UINT64_C(64000000000000) / ps), ps);
		cr_assert_eq(mf_unit_rate(mf_unit_put_rate(s, (uint32_t)ps), &back), 0, "%s", s);
		cr_assert_eq(back, ps, "%s: %u, not %lu", s, back, ps);
		n++;
	}
	cr_assert_gt(n, 100, "%u rates", n);
}

/* The next one above and below, found without the factors of the number. */
Test(unit, the_nearest_rates_are_named)
{
	static const char *const some[] = {"30G",   "1.5M",  "999G",          "1.0000001M",
					   "33.3M", "25.5G", "999.999999999G"};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		double rate = strtod(some[i], NULL) * (strchr(some[i], 'G') != NULL ? 1e9 : 1e6);
		uint32_t near[2], block, below = 0, above = 0;

		cr_assert_eq(mf_unit_rate(some[i], &block), -EDOM, "%s", some[i]);
		for (uint32_t ps = MF_UNIT_BLOCK_MAX; ps >= MF_UNIT_BLOCK_MIN; ps--) {
			if (UINT64_C(64000000000000) % ps != 0)
				continue;
			if (64e12 / ps < rate)
				below = ps;
			else if (above == 0)
				above = ps;
		}
		mf_unit_near_rates(some[i], near);
		cr_expect_eq(near[0], below, "%s: %u below, not %u", some[i], near[0], below);
		cr_expect_eq(near[1], above, "%s: %u above, not %u", some[i], near[1], above);
	}
}

Test(unit, written_forms)
{
	char buf[MF_UNIT_LEN];

	cr_assert_str_eq(mf_unit_put_time(buf, 0), "0");
	cr_assert_str_eq(mf_unit_put_time(buf, 2560), "2.56ns");
	cr_assert_str_eq(mf_unit_put_time(buf, 640), "640ps");
	cr_assert_str_eq(mf_unit_put_time(buf, 299520), "299.52ns");
	cr_assert_str_eq(mf_unit_put_time(buf, MF_SEC(3) + 1), "3.000000000001s");
	cr_assert_str_eq(mf_unit_put_size(buf, 0), "0");
	cr_assert_str_eq(mf_unit_put_size(buf, 1500), "1500");
	cr_assert_str_eq(mf_unit_put_size(buf, 65536), "64KiB");
	cr_assert_str_eq(mf_unit_put_size(buf, 65537), "65537");
}

Test(unit, what_is_written_reads_back)
{
	struct mf_rng r;

	mf_rng_init(&r, 31, "unit", 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t n = mf_rng_next(&r) >> (1 + mf_rng_below(&r, 63)), back;
		char buf[MF_UNIT_LEN];

		if (i % 2)
			n &= -(UINT64_C(1) << mf_rng_below(&r, 40));
		cr_assert_eq(mf_unit_time(mf_unit_put_time(buf, n), &back), 0, "%s", buf);
		cr_assert_eq(back, n, "%s", buf);
		cr_assert_eq(mf_unit_size(mf_unit_put_size(buf, n), &back), 0, "%s", buf);
		cr_assert_eq(back, n, "%s", buf);
	}
}

Test(unit, random_text_never_crashes)
{
	static const char alphabet[] = "0123456789.nspumKMGTiB -+e";
	struct mf_rng r;

	mf_rng_init(&r, 32, "text", 0);
	for (int i = 0; i < 200000; i++) {
		char s[40];
		size_t n = mf_rng_below(&r, sizeof(s));
		uint64_t value;
		uint32_t rate;

		for (size_t k = 0; k < n; k++)
			s[k] = alphabet[mf_rng_below(&r, sizeof(alphabet) - 1)];
		s[n] = '\0';
		if (mf_unit_time(s, &value) == 0)
			cr_assert_leq(value, INT64_MAX);
		if (mf_unit_size(s, &value) == 0)
			cr_assert_leq(value, INT64_MAX);
		if (mf_unit_rate(s, &rate) == 0)
			cr_assert(rate >= MF_UNIT_BLOCK_MIN && rate <= MF_UNIT_BLOCK_MAX);
	}
}
