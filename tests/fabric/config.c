/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric file: what it means, and that nothing wrong gets through. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "config/mf_config.h"
#include "base/mf_rng.h"
#include "workload/mf_workload.h"

#include "config_bad.h"
#include "config_file.h"

#define BAD_FILES (sizeof(bad_files) / sizeof(bad_files[0]))

static void assert_empty(const struct mf_config *config)
{
	static const struct mf_config zero;

	cr_assert_eq(memcmp(config, &zero, sizeof(zero)), 0);
}

Test(config, every_bad_file_is_refused_with_its_reason)
{
	for (size_t i = 0; i < BAD_FILES; i++) {
		char path[PATH_LEN], name[256], err[512] = "";
		struct mf_config config;

		snprintf(name, sizeof(name), "%s.json", bad_files[i].file);
		make_path(path, "fabric/bad", name);
		cr_assert_eq(mf_config_load(path, &config, err, sizeof(err)), -EINVAL, "%s: %s", path, err);
		assert_one_line(err);
		assert_empty(&config);
		cr_assert_eq(strncmp(err, path, strlen(path)), 0, "%s", err);
		cr_assert_not_null(strstr(err + strlen(path), bad_files[i].says), "%s\nlacks: %s", err,
				   bad_files[i].says);
		/* Behind the name stands the line, always. */
		cr_assert(err[strlen(path)] == ':' && err[strlen(path) + 1] >= '1' &&
				  err[strlen(path) + 1] <= '9',
			  "%s", err);
	}
}

Test(config, every_bad_file_is_in_the_table)
{
	char path[PATH_LEN];
	struct dirent *e;
	size_t found = 0;
	DIR *dir;

	make_path(path, "fabric/bad", "");
	dir = opendir(path);
	cr_assert_not_null(dir);
	while ((e = readdir(dir)) != NULL) {
		size_t i, len = strlen(e->d_name);

		if (e->d_name[0] == '.')
			continue;
		for (i = 0; i < BAD_FILES; i++) {
			if (strlen(bad_files[i].file) + 5 == len &&
			    strncmp(bad_files[i].file, e->d_name, len - 5) == 0)
				break;
		}
		cr_assert_lt(i, BAD_FILES, "%s", e->d_name);
		found++;
	}
	closedir(dir);
	cr_assert_eq(found, BAD_FILES);
	cr_assert_geq(found, 45);
}

Test(config, files_that_cannot_be_read)
{
	struct mf_config config;
	char err[512] = "";

	cr_assert_eq(mf_config_load("/nonexistent/fabric.json", &config, err, sizeof(err)), -ENOENT);
	cr_assert_str_eq(err, "/nonexistent/fabric.json: No such file or directory");
	assert_empty(&config);
	cr_assert_eq(mf_config_load("/", &config, err, sizeof(err)), -EISDIR);
	cr_assert_str_eq(err, "/: Is a directory");
	cr_assert_eq(mf_config_load("/dev/zero", &config, err, sizeof(err)), -EFBIG);
	cr_assert_str_eq(err, "/dev/zero: File too large: more than 16 MiB");
	cr_assert_eq(mf_config_load("/dev/null", &config, err, sizeof(err)), -EINVAL);
	cr_assert_eq(mf_config_load("a\nb", &config, err, sizeof(err)), -ENOENT);
	assert_one_line(err);
	cr_assert_eq(mf_config_load("/nonexistent", &config, err, 5), -ENOENT);
	cr_assert_str_eq(err, "/non");
}

