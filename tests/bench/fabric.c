/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole fabrics: memfab-emu, run with a fabric file of this folder on as many CPUs as the line says. By
 * its own choice it has an lcore for each of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

#define PATH_LEN 4096
#define DEPTH_MAX 256

struct fabric_param {
	double (*figure)(const json_t *all, double rss);
	unsigned int cpus;
	bool virtual_clock;
	bool scan; /**< the depth that gives the best figure is looked for first */
};

struct fabric {
	const struct bench_line *line;
	const struct fabric_param *param;
	const struct bench_env *env;
	char path[PATH_LEN];
	unsigned int depth; /**< that was found best */
};

static double p50_ns(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/read/latency/p50_ns");
}

static double write_p50_ns(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/write_ack/latency/p50_ns");
}

static double cas_p50_ns(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/cas/latency/p50_ns");
}

static double million_reads(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/read/rate_per_s") / 1e6;
}

static double million_writes(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/write/rate_per_s") / 1e6;
}

static double read_gbps(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/read/goodput_gbps");
}

static double write_gbps(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/kinds/write/goodput_gbps");
}

/** Virtual clock: operations of the whole run, and its whole time, set-up aside. */
static double million_messages(const json_t *all, double rss)
{
	(void)rss;
	return emu_number(all, "result/operations/completed_all") / emu_number(all, "run/cpu_seconds") / 1e6;
}

static double us_a_message(const json_t *all, double rss)
{
	return 1 / million_messages(all, rss);
}

static double peak_mb(const json_t *all, double rss)
{
	(void)all;
	return rss / 1e6;
}

/** Apart from the scheduler's own state, which is N x N. */
static double kb_a_port(const json_t *all, double rss)
{
	return (rss - emu_number(all, "result/scheduler/memory_octets")) / 1e3 /
	       emu_number(all, "result/config/switch/ports");
}

static json_t *run_emu(const struct fabric *f, const char *path, struct emu_cost *cost, char *why)
{
	struct emu_run run = {.fabric = path,
			      .virtual_clock = f->param->virtual_clock,
			      .cpus = f->param->cpus,
			      .warmup = f->param->virtual_clock ? NULL : "50ms"};

	if (!f->param->virtual_clock)
		run.duration = f->env->quick ? "100ms" : "400ms";
	return emu_run(f->env, &run, cost, why);
}

/**
 * Doubles the depth as long as there is room: the best of two runs each. Over the share of the CPU that a run
 * got: on a host with others the depth would be found at which they were quiet.
 */
static int find_depth(struct fabric *f, char *why)
{
	double best = 0;

	for (unsigned int depth = 1; depth <= DEPTH_MAX; depth *= 2)
		for (unsigned int i = 0; i < 2; i++) {
			char path[PATH_LEN];
			json_t *all;
			double figure;

			if (emu_with_depth(f->env, f->path, depth, path, sizeof(path), why) != 0)
				return -EINVAL;
			all = run_emu(f, path, NULL, why);
			if (all == NULL)
				return -EIO;
			figure = f->param->figure(all, 0) / emu_number(all, "run/cpu_share");
			json_decref(all);
			if (figure > best) {
				best = figure;
				f->depth = depth;
			}
		}
	return 0;
}

static void *fabric_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	const struct fabric_param *param = line->param;
	struct fabric *f;

	if (env->cpus < param->cpus) {
		snprintf(why, BENCH_REASON, "needs %u CPUs", param->cpus);
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return NULL;
	f->line = line;
	f->param = param;
	f->env = env;
	snprintf(f->path, sizeof(f->path), "%s/%s", env->fabrics, line->fabric);
	return f;
}

/** What there is to know: which roles were on which lcores, and the depth where it was looked for. */
static void note(const struct fabric *f, const json_t *all, char *why)
{
	const char *placement = json_string_value(json_object_get(json_object_get(all, "run"), "placement"));
	int len = 0;

	why[0] = '\0';
	if (f->param->scan)
		len = snprintf(why, BENCH_REASON, "depth %u of 1 to %u", f->depth, DEPTH_MAX);
	if (!f->param->virtual_clock && placement != NULL)
		snprintf(why + len, BENCH_REASON - (size_t)len, "%s%s", len > 0 ? "; " : "", placement);
}

