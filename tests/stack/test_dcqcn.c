/* SPDX-License-Identifier: BSD-3-Clause */
/* DCQCN's reaction point against values worked out by hand from the paper's equations (1) to (4). */
#include <criterion/criterion.h>
#include <math.h>

#include "systems/rdma/dcqcn.h"

#define LINE 12.5e9 /* 100 Gb/s */

static const struct dcqcn_config config = {.line = LINE,
					   .g = 1.0 / 256,
					   .alpha_timer = MF_US(55),
					   .rate_timer = MF_US(55),
					   .byte_counter = 10000000,
					   .recovery = 5,
					   .additive = 5e6,
					   .hyper = 50e6,
					   .least = 5e6,
					   .cnp_interval = MF_US(50)};

static void expect(double is, double should)
{
	cr_expect_float_eq(is, should, 1e-9 * should, "%.17g, not %.17g", is, should);
}

Test(dcqcn, is_not_limited_before_its_first_cnp)
{
	struct dcqcn d = {0};

	cr_expect_eq(dcqcn_sent(&config, &d, 0, 1500), 0);
	expect(dcqcn_rate(&config, &d, MF_MS(1)), LINE);
}

/** (1): RT = RC, RC = RC (1 - alpha/2), alpha = (1 - g) alpha + g, from alpha = 1. */
Test(dcqcn, cuts)
{
	struct dcqcn d = {0};

	dcqcn_cut(&config, &d, MF_US(100));
	expect(d.rt, 12.5e9);
	expect(d.rc, 6.25e9);
	expect(d.alpha, 1);
	dcqcn_cut(&config, &d, MF_US(150));
	expect(d.rt, 6.25e9);
	expect(d.rc, 3.125e9);
	expect(d.alpha, 1);
	/* 1,000 octets at 3.125e9 octets a second. */
	cr_expect_eq(dcqcn_sent(&config, &d, MF_US(150), 1000), 320000);
}

/** (2): alpha = (1 - g) alpha for each 55 us without a CNP. */
Test(dcqcn, alpha_decays)
{
	struct dcqcn d = {0};
	double alpha = 255.0 / 256 * 255 / 256;

	dcqcn_cut(&config, &d, 0);
	dcqcn_cut(&config, &d, MF_US(110)); /* two of them: it is cut by 0.992.../2 */
	expect(d.alpha, alpha * 255 / 256 + 1.0 / 256);
	/* Between them two rises of fast recovery: 6.25, 9.375, 10.9375. */
	expect(d.rt, 10.9375e9);
	expect(d.rc, 10.9375e9 * (1 - alpha / 2));
}

/** (3), (4): four halvings of the distance, the target at rest; from the fifth on it grows by R_AI. */
Test(dcqcn, recovers_by_the_timer)
{
	static const double fast[] = {4.6875e9, 5.46875e9, 5.859375e9, 6.0546875e9};
	struct dcqcn d = {0};

	dcqcn_cut(&config, &d, 0);
	dcqcn_cut(&config, &d, 0); /* RT 6.25, RC 3.125 */
	for (unsigned int i = 0; i < 4; i++) {
		expect(dcqcn_rate(&config, &d, (i + 1) * MF_US(55) - 1), i == 0 ? 3.125e9 : fast[i - 1]);
		expect(dcqcn_rate(&config, &d, (i + 1) * MF_US(55)), fast[i]);
	}
	expect(dcqcn_rate(&config, &d, 5 * MF_US(55)), (6.0546875e9 + 6.255e9) / 2);
	expect(d.rt, 6.255e9);
	dcqcn_rate(&config, &d, 6 * MF_US(55));
	expect(d.rt, 6.26e9);
}

/** Ten megabytes are worth as much as the timer; both more than F times: hyper increase. */
Test(dcqcn, recovers_by_octets_and_both)
{
	struct dcqcn d = {0};

	dcqcn_cut(&config, &d, 0);
	dcqcn_cut(&config, &d, 0);
	dcqcn_sent(&config, &d, 1, 9999999);
	expect(d.rc, 3.125e9);
	dcqcn_sent(&config, &d, 2, 1);
	expect(d.rc, 4.6875e9);
	for (unsigned int i = 0; i < 5; i++)
		dcqcn_sent(&config, &d, 3, 10000000);
	cr_expect_eq(d.counters, 6);
	expect(d.rt, 6.26e9); /* the fifth and the sixth were additive */
	dcqcn_rate(&config, &d, 5 * MF_US(55)); /* five of the timer: additive still */
	expect(d.rt, 6.285e9);
	dcqcn_rate(&config, &d, 6 * MF_US(55)); /* both six: 1 x R_HAI */
	expect(d.rt, 6.335e9);
	dcqcn_rate(&config, &d, 7 * MF_US(55)); /* six and seven: 1 x R_HAI */
	expect(d.rt, 6.385e9);
	dcqcn_sent(&config, &d, 7 * MF_US(55), 10000000); /* both seven: 2 x R_HAI */
	expect(d.rt, 6.485e9);
}

Test(dcqcn, comes_back_to_the_line_and_not_below_the_least)
{
	struct dcqcn d = {0};

	for (unsigned int i = 0; i < 40; i++)
		dcqcn_cut(&config, &d, 0);
	expect(dcqcn_rate(&config, &d, 0), 5e6);
	expect(dcqcn_rate(&config, &d, MF_SEC(1)), LINE);
	cr_expect_eq(dcqcn_sent(&config, &d, MF_SEC(1), 1500), 0);
}
