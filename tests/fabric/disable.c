/* SPDX-License-Identifier: BSD-3-Clause */
/* Corruption disables a link (EDM 3.3): when, what becomes of its traffic, and of that of the others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "whole.h"

static json_t *run(const char *disable, const char *faults)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"seed\": 7,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"300us\","
		 "                          \"drain\": \"20ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 4},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"link\": {\"disable\": %s},"
		 "\"host\": {\"read_timeout\": \"50us\", \"write_timeout\": \"50us\"},"
		 "\"switch\": {\"grant_timeout\": \"40us\", \"hold_timeout\": \"5us\"},"
		 "\"workload\": [{\"mix\": {\"read\": 2, \"write_ack\": 2, \"cas\": 1}, \"size\": 64,"
		 "               \"depth\": 4, \"span\": \"2KiB\"}],"
		 "\"ethernet\": [{\"from\": \"c\", \"to\": \"m\", \"size\": 1000, \"load\": 0.2}],"
		 "\"faults\": [%s]}",
		 disable, faults);
	return whole_sound(text, false);
}

static double number(const json_t *result, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "disabled.%s", key);
	return whole_number(result, path);
}

static const json_t *first_link(const json_t *result)
{
	return json_array_get(json_object_get(json_object_get(result, "disabled"), "links"), 0);
}

static const char *word(const json_t *link, const char *key)
{
	const char *s = json_string_value(json_object_get(link, key));

	return s != NULL ? s : "";
}

static double all(const json_t *result)
{
	return number(result, "bad_blocks") + number(result, "hi_ber") + number(result, "block_lock");
}

/** So many bad headers on the way from c0, from a time on, one behind the other. */
static json_t *with_headers(const char *disable, unsigned int n, unsigned int more)
{
	char faults[512];

	snprintf(faults, sizeof(faults),
		 "{\"class\": \"sync\", \"link\": \"c0\", \"direction\": \"up\", \"rate\": 1,"
		 " \"from\": \"100us\", \"count\": %u}%s",
		 n,
		 more == 0 ? ""
			   : ", {\"class\": \"sync\", \"link\": \"c0\", \"direction\": \"up\","
			     " \"rate\": 1, \"from\": \"130us\", \"count\": 8}");
	return run(disable, faults);
}

static void expect_ended(const json_t *result)
{
	cr_expect_eq(whole_number(result, "phases.end.under_way"), 0);
	cr_expect_gt(whole_number(result, "operations.completed_all"), 100);
}

Test(disable, with_so_many_bad_blocks_and_not_one_less)
{
	static const unsigned int limit[] = {1, 5, 15};

	for (unsigned int i = 0; i < sizeof(limit) / sizeof(limit[0]); i++) {
		char disable[16];
		json_t *less, *enough;

		snprintf(disable, sizeof(disable), "%u", limit[i]);
		enough = with_headers(disable, limit[i], 0);
		cr_expect_eq(number(enough, "bad_blocks"), 1, "%s", disable);
		cr_expect_eq(all(enough), 1, "%s", disable);
		cr_expect_str_eq(word(first_link(enough), "node"), "c0");
		cr_expect_str_eq(word(first_link(enough), "seen_by"), "switch");
		cr_expect(json_is_true(json_object_get(first_link(enough), "disabled")));
		cr_expect_gt(whole_number(enough, "operations.failed_all"), 0, "what was under way fails");
		expect_ended(enough);
		json_decref(enough);
		if (limit[i] == 1)
			continue;
		less = with_headers(disable, limit[i] - 1, 0);
		cr_expect_eq(all(less), 0, "%s", disable);
		expect_ended(less);
		json_decref(less);
	}
}

/* 16 in a window of 125 us, which run free; only "bad" looks at any 125 us. */
Test(disable, at_a_bit_error_rate_that_is_too_high)
{
	json_t *result = with_headers("{}", 15, 0);

	cr_expect_eq(all(result), 0);
	json_decref(result);
	result = with_headers("{}", 16, 0);
	cr_expect_eq(number(result, "hi_ber"), 1);
	cr_expect_str_eq(word(first_link(result), "cause"), "hi-BER");
	expect_ended(result);
	json_decref(result);
	result = with_headers("{}", 8, 8);
	cr_expect_eq(all(result), 0, "the window from 0 to 125 us had 8, and so had the next");
	json_decref(result);
	result = with_headers("{\"bad\": 16}", 8, 8);
	cr_expect_eq(number(result, "bad_blocks"), 1);
	json_decref(result);
	result = with_headers("{\"bad\": 16, \"within\": \"20us\"}", 8, 8);
	cr_expect_eq(all(result), 0);
	json_decref(result);
}

Test(disable, and_somebody_mends_it)
{
	json_t *broken = with_headers("{\"bad\": 3}", 3, 0);
	json_t *mended = with_headers("{\"bad\": 3, \"repair\": \"50us\"}", 3, 0);
	json_t *again = with_headers("{\"bad\": 3, \"repair\": \"50us\"}", 3, 0);

	cr_expect_eq(number(broken, "repaired"), 0);
	cr_expect_eq(number(mended, "repaired"), 1);
	cr_expect(json_is_false(json_object_get(first_link(mended), "disabled")));
	cr_expect_gt(whole_number(mended, "operations.completed_all"),
		     whole_number(broken, "operations.completed_all"));
	cr_expect(json_equal(mended, again));
	expect_ended(broken);
	expect_ended(mended);
	json_decref(broken);
	json_decref(mended);
	json_decref(again);
}

