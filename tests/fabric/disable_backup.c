/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corruption disables a link (EDM 3.3) where there is a back-up network: that takes over. Each network has
 * links of its own, which are watched for themselves, and so are their local faults.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "config/mf_config.h"
#include "fabric/mf_fabric_state.h"
#include "fabric/mf_link_guard.h"
#include "run/mf_fabric.h"
#include "whole.h"

static json_t *run(unsigned int seed, const char *disable, const char *faults)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"seed\": %u,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"300us\","
		 "                          \"drain\": \"20ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 4},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"link\": {\"disable\": %s}, \"backup\": {\"propagation\": \"40ns\"},"
		 "\"host\": {\"read_timeout\": \"50us\", \"write_timeout\": \"50us\"},"
		 "\"switch\": {\"grant_timeout\": \"40us\", \"hold_timeout\": \"5us\"},"
		 "\"workload\": [{\"mix\": {\"read\": 2, \"write_ack\": 2, \"cas\": 1}, \"size\": 64,"
		 "               \"depth\": 1, \"span\": \"2KiB\"}],"
		 "\"ethernet\": [{\"size\": 1000, \"load\": 0.2}],"
		 "\"faults\": [%s]}",
		 seed, disable, faults);
	return whole_sound(text, false);
}

/** So many bad headers, one behind the other, from 100 us on. */
static void headers(char *rule, size_t len, const char *node, unsigned int sw, const char *way,
		    unsigned int n)
{
	snprintf(rule, len,
		 "{\"class\": \"sync\", \"link\": \"%s\", \"switch\": %u, \"direction\": \"%s\","
		 " \"rate\": 1, \"from\": \"100us\", \"count\": %u}",
		 node, sw, way, n);
}

static json_t *with_headers(const char *disable, const char *node, unsigned int sw, const char *way,
			    unsigned int n)
{
	char rule[256];

	headers(rule, sizeof(rule), node, sw, way, n);
	return run(7, disable, rule);
}

static const json_t *link_of(const json_t *result, const char *section, size_t i)
{
	return json_array_get(json_object_get(json_object_get(result, section), "links"), i);
}

static size_t links_of(const json_t *result, const char *section)
{
	return json_array_size(json_object_get(json_object_get(result, section), "links"));
}

static const char *word(const json_t *link, const char *key)
{
	const char *s = json_string_value(json_object_get(link, key));

	return s != NULL ? s : "";
}

static void expect_link(const json_t *result, const char *section, const char *node, const char *sw)
{
	cr_expect_eq(links_of(result, section), 1);
	cr_expect_str_eq(word(link_of(result, section, 0), "node"), node);
	cr_expect_str_eq(word(link_of(result, section, 0), "switch"), sw);
}

static void expect_ended(const json_t *result)
{
	cr_expect_eq(whole_number(result, "phases.end.under_way"), 0);
	cr_expect_gt(whole_number(result, "operations.verified"), 500);
}

/** Whichever end sees it, of whichever node, and whatever was too much. */
Test(disable_backup, the_other_network_takes_over)
{
	static const struct {
		const char *disable, *node, *way, *seen_by, *cause;
		unsigned int n;
	} cases[] = {
		{"4", "c0", "up", "switch", "bad blocks", 4}, {"4", "c0", "down", "node", "bad blocks", 4},
		{"4", "m1", "up", "switch", "bad blocks", 4}, {"4", "m1", "down", "node", "bad blocks", 4},
		{"{}", "c0", "up", "switch", "hi-BER", 16},   {"{}", "m1", "down", "node", "hi-BER", 16},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *result = with_headers(cases[i].disable, cases[i].node, 0, cases[i].way, cases[i].n);

		expect_link(result, "disabled", cases[i].node, "sw0");
		cr_expect_str_eq(word(link_of(result, "disabled", 0), "seen_by"), cases[i].seen_by, "%u", i);
		cr_expect_str_eq(word(link_of(result, "disabled", 0), "cause"), cases[i].cause, "%u", i);
		cr_expect(json_is_true(json_object_get(link_of(result, "disabled", 0), "disabled")));
		cr_expect_eq(whole_number(result, "backup.take_overs"), 1, "%u", i);
		cr_expect_eq(whole_number(result, "operations.failed_all"), 0, "%u", i);
		expect_ended(result);
		json_decref(result);
	}
}

/** Of the network that is not in use: nodes go on with the other one. */
Test(disable_backup, nobody_takes_over_for_the_second_network)
{
	static const char *const ways[] = {"up", "down"};

	for (unsigned int i = 0; i < 2; i++) {
		json_t *result = with_headers("4", "c0", 1, ways[i], 4);

		expect_link(result, "disabled", "c0", "sw1");
		cr_expect_str_eq(word(link_of(result, "disabled", 0), "seen_by"), i == 0 ? "switch" : "node");
		cr_expect_geq(whole_number(result, "drops.pcs.bad_blocks"), 4);
		cr_expect_eq(whole_number(result, "backup.take_overs"), 0);
		cr_expect_eq(whole_number(result, "operations.failed_all"), 0);
		expect_ended(result);
		json_decref(result);
	}
}