Test(config, octets_that_are_not_text)
{
	static const char not_utf8[] = "{\n\"name\": \"\xff\xfe\"}", nul[] = "{\"seed\"\0: 1}";
	struct mf_config config;
	char err[256] = "";

	cr_assert_eq(parse(not_utf8, &config, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "x:2:9: unable to decode byte 0xff near '\"'");
	cr_assert_eq(mf_config_parse(nul, sizeof(nul) - 1, "x", &config, err, sizeof(err)), -EINVAL);
	cr_assert_eq(strncmp(err, "x:1:", 4), 0, "%s", err);
}

Test(config, lines_of_keys)
{
	static const char text[] = "{\n \"nodes\": [{\"name\": \"a\", \"role\": \"compute\"},\n"
				   "  {\"name\": \"b {\\\"[,\", \n\"role\": \"memory\"}],\n"
				   " \"seed\": %s,\n \"workload\": [{\"mix\": {\n\"read\": %s}}]\n}";
	char buf[512], err[256];
	struct mf_config config;

	snprintf(buf, sizeof(buf), text, "1", "1");
	cr_assert_eq(parse(buf, &config, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "x:3: nodes[1].name: 'b {\"[,' is not a name of letters, digits, '_' and '-'");
	snprintf(buf, sizeof(buf), text, "[1, {\"a\": \"]}\"}]", "1");
	cr_assert_eq(parse(buf, &config, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "x:5: seed: must be a whole number, is an array");
	snprintf(buf, sizeof(buf), text, "1", "{}");
	memcpy(strstr(buf, "b {\\\"[,"), "b______", 7);
	cr_assert_eq(parse(buf, &config, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "x:7: workload[0].mix.read: must be a number, is an object");
}

Test(config, a_short_buffer_for_the_message)
{
	struct mf_config config;
	char err[8];

	cr_assert_eq(parse("{\"no_such_key\": 1}", &config, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "x:1: no");
}

Test(config, defaults)
{
	static const uint32_t testbed25[] = {1, 1, 4, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 4, 2, 2, 0};
	struct mf_config c;

	load(&c, "fabric/good", "smallest.json");
	cr_assert_eq(c.seed, 1);
	cr_assert_eq(c.clock[MF_CLOCK_WALL].duration, MF_SEC(3));
	cr_assert_eq(c.clock[MF_CLOCK_VIRTUAL].duration, MF_MS(2));
	cr_assert_str_eq(c.tier->timing_profile, "testbed25");
	for (int i = 0; i < MF_STAGE_PMA; i++)
		cr_assert_eq(c.tier->timing.cost[i], testbed25[i] * 2560, "%s", mf_stage_name(i));
	cr_assert_eq(c.tier->timing.cost[MF_STAGE_PMA], MF_NS(19));
	cr_assert_not(c.tier->proto.check32);
	cr_assert_eq(c.slots, 2);
	cr_assert_eq(c.nodes, 2);
	cr_assert_str_eq(c.tier->sched.policy, "pim");
	cr_assert_eq(c.tier->sched.chunk[MF_CLOCK_WALL], 4096);
	cr_assert_eq(c.tier->sched.chunk[MF_CLOCK_VIRTUAL], 256);
	cr_assert_eq(c.tier->sched.x, 3);
	cr_assert_eq(c.tier->sched.window, 16384);
	cr_assert_eq(c.tier->sched.insert + c.tier->sched.iteration, 0);
	cr_assert(c.node[0].up && c.node[0].compute && !c.node[0].memory && c.node[0].memory_enabled);
	cr_assert(c.node[1].up && !c.node[1].compute && c.node[1].memory);
	cr_assert_eq(c.node[1].memory_config.size, 64 << 20);
	cr_assert_eq(c.node[1].memory_config.dram, MF_NS(82));
	cr_assert_eq(c.node[1].memory_config.numa_node, -1);
	cr_assert_eq(c.node[0].link.period, 2560);
	cr_assert_eq(c.node[0].link.propagation, MF_NS(10));
	cr_assert_eq(c.node[0].host.quarantine[MF_CLOCK_VIRTUAL], MF_MS(100));
	cr_assert_eq(c.scheduler_own_lcore, MF_AUTO);
	cr_assert_eq(c.workloads + c.ethernets, 0);
	mf_config_free(&c);
	assert_empty(&c);
}

Test(config, groups_ports_and_sets)
{
	static const char *const at[] = {"cn1", "cn0", "cn2", "plain", NULL, NULL, "mn0", "mn1"};
	struct mf_config c;

	load(&c, "fabric/good", "groups.json");
	cr_assert_eq(c.nodes, 6);
	cr_assert_eq(c.slots, 8);
	for (int p = 0; p < 8; p++) {
		cr_assert_eq(c.node[p].up, at[p] != NULL);
		if (at[p] == NULL)
			continue;
		cr_assert_str_eq(c.node[p].name, at[p]);
		cr_assert_eq(mf_config_node(&c, at[p]), p);
	}
	cr_assert_eq(mf_config_node(&c, "cn"), -ENOENT);
	cr_assert_not(c.node[3].memory_enabled);
	cr_assert_eq(c.node[0].link.policy, MF_MUX_NO_PREEMPT);
	cr_assert_eq(c.node[0].link.period, 2560);
	cr_assert_eq(c.node[6].link.period, 640);
	cr_assert_eq(c.node[7].link.period, 640);
	cr_assert(c.workload[0].clients.n == 1 && c.workload[0].clients.node[0] == 0);
	cr_assert(c.workload[0].targets.n == 1 && c.workload[0].targets.node[0] == 7);
	cr_assert(c.workload[1].clients.n == 2 && c.workload[1].clients.node[1] == 2);
	cr_assert_eq(c.workload[1].targets.n, 2);
	cr_assert(c.node[0].workload == 0 && c.node[2].workload == 1 && c.node[2].client == 1);
	cr_assert(c.node[6].workload == -1 && c.node[6].ethernet == -1);
	cr_assert(c.ethernet[0].from.n == 1 && c.ethernet[0].to.n == 6);
	cr_assert(c.node[3].ethernet == 0 && c.node[3].frames_to == 0);
	mf_config_free(&c);
}

Test(config, faults)
{
	struct mf_config c;

	load(&c, "fabric/good", "faults.json");
	cr_assert_eq(c.faults, 16);
	cr_expect_eq(c.fault[0].class, MF_FAULT_BIT);
	cr_expect_eq(c.fault[0].link.n, 3);
	cr_expect_eq(c.fault[0].until, MF_NEVER);
	cr_expect_eq(c.fault[1].link.n, 2);
	cr_expect_eq(c.fault[1].direction, MF_CONFIG_UP);
	cr_expect_eq(c.fault[1].from, MF_US(5));
	cr_expect_eq(c.fault[1].until, MF_MS(1));
	cr_expect_eq(c.fault[1].count, 3);
	cr_expect_eq(c.fault[2].time, MF_US(2));
	cr_expect_eq(c.fault[2].direction, MF_CONFIG_DOWN);
	cr_expect_eq(c.fault[3].class, MF_FAULT_LINK_DOWN);
	cr_expect_eq(c.fault[3].every, MF_US(50));
	cr_expect_eq(c.fault[3].length, MF_US(5));
	cr_expect_eq(c.fault[4].link.n, 3);
	cr_expect_eq(c.fault[5].role, MF_CONFIG_SWITCH);
	cr_expect_eq(c.fault[6].role, MF_CONFIG_SCHED);
	cr_expect_eq(c.fault[7].role, MF_CONFIG_NODES);
	cr_expect_eq(c.fault[7].link.n, 2);
	cr_expect_eq(c.fault[8].what, MF_CONFIG_SWITCH_POOL);
	cr_expect_str_eq(mf_config_what_name(&c, &c.fault[8]), "requests");
	cr_expect_eq(c.fault[9].what, MF_CONFIG_PORT_POOL);
	cr_expect_str_eq(mf_config_what_name(&c, &c.fault[9]), "egress");
	cr_expect_eq(c.fault[10].to.n, 1);
	cr_expect_eq(c.fault[13].what, MF_CONFIG_RING);
	cr_expect_eq(c.fault[14].what, MF_CONFIG_MBUFS);
	cr_expect_eq(c.fault[14].link.n, 2);
	cr_expect_eq(c.fault[15].role, MF_CONFIG_LCORE);
	cr_expect_eq(c.fault[15].lcore, 3);
	mf_config_free(&c);
}

Test(config, test_patterns)
{
	struct mf_config c;

	load(&c, "fabric/good", "test_patterns.json");
	cr_assert_eq(c.tests, 3);
	cr_expect_eq(c.test[0].pattern.kind, MF_TEST_PSEUDO_RANDOM);
	cr_expect_eq(c.test[0].pattern.data, MF_TEST_ZEROS);
	cr_expect_eq(c.test[0].pattern.seed_a, 1);
	cr_expect_eq(c.test[0].pattern.seed_b, MF_TEST_SEED_MAX);
	cr_expect(c.test[0].from == MF_US(10) && c.test[0].until == MF_US(20));
	cr_expect_eq(c.test[0].direction, MF_CONFIG_UP);
	cr_expect_eq(c.test[0].link.n, 1);
	cr_expect_eq(c.test[1].sw, 1);
	cr_expect_eq(c.test[1].pattern.run, 11);
	cr_expect_eq(c.test[1].direction, MF_CONFIG_BOTH);
	cr_expect_eq(c.test[1].link.n, 3);
	cr_expect_eq(c.test[2].pattern.kind, MF_TEST_PRBS31);
	cr_expect_eq(c.test[2].link.n, 3);
	mf_config_free(&c);
}

Test(config, everything)
{
	struct mf_config c;

	load(&c, "fabric/good", "everything.json");
	cr_assert_eq(c.tier->sched.insert, 2000);
	cr_assert_eq(c.tier->sched.iteration, 1600);
	cr_assert(c.tier->sched.srpt_transfer && c.tier->sched.priority == MF_SCHED_SRPT);
	cr_assert_eq(c.tier->timing.cost[MF_STAGE_FORWARD], 5 * 640);
	cr_assert_eq(c.tier->timing.cost[MF_STAGE_PMA], 19500);
	cr_assert_eq(c.node[4].host.x, 5);
	cr_assert_eq(c.node[4].host.mega, 4);
	cr_assert_eq(c.node[mf_config_node(&c, "both")].host.x, 7);
	cr_assert_eq(c.node[0].link.period, 320);
	cr_assert_eq(c.node[0].memory_config.size, 1 << 30);
	cr_assert_eq(c.node[0].memory_config.dram, MF_NS(70));
	cr_assert_not(c.node[0].memory_config.huge_pages);
	cr_assert_eq(c.node[mf_config_node(&c, "both")].memory_config.dram, MF_NS(90));
	cr_assert_eq(c.workload[0].size.max, 930 * 1460);
	/* Trapezoids between the points, in units of 1460. */
	cr_assert_float_eq(c.workload[0].size.mean / 1460,
			   0.7 * 4 + 0.1 * (4 + 13) / 2 + 0.1 * (13 + 220) / 2 + 0.1 * (220 + 930) / 2, 1e-9);
	cr_assert_float_eq(c.workload[0].mix_sum, 1, 1e-9);
	cr_assert_eq(c.workload[1].size.max, 8);
	cr_assert_float_eq(c.workload[3].size.mean, (64 + 2.5 * 1000) / 3.5, 1e-9);
	cr_assert_eq(c.workload[3].size.max, 4096);
	cr_assert(c.workload[4].open && c.workload[4].depth == 1024 && c.workload[4].rate == 0);
	mf_config_free(&c);
}

/* No sender sends to itself, and they spread over the receivers. */
Test(config, frames_have_receivers)
{
	static const char text[] = "{\"nodes\": [{\"name\": \"n\", \"role\": \"ethernet\", \"count\": 9}],"
				   "\"ethernet\": [{\"load\": 0.5, \"to\": [\"n2\", \"n3\", \"n4\"]}]}";
	unsigned int got[9] = {0};
	struct mf_config c;
	char err[256] = "";

	cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s", err);
	for (unsigned int i = 0; i < 9; i++) {
		cr_assert_eq(c.node[i].ethernet, 0);
		cr_assert_neq(c.node[i].frames_to, i);
		got[c.node[i].frames_to]++;
	}
	for (unsigned int i = 2; i < 5; i++)
		cr_assert(got[i] >= 2 && got[i] <= 4, "%u: %u", i, got[i]);
	mf_config_free(&c);
}

Test(config, sizes_as_points)
{
	struct mf_cdf_point p[MF_CONFIG_CDF_MAX];
	struct mf_config c;

	load(&c, "fabric/good", "everything.json");
	cr_assert_eq(mf_config_size_cdf(&c.workload[0].size, p), 6);
	cr_assert(p[1].cum == 0.6 && p[1].size == 4 * 1460 && p[5].cum == 1 && p[5].size == 930 * 1460);
	cr_assert_eq(mf_config_size_cdf(&c.workload[3].size, p), 5);
	for (unsigned int i = 1; i < 5; i++)
		cr_assert(p[i].cum >= p[i - 1].cum && p[i].size >= p[i - 1].size);
	cr_assert(p[0].size == 64 && p[2].size == 1000 && p[4].size == 4096);
	cr_assert_float_eq(p[0].cum, 1 / 3.5, 1e-12);
	cr_assert_eq(p[1].cum, p[0].cum);
	cr_assert_eq(p[4].cum, 1);
	cr_assert_eq(mf_config_size_cdf(&c.workload[4].size, p), 1);
	cr_assert(p[0].cum == 1 && p[0].size == 2048);
	mf_config_free(&c);
}

/* Below 1 Gb/s times are longer by as much as the slowest line is slower; what the file says stays. */
Test(config, defaults_of_slow_lines)
{
	static const char text[] = "{\"stack\": \"tcp\", \"link\": {\"rate\": \"1G\", \"disable\": 4},"
				   "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"%s}, "
				   "{\"name\": \"m\", \"role\": \"memory\"}],"
				   "\"links\": [{\"node\": \"c\"}, {\"node\": \"m\", \"rate\": \"%s\"}]}";
	static const struct {
		const char *rate;
		mf_time times;
	} rows[] = {{"1G", 1}, {"25G", 1}, {"10M", 100}, {"1M", 1000}};
	char buf[1024], err[256] = "";
	struct mf_config c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mf_time n = rows[i].times;

		snprintf(buf, sizeof(buf), text, "", rows[i].rate);
		cr_assert_eq(parse(buf, &c, err, sizeof(err)), 0, "%s", err);
		cr_expect_eq(c.node[0].host.read_timeout[MF_CLOCK_VIRTUAL], n * MF_MS(10));
		cr_expect_eq(c.node[0].host.write_timeout[MF_CLOCK_VIRTUAL], n * MF_MS(10));
		cr_expect_eq(c.node[0].host.quarantine[MF_CLOCK_VIRTUAL], n * MF_MS(100));
		cr_expect_eq(c.node[0].host.read_timeout[MF_CLOCK_WALL], MF_SEC(5));
		cr_expect_eq(c.tier->sw.grant_timeout[MF_CLOCK_VIRTUAL], n * MF_MS(1));
		cr_expect_eq(c.tier->sw.hold_timeout[MF_CLOCK_VIRTUAL], n * MF_US(100));
		cr_expect_eq(c.node[0].link.ber_window, MF_US(125), "the other link is not slow");
		cr_expect_eq(c.node[1].link.ber_window, n * MF_US(125));
		cr_expect_eq(c.node[1].link.disable.within, n * MF_US(125));
		cr_expect_eq(c.clock[MF_CLOCK_VIRTUAL].duration, MF_MS(2));
		mf_config_free(&c);
	}
	snprintf(buf, sizeof(buf), text, ", \"host\": {\"read_timeout\": \"3ms\"}", "1M");
	cr_assert_eq(parse(buf, &c, err, sizeof(err)), 0, "%s", err);
	cr_expect_eq(c.node[0].host.read_timeout[MF_CLOCK_VIRTUAL], MF_MS(3));
	cr_expect_eq(c.node[0].host.write_timeout[MF_CLOCK_VIRTUAL], MF_SEC(10));
	mf_config_free(&c);
}

/* The same of parameters of stacks: times, an exponent, rates; and of a bridge with one of its stack. */
Test(config, parameters_of_slow_lines)
{
	static const char text[] = "{\"stack\": \"%s\", \"link\": {\"rate\": \"%s\"}, \"nodes\": ["
				   "{\"name\": \"c\", \"role\": \"compute\"}, "
				   "{\"name\": \"m\", \"role\": \"memory\"}]}";
	static const struct {
		const char *stack, *bridge, *key;
		double fast, slow; /* at 1 Gb/s, and at 10 Mb/s */
	} rows[] = {{"tcp", NULL, "rto_min", 2e8, 2e10},        {"tcp", NULL, "mss", 1460, 1460},
		    {"rocev2", NULL, "ack_timeout", 8, 15},     {"pfc", NULL, "r_ai", 40, 0.4},
		    {"cxl", "cxl", "replay_timeout", 2e6, 2e8}, {"cxl", "cxl", "latency", 70e3, 70e3}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int slow = 0; slow < 2; slow++) {
			char buf[512], err[256] = "";
			const struct mf_param *p;
			const double *value;
			struct mf_config c;
			size_t k = 0;

			snprintf(buf, sizeof(buf), text, rows[i].stack, slow ? "10M" : "1G");
			cr_assert_eq(parse(buf, &c, err, sizeof(err)), 0, "%s", err);
			p = rows[i].bridge != NULL ? c.tier->bridge_ops->params : c.tier->stack_ops->params;
			value = rows[i].bridge != NULL ? c.tier->bridge.param : c.tier->stack.param;
			while (p[k].key != NULL && strcmp(p[k].key, rows[i].key) != 0)
				k++;
			cr_assert_not_null(p[k].key, "%s", rows[i].key);
			cr_expect_eq(value[k], slow ? rows[i].slow : rows[i].fast, "%s: %g", rows[i].key,
				     value[k]);
			mf_config_free(&c);
		}
}

/* The effective configuration says the same as the file, and says it in one way only. */
Test(config, effective_configuration_reads_back)
{
	static const char *const names[] = {
		"smallest.json",      "groups.json", "greedy_srpt.json", "everything.json", "faults.json",
		"test_patterns.json", "backup.json", "ycsb.json",        "series.json",     "slowest.json",
		"fastest.json",       "shaped.json", "bandwidth.json"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct mf_config a, b;
		char *first, *again, err[512] = "";

		load(&a, "fabric/good", names[i]);
		first = effective(&a);
		cr_assert_eq(parse(first, &b, err, sizeof(err)), 0, "%s: %s", names[i], err);
		again = effective(&b);
		cr_assert_str_eq(first, again);
		cr_assert_eq(a.nodes, b.nodes);
		cr_assert_eq(a.slots, b.slots);
		cr_assert_eq(a.report_series, b.report_series);
		cr_assert_eq(memcmp(&a.tier->timing, &b.tier->timing, sizeof(a.tier->timing)), 0);
		for (unsigned int w = 0; w < a.workloads; w++) {
			cr_assert_eq(a.workload[w].base, b.workload[w].base);
			cr_assert_eq(a.workload[w].size.mean, b.workload[w].size.mean);
			cr_assert_arr_eq(a.workload[w].targets.node, b.workload[w].targets.node,
					 2 * a.workload[w].targets.n);
		}
		free(first);
		free(again);
		mf_config_free(&a);
		mf_config_free(&b);
	}
}

/* Two workloads may meet in a target: then their regions must not. */
Test(config, regions_do_not_overlap)
{
	struct mf_config c;

	load(&c, "fabric/good", "everything.json");
	for (unsigned int i = 0; i < c.workloads; i++) {
		const struct mf_config_workload *a = &c.workload[i];

		for (unsigned int t = 0; t < a->targets.n; t++)
			cr_assert_leq(a->base + a->clients.n * a->span,
				      c.node[a->targets.node[t]].memory_config.size);
		for (unsigned int k = 0; k < i; k++) {
			const struct mf_config_workload *b = &c.workload[k];
			bool meet = false;

			for (unsigned int t = 0; t < a->targets.n; t++)
				for (unsigned int u = 0; u < b->targets.n; u++)
					meet |= a->targets.node[t] == b->targets.node[u];
			cr_assert(!meet || a->base >= b->base + b->clients.n * b->span ||
				  b->base >= a->base + a->clients.n * a->span);
		}
	}
	mf_config_free(&c);
}

Test(config, the_largest_fabric)
{
	static const char text[] = "{\"nodes\": [{\"name\": \"n\", \"role\": \"both\", \"count\": 512}],"
				   "\"workload\": [{\"span\": \"128KiB\"}]}";
	struct mf_config c;
	char err[256] = "";

	cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s", err);
	cr_assert_eq(c.slots, 512);
	cr_assert_str_eq(c.node[511].name, "n511");
	cr_assert_eq(c.workload[0].clients.n, 512);
	mf_config_free(&c);
}

/* All keys that the effective configuration of a full file has are explained. */
static void assert_documented(const char *doc, const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)json, key, value) {
		char quoted[128];

		snprintf(quoted, sizeof(quoted), "`%s`", key);
		cr_assert_not_null(strstr(doc, quoted), "docs/fabric-file.md has no %s", quoted);
		assert_documented(doc, value);
	}
	json_array_foreach(json, i, value)
		assert_documented(doc, value);
}

Test(config, every_key_is_documented)
{
	static const char *const names[] = {"everything.json",    "bandwidth.json", "faults.json",
					    "test_patterns.json", "backup.json",    "ycsb.json",
					    "series.json"};
	size_t len;
	char *doc = slurp("../docs", "fabric-file.md", &len);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = slurp("fabric/good", names[i], &len);
		json_t *json = json_loadb(text, len, 0, NULL);

		cr_assert_not_null(json);
		assert_documented(doc, json);
		json_decref(json);
		free(text);
	}
	free(doc);
}

