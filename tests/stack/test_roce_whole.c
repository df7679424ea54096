/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole fabrics of rocev2 and pfc under the virtual clock. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../fabric/whole.h"
#include "base/mf_rng.h"

/** Runs it, block by block too if that is wanted: with the identical result, all done, and all right. */
static json_t *run(const char *text, bool by_block)
{
	json_t *r = whole_run(text, false), *b;

	cr_assert_eq(whole_number(r, "operations.failed_all"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0, "%s", text);
	cr_assert_gt(whole_number(r, "operations.completed_all"), 50, "%s", text);
	if (!by_block)
		return r;
	b = whole_run(text, true);
	cr_assert(json_equal(json_object_get(r, "operations"), json_object_get(b, "operations")), "%s", text);
	cr_assert(json_equal(json_object_get(r, "stack"), json_object_get(b, "stack")), "%s", text);
	cr_assert(json_equal(json_object_get(r, "bridge"), json_object_get(b, "bridge")), "%s", text);
	json_decref(b);
	return r;
}

/** Sixteen to one through a small buffer. */
static json_t *incast(const char *stack, const char *bridge, bool by_block)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"stack\": \"%s\", \"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"300us\"}},"
		 "\"switch\": {\"bridge\": {\"name\": \"%s\", \"buffer\": \"256KiB\"}},"
		 "\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 16},"
		 "            {\"name\": \"mn\", \"role\": \"memory\"}], \"link\": {\"rate\": \"100G\"},"
		 "\"workload\": [{\"mix\": {\"read\": 1, \"write\": 1, \"write_ack\": 1},"
		 "                \"size\": 16000, \"depth\": 8}]}",
		 stack, bridge);
	return run(text, by_block);
}

Test(roce_whole, fifo_loses_and_goes_back)
{
	json_t *r = incast("rocev2", "fifo", true);

	cr_expect_gt(whole_number(r, "bridge.counters.drop_buffer"), 0);
	cr_expect_gt(whole_number(r, "stack.counters.went_back"), 0);
	json_decref(r);
}

static void lossless(const char *stack)
{
	json_t *r = incast(stack, "pfc", true);

	cr_expect_gt(whole_number(r, "bridge.counters.pauses"), 0);
	cr_expect_gt(whole_number(r, "stack.counters.pauses_received"), 0);
	cr_expect_gt(whole_number(r, "stack.counters.resumes_received"), 0);
	cr_expect_gt(whole_number(r, "bridge.counters.headroom_max_octets"), 0);
	cr_expect_eq(whole_number(r, "bridge.counters.drop_buffer"), 0);
	cr_expect_eq(whole_number(r, "bridge.counters.drop_tail"), 0);
	cr_expect_eq(whole_number(r, "bridge.counters.drop_lossy"), 0);
	cr_expect_eq(whole_number(r, "stack.counters.packets_sent"),
		     whole_number(r, "stack.counters.packets_received"));
	cr_expect_eq(whole_number(r, "stack.counters.went_back"), 0);
	json_decref(r);
}

Test(roce_whole, pfc_pauses_and_loses_nothing)
{
	lossless("rocev2");
	lossless("pfc");
}

