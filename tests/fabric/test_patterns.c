/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that carry a test pattern for a while: what the checkers count, and what becomes of the traffic. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "whole.h"

static json_t *run(const char *patterns, const char *faults, const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "{\"seed\": 7,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"500us\","
		 "                          \"drain\": \"20ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"host\": {\"read_timeout\": \"50us\", \"write_timeout\": \"50us\"},"
		 "\"switch\": {\"grant_timeout\": \"40us\", \"hold_timeout\": \"5us\"},"
		 "\"workload\": [{\"mix\": {\"read\": 2, \"write_ack\": 1}, \"size\": 64, \"depth\": 4,"
		 "               \"span\": \"2KiB\"}]%s,"
		 "\"faults\": [%s], \"test_patterns\": [%s]}",
		 more, faults, patterns);
	return whole_sound(text, false);
}

static const json_t *entry(const json_t *result, size_t i)
{
	return json_array_get(json_object_get(result, "test_patterns"), i);
}

static double count(const json_t *result, size_t i, const char *key)
{
	return whole_number(entry(result, i), key);
}

static const char *word(const json_t *result, size_t i, const char *key)
{
	const char *s = json_string_value(json_object_get(entry(result, i), key));

	return s != NULL ? s : "";
}

/** 200 us in blocks of 2.56 ns. */
#define SENT 78125.0
#define WHEN "\"from\": \"100us\", \"until\": \"300us\""

static const char *const patterns[] = {
	"{\"pattern\": \"prbs31\", \"link\": \"c0\", " WHEN "}",
	"{\"pattern\": \"square-wave\", \"link\": \"c0\", \"run\": 11, " WHEN "}",
	"{\"pattern\": \"pseudo-random\", \"link\": \"c0\", " WHEN "}",
	"{\"pattern\": \"pseudo-random\", \"link\": \"c0\", \"data\": \"zeros\", \"seed_a\": \"0x1\", " WHEN
	"}",
};
#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))
#define PSEUDO_RANDOM 2 /**< from here on */

Test(test_patterns, a_clean_link_has_no_error)
{
	for (size_t k = 0; k < PATTERNS; k++) {
		double unlocked = k < PSEUDO_RANDOM ? 0 : 64;
		json_t *r = run(patterns[k], "", "");

		cr_assert_eq(json_array_size(json_object_get(r, "test_patterns")), 2);
		for (size_t i = 0; i < 2; i++) {
			cr_assert_str_eq(word(r, i, "direction"), i == 0 ? "up" : "down");
			cr_assert_str_eq(word(r, i, "node"), "c0");
			cr_assert_eq(count(r, i, "sent"), SENT);
			cr_assert_eq(count(r, i, "unlocked"), unlocked);
			cr_assert_eq(count(r, i, "checked"), SENT - unlocked);
			cr_assert_eq(count(r, i, "errors") + count(r, i, "wrong_bits"), 0, "%s", patterns[k]);
		}
		json_decref(r);
	}
}

/** While the pattern is there nothing goes over the link; then all goes on. */
Test(test_patterns, the_link_is_down_for_all_else)
{
	json_t *with = run(patterns[0], "", ""), *without = run("", "", "");
	double lost = whole_number(without, "operations.completed_all") -
		      whole_number(with, "operations.completed_all");

	/* Of two equal clients one has no link in 200 of 505 us. */
	lost /= whole_number(without, "operations.completed_all");
	cr_assert(lost > 0.15 && lost < 0.25, "%g", lost);
	json_decref(with);
	json_decref(without);
}

Test(test_patterns, wrong_bits_are_counted_as_the_standard_counts_them)
{
	static const double least[] = {2.9, 1.9, 0.9}, most[] = {3, 2, 2};

	for (size_t k = 0; k <= PSEUDO_RANDOM; k++) {
		json_t *r =
			run(patterns[k],
			    "{\"class\": \"bit\", \"link\": \"c0\", \"rate\": 1e-5, \"idle\": false}", "");

		for (size_t i = 0; i < 2; i++) {
			double wrong = count(r, i, "wrong_bits");

			/* 5,156,250 bits: 52 of them, and not more than four roots off. */
			cr_assert(wrong > 23 && wrong < 81, "%g", wrong);
			cr_assert_geq(count(r, i, "errors"), least[k] * wrong, "pattern %zu", k);
			cr_assert_leq(count(r, i, "errors"), most[k] * wrong, "pattern %zu", k);
		}
		json_decref(r);
	}
}

