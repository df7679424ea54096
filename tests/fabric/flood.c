/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node that asks for as much as it can, all the time: what the reads of the others wait. With limits the
 * 99th percentile stays within 1.5 times what it is without that node, whatever the priority, whomever it
 * asks.
 * (X is 8: 3 reads of a pair do not cover the time of one at load 0.8, whoever else is there.)
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fault/mf_fault.h"
#include "whole.h"

#define WITHIN 1.5
#define LIMITS ", \"limits\": {\"share\": 0.16666, \"burst\": \"4KiB\"}"

/**
 * Five nodes read 64 octets of six memory nodes at random.
 * @param flood  what the sixth one does: an entry of the workload with a comma in front
 */
static double p99(double load, const char *priority, const char *flood, const char *more)
{
	char text[2048];
	json_t *result;
	double p;

	snprintf(text, sizeof(text),
		 "{\"seed\": 7, \"clock\": {\"virtual\": {\"warmup\": \"10us\", \"duration\": \"150us\"}},"
		 "\"scheduler\": {\"x\": 16, \"priority\": \"%s\"},"
		 "\"nodes\": [{\"name\": \"bad\", \"role\": \"compute\", \"host\": {\"queue\": 65536}},"
		 "            {\"name\": \"c\", \"role\": \"compute\", \"count\": 5, \"host\": {\"x\": 8}},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 6}],"
		 "\"workload\": [{\"nodes\": \"c\", \"loop\": \"open\", \"load\": %g, \"depth\": 1024,"
		 "               \"mix\": {\"read\": 1}, \"size\": 64, \"span\": \"1MiB\"}%s]%s}",
		 priority, load, flood, more);
	result = whole_run(text, false);
	cr_assert_gt(whole_number(result, "operations.kinds.read.completed"), 500);
	cr_assert_eq(whole_number(result, "operations.kinds.read.failed"), 0);
	p = whole_number(result, "operations.kinds.read.latency.p99_ns");
	json_decref(result);
	return p;
}

#define FLOOD(target)                                                                                  \
	", {\"nodes\": \"bad\", \"targets\": \"" target "\", \"depth\": 2048, \"mix\": {\"fadd\": 1}," \
	" \"span\": \"1MiB\"}"
#define WRITES(target, size)                                                                              \
	", {\"nodes\": \"bad\", \"targets\": \"" target "\", \"depth\": 48, \"mix\": {\"write_ack\": 1}," \
	" \"size\": \"" size "\", \"span\": \"4MiB\"}"

Test(flood, costs_the_others_its_share_and_no_more)
{
	static const double loads[] = {0.3, 0.5, 0.8};
	static const char *const priorities[] = {"fcfs", "srpt"}, *const floods[] = {FLOOD("m"), FLOOD("m0"),
										     WRITES("m0", "64KiB")};

	for (unsigned int l = 0; l < 3; l++)
		for (unsigned int p = 0; p < 2; p++) {
			double alone = p99(loads[l], priorities[p], "", "");

			for (unsigned int f = 0; f < 3; f++) {
				double held = p99(loads[l], priorities[p], floods[f], LIMITS);

				cr_expect_leq(held, WITHIN * alone, "load %g, %s, flood %u: %g to %g ns",
					      loads[l], priorities[p], f, alone, held);
			}
		}
}

/* It is the limits that hold it: SRPT goes for who always asks for little. */
Test(flood, without_limits_it_takes_the_link)
{
	double alone = p99(0.8, "srpt", "", ""), free = p99(0.8, "srpt", FLOOD("m0"), "");

	cr_expect_gt(free, WITHIN * alone, "%g to %g ns", alone, free);
}

/* Limits are no cost where nobody floods. */
Test(flood, limits_by_themselves)
{
	double alone = p99(0.8, "srpt", "", ""), limited = p99(0.8, "srpt", "", LIMITS);

	cr_expect_leq(limited, 1.1 * alone, "%g to %g ns", alone, limited);
}