/** With whatever buffer, thresholds and links: what is accepted loses nothing, and nothing is sent again. */
Test(roce_whole, pfc_loses_nothing_with_whatever_is_accepted)
{
	static const char *const rate[] = {"25G", "40G", "100G"};
	uint64_t seed = 8021;
	struct mf_rng rng;
	char text[2048];

	mf_rng_init(&rng, seed, "pfc", 0);
	for (unsigned int i = 0; i < 12; i++) {
		json_t *r;

		snprintf(
			text, sizeof(text),
			"{\"stack\": {\"name\": \"%s\", \"class\": 5, \"path_mtu\": %u},"
			"\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"60us\"}}, \"seed\": %u,"
			"\"switch\": {\"bridge\": {\"name\": \"pfc\", \"mtu\": 5000, \"classes\": 32,"
			"  \"buffer\": %u, \"xoff\": %u, \"resume\": %u, \"quanta\": %u, \"kmin\": 0}},"
			"\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 8},"
			"            {\"name\": \"mn\", \"role\": \"memory\"}],"
			"\"link\": {\"rate\": \"%s\", \"propagation\": \"%uns\"},"
			"\"links\": [{\"node\": \"mn\", \"rate\": \"%s\"}, {\"node\": \"*\"}],"
			"\"workload\": [{\"mix\": {\"read\": 1, \"write\": 1, \"write_ack\": 1},"
			"                \"size\": 16000, \"depth\": 8}]}",
			mf_rng_below(&rng, 2) ? "pfc" : "rocev2", 256u << mf_rng_below(&rng, 5), i + 1,
			320000 + (unsigned int)mf_rng_below(&rng, 100000),
			(unsigned int)mf_rng_below(&rng, 2) * (unsigned int)mf_rng_below(&rng, 1 << 20),
			(unsigned int)mf_rng_below(&rng, 6000), 400 + (unsigned int)mf_rng_below(&rng, 60000),
			rate[mf_rng_below(&rng, 3)], (unsigned int)mf_rng_below(&rng, 300),
			rate[mf_rng_below(&rng, 3)]);
		r = run(text, false);
		cr_expect_eq(whole_number(r, "bridge.counters.drop_buffer"), 0, "seed %lu: %s", seed, text);
		cr_expect_eq(whole_number(r, "bridge.counters.drop_tail"), 0, "seed %lu: %s", seed, text);
		cr_expect_eq(whole_number(r, "bridge.counters.drop_lossy"), 0, "seed %lu: %s", seed, text);
		cr_expect_eq(whole_number(r, "bridge.counters.drop_long"), 0, "seed %lu: %s", seed, text);
		cr_expect_gt(whole_number(r, "bridge.counters.pauses"), 0, "seed %lu: %s", seed, text);
		cr_expect_eq(whole_number(r, "stack.counters.packets_sent_again"), 0, "seed %lu: %s", seed,
			     text);
		json_decref(r);
	}
}

/** Marks come first: DCQCN holds the queue below what pauses. */
Test(roce_whole, dcqcn_notifies)
{
	json_t *r = incast("pfc", "pfc", false);
	double cnps = whole_number(r, "stack.counters.cnps_sent");

	cr_expect_gt(whole_number(r, "bridge.counters.marked"), 0);
	cr_expect_gt(cnps, 0);
	cr_expect_eq(whole_number(r, "stack.counters.cnps_received"), cnps);
	/* At most one in 50 us of each of 16 flows, both ways. */
	cr_expect_leq(cnps, 2 * 16 * (1 + whole_number(r, "time.ended_ps") / 50e6));
	json_decref(r);
}

/** Two flows at one port: after some milliseconds neither has much more than the other. */
Test(roce_whole, dcqcn_is_fair)
{
	static const char text[] =
		"{\"stack\": \"pfc\", \"clock\": {\"virtual\": {\"warmup\": \"10ms\","
		" \"duration\": \"20ms\"}}, \"host\": {\"write_timeout\": \"1s\"},"
		"\"nodes\": [{\"name\": \"a\", \"role\": \"compute\"},"
		"            {\"name\": \"b\", \"role\": \"compute\"},"
		"            {\"name\": \"m\", \"role\": \"memory\"}], \"link\": {\"rate\": \"25G\"},"
		"\"workload\": [{\"nodes\": \"a\", \"mix\": {\"write\": 1}, \"size\": 100000,"
		"               \"depth\": 4, \"span\": \"1MiB\"},"
		"              {\"nodes\": \"b\", \"mix\": {\"write_ack\": 1}, \"size\": 100000,"
		"               \"depth\": 4, \"span\": \"1MiB\"}]}";
	json_t *r = run(text, false);
	double a = whole_number(r, "operations.kinds.write.goodput_gbps");
	double b = whole_number(r, "operations.kinds.write_ack.goodput_gbps");

	cr_expect_gt(whole_number(r, "stack.counters.cnps_received"), 0);
	cr_expect_gt(a + b, 0.75 * 25 * 1024 / 1106, "%g and %g Gb/s", a, b);
	cr_expect_lt(a, 1.5 * b, "%g and %g Gb/s", a, b);
	cr_expect_lt(b, 1.5 * a, "%g and %g Gb/s", a, b);
	json_decref(r);
}