/** More than the limit by both together, and less by each: what is bad besides is the end of what was cut. */
Test(disable_backup, each_link_counts_for_itself)
{
	char first[256], second[256], both[600];
	json_t *result;

	headers(first, sizeof(first), "c0", 0, "down", 5);
	headers(second, sizeof(second), "c0", 1, "down", 9);
	snprintf(both, sizeof(both), "%s, %s", first, second);
	result = run(7, "13", both);
	cr_expect_eq(links_of(result, "disabled"), 0);
	json_decref(result);
	result = run(7, "9", both);
	expect_link(result, "disabled", "c0", "sw1");
	cr_expect_eq(whole_number(result, "backup.take_overs"), 0);
	json_decref(result);
}

/** It has no link any more: its own operations fail, in bounded time, and nobody else's. */
Test(disable_backup, a_node_that_loses_both)
{
	char first[256], second[256], both[600];
	json_t *result;

	headers(first, sizeof(first), "c0", 0, "up", 4);
	headers(second, sizeof(second), "c0", 1, "up", 4);
	snprintf(both, sizeof(both), "%s, %s", first, second);
	result = run(7, "4", both);
	cr_expect_eq(links_of(result, "disabled"), 2);
	cr_expect_gt(whole_number(result, "operations.failed_all"), 0);
	cr_expect_lt(whole_number(result, "operations.failed_all"), 20);
	expect_ended(result);
	json_decref(result);
}

/** The first switch's link is mended, then the second's is disabled: everybody goes back. */
Test(disable_backup, there_and_back)
{
	char first[256], second[256], both[600];
	json_t *result;

	headers(first, sizeof(first), "m0", 0, "down", 4);
	snprintf(second, sizeof(second),
		 "{\"class\": \"sync\", \"link\": \"m0\", \"switch\": 1, \"direction\": \"down\","
		 " \"rate\": 1, \"from\": \"250us\", \"count\": 4}");
	snprintf(both, sizeof(both), "%s, %s", first, second);
	result = run(7, "{\"bad\": 4, \"repair\": \"30us\"}", both);
	cr_expect_eq(links_of(result, "disabled"), 2);
	cr_expect_eq(whole_number(result, "disabled.bad_blocks"), 2);
	cr_expect_eq(whole_number(result, "disabled.repaired"), 2);
	cr_expect_eq(whole_number(result, "backup.epoch"), 2);
	cr_expect_eq(whole_number(result, "operations.failed_all"), 0);
	expect_ended(result);
	json_decref(result);
}

/** Without a rule the link is down for as long as its receiver hears nothing. */
Test(disable_backup, a_local_fault_is_a_lost_link)
{
	for (unsigned int sw = 0; sw < 2; sw++) {
		json_t *result = with_headers("false", "c0", sw, "down", 16);

		expect_link(result, "local_faults", "c0", sw == 0 ? "sw0" : "sw1");
		cr_expect_eq(whole_number(result, "local_faults.hi_ber"), 1);
		cr_expect_eq(whole_number(result, "backup.take_overs"), sw == 0);
		cr_expect_eq(whole_number(result, "operations.failed_all"), 0);
		expect_ended(result);
		json_decref(result);
	}
}

Test(disable_backup, the_same_case_is_the_same_run)
{
	json_t *first = with_headers("4", "c0", 0, "down", 4),
	       *second = with_headers("4", "c0", 0, "down", 4);

	cr_expect(json_equal(first, second));
	json_decref(first);
	json_decref(second);
}

/** Each end has a guard for each network, whatever the clock. */
Test(disable_backup, under_the_wall_clock)
{
	struct mf_config config;
	struct mf_fabric *f;
	char text[512], err[256] = "";

	snprintf(text, sizeof(text),
		 "{\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
		 "            {\"name\": \"m\", \"role\": \"memory\"}],"
		 "\"link\": {\"disable\": 4}, \"backup\": {},"
		 "\"faults\": [{\"class\": \"lose\", \"rate\": 0.1, \"switch\": 1}]}");
	cr_assert_eq(mf_config_parse(text, strlen(text), "test", &config, err, sizeof(err)), 0, "%s", err);
	f = mf_fabric_new(&config, MF_CLOCK_WALL, err, sizeof(err));
	cr_assert_not_null(f, "%s", err);
	for (unsigned int sw = 0; sw < 2; sw++)
		for (enum mf_link_end end = 0; end < MF_LINK_ENDS; end++)
			cr_expect_not_null(guards_of(f, fabric_link(f, sw, 0), end));
	mf_fabric_free(f);
	mf_config_free(&config);
}