/* Demands at a time: who keeps to the limit does not know of it, who does not is refused what is beyond. */
Test(flood, so_many_at_a_time)
{
	for (unsigned int depth = 4; depth <= 16; depth += 6) {
		char text[512];
		json_t *result;
		double refused;

		snprintf(text, sizeof(text),
			 "{\"clock\": {\"virtual\": {\"warmup\": \"0us\", \"duration\": \"100us\"}},"
			 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
			 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 4}],"
			 "\"limits\": {\"outstanding\": 4},"
			 "\"workload\": [{\"nodes\": \"c\", \"depth\": %u,"
			 "               \"size\": 512, \"span\": \"1MiB\","
			 "               \"mix\": {\"read\": 1, \"write_ack\": 1, \"cas\": 1}}]}",
			 depth);
		result = whole_run(text, false);
		refused = whole_number(result, "limits.refused_outstanding");
		cr_expect_eq(whole_number(result, "operations.failed_all"), refused, "depth %u", depth);
		cr_expect(depth > 4 ? refused > 0 : refused == 0, "depth %u: %g", depth, refused);
		cr_expect_gt(whole_number(result, "operations.completed_all"), 500, "depth %u", depth);
		json_decref(result);
	}
}

static bool faults_have(const char *class)
{
	for (unsigned int i = 0; mf_fault_names[i] != NULL; i++)
		if (strcmp(mf_fault_names[i], class) == 0)
			return true;
	return false;
}

/* Requests and notifications at line rate, of up to 1,024 octets, of which the node's host knows nothing. */
Test(flood, of_a_port)
{
	static const double loads[] = {0.3, 0.5, 0.8};
	static const char *const priorities[] = {"fcfs", "srpt"}, *const targets[] = {"m", "m0"};

	if (!faults_have("flood"))
		cr_skip_test("there is no such fault");
	for (unsigned int i = 0; i < 12; i++) {
		const char *priority = priorities[i % 2], *target = targets[i / 2 % 2];
		double load = loads[i / 4], alone = p99(load, priority, "", ""), held;
		char fault[256];

		snprintf(fault, sizeof(fault),
			 LIMITS ", \"faults\": [{\"class\": \"flood\", \"node\": \"bad\", \"to\": \"%s\","
				" \"rate\": 1, \"from\": \"0us\"}]",
			 target);
		held = p99(load, priority, "", fault);
		cr_expect_leq(held, WITHIN * alone, "load %g, %s, to %s: %g to %g ns", load, priority, target,
			      alone, held);
	}
}

/**
 * Two nodes read, swap and write beside five that flood at line rate. Nothing of theirs may be lost, and no
 * descriptor of anybody's: the links push back.
 */
static void nobody_else_loses(const char *sched, const char *fault)
{
	char text[2048];
	json_t *result;

	snprintf(text, sizeof(text),
		 "{\"seed\": 7, \"clock\": {\"virtual\":"
		 " {\"warmup\": \"0us\", \"duration\": \"100us\", \"drain\": \"50ms\"}},"
		 "\"scheduler\": {\"time\": \"asic\"%s}, \"link\": {\"rate\": \"100G\"},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
		 "            {\"name\": \"bad\", \"role\": \"compute\", \"count\": 5},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"workload\": [{\"nodes\": \"c\", \"depth\": 16, \"size\": 64, \"span\": \"1MiB\","
		 "               \"mix\": {\"read\": 2, \"cas\": 1, \"write_ack\": 1}}],"
		 "\"faults\": [{\"class\": \"flood\", \"node\": \"bad\", \"to\": \"m\", \"rate\": 1}%s]}",
		 sched, fault);
	result = whole_sound(text, false);
	cr_expect_gt(whole_number(result, "operations.completed_all"), 50);
	cr_expect_eq(whole_number(result, "operations.failed_all"), 0);
	json_decref(result);
}

Test(flood, behind_a_stalled_scheduler)
{
	nobody_else_loses("", ", {\"class\": \"stall\", \"role\": \"scheduler\","
			      " \"from\": \"5us\", \"until\": \"35us\"}");
}

/* An insert takes 2 us here. */
Test(flood, behind_a_slow_scheduler)
{
	nobody_else_loses(", \"insert\": 1000, \"ghz\": 0.5", "");
}
