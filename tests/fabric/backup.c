/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches (EDM 3.3, docs/fault-tolerance.md): the first one dies at any instant, or its cables are
 * pulled. No operation fails, all data that are read are right, and the same case gives the same run.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "whole.h"

/** @param fault  a rule; "": none */
static void text_of(char *text, size_t len, unsigned int seed, unsigned int size, const char *length,
		    const char *fault)
{
	/* A seed has mega-messages, or not: they matter where messages are short. */
	snprintf(text, len,
		 "{\"seed\": %u,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"45us\","
		 "                          \"drain\": \"30ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 4},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"backup\": {\"propagation\": \"%s\"}, \"host\": {\"mega\": %u},"
		 "\"workload\": [{\"mix\": {\"read\": 2, \"write\": 1, \"write_ack\": 1, \"cas\": 1,"
		 "                          \"fadd\": 1}, \"size\": %u, \"depth\": 4, \"span\": \"8KiB\"}],"
		 "\"faults\": [%s]}",
		 seed, length, seed % 3 == 0 ? 4 : 1, size, fault);
}

static void nothing_lost(const json_t *result, const char *text)
{
	cr_expect_eq(whole_number(result, "phases.end.under_way"), 0, "%s", text);
	cr_expect_eq(whole_number(result, "operations.failed_all"), 0, "%s", text);
	cr_expect_eq(whole_number(result, "operations.mismatches"), 0, "%s", text);
	cr_expect_gt(whole_number(result, "operations.verified"), 100, "%s", text);
}

Test(backup, the_first_switch_dies_at_any_instant)
{
	static const char *const length[] = {"1ns", "10ns", "100ns"};
	static const unsigned int size[] = {8, 64, 300, 2000};

	for (unsigned int seed = 1; seed <= 48; seed++) {
		char text[2048], fault[128];
		json_t *result;

		snprintf(fault, sizeof(fault), "{\"class\": \"switch_crash\", \"from\": \"%uns\"}",
			 10000 + 631 * seed);
		text_of(text, sizeof(text), seed, size[seed % 4], length[seed % 3], fault);
		result = whole_run(text, false);
		nothing_lost(result, text);
		cr_expect_eq(whole_number(result, "backup.take_overs"), 1, "%s", text);
		cr_expect_eq(whole_number(result, "faults.switch_crash"), 1, "%s", text);
		json_decref(result);
	}
}

Test(backup, without_a_fault_nobody_takes_over)
{
	char text[2048];
	json_t *result;

	text_of(text, sizeof(text), 1, 64, "10ns", "");
	result = whole_run(text, false);
	nothing_lost(result, text);
	cr_expect_eq(whole_number(result, "backup.take_overs"), 0);
	cr_expect_gt(whole_number(result, "backup.copies_ignored"), 100);
	json_decref(result);
}

Test(backup, the_second_switch_dies)
{
	char text[2048];
	json_t *result;

	text_of(text, sizeof(text), 2, 64, "10ns",
		"{\"class\": \"switch_crash\", \"switch\": 1, \"from\": \"20us\"}");
	result = whole_run(text, false);
	nothing_lost(result, text);
	cr_expect_eq(whole_number(result, "backup.take_overs"), 0);
	json_decref(result);
}

/**
 * Nobody takes over for who stands still for less than the timers: nodes wait for it, and go on. What the
 * active switch has no room for is dropped and counted, and no other one's business; at the standby that
 * matters to nobody.
 */