Test(test_patterns, bad_headers_lose_the_lock)
{
	json_t *r = run(patterns[PSEUDO_RANDOM],
			"{\"class\": \"sync\", \"link\": \"c0\", \"direction\": \"up\", \"rate\": 1,"
			" \"from\": \"200us\", \"count\": 32, \"idle\": false}",
			"");

	cr_assert_eq(count(r, 0, "locks_lost"), 1);
	cr_assert_gt(count(r, 0, "unlocked"), 64 + 64);
	cr_assert_lt(count(r, 0, "unlocked"), 64 + 64 + 64);
	cr_assert_eq(count(r, 0, "errors"), 0, "headers are no payload");
	cr_assert_eq(count(r, 1, "locks_lost"), 0);
	json_decref(r);
}

Test(test_patterns, without_a_cable_nothing_comes)
{
	/* A cable, and a process, that are gone for 20 us each. */
	json_t *r = run(
		patterns[PSEUDO_RANDOM],
		"{\"class\": \"link_down\", \"link\": \"c0\", \"from\": \"150us\", \"until\": \"170us\"},"
		"{\"class\": \"node_crash\", \"node\": \"c0\", \"from\": \"200us\", \"until\": \"220us\"}",
		"");

	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(count(r, i, "sent"), SENT);
		cr_assert_float_eq(count(r, i, "no_signal"), SENT / 5, 2);
		cr_assert_eq(count(r, i, "locks_lost"), 2);
		cr_assert_eq(count(r, i, "unlocked"), 3 * 64);
		cr_assert_eq(count(r, i, "errors"), 0);
		cr_assert_eq(count(r, i, "sent"),
			     count(r, i, "checked") + count(r, i, "unlocked") + count(r, i, "no_signal"));
	}
	json_decref(r);
}

Test(test_patterns, each_direction_has_its_own)
{
	json_t *r = run("{\"pattern\": \"prbs31\", \"link\": \"c0\", \"direction\": \"up\","
			" \"from\": \"50us\", \"until\": \"100us\"},"
			"{\"pattern\": \"square-wave\", \"link\": \"c0\", \"direction\": \"down\","
			" \"from\": \"80us\", \"until\": \"120us\"}",
			"", "");

	cr_assert_str_eq(word(r, 0, "pattern"), "prbs31");
	cr_assert_str_eq(word(r, 1, "pattern"), "square-wave");
	cr_assert_eq(count(r, 0, "checked"), 19532); /* 50 us */
	cr_assert_eq(count(r, 1, "checked"), 15625); /* 40 us */
	cr_assert_eq(count(r, 0, "errors") + count(r, 1, "errors"), 0);
	json_decref(r);
}

/** With a second switch the other network carries on: that of the standby is tested, then one link of the
 * active's. */
Test(test_patterns, of_either_network)
{
	json_t *r = run("{\"pattern\": \"prbs31\", \"link\": \"*\", \"switch\": 1, " WHEN "},"
			"{\"pattern\": \"prbs31\", \"link\": \"c0\","
			" \"from\": \"350us\", \"until\": \"450us\"}",
			"", ", \"backup\": {}");

	cr_assert_eq(json_array_size(json_object_get(r, "test_patterns")), 2 * 4 + 2);
	for (size_t i = 0; i < 2 * 4 + 2; i++) {
		cr_assert_gt(count(r, i, "checked"), 0);
		cr_assert_eq(count(r, i, "errors"), 0);
	}
	cr_assert_str_neq(word(r, 0, "switch"), word(r, 8, "switch"));
	cr_assert_eq(whole_number(r, "operations.failed_all"), 0);
	json_decref(r);
}

/** A pattern that the run's end cuts off says how far it came. */
Test(test_patterns, may_outlast_the_run)
{
	json_t *r = run("{\"pattern\": \"prbs31\", \"link\": \"c0\", \"from\": \"400us\", \"until\": \"1s\"}",
			"", "");
	double ended = whole_number(r, "time.ended_ps");

	cr_assert_float_eq(count(r, 0, "sent"), (ended - 400e6) / 2560, 1);
	cr_assert_eq(count(r, 0, "errors"), 0);
	json_decref(r);
}