static int fabric_run(void *state, struct bench_sample *out, char *why)
{
	struct fabric *f = state;
	char path[PATH_LEN];
	struct emu_cost cost;
	json_t *all;

	memcpy(path, f->path, sizeof(path));
	if (f->param->scan) {
		if (f->depth == 0 && find_depth(f, why) != 0)
			return -EIO;
		if (emu_with_depth(f->env, f->path, f->depth, path, sizeof(path), why) != 0)
			return -EINVAL;
	}
	all = run_emu(f, path, &cost, why);
	if (all == NULL)
		return -EIO;
	out->value = f->param->figure(all, cost.rss);
	out->got = emu_number(all, "run/cpu_seconds");
	out->wall = emu_number(all, "run/host_seconds");
	if (!f->param->virtual_clock)
		out->wall *= emu_number(all, "run/lcores");
	note(f, all, why);
	json_decref(all);
	return 0;
}

static const struct bench_ops fabric_ops = {.open = fabric_open, .run = fabric_run, .close = free};

static const struct fabric_param wall_latency = {.figure = p50_ns, .cpus = 1},
				 wall_latency2 = {.figure = p50_ns, .cpus = 2},
				 wall_write2 = {.figure = write_p50_ns, .cpus = 2},
				 wall_cas2 = {.figure = cas_p50_ns, .cpus = 2},
				 wall_write = {.figure = write_p50_ns, .cpus = 1},
				 wall_cas = {.figure = cas_p50_ns, .cpus = 1},
				 wall_rate = {.figure = million_reads, .cpus = 1, .scan = true},
				 wall_rate2 = {.figure = million_reads, .cpus = 2, .scan = true},
				 wall_writes = {.figure = million_writes, .cpus = 1, .scan = true},
				 wall_good = {.figure = read_gbps, .cpus = 1, .scan = true},
				 wall_good2 = {.figure = read_gbps, .cpus = 2, .scan = true},
				 wall_good_writes = {.figure = write_gbps, .cpus = 1, .scan = true};
static const struct bench_line wall_lines[] = {
	{.name = "fabric.read64.latency.1lcore",
	 .what = "64 B read, depth 1, all on one lcore, p50",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "read64.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 300,
	 .param = &wall_latency},
	{.name = "fabric.read64.latency.1lcore.scrambled",
	 .what = "the same with scrambling",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "read64-scrambled.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 450,
	 .param = &wall_latency},
	{.name = "fabric.write64.latency.1lcore",
	 .what = "64 B acknowledged write, the same, p50",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "write64.json",
	 .param = &wall_write},
	{.name = "fabric.cas.latency.1lcore",
	 .what = "compare-and-swap, the same, p50",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "cas.json",
	 .param = &wall_cas},
	{.name = "fabric.read64.rate.1lcore",
	 .what = "64 B reads, best depth, all on one lcore",
	 .unit = "M/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "read64.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 6,
	 .param = &wall_rate},
	{.name = "fabric.write64.rate.1lcore",
	 .what = "64 B writes, best depth, all on one lcore",
	 .unit = "M/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "writes64.json",
	 .param = &wall_writes},
	{.name = "fabric.read4k.goodput.1lcore",
	 .what = "4 KiB reads, best depth, all on one lcore",
	 .unit = "Gb/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "read4k.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 25,
	 .param = &wall_good},
	{.name = "fabric.write4k.goodput.1lcore",
	 .what = "4 KiB writes, best depth, all on one lcore",
	 .unit = "Gb/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "writes4k.json",
	 .param = &wall_good_writes},
	{.name = "fabric.read64.latency.sched",
	 .what = "64 B read, depth 1, scheduler on its own lcore, p50",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "read64.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 1200,
	 .beside = {"reference.ring", "reference.line"},
	 .param = &wall_latency2},
	{.name = "fabric.read64.latency.client",
	 .what = "64 B read, depth 1, client on its own lcore, p50",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "read64-client.json",
	 .goal_kind = BENCH_GOAL_RATIO,
	 .goal = 1,
	 .beside = {"reference.ucx.lat.shm", "reference.ucx.lat.tcp", "reference.memcached",
		    "reference.ring"},
	 .param = &wall_latency2},
	{.name = "fabric.space64.latency.client",
	 .what = "64 B read of an address space, the same, p50",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "space64-client.json",
	 .goal_kind = BENCH_GOAL_RATIO,
	 .goal = 1.3,
	 .beside = {"fabric.read64.latency.client", "reference.ucx.lat.shm"},
	 .param = &wall_latency2},
	{.name = "fabric.write64.latency.client",
	 .what = "64 B acknowledged write, the same, p50",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "write64-client.json",
	 .beside = {"reference.ucx.lat.shm"},
	 .param = &wall_write2},
	{.name = "fabric.cas.latency.client",
	 .what = "compare-and-swap, the same, p50",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "cas-client.json",
	 .param = &wall_cas2},
	{.name = "fabric.read64.rate.sched",
	 .what = "64 B reads, best depth, scheduler on its own lcore",
	 .unit = "M/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "read64.json",
	 .param = &wall_rate2},
	{.name = "fabric.read64.rate.client",
	 .what = "64 B reads, best depth, client on its own lcore",
	 .unit = "M/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "read64-client.json",
	 .beside = {"reference.ucx.rate.shm", "reference.ucx.rate.tcp"},
	 .param = &wall_rate2},
	{.name = "fabric.read4k.goodput.client",
	 .what = "4 KiB reads, best depth, client on its own lcore",
	 .unit = "Gb/s",
	 .better = BENCH_HIGHER,
	 .crosses = -1,
	 .fabric = "read4k-client.json",
	 .beside = {"reference.ucx.bw.shm", "reference.ucx.bw.tcp"},
	 .param = &wall_good2},
};