/* Types that there are not, and checks that fail where only payload was hit, count as well. */
Test(disable, for_bad_types_and_failed_checks)
{
	static const char *const faults[] = {
		"{\"class\": \"type\", \"link\": \"m0\", \"direction\": \"down\", \"rate\": 1,"
		" \"count\": 40}",
		"{\"class\": \"bit\", \"link\": \"m0\", \"direction\": \"down\", \"rate\": 0.01,"
		" \"until\": \"150us\"}",
	};

	for (unsigned int i = 0; i < 2; i++) {
		json_t *result = run("4", faults[i]);

		cr_expect_eq(number(result, "bad_blocks"), 1, "%s", faults[i]);
		cr_expect_str_eq(word(first_link(result), "node"), "m0");
		cr_expect_str_eq(word(first_link(result), "seen_by"), "node");
		cr_expect_gt(whole_number(result, "operations.completed_all"), 100, "m1 is there");
		expect_ended(result);
		json_decref(result);
	}
}

Test(disable, nothing_without_corruption)
{
	json_t *result = run("1", "");

	cr_expect_eq(all(result), 0);
	cr_expect_eq(json_array_size(json_object_get(json_object_get(result, "disabled"), "links")), 0);
	cr_expect_eq(whole_number(result, "operations.failed_all"), 0);
	json_decref(result);
}

/* Without a rule: down for both ends for as long as the receiver is deaf, and no longer. */
Test(disable, not_at_all_but_a_local_fault_ends)
{
	json_t *fewer = with_headers("false", 15, 0), *many = with_headers("false", 16, 0);

	cr_expect_null(json_object_get(many, "disabled"));
	cr_expect_eq(whole_number(fewer, "local_faults.hi_ber"), 0);
	cr_expect_eq(whole_number(many, "local_faults.hi_ber"), 1);
	cr_expect_eq(whole_number(many, "local_faults.block_lock"), 0);
	/* The others had what was under way to c0 failed when its link was down, and its own fail as well. */
	cr_expect_gt(whole_number(many, "operations.failed_all"),
		     whole_number(fewer, "operations.failed_all"));
	cr_expect_lt(whole_number(many, "operations.failed_all"), 100, "then it is there again");
	expect_ended(many);
	json_decref(fewer);
	json_decref(many);
}

Test(disable, not_at_all_but_block_lock_is_found_again)
{
	json_t *result = run("false", "{\"class\": \"sync\", \"link\": \"m0\", \"direction\": \"down\","
				      " \"rate\": 0.9, \"from\": \"100us\", \"until\": \"102us\"}");

	cr_expect_geq(whole_number(result, "local_faults.block_lock") +
			      whole_number(result, "local_faults.hi_ber"),
		      1);
	cr_expect_gt(whole_number(result, "operations.restarts_seen"), 0, "clients are told");
	expect_ended(result);
	json_decref(result);
}

/** m1 has no traffic: its link is idle but for what a rule strikes. */
static json_t *run_idle(const char *disable, const char *rule, bool by_block)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"seed\": 7,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"300us\","
		 "                          \"drain\": \"20ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"link\": {\"disable\": %s},"
		 "\"workload\": [{\"targets\": \"m0\", \"mix\": {\"read\": 1}, \"size\": 64, \"depth\": 2}],"
		 "\"faults\": [{\"link\": \"m1\", %s}]}",
		 disable, rule);
	return whole_sound(text, by_block);
}

Test(disable, a_link_that_nothing_is_sent_on)
{
	/* 625 wrong headers are expected in 125 us, of 48,828. */
	static const char rate[] = "\"class\": \"bit\", \"rate\": 6.4e-3";
	json_t *idle = run_idle("{}", rate, false), *by_block = run_idle("{}", rate, true);
	json_t *spared = run_idle("{}", "\"class\": \"bit\", \"rate\": 6.4e-3, \"idle\": false", false);
	json_t *lock = run_idle("false", "\"class\": \"sync\", \"rate\": 1, \"from\": \"50us\"", false);

	cr_expect_eq(number(idle, "hi_ber"), 1);
	cr_expect_str_eq(word(first_link(idle), "node"), "m1");
	cr_expect_gt(whole_number(idle, "faults.bit"), 16);
	cr_expect_eq(whole_number(idle, "faults.bit"), whole_number(idle, "faults.idle.bit"));
	cr_expect_eq(whole_number(idle, "operations.failed_all"), 0, "nobody needs it");
	cr_expect(json_equal(idle, by_block));
	cr_expect_eq(all(spared), 0);
	cr_expect_eq(whole_number(spared, "faults.bit"), 0);
	cr_expect_gt(
		whole_number(lock, "local_faults.hi_ber") + whole_number(lock, "local_faults.block_lock"), 0);
	json_decref(idle);
	json_decref(by_block);
	json_decref(spared);
	json_decref(lock);
}
