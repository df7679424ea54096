/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same layer under the wall clock, where nothing is said of time: what it answers is right, with EDM and
 * with a stack of frames, and where nodes crash. It needs EAL: skipped where that cannot start.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "layer.h"
#include "wall/mf_eal.h"

static const char fabric[] =
	"{%s \"memory\": {\"size\": \"1MiB\"}, \"watchdog\": \"0\","
	"\"clock\": {\"wall\": {\"warmup\": \"0\", \"duration\": \"300ms\", \"drain\": \"60s\"}},"
	"\"host\": {\"read_timeout\": \"30s\", \"write_timeout\": \"30s\"%s},"
	"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
	"            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}]," LAYER_WORKLOAD "}";

static void start(const char *text)
{
	struct mf_config config;
	char err[256] = "";

	cr_assert_eq(mf_config_parse(text, strlen(text), "test", &config, err, sizeof(err)), 0, "%s", err);
	if (mf_eal_start_one("layer_wall", &config) != 0)
		cr_skip_test("EAL does not start");
	mf_config_free(&config);
}

static void check(const char *what, const char *host, bool sound, struct toy_cache_counts *counts)
{
	static const struct mf_run_options options;
	char text[2048];
	json_t *r;

	snprintf(text, sizeof(text), fabric, what, host);
	start(text);
	r = layer_run(text, MF_CLOCK_WALL, &options, sound, counts);
	cr_log_info("%" PRIu64 " hits, %" PRIu64 " misses, %" PRIu64 " times lost, %" PRIu64
		    " crashes, %lld verified",
		    counts->hits, counts->misses, counts->lost, counts->crashes,
		    (long long)layer_number(r, "verified"));
	cr_expect_gt(counts->hits, 0);
	cr_expect_gt(counts->fills, 0);
	cr_expect_gt(layer_number(r, "verified"), 0);
	cr_expect_eq(layer_number(r, "mismatches"), 0);
	json_decref(r);
}

Test(layer_wall, edm)
{
	struct toy_cache_counts counts = {0};

	check("", "", true, &counts);
}

Test(layer_wall, rocev2)
{
	struct toy_cache_counts counts = {0};

	check("\"stack\": \"rocev2\",", "", true, &counts);
}

Test(layer_wall, nodes_crash)
{
	struct toy_cache_counts counts = {0};

	check("\"faults\": ["
	      "{\"class\": \"node_crash\", \"node\": \"c0\", \"from\": \"20ms\", \"every\": \"100ms\","
	      " \"for\": \"5ms\"},"
	      "{\"class\": \"node_crash\", \"node\": \"m0\", \"from\": \"50ms\", \"every\": \"80ms\","
	      " \"for\": \"5ms\"}],",
	      ", \"once\": true", false, &counts);
	cr_expect_gt(counts.crashes, 0);
	cr_expect_gt(counts.lost, 0);
}
