/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of a test, and the workload of each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "plan.h"

static const char file[] = "{\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 3},"
			   "{\"name\": \"mn\", \"role\": \"memory\", \"count\": 2},"
			   "{\"name\": \"both\", \"role\": \"both\"}], \"memory\": {\"size\": \"8MiB\"}}";

static void load(struct mf_config *config)
{
	char err[256];

	cr_assert_eq(mf_config_parse(file, strlen(file), "x", config, err, sizeof(err)), 0, "%s", err);
}

static void apply(const struct test *t, const struct point *p, enum mf_clock clock, struct mf_config *config)
{
	char err[256];

	cr_assert_eq(plan_apply(t, p, clock, config, err, sizeof(err)), 0, "%s", err);
}

/* Every test at every setting that fits is taken by the checks of the fabric file. */
Test(plan, whatever_fits_is_taken)
{
	struct mf_config config;
	unsigned int taken = 0;
	char reason[256];

	load(&config);
	for (unsigned int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t size = 1; size <= MF_CONFIG_TRANSFER_MAX; size *= 7)
			for (unsigned int k = 0; k < 16; k++) {
				struct test t = {
					.kind = kind,
					.size = kind == TEST_ATOMIC_LAT ? 8 : size,
					.depth = k % 4 * 5,
					.clients = k / 4 % 2 == 0 ? 0 : TEST_CLIENTS_ALL,
					.rate = k / 8 == 1 && !test_info(kind)->matrix ? 1e6 : 0,
				};
				struct point *points;
				int n;

				if (plan_fits(&t, &config, test_size(&t), reason, sizeof(reason)) != 0)
					continue;
				n = plan_points(&t, &config, &points);
				cr_assert_gt(n, 0);
				for (int i = 0; i < n; i++)
					apply(&t, &points[i], k % 2 ? MF_CLOCK_WALL : MF_CLOCK_VIRTUAL,
					      &config);
				taken += (unsigned int)n;
				free(points);
			}
	cr_assert_gt(taken, 200);
	mf_config_free(&config);
}

Test(plan, what_does_not_fit_is_told)
{
	struct mf_config config;
	struct test t = {.kind = TEST_READ_BW};
	char reason[256];

	load(&config);
	cr_assert_eq(plan_fits(&t, &config, 512 << 10, reason, sizeof(reason)), 0, "%s", reason);
	cr_assert_eq(plan_fits(&t, &config, (512 << 10) + 1, reason, sizeof(reason)), -EINVAL);
	cr_assert_not_null(strstr(reason, "more than the memory of mn0, 8MiB"), "%s", reason);
	t.clients = 2;
	cr_assert_eq(plan_fits(&t, &config, 512 << 10, reason, sizeof(reason)), -EINVAL);
	t.depth = 65536;
	cr_assert_eq(plan_fits(&t, &config, 8192, reason, sizeof(reason)), -EINVAL);
	cr_assert_not_null(strstr(reason, "the buffers of a client"), "%s", reason);
	mf_config_free(&config);
}

Test(plan, matrix_has_every_pair_but_a_node_with_itself)
{
	struct mf_config config;
	struct test t = {.kind = TEST_BANDWIDTH_MATRIX};
	struct point *points;
	bool seen[6][6] = {{false}};
	int n;

	load(&config);
	n = plan_points(&t, &config, &points);
	cr_assert_eq(n, 4 * 3 - 1);
	for (int i = 0; i < n; i++) {
		cr_assert_neq(points[i].compute, points[i].memory);
		cr_assert_not(seen[points[i].compute][points[i].memory]);
		seen[points[i].compute][points[i].memory] = true;
		apply(&t, &points[i], MF_CLOCK_VIRTUAL, &config);
		cr_assert_eq(config.workload[0].clients.node[0], points[i].compute);
		cr_assert_eq(config.workload[0].targets.n, 1);
		cr_assert_eq(config.workload[0].targets.node[0], points[i].memory);
	}
	free(points);
	mf_config_free(&config);
}

Test(plan, probe_is_alone_at_depth_1)
{
	struct mf_config config;
	struct test t = {.kind = TEST_LOADED_LATENCY};
	struct point *points;

	load(&config);
	cr_assert_eq(plan_probe(&t, &config), 5);
	cr_assert_gt(plan_points(&t, &config, &points), 10);
	apply(&t, &points[3], MF_CLOCK_VIRTUAL, &config);
	cr_assert_eq(config.workloads, 2);
	cr_assert_eq(config.workload[0].clients.n, 3);
	cr_assert_eq(config.workload[0].delay, points[3].delay);
	cr_assert_eq(config.workload[0].depth, 16);
	cr_assert_eq(config.workload[1].clients.node[0], 5);
	cr_assert_eq(config.workload[1].depth, 1);
	cr_assert_eq(config.workload[1].delay, 0);
	t.clients = TEST_CLIENTS_ALL;
	cr_assert_eq(plan_probe(&t, &config), -1);
	free(points);
	mf_config_free(&config);
}

/* A write without acknowledgement has no latency but its effect, which the virtual clock alone sees. */
Test(plan, writes_are_acknowledged_where_that_is_the_only_latency)
{
	static const struct {
		enum test_kind kind;
		enum mf_clock clock;
		double rate;
		bool unacknowledged;
	} rule[] = {{TEST_WRITE_LAT, MF_CLOCK_VIRTUAL, 0, true},  {TEST_WRITE_LAT, MF_CLOCK_WALL, 0, false},
		    {TEST_WRITE_LAT, MF_CLOCK_VIRTUAL, 5, false}, {TEST_WRITE_BW, MF_CLOCK_WALL, 0, true},
		    {TEST_WRITE_BW, MF_CLOCK_WALL, 5, false},     {TEST_MIXED, MF_CLOCK_WALL, 0, false},
		    {TEST_MIXED, MF_CLOCK_VIRTUAL, 0, true}};

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct test t = {.kind = rule[i].kind, .rate = rule[i].rate};
		double mix[MF_MIXES];

		test_mix(&t, rule[i].clock, mix);
		cr_assert_eq(mix[MF_MIX_WRITE] > 0, rule[i].unacknowledged, "rule %zu", i);
		cr_assert_eq(mix[MF_MIX_WRITE_ACK] > 0, !rule[i].unacknowledged, "rule %zu", i);
	}
}
