/* SPDX-License-Identifier: BSD-3-Clause */
/* Table 1 of the other stacks: the stages of an operation on an idle fabric, against the paper's parts. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "run/mf_fabric.h"

static const char text[] =
	"{\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"200us\"}}, \"stack\": \"%s\","
	" \"nodes\": [{\"name\": \"cn\", \"role\": \"compute\"}, {\"name\": \"mn\", \"role\": \"memory\"}],"
	" \"link\": {\"rate\": \"25G\", \"propagation\": \"10ns\"},"
	" \"workload\": [{\"mix\": {\"read\": 1, \"write\": 1}, \"size\": 64, \"loop\": \"open\","
	"                 \"rate\": 100000, \"arrival\": \"constant\", \"depth\": 1}],"
	" \"report\": {\"stages\": true}}";

/** What the paper prints, ns, and how far its rounding may be off. */
static const struct {
	const char *stack;
	double read, write, protocol;
} paper[] = {{"ethernet", 1114.88, 557.44, 0},
	     {"rocev2", 2035.68, 1017.84, 230.2},
	     {"tcp", 3779.68, 1889.84, 666.2}};

/** A row of the table of a kind: what was measured, ns. */
static double row(const json_t *kind, const char *part, const char *key)
{
	const json_t *table = json_object_get(kind, "table");

	for (size_t i = 0; i < json_array_size(table); i++) {
		const json_t *r = json_array_get(table, i);

		if (strcmp(json_string_value(json_object_get(r, "part")), part) == 0)
			return json_real_value(json_object_get(r, key));
	}
	cr_assert_fail("no row %s", part);
	return NAN;
}

static void check_kind(const json_t *stages, const char *name, double total, double protocol,
		       unsigned int times)
{
	const json_t *kind = json_object_get(stages, name);

	cr_assert_not_null(kind, "no %s", name);
	cr_assert_float_eq(row(kind, "fabric latency", "ns"), total, 0.005, "%s", name);
	cr_assert_float_eq(row(kind, "fabric latency", "paper_ns"), total, 0.005, "%s", name);
	cr_assert_float_eq(row(kind, "compute node: stack", "ns"), times * protocol, 0.005);
	cr_assert_float_eq(row(kind, "memory node: stack", "ns"), times * protocol, 0.005);
	cr_assert_float_eq(row(kind, "switch: layer 2", "ns"), times * 400.0, 0.005);
}

/** The parts add up to what the paper's do, and, with what they leave out, to what was measured. */
Test(table1, stacks_above_the_mac)
{
	for (size_t i = 0; i < sizeof(paper) / sizeof(paper[0]); i++) {
		char file[sizeof(text) + 64], err[256];
		int n = snprintf(file, sizeof(file), text, paper[i].stack);
		struct mf_run_options options = {0};
		struct mf_config config;
		struct mf_fabric *f;
		json_t *all, *stages;

		cr_assert_eq(mf_config_parse(file, (size_t)n, "table1", &config, err, sizeof(err)), 0, "%s",
			     err);
		f = mf_fabric_new(&config, MF_CLOCK_VIRTUAL, err, sizeof(err));
		cr_assert_not_null(f, "%s", err);
		cr_assert_eq(mf_fabric_run(f, &options), 0);
		cr_assert(mf_fabric_sound(f, err, sizeof(err)), "%s: %s", paper[i].stack, err);
		all = mf_fabric_result(f);
		stages = json_object_get(json_object_get(all, "result"), "stages");
		check_kind(stages, "read", paper[i].read, paper[i].protocol, 2);
		check_kind(stages, "write", paper[i].write, paper[i].protocol, 1);
		json_decref(all);
		mf_fabric_free(f);
		mf_config_free(&config);
	}
}