static void add_wall(struct bench_suite *s)
{
	for (unsigned int i = 0; i < sizeof(wall_lines) / sizeof(wall_lines[0]); i++) {
		struct bench_line l = wall_lines[i];

		l.ops = &fabric_ops;
		bench_add(s, &l);
	}
}

static void add_scale(struct bench_suite *s)
{
	static const struct fabric_param time = {.figure = us_a_message, .cpus = 1, .virtual_clock = true},
					 memory = {.figure = kb_a_port, .cpus = 1, .virtual_clock = true};
	static const char *const file[] = {"scale16.json", "scale64.json", "scale144.json", "scale256.json",
					   "scale512.json"};
	static const unsigned int nodes[] = {16, 64, 144, 256, 512};

	for (unsigned int i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		struct bench_line l = {
			.unit = "us", .crosses = -1, .fabric = file[i], .ops = &fabric_ops, .param = &time};

		snprintf(l.name, sizeof(l.name), "virtual.time.%u", nodes[i]);
		snprintf(l.what, sizeof(l.what), "virtual clock, %u nodes, a 64 B message", nodes[i]);
		if (nodes[i] == 512) {
			l.goal_kind = BENCH_GOAL_RATIO;
			l.goal = 2;
			l.beside[0] = "virtual.time.16";
		}
		bench_add(s, &l);
		snprintf(l.name, sizeof(l.name), "virtual.memory.%u", nodes[i]);
		snprintf(l.what, sizeof(l.what), "the same, memory a port but for the scheduler's");
		l.unit = "kB";
		l.param = &memory;
		if (nodes[i] == 512) {
			/* Linear: a port costs no more where there are twice as many. */
			l.goal = 1.1;
			l.beside[0] = "virtual.memory.256";
		}
		bench_add(s, &l);
	}
}

static void add_virtual(struct bench_suite *s)
{
	static const struct fabric_param rate = {.figure = million_messages,
						 .cpus = 1,
						 .virtual_clock = true},
					 memory = {.figure = peak_mb, .cpus = 1, .virtual_clock = true};
	struct bench_line l = {.name = "virtual.rate.144",
			       .what = "virtual clock, 144 nodes, 64 B messages of real time",
			       .unit = "M/s",
			       .better = BENCH_HIGHER,
			       .crosses = -1,
			       .fabric = "rack144.json",
			       .goal_kind = BENCH_GOAL,
			       .goal = 0.5,
			       .ops = &fabric_ops,
			       .param = &rate};

	bench_add(s, &l);
	l = (struct bench_line){.name = "virtual.peak.144",
				.what = "the same, peak of the program's memory",
				.unit = "MB",
				.crosses = -1,
				.fabric = "rack144.json",
				.goal_kind = BENCH_GOAL,
				.goal = 200,
				.ops = &fabric_ops,
				.param = &memory};
	bench_add(s, &l);
}

void bench_fabric(struct bench_suite *s)
{
	add_wall(s);
	add_virtual(s);
	add_scale(s);
}
