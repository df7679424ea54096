/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <criterion/criterion.h>

#include "base/mf_number.h"

Test(number, whole)
{
	static const struct {
		const char *s;
		int rc;
		uint64_t value;
	} of[] = {
		{"0", 0, 0},
		{"7", 0, 7},
		{"010", 0, 10},
		{"9223372036854775807", 0, INT64_MAX},
		{"9223372036854775808", -ERANGE, 0},
		{"18446744073709551617", -ERANGE, 0},
		{"100000000000000000000000000000000", -ERANGE, 0},
		{"", -EINVAL, 0},
		{" 7", -EINVAL, 0},
		{"7 ", -EINVAL, 0},
		{"+7", -EINVAL, 0},
		{"-7", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"7.0", -EINVAL, 0},
		{"7k", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint64_t value = 0;

		cr_expect_eq(mf_number_whole(of[i].s, &value), of[i].rc, "'%s'", of[i].s);
		cr_expect(of[i].rc != 0 || value == of[i].value, "'%s'", of[i].s);
	}
}

Test(number, real)
{
	static const struct {
		const char *s, *rest; /**< NULL: no number */
		double value;
	} of[] = {
		{"0", "", 0},          {"2.5", "", 2.5},     {"1e6", "", 1e6},    {"1E-3", "", 1e-3},
		{".5", "", 0.5},       {"5.", "", 5},        {"2.5M", "M", 2.5},  {"1e", "e", 1},
		{"1e+", "e+", 1},      {"1.5.2", ".2", 1.5}, {"010", "", 10},     {"", NULL, 0},
		{".", NULL, 0},        {" 1", NULL, 0},      {"+1", NULL, 0},     {"-1", NULL, 0},
		{"0x10", NULL, 0},     {"0x", "x", 0},       {"0x.8p1", NULL, 0}, {"inf", NULL, 0},
		{"infinity", NULL, 0}, {"nan", NULL, 0},     {"e5", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		double value = 0;
		const char *rest = mf_number_real(of[i].s, &value);

		cr_expect_eq(rest == NULL, of[i].rest == NULL, "'%s'", of[i].s);
		if (rest == NULL || of[i].rest == NULL)
			continue;
		cr_expect_str_eq(rest, of[i].rest, "'%s'", of[i].s);
		cr_expect_float_eq(value, of[i].value, 1e-12, "'%s'", of[i].s);
	}
}
