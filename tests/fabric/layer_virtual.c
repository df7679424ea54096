/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer between clients and hosts (systems/mf_layer.h): a toy cache, with every stack, under the virtual
 * clock, verified, also where nodes and their targets crash; spans and single blocks give the same result.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "layer.h"

#define STACKS 8

static const char *const stacks[STACKS] = {"edm",     "ethernet", "dctcp", "rocev2",
					   "pfabric", "ird",      "cxl",   "fastpass"};
static const struct mf_run_options spans, blocks = {.block_by_block = true};

static void fabric_of(char *text, size_t len, const char *stack, const char *more)
{
	char what[64] = "";

	if (strcmp(stack, "edm") != 0)
		snprintf(what, sizeof(what), "\"stack\": \"%s\",", stack);
	snprintf(text, len,
		 "{\"seed\": 5, %s %s \"memory\": {\"size\": \"1MiB\"},"
		 "\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"400us\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 3},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}]," LAYER_WORKLOAD "}",
		 what, more);
}

ParameterizedTestParameters(layer, stack)
{
	static int at[STACKS];

	for (int i = 0; i < STACKS; i++)
		at[i] = i;
	return cr_make_param_array(int, at, STACKS);
}

ParameterizedTest(int *at, layer, stack)
{
	struct toy_cache_counts counts = {0};
	json_t *with, *again, *without;
	char text[2048];

	fabric_of(text, sizeof(text), stacks[*at], "");
	with = layer_run(text, MF_CLOCK_VIRTUAL, &spans, true, &counts);
	cr_log_info("%s: %" PRIu64 " hits, %" PRIu64 " misses, %" PRIu64 " fills", stacks[*at], counts.hits,
		    counts.misses, counts.fills);
	cr_expect_gt(counts.hits, 30);
	cr_expect_gt(counts.fills, 50);
	cr_expect_gt(counts.writes, 50);
	cr_expect_gt(counts.atomics, 50);
	cr_expect_eq(layer_number(with, "mismatches"), 0);
	cr_expect_gt(layer_number(with, "verified"), 200);
	cr_expect_eq(layer_number(with, "failed_all"), 0);
	again = layer_run(text, MF_CLOCK_VIRTUAL, &blocks, true, &counts);
	cr_expect(json_equal(with, again), "%s: block by block is not the same", stacks[*at]);
	without = layer_run(text, MF_CLOCK_VIRTUAL, &spans, true, NULL);
	cr_expect_gt(layer_number(with, "completed_all"), layer_number(without, "completed_all"),
		     "%s: what is cached is not faster", stacks[*at]);
	json_decref(with);
	json_decref(again);
	json_decref(without);
}

/** Of each kind of node one crashes again and again. Its cache, or its lines in the others', are gone. */
Test(layer, nodes_crash)
{
	struct toy_cache_counts counts = {0};
	char text[2048];
	json_t *r;

	fabric_of(text, sizeof(text), "edm",
		  "\"host\": {\"once\": true}, \"faults\": ["
		  "{\"class\": \"node_crash\", \"node\": \"c0\", \"from\": \"20us\", \"every\": \"50us\","
		  " \"for\": \"5us\"},"
		  "{\"class\": \"node_crash\", \"node\": \"m0\", \"from\": \"30us\", \"every\": \"40us\","
		  " \"for\": \"5us\"}],");
	r = layer_run(text, MF_CLOCK_VIRTUAL, &spans, false, &counts);
	cr_log_info("%" PRIu64 " hits, %" PRIu64 " times lost, %" PRIu64 " crashes, %lld verified",
		    counts.hits, counts.lost, counts.crashes, (long long)layer_number(r, "verified"));
	cr_expect_geq(counts.crashes, 3);
	cr_expect_geq(counts.lost, 6);
	cr_expect_gt(counts.hits, 50);
	cr_expect_gt(layer_number(r, "verified"), 100);
	cr_expect_eq(layer_number(r, "mismatches"), 0);
	json_decref(r);
}

/** What a cache does wrong is found. */
Test(layer, a_cache_that_is_wrong_is_found)
{
	struct toy_cache_counts counts = {0};
	char text[2048];
	json_t *r;

	toy_cache_stale = true;
	fabric_of(text, sizeof(text), "edm", "");
	r = layer_run(text, MF_CLOCK_VIRTUAL, &spans, false, &counts);
	cr_expect_gt(layer_number(r, "mismatches"), 0);
	json_decref(r);
}

static struct mf_layer *none(const struct mf_layer_config *config)
{
	(void)config;
	errno = ENOMEM;
	return NULL;
}

Test(layer, one_that_cannot_be_made_is_named)
{
	static const struct mf_layer_ops bad = {.name = "nothing", .create = none};
	struct mf_config config;
	char text[2048], err[256] = "";

	fabric_of(text, sizeof(text), "edm", "");
	cr_assert_eq(mf_config_parse(text, strlen(text), "test", &config, err, sizeof(err)), 0, "%s", err);
	config.node[0].layer = &bad;
	cr_expect_null(mf_fabric_new(&config, MF_CLOCK_VIRTUAL, err, sizeof(err)));
	cr_expect_str_eq(err, "c0: cannot set up its layer 'nothing': Cannot allocate memory");
	mf_config_free(&config);
}
