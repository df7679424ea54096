/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole fabrics of TCP, DCTCP and pFabric: block by block and run by run the same, incasts and overload
 * included; what the switch drops comes again, and every operation ends with the right data.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "whole.h"

static const char *const stacks[] = {"tcp", "dctcp", "pfabric"};
#define STACKS (sizeof(stacks) / sizeof(stacks[0]))

static void all_right(const json_t *r, const char *text)
{
	cr_assert_gt(whole_number(r, "operations.completed_all"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "operations.completed_all"), whole_number(r, "operations.begun_all"),
		     "%s", text);
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0, "%s", text);
	cr_assert_gt(whole_number(r, "operations.verified"), 0, "%s", text);
}

static json_t *same_by_block(const char *text)
{
	json_t *r = whole_run(text, false), *b = whole_run(text, true);
	char *x, *y;

	if (!json_equal(r, b)) {
		x = json_dumps(r, JSON_INDENT(1) | JSON_SORT_KEYS);
		y = json_dumps(b, JSON_INDENT(1) | JSON_SORT_KEYS);
		for (char *p = x, *q = y; *p != 0 && *q != 0; p++, q++)
			if (*p != *q)
				cr_assert(false, "%.80s, block by block %.80s\n%s", p, q, text);
		free(x);
		free(y);
		cr_assert(false, "%s", text);
	}
	json_decref(b);
	return r;
}

#define MIX "\"mix\": {\"read\": 3, \"write\": 3, \"write_ack\": 1, \"fadd\": 1}"

Test(fabric_tcp, block_by_block)
{
	for (unsigned int i = 0; i < STACKS; i++) {
		char text[1024];
		json_t *r;

		snprintf(text, sizeof(text),
			 "{\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"30us\"}},"
			 " \"stack\": \"%s\","
			 " \"nodes\": [{\"name\": \"n\", \"role\": \"both\", \"count\": 5}],"
			 " \"workload\": [{" MIX ", \"depth\": 4, \"span\": \"64KiB\","
			 " \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 6000}}]}",
			 stacks[i]);
		r = same_by_block(text);
		all_right(r, text);
		json_decref(r);
	}
}

/** So much to one node that the switch has to drop. */
static json_t *incast(const char *stack, const char *bridge, bool by_block)
{
	char text[1024];
	json_t *r;

	snprintf(text, sizeof(text),
		 "{\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"%s\", \"drain\": \"200ms\"}},"
		 " \"stack\": \"%s\", \"switch\": {\"bridge\": %s},"
		 " \"host\": {\"read_timeout\": \"200ms\", \"write_timeout\": \"200ms\"},"
		 " \"link\": {\"rate\": \"100G\"},"
		 " \"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 8},"
		 "             {\"name\": \"m\", \"role\": \"memory\"}],"
		 " \"workload\": [{" MIX ", \"pattern\": \"incast\", \"depth\": 6, \"span\": \"384KiB\","
		 " \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 60000}}]}",
		 by_block ? "20us" : "300us", stack, bridge);
	r = by_block ? same_by_block(text) : whole_run(text, false);
	all_right(r, text);
	return r;
}

Test(fabric_tcp, incast_with_drops)
{
	static const char small[] = "{\"name\": \"fifo\", \"buffer\": \"32KiB\"}";
	json_t *r = incast("tcp", small, false);

	cr_expect_gt(whole_number(r, "bridge.counters.drop_buffer"), 0);
	cr_expect_gt(whole_number(r, "stack.counters.fast_retransmits"), 0);
	json_decref(r);
	json_decref(incast("tcp", small, true));
	r = incast("dctcp", small, false);
	cr_expect_gt(whole_number(r, "bridge.counters.drop_buffer"), 0);
	json_decref(r);
	r = incast("pfabric", "{\"name\": \"pfabric\", \"queue\": \"20KiB\"}", false);
	cr_expect_gt(whole_number(r, "bridge.counters.drop_lowest"), 0);
	cr_expect_gt(whole_number(r, "stack.counters.timeouts"), 0);
	json_decref(r);
	json_decref(incast("pfabric", "{\"name\": \"pfabric\", \"queue\": \"20KiB\"}", true));
}

/* DCTCP's bridge marks by default, at its K; what the file says goes before. */
Test(fabric_tcp, marking_by_default)
{
	json_t *r = incast("dctcp", "\"fifo\"", false), *t = incast("tcp", "\"fifo\"", false), *never;

	cr_expect_gt(whole_number(r, "bridge.counters.marked"), 0);
	cr_expect_gt(whole_number(r, "stack.counters.cuts"), 0);
	cr_expect_lt(2 * whole_number(r, "bridge.counters.queue_max_octets"),
		     whole_number(t, "bridge.counters.queue_max_octets"));
	cr_expect_eq(whole_number(t, "bridge.counters.marked"), 0);
	never = incast("dctcp", "{\"name\": \"fifo\", \"kmin\": 0}", false);
	cr_expect_eq(whole_number(never, "bridge.counters.marked"), 0);
	json_decref(r);
	json_decref(t);
	json_decref(never);
}

/* pFabric: writes of a pair pass each other, and the client does not blame them for it. */
Test(fabric_tcp, writes_that_pass_each_other)
{
	static const char text[] =
		"{\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"300us\"}},"
		" \"stack\": \"pfabric\", \"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
		"                                     {\"name\": \"m\", \"role\": \"memory\"}],"
		" \"link\": {\"rate\": \"100G\"},"
		" \"workload\": [{" MIX ", \"depth\": 16, \"span\": \"320KiB\","
		" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 20000}}]}";
	json_t *r = same_by_block(text);

	all_right(r, text);
	cr_expect_gt(whole_number(r, "operations.unverified"), 0);
	json_decref(r);
}