/* A cut file is never a smaller fabric. */
Test(config, every_prefix_is_refused)
{
	size_t len;
	char *text = slurp("fabric/good", "everything.json", &len);

	while (len > 0 && text[len - 1] != '}')
		len--;
	for (size_t n = 0; n < len; n++) {
		struct mf_config c;
		char err[256] = "";

		cr_assert_eq(mf_config_parse(text, n, "cut", &c, err, sizeof(err)), -EINVAL, "%zu", n);
		assert_one_line(err);
	}
	free(text);
}

static void mutate(struct mf_rng *r, char *text, size_t len)
{
	static const char spice[] = "{}[]\",:0123456789.-eE*truefalsn\\ \n\x01\xff";

	for (uint64_t k = mf_rng_below(r, 4); k != UINT64_MAX; k--) {
		size_t at = mf_rng_below(r, len);

		if (mf_rng_below(r, 2) == 0)
			text[at] = spice[mf_rng_below(r, sizeof(spice) - 1)];
		else
			memmove(text + at, text + mf_rng_below(r, len), 1);
	}
}

/* What a mutated file still says is either refused in one line or reads back from its effective form. */
Test(config, mutated_files)
{
	const uint64_t seed = 41;
	size_t len, taken = 0;
	char *text = slurp("fabric/good", "everything.json", &len), *copy = malloc(len);
	struct mf_rng r;

	mf_rng_init(&r, seed, "mutated", 0);
	for (int i = 0; i < 5000; i++) {
		struct mf_config a, b;
		char err[512] = "", *json;

		memcpy(copy, text, len);
		mutate(&r, copy, len);
		if (mf_config_parse(copy, len, "mutated", &a, err, sizeof(err)) != 0) {
			assert_one_line(err);
			continue;
		}
		taken++;
		json = effective(&a);
		cr_assert_eq(parse(json, &b, err, sizeof(err)), 0, "seed %lu, %d: %s\n%s", seed, i, err,
			     json);
		free(json);
		mf_config_free(&a);
		mf_config_free(&b);
	}
	cr_assert_gt(taken, 50);
	free(text);
	free(copy);
}

/* Memory that runs out at the nth allocation of jansson. */
static long allocations;

static void *scarce(size_t size)
{
	return allocations-- > 0 ? malloc(size) : NULL;
}

Test(config, no_memory)
{
	size_t len;
	char *text = slurp("fabric/good", "groups.json", &len), err[256];
	struct mf_config c;
	json_t *json = NULL;
	int rc = -1;

	json_set_alloc_funcs(scarce, free);
	for (long n = 0; rc != 0 && n < 10000; n++) {
		allocations = n;
		rc = mf_config_parse(text, len, "scarce", &c, err, sizeof(err));
		if (rc != 0)
			assert_one_line(err);
	}
	cr_assert_eq(rc, 0, "%s", err);
	for (long n = 0; json == NULL && n < 10000; n++) {
		allocations = n;
		json = mf_config_to_json(&c);
	}
	allocations = 1 << 20;
	cr_assert_not_null(json);
	json_decref(json);
	mf_config_free(&c);
	free(text);
}
