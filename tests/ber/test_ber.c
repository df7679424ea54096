/* SPDX-License-Identifier: BSD-3-Clause */
/* Small versions of what memfab-ber does, and whether it would see what goes undetected. */
#include <criterion/criterion.h>
#include <math.h>

#include "wire.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * fabs(b);
}

Test(ber, intervals_are_those_of_the_tables)
{
	static const struct {
		uint64_t k, n;
		double low, high;
	} known[] = {
		{0, 10000000, 0, 2.995732e-7}, /* the rule of three */
		{0, 1, 0, .95},
		{1, 10, .00252858, .4450161},
		{5, 10, .1870860, .8129140},
		{10, 10, .6915029, 1},
		{5, 100, .01643188, .1128349},
	};

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct ber_interval v = ber_interval(known[i].k, known[i].n);

		cr_expect(near(v.low, known[i].low) && near(v.high, known[i].high), "%lu of %lu: %g .. %g",
			  (unsigned long)known[i].k, (unsigned long)known[i].n, v.low, v.high);
	}
}

/* Many: as a normal distribution has it. */
Test(ber, intervals_of_many)
{
	struct ber_interval v = ber_interval(1526, 100000000);
	double half = 1.96 * sqrt(1526);

	cr_expect_float_eq(v.low * 1e8, 1526 - half, 3);
	cr_expect_float_eq(v.high * 1e8, 1526 + half, 3);
}

Test(ber, a_line_without_errors_damages_nothing)
{
	for (unsigned int check32 = 0; check32 < 2; check32++) {
		struct ber_line l;
		const struct mf_witness_stats *s;

		cr_assert_eq(ber_line_init(&l, check32, 0, 1, 0), 0);
		ber_line_run(&l, 100000);
		s = mf_witness_stats(l.witness);
		cr_expect_eq(s->intact, l.messages);
		cr_expect_eq(s->damaged + s->aborted + s->sent_bad, 0);
		cr_expect_eq(l.bits_wrong, 0);
		cr_expect(l.lock.block_lock);
		ber_line_fini(&l);
	}
}

/* With errors, what is taken is what was sent, and about as many bits are wrong as the rate says. */
Test(ber, no_damaged_message_is_taken)
{
	static const double rate[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3};

	for (unsigned int i = 0; i < 2 * sizeof(rate) / sizeof(rate[0]); i++) {
		struct ber_line l;
		const struct mf_witness_stats *s;
		double expected;

		cr_assert_eq(ber_line_init(&l, i & 1, rate[i / 2], 2, i), 0);
		ber_line_run(&l, 200000);
		s = mf_witness_stats(l.witness);
		expected = (double)l.blocks * 66 * l.rate;
		cr_expect_eq(s->undetected, 0, "rate %g, seed 2", l.rate);
		cr_expect_eq(s->sent_bad, 0, "what came as it was sent was refused");
		cr_expect_eq(s->damaged, s->refused_check + s->refused_fields);
		cr_expect_lt(fabs((double)l.bits_wrong - expected), 5 * sqrt(expected) + 1);
		cr_expect(l.rate < 1e-4 || s->damaged + s->aborted > 1000);
		ber_line_fini(&l);
	}
}

/* 1e-3: 98 bad headers in 125 us, though not 16 in 64. 1e-5: one. */
Test(ber, hi_ber_begins_where_the_standard_says)
{
	struct ber_line l;

	cr_assert_eq(ber_line_init(&l, false, 1e-3, 3, 0), 0);
	ber_line_run(&l, 200000);
	cr_expect_gt(l.hi_ber, 0);
	cr_expect(l.lock.block_lock);
	ber_line_fini(&l);
	cr_assert_eq(ber_line_init(&l, false, 1e-5, 3, 0), 0);
	ber_line_run(&l, 200000);
	cr_expect_eq(l.hi_ber, 0);
	ber_line_fini(&l);
}

/* By doing it, with messages of all lengths up to a chunk of 256 octets, and the headers of their blocks. */
Test(ber, all_pairs_are_noticed)
{
	for (unsigned int i = 0; i < 2 * (2 + 256 / 8); i++) {
		unsigned int octets = i / 2 < 2 ? 0 : 8 * (i / 2 - 1);
		struct ber_pairs p;

		cr_assert_eq(ber_pairs(&p, octets, i / 2 == 0, i & 1, 4), 0);
		cr_expect_eq(p.passed, 0, "%u octets, check %d, seed 4", octets, i & 1 ? 32 : 16);
		cr_expect_gt(p.pairs, 66 * p.blocks * (66 * p.blocks - 1) / 2);
	}
}

/* A check of 16 bits lets about 2^-16 of what is damaged at random pass; one of 32 more, none. */
Test(ber, strength_is_about_that_of_its_bits)
{
	struct ber_strength s = {0}, s32 = {0};
	struct ber_interval share;

	for (unsigned int errors = 4; errors <= 8; errors += 2)
		cr_assert_eq(ber_strength(&s, BER_CHUNK_64, false, errors, 500000, 5, errors), 0);
	share = ber_interval(s.passed, s.damaged);
	cr_expect_lt(share.low, 2. / 65536, "%lu of %lu", (unsigned long)s.passed, (unsigned long)s.damaged);
	cr_expect_gt(share.high, .5 / 65536, "%lu of %lu", (unsigned long)s.passed, (unsigned long)s.damaged);
	cr_expect_gt(s.aborted, 0);
	cr_assert_eq(ber_strength(&s32, BER_CHUNK_64, true, 4, 500000, 5, 0), 0);
	cr_expect_eq(s32.passed, 0);
}
