/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole fabrics with regions and limits: who may does as without them, and who may not does nothing. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "whole.h"

#define NODES                                                                 \
	"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 4}," \
	"            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}]"

/** Reads, writes and atomics of all clients, verified. @param more  keys with a comma before each */
static json_t *run(const char *mix, const char *regions, const char *more, unsigned int seed)
{
	char text[4096];

	snprintf(
		text, sizeof(text),
		"{\"seed\": %u," NODES ","
		"\"clock\": {\"virtual\": {\"warmup\": \"2us\", \"duration\": \"100us\","
		"                          \"drain\": \"20ms\"}},"
		"\"memory\": {\"size\": \"1MiB\"},"
		"\"host\": {\"read_timeout\": \"30us\", \"write_timeout\": \"30us\"},"
		"\"switch\": {\"grant_timeout\": \"15us\", \"hold_timeout\": \"5us\"},"
		"\"workload\": [{\"mix\": {%s}, \"size\": {\"dist\": \"uniform\", \"min\": 8, \"max\": 9000},"
		"               \"depth\": 5, \"span\": \"64KiB\"}],"
		"\"regions\": [%s]%s}",
		seed, mix, regions, more);
	return whole_run(text, false);
}

#define ALL_OF_IT                                                                         \
	"{\"name\": \"a\", \"size\": \"256KiB\", \"owner\": \"c0\", \"readers\": \"*\", " \
	"\"writers\": \"*\"}"
#define ALL "\"read\": 3, \"write\": 1, \"write_ack\": 2, \"cas\": 1, \"fadd\": 1"

static double refused(const json_t *result)
{
	static const char *const of[] = {"refused", "keys_refused", "owner_refused"}, *const why[] = {
											      "region", "end",
											      "right", "key",
											      "limit"};
	double sum = 0;

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 5; k++) {
			char path[64];

			snprintf(path, sizeof(path), "regions.%s.%s", of[i], why[k]);
			sum += whole_number(result, path);
		}
	return sum;
}

static double failed(const json_t *result, const char *kind)
{
	char path[64];

	snprintf(path, sizeof(path), "operations.kinds.%s.failed", kind);
	return whole_number(result, path);
}

static void ended(const json_t *result)
{
	cr_expect_eq(whole_number(result, "phases.end.under_way"), 0);
	cr_expect_eq(whole_number(result, "phases.end.never_begun"), 0);
	cr_expect_eq(whole_number(result, "operations.mismatches"), 0);
}

/* Each of four regions of two nodes has three keys for each of four clients, asked for once. */
Test(access, who_may_does_as_ever)
{

	for (unsigned int seed = 1; seed <= 3; seed++) {
		json_t *result = run(ALL, ALL_OF_IT, "", seed), *again = run(ALL, ALL_OF_IT, "", seed);

		ended(result);
		cr_expect_gt(whole_number(result, "operations.verified"), 100);
		cr_expect_gt(whole_number(result, "regions.accesses"), 1000);
		cr_expect_eq(whole_number(result, "regions.keys_given"), 2 * 4 * 3);
		cr_expect_eq(refused(result), 0);
		cr_expect_eq(failed(result, "read") + failed(result, "write") + failed(result, "write_ack") +
				     failed(result, "cas"),
			     0);
		cr_expect(json_equal(result, again), "keys of the seed");
		json_decref(result);
		json_decref(again);
	}
}

/* A reader reads; what it writes is refused before it leaves, and nobody is kept waiting. */
Test(access, who_may_not_does_nothing)
{
	json_t *result = run("\"read\": 1, \"write_ack\": 1, \"write\": 1, \"fadd\": 1",
			     "{\"name\": \"a\", \"size\": \"256KiB\", \"readers\": \"*\"}", "", 1);

	ended(result);
	cr_expect_eq(failed(result, "read"), 0);
	cr_expect_gt(whole_number(result, "operations.kinds.read.completed"), 20);
	cr_expect_gt(failed(result, "write"), 20);
	cr_expect_gt(failed(result, "write_ack"), 20);
	cr_expect_gt(failed(result, "fadd"), 20);
	cr_expect_eq(whole_number(result, "operations.kinds.write.completed"), 0);
	cr_expect_eq(whole_number(result, "operations.kinds.fadd.completed"), 0);
	cr_expect_gt(whole_number(result, "regions.keys_refused.right"), 60);
	cr_expect_eq(whole_number(result, "regions.refused.right"), 0, "none has left its node");
	json_decref(result);
}

