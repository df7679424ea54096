/* SPDX-License-Identifier: BSD-3-Clause */
/* IRD: credits, the least left first, senders that can serve one receiver at a time. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../fabric/whole.h"

#define ONE "{\"name\": \"c\", \"role\": \"compute\"}, {\"name\": \"m\", \"role\": \"memory\"}"
#define PAIRS                                                     \
	"{\"name\": \"c\", \"role\": \"compute\", \"count\": 2}," \
	"{\"name\": \"m\", \"role\": \"memory\", \"count\": 2}"

static json_t *run(const char *stack, const char *nodes, const char *workload, bool by_block)
{
	char text[2048];
	json_t *r;

	snprintf(text, sizeof(text),
		 "{\"stack\": %s, \"clock\": {\"virtual\": {\"warmup\": \"20us\", \"duration\": \"200us\"}},"
		 " \"link\": {\"rate\": \"100G\"}, \"nodes\": [%s], \"workload\": [%s]}",
		 stack, nodes, workload);
	r = whole_run(text, by_block);
	cr_assert_eq(whole_number(r, "operations.failed_all"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "operations.completed_all"), whole_number(r, "operations.begun_all"));
	cr_assert_gt(whole_number(r, "operations.completed_all"), 10);
	return r;
}

static double mean(const json_t *r, const char *kind)
{
	char path[80];

	snprintf(path, sizeof(path), "operations.kinds.%s.latency.mean_ns", kind);
	return whole_number(r, path);
}

/** Every credit is used once, where nothing is lost; and the spans do not matter. */
Test(stack_ird, credits_are_used)
{
	static const char load[] =
		"{\"mix\": {\"read\": 2, \"write\": 2, \"write_ack\": 1},"
		" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 20000}, \"depth\": 8}";
	json_t *a = run("\"ird\"", PAIRS, load, false), *b = run("\"ird\"", PAIRS, load, true);

	cr_assert(json_equal(json_object_get(a, "operations"), json_object_get(b, "operations")));
	cr_assert(json_equal(json_object_get(a, "stack"), json_object_get(b, "stack")));
	cr_assert_gt(whole_number(a, "stack.counters.credits_sent"), 100);
	cr_assert_eq(whole_number(a, "stack.counters.credits_sent"),
		     whole_number(a, "stack.counters.credits_received"));
	cr_assert_eq(whole_number(a, "stack.counters.resent"), 0);
	cr_assert_eq(whole_number(a, "stack.counters.drop_duplicate"), 0);
	json_decref(a);
	json_decref(b);
}

/** Long messages one after the other: the rate less their headers. */
Test(stack_ird, line_rate)
{
	json_t *r =
		run("\"ird\"", ONE, "{\"mix\": {\"write\": 1}, \"size\": \"256KiB\", \"depth\": 2}", false);

	cr_assert_gt(whole_number(r, "operations.kinds.write.goodput_gbps"), 90);
	json_decref(r);
}

/** Short messages among long ones to the same receiver: with SRPT they hardly wait. */
Test(stack_ird, least_left_first)
{
	static const char nodes[] = "{\"name\": \"a\", \"role\": \"compute\"},"
				    "{\"name\": \"b\", \"role\": \"compute\"},"
				    "{\"name\": \"m\", \"role\": \"memory\"}";
	static const char shorts[] =
		"{\"nodes\": \"a\", \"mix\": {\"write_ack\": 1}, \"size\": 1000, \"depth\": 1}";
	static const char both[] =
		"{\"nodes\": \"a\", \"mix\": {\"write_ack\": 1}, \"size\": 1000, \"depth\": 1},"
		"{\"nodes\": \"b\", \"mix\": {\"write\": 1}, \"size\": \"256KiB\", \"depth\": 4,"
		" \"span\": \"1MiB\"}";
	json_t *alone = run("\"ird\"", nodes, shorts, false), *r = run("\"ird\"", nodes, both, false);

	/* A packet or two in front of the credit and of the data, and what is credited already. */
	cr_assert_lt(mean(r, "write_ack"), mean(alone, "write_ack") + 1000);
	json_decref(alone);
	json_decref(r);
}

/** Two receivers ask one sender: it serves them in turn, each gets about half of what one alone gets. */
Test(stack_ird, a_sender_serves_one)
{
	static const char load[] = "{\"mix\": {\"read\": 1}, \"size\": \"64KiB\", \"depth\": 4}";
	json_t *one = run("\"ird\"", ONE, load, false);
	json_t *two = run("\"ird\"",
			  "{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
			  "{\"name\": \"m\", \"role\": \"memory\"}",
			  load, false);
	double a = whole_number(one, "operations.kinds.read.goodput_gbps");
	double b = whole_number(two, "operations.kinds.read.goodput_gbps");

	cr_assert_gt(a, 80);
	cr_assert_lt(b, a * 1.1, "%g of two, %g of one: one link", b, a);
	cr_assert_gt(mean(two, "read"), 1.5 * mean(one, "read"));
	json_decref(one);
	json_decref(two);
}

/**
 * Of equal messages the oldest is first, so none waits for ever: all that are under way are among those that
 * complete (Little's law).
 */
Test(stack_ird, equals_go_by_age)
{
	static const char nodes[] = "{\"name\": \"c\", \"role\": \"compute\", \"count\": 6},"
				    "{\"name\": \"m\", \"role\": \"memory\"}";
	static const char *const kinds[] = {"write_ack", "read"};
	const double under_way = 6 * 8, duration = 200e3;

	for (int k = 0; k < 2; k++) {
		char load[100], count[64];
		json_t *r;

		snprintf(load, sizeof(load), "{\"mix\": {\"%s\": 1}, \"size\": 1000, \"depth\": 8}",
			 kinds[k]);
		snprintf(count, sizeof(count), "operations.kinds.%s.latency.count", kinds[k]);
		r = run("\"ird\"", nodes, load, false);
		cr_assert_gt(mean(r, kinds[k]) * whole_number(r, count), 0.95 * under_way * duration, "%s",
			     kinds[k]);
		json_decref(r);
	}
}

/** Messages that are given up leave nothing behind: the rest goes on, in whatever spans. */
Test(stack_ird, given_up)
{
	static const char text[] =
		"{\"stack\": \"ird\", \"link\": {\"rate\": \"100G\"},"
		" \"clock\": {\"virtual\": {\"warmup\": \"20us\", \"duration\": \"400us\"}},"
		" \"host\": {\"read_timeout\": \"30us\", \"write_timeout\": \"30us\"},"
		" \"nodes\": [" PAIRS
		"], \"workload\": [{\"mix\": {\"read\": 1, \"write\": 1, \"write_ack\": 1},"
		" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 100000}, \"depth\": 8}]}";
	json_t *a = whole_run(text, false), *b = whole_run(text, true);

	cr_assert(json_equal(json_object_get(a, "operations"), json_object_get(b, "operations")));
	cr_assert(json_equal(json_object_get(a, "stack"), json_object_get(b, "stack")));
	cr_assert_gt(whole_number(a, "operations.failed_all"), 10);
	cr_assert_gt(whole_number(a, "operations.completed_all"), 100);
	cr_assert_eq(whole_number(a, "operations.completed_all") + whole_number(a, "operations.failed_all"),
		     whole_number(a, "operations.begun_all"));
	cr_assert_eq(whole_number(a, "stack.counters.drop_room"), 0);
	json_decref(a);
	json_decref(b);
}