Test(backup, either_switch_stands_still_or_has_no_room)
{
	static const char *const what[] = {
		"\"stall\", \"role\": \"switch\", \"switch\": 0",
		"\"stall\", \"role\": \"switch\", \"switch\": 1",
		"\"stall\", \"role\": \"scheduler\", \"switch\": 0",
		"\"stall\", \"role\": \"scheduler\", \"switch\": 1",
		"\"exhaust\", \"what\": \"ring\", \"node\": \"m0\", \"switch\": 0",
		"\"exhaust\", \"what\": \"ring\", \"node\": \"m0\", \"switch\": 1",
		"\"exhaust\", \"what\": \"requests\", \"switch\": 1",
		"\"exhaust\", \"what\": \"egress\", \"node\": \"*\", \"switch\": 1",
	};
	const unsigned int stalls = 4;

	for (unsigned int i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		char text[2048], fault[192];
		json_t *result;

		snprintf(fault, sizeof(fault), "{\"class\": %s, \"from\": \"15us\", \"until\": \"21us\"}",
			 what[i]);
		text_of(text, sizeof(text), 1 + i, 300, "10ns", fault);
		result = whole_run(text, false);
		nothing_lost(result, text);
		cr_expect_eq(whole_number(result, "backup.take_overs"), 0, "%s", text);
		cr_expect_gt(whole_number(result, i < stalls ? "faults.stall" : "faults.exhaust"), 0, "%s",
			     text);
		json_decref(result);
	}
}

Test(backup, one_cable_to_the_first_switch_is_pulled)
{
	for (unsigned int seed = 1; seed <= 12; seed++) {
		char text[2048], fault[128];
		json_t *result;

		snprintf(fault, sizeof(fault),
			 "{\"class\": \"link_down\", \"link\": \"%s\", \"from\": \"%uns\"}",
			 seed % 2 ? "c1" : "m0", 10000 + 2311 * seed);
		text_of(text, sizeof(text), seed, 64, "10ns", fault);
		result = whole_run(text, false);
		nothing_lost(result, text);
		cr_expect_eq(whole_number(result, "backup.take_overs"), 1, "%s", text);
		json_decref(result);
	}
}

Test(backup, the_same_case_is_the_same_run)
{
	char text[2048];
	json_t *first, *second;

	text_of(text, sizeof(text), 3, 300, "100ns", "{\"class\": \"switch_crash\", \"from\": \"23456ns\"}");
	first = whole_run(text, false);
	second = whole_run(text, false);
	cr_expect(json_equal(first, second), "%s", text);
	json_decref(first);
	json_decref(second);
}

static const char by_turns[] = "{\"class\": \"switch_crash\", \"from\": \"12us\", \"until\": \"14us\"},"
			       "{\"class\": \"node_crash\", \"node\": \"%s\", \"from\": \"%uns\","
			       " \"until\": \"%uns\"}";

/** It knows of no epoch, has links to both switches, and demotes neither. */
Test(backup, a_node_that_is_started_again_obeys_the_active_switch)
{
	for (unsigned int seed = 1; seed <= 16; seed++) {
		unsigned int from = 18000 + 977 * seed;
		char text[2048], fault[512];
		json_t *result;

		snprintf(fault, sizeof(fault), by_turns, seed % 2 ? "c2" : "m1", from, from + 2000);
		text_of(text, sizeof(text), seed, 64, "10ns", fault);
		result = whole_run(text, false);
		cr_expect_eq(whole_number(result, "phases.end.under_way"), 0, "%s", text);
		cr_expect_eq(whole_number(result, "operations.mismatches"), 0, "%s", text);
		cr_expect_eq(whole_number(result, "backup.take_overs"), 1, "%s", text);
		cr_expect_eq(whole_number(result, "backup.epoch"), 1, "%s", text);
		json_decref(result);
	}
}

/** A port that tells whatever it likes, of epochs, too. */
Test(backup, a_hostile_node_deposes_nobody)
{
	for (unsigned int seed = 1; seed <= 8; seed++) {
		char text[2048];
		json_t *result;

		text_of(text, sizeof(text), seed, 64, "10ns",
			"{\"class\": \"spoof\", \"node\": \"c3\", \"rate\": 0.05}");
		result = whole_run(text, false);
		cr_expect_eq(whole_number(result, "operations.mismatches"), 0, "%s", text);
		cr_expect_eq(whole_number(result, "backup.take_overs"), 0, "%s", text);
		cr_expect_gt(whole_number(result, "faults.spoof"), 100, "%s", text);
		json_decref(result);
	}
}
