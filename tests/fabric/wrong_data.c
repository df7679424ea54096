/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory node whose memory loses a bit under the run: the verdict and the result say where. */
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "fabric/mf_fabric_state.h"
#include "run/mf_fabric.h"

#define ADDR 0x140

static const char file[] =
	"{\"nodes\": [{\"name\": \"quiet\", \"role\": \"compute\"},"
	"{\"name\": \"cn\", \"role\": \"compute\"},"
	"{\"name\": \"mn\", \"role\": \"memory\"}],"
	"\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"100us\"}},"
	"\"workload\": [{\"nodes\": \"cn\", \"mix\": {\"read\": 1}, \"size\": 64, \"span\": 512}]}";

/** One bit of 8 octets, of all that cn reads only those at ADDR. */
static void flip(void *ctx, mf_time now)
{
	const struct mf_fabric *f = *(struct mf_fabric **)ctx;
	const struct mf_memory_ops *ops = f->node[2].memory_ops;
	struct mf_memory *memory = f->node[2].memory;
	uint64_t octets;

	if (now < MF_US(50) || now >= MF_US(60))
		return;
	cr_assert_eq(mf_memory_read(ops, memory, ADDR, sizeof(octets), &octets), MF_OK);
	octets ^= UINT64_C(1) << 17;
	cr_assert_eq(mf_memory_write(ops, memory, ADDR, sizeof(octets), &octets), MF_OK);
}

Test(wrong_data, the_first_is_told)
{
	struct mf_fabric *f = NULL;
	const struct mf_run_options options = {.tick = flip, .tick_ctx = &f, .tick_period = MF_US(10)};
	struct mf_config config;
	char err[256] = "", want[256];
	json_t *all, *operations, *first;
	json_int_t n;

	cr_assert_eq(mf_config_parse(file, strlen(file), "x", &config, err, sizeof(err)), 0, "%s", err);
	f = mf_fabric_new(&config, MF_CLOCK_VIRTUAL, err, sizeof(err));
	cr_assert_not_null(f, "%s", err);
	cr_assert_eq(mf_fabric_run(f, &options), 0);
	all = mf_fabric_result(f);
	operations = json_object_get(json_object_get(all, "result"), "operations");
	n = json_integer_value(json_object_get(operations, "mismatches"));
	cr_assert_gt(n, 1);
	first = json_pack("[{s:s, s:s, s:s, s:i, s:i}]", "node", "cn", "kind", "read", "memory_node", "mn",
			  "address", ADDR, "octets", 64);
	cr_expect(json_equal(json_object_get(operations, "first_mismatches"), first));
	cr_expect_not(mf_fabric_sound(f, err, sizeof(err)));
	snprintf(want, sizeof(want),
		 "cn: %lld reads returned wrong data, the first a read of 64 octets of mn at 0x140",
		 (long long)n);
	cr_expect_str_eq(err, want);
	json_decref(first);
	json_decref(all);
	mf_fabric_free(f);
	mf_config_free(&config);
}

static const char sink[] =
	"{\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\"},"
	"{\"name\": \"mn\", \"role\": \"memory\", \"memory\": {\"type\": \"sink\"}}],"
	"\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"20us\"}},"
	"\"workload\": [{\"mix\": {\"read\": 1, \"write\": 1}, \"size\": 64, \"span\": 512}]}";

/** Octets that do not belong to their address. */
static void write_wrong(void *ctx, mf_time now)
{
	const struct mf_fabric *f = *(struct mf_fabric **)ctx;

	if (now >= MF_US(10))
		mf_memory_write(f->node[1].memory_ops, f->node[1].memory, ADDR, 64,
				mf_sink_content(ADDR + 64));
}

Test(wrong_data, a_sink_tells_it)
{
	struct mf_fabric *f = NULL;
	const struct mf_run_options options = {.tick = write_wrong, .tick_ctx = &f, .tick_period = MF_US(10)};
	struct mf_config config;
	char err[256] = "", want[256];
	json_t *all, *operations, *sinks;
	json_int_t n;

	cr_assert_eq(mf_config_parse(sink, strlen(sink), "x", &config, err, sizeof(err)), 0, "%s", err);
	f = mf_fabric_new(&config, MF_CLOCK_VIRTUAL, err, sizeof(err));
	cr_assert_not_null(f, "%s", err);
	cr_assert_eq(mf_fabric_run(f, &options), 0);
	all = mf_fabric_result(f);
	operations = json_object_get(json_object_get(all, "result"), "operations");
	sinks = json_object_get(operations, "sinks");
	n = json_integer_value(json_object_get(sinks, "wrong"));
	cr_assert_gt(n, 0);
	cr_expect_gt(json_integer_value(json_object_get(sinks, "writes")), n);
	cr_expect_gt(json_integer_value(json_object_get(operations, "verified")), 0);
	cr_expect_eq(json_integer_value(json_object_get(operations, "mismatches")), 0);
	cr_expect_not(mf_fabric_sound(f, err, sizeof(err)));
	snprintf(want, sizeof(want), "mn: %lld pieces of writes were wrong, the first of 64 octets at 0x140",
		 (long long)n);
	cr_expect_str_eq(err, want);
	json_decref(all);
	mf_fabric_free(f);
	mf_config_free(&config);
}