/* A region of one client's own: the others have no key. */
Test(access, a_region_of_ones_own)
{
	json_t *result =
		run("\"read\": 1", "{\"name\": \"a\", \"size\": \"64KiB\", \"owner\": \"c0\"}", "", 1);

	ended(result);
	cr_expect_gt(whole_number(result, "operations.kinds.read.completed"), 50);
	cr_expect_gt(failed(result, "read"), 50, "those of c1, c2 and c3 are in no region");
	cr_expect_eq(whole_number(result, "regions.keys_given"), 2);
	json_decref(result);
}

/* Links that lose messages, those that ask for keys among them; a node that is started again has new keys. */
Test(access, with_faults)
{
	static const char *const faults[] = {
		", \"faults\": [{\"class\": \"lose\", \"rate\": 0.01}, {\"class\": \"bit\", \"rate\": 1e-5}]",
		", \"faults\": [{\"class\": \"node_crash\", \"node\": \"m0\", \"from\": \"20us\", "
		"\"until\": \"40us\"}]",
		", \"faults\": [{\"class\": \"node_crash\", \"node\": \"c1\", \"from\": \"20us\", "
		"\"until\": \"40us\"}]",
	};

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int seed = 1; seed <= 3; seed++) {
			json_t *result =
				run("\"read\": 3, \"write_ack\": 2, \"cas\": 1", ALL_OF_IT, faults[i], seed);

			ended(result);
			cr_expect_gt(whole_number(result, "operations.verified"), 10, "%u %u: %g", i, seed,
				     whole_number(result, "operations.verified"));
			cr_expect_eq(refused(result), 0, "fault %u", i);
			cr_expect_geq(whole_number(result, "regions.keys_given"), i == 0 ? 12 : 2 * 4 * 3 + 3,
				      "%u %u: %g", i, seed, whole_number(result, "regions.keys_given"));
			json_decref(result);
		}
}

/*
 * A node that knows all keys asks for what it may not, in all manners; it is answered as any that may not,
 * and finds nothing in what it claims. The others do not notice.
 */
Test(access, who_forges_learns_nothing)
{
	static const char text[] =
		"{\"seed\": %u," NODES ","
		"\"clock\": {\"virtual\": {\"warmup\": \"2us\", \"duration\": \"100us\","
		"                         \"drain\": \"20ms\"}},"
		"\"memory\": {\"size\": \"1MiB\"},"
		"\"workload\": [{\"span\": \"64KiB\", \"size\": 256}],"
		"\"regions\": [{\"name\": \"a\", \"size\": \"256KiB\", \"owner\": \"c0\", \"readers\": \"*\","
		"               \"writers\": [\"c0\", \"c1\", \"c2\"]},"
		"              {\"name\": \"free\", \"at\": \"256KiB\", \"size\": 256}],"
		"\"faults\": [{\"class\": \"forge\", \"node\": \"c3\", \"rate\": 0.05}]}";

	for (unsigned int seed = 1; seed <= 3; seed++) {
		char fabric[sizeof(text) + 16];
		json_t *result;

		snprintf(fabric, sizeof(fabric), text, seed);
		result = whole_run(fabric, false);
		ended(result);
		cr_expect_gt(whole_number(result, "forged.refused"), 100);
		cr_expect_gt(whole_number(result, "forged.claimed"), 0);
		cr_expect_eq(whole_number(result, "forged.let_in"), 0);
		cr_expect_eq(whole_number(result, "forged.told"), 0);
		cr_expect_eq(whole_number(result, "forged.found"), 0);
		cr_expect_gt(whole_number(result, "regions.refused.key"), 10);
		cr_expect_gt(whole_number(result, "regions.refused.right"), 0);
		cr_expect_gt(whole_number(result, "regions.refused.end"), 0);
		cr_expect_gt(whole_number(result, "regions.refused.region"), 0);
		json_decref(result);
	}
}
