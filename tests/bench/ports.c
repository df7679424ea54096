/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links over ports: memfab-perf as the compute node, memfab-emu as switch and as memory node, three
 * processes that poll. Each has a CPU; with fewer CPUs than processes the figure is that of waiting for one,
 * is said to be so, and has no goal.
 *
 * With interfaces each process has a network namespace of its own. In one of all, DPDK's af_packet would give
 * two processes the same fanout group now and then: its number is the process id XOR that of the interface,
 * and both are consecutive here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

#define PATIENCE 60.0 /* seconds that a run may take */
#define OUTPUT 65536
#define PATH_LEN 4096
#define PROCESSES 3
#define NAME 24
#define INSIDE 4 /* words in front of a program that runs in a namespace */
#define ARGS 16

struct ports_param {
	bool interfaces; /**< a veth pair for each link, else memif */
	bool shared; /**< more processes than CPUs; else a CPU each */
};

struct ports {
	const struct ports_param *param;
	const struct bench_env *env;
	char path[PATH_LEN]; /**< of the fabric file as it is used */
	char perf[PATH_LEN];
	char prefix[16]; /**< of the names of namespaces and interfaces */
	bool made; /**< they are there, or some of them */
};

/** Namespaces by their last letters. */
enum { SWITCH, MEMORY, COMPUTE };
static const char *const space[PROCESSES] = {"s", "m", "c"};

/** Interfaces of a link by their last letters: the switch's, the node's, which is in that space. */
static const struct {
	const char *end[2];
	unsigned int node;
} pair[] = {{{"M", "m"}, MEMORY}, {{"C", "c"}, COMPUTE}};

/** A program that does its work at once. */
static int do_it(const struct bench_env *env, const char *const argv[])
{
	static char output[OUTPUT];
	struct child c;
	int rc = child_start(&c, env, (struct child_cpus){.n = env->cpus}, argv, NULL);

	return rc != 0 ? rc : child_wait(&c, PATIENCE, output, sizeof(output));
}

static const char *name(const struct ports *p, const char *last, char to[NAME])
{
	snprintf(to, NAME, "%s%s", p->prefix, last);
	return to;
}

static int make_pair(const struct ports *p, const char *const end[2], unsigned int node)
{
	const char *const at[2] = {space[SWITCH], space[node]};
	char dev[2][NAME], in[2][NAME];
	int rc;

	for (int i = 0; i < 2; i++) {
		name(p, end[i], dev[i]);
		name(p, at[i], in[i]);
	}
	rc = do_it(p->env, (const char *const[]){"ip", "link", "add", dev[0], "netns", in[0], "type", "veth",
						 "peer", "name", dev[1], "netns", in[1], NULL});
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = do_it(p->env,
			   (const char *const[]){"ip", "-n", in[i], "link", "set", dev[i], "up", NULL});
	return rc;
}

static int make_spaces(const struct ports *p)
{
	char in[NAME];
	int rc = 0;

	for (unsigned int i = 0; i < PROCESSES && rc == 0; i++)
		rc = do_it(p->env, (const char *const[]){"ip", "netns", "add", name(p, space[i], in), NULL});
	for (unsigned int i = 0; i < sizeof(pair) / sizeof(pair[0]) && rc == 0; i++)
		rc = make_pair(p, pair[i].end, pair[i].node);
	return rc;
}

/** With the interfaces in them. */
static void remove_spaces(const struct ports *p)
{
	char in[NAME];

	for (unsigned int i = 0; i < PROCESSES; i++)
		do_it(p->env, (const char *const[]){"ip", "netns", "delete", name(p, space[i], in), NULL});
}

/** What stands behind the last '=' is completed: sockets are in the scratch folder. */
static int complete(const struct ports *p, json_t *port)
{
	const char *device = json_string_value(json_object_get(port, "device"));
	const char *last = device != NULL ? strrchr(device, '=') : NULL;
	char text[PATH_LEN];

	if (last == NULL)
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*s=%s%s%s", (int)(last - device), device,
		 p->param->interfaces ? p->prefix : p->env->scratch, p->param->interfaces ? "" : "/",
		 last + 1);
	return json_object_set_new(port, "device", json_string(text)) == 0 ? 0 : -ENOMEM;
}

/** The fabric file of the line, for this run alone. */
static int make_fabric(struct ports *p, const char *file)
{
	char from[PATH_LEN];
	json_error_t error;
	json_t *all, *port;
	size_t i;
	int rc = 0;

	snprintf(from, sizeof(from), "%s/%s", p->env->fabrics, file);
	snprintf(p->path, sizeof(p->path), "%s/ports.json", p->env->scratch);
	all = json_load_file(from, 0, &error);
	json_array_foreach(json_object_get(all, "ports"), i, port)
		rc = rc == 0 ? complete(p, port) : rc;
	if (all == NULL || rc != 0 || json_dump_file(all, p->path, JSON_INDENT(2)) != 0)
		rc = -EIO;
	json_decref(all);
	return rc;
}

/** memfab-perf is beside memfab-emu, or is found as it is. */
static void find_perf(struct ports *p)
{
	const char *slash = strrchr(p->env->emu, '/');
	int folder = slash != NULL ? (int)(slash - p->env->emu) : 0;

	if (slash == NULL)
		snprintf(p->perf, sizeof(p->perf), "memfab-perf");
	else
		snprintf(p->perf, sizeof(p->perf), "%.*s/../perf/memfab-perf", folder, p->env->emu);
	if (slash != NULL && access(p->perf, X_OK) != 0)
		snprintf(p->perf, sizeof(p->perf), "%.*s/memfab-perf", folder, p->env->emu);
}

static bool can(const struct ports_param *param, const struct bench_env *env, char *why)
{
	if (!param->shared && env->cpus < PROCESSES)
		snprintf(why, BENCH_REASON, "needs %d CPUs, one for each process", PROCESSES);
	else if (param->shared && !param->interfaces && env->cpus >= PROCESSES)
		snprintf(why, BENCH_REASON, "each process has a CPU: see the line above");
	else if (param->interfaces && geteuid() != 0)
		snprintf(why, BENCH_REASON, "needs root, for a veth pair for each link");
	else
		return !param->interfaces || child_there("ip", why);
	return false;
}

static void ports_close(void *state)
{
	struct ports *p = state;

	if (p->made)
		remove_spaces(p);
	free(p);
}

static void *ports_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct ports *p;
	int rc = 0;

	if (!can(line->param, env, why))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->param = line->param;
	p->env = env;
	snprintf(p->prefix, sizeof(p->prefix), "mfb%u", (unsigned int)getpid() % 10000000);
	find_perf(p);
	p->made = p->param->interfaces;
	if (p->made)
		rc = make_spaces(p);
	if (rc == 0 && make_fabric(p, line->fabric) == 0)
		return p;
	snprintf(why, BENCH_REASON, "%s",
		 rc != 0 ? "namespaces with veth pairs cannot be made" : "cannot make its fabric file");
	ports_close(p);
	return NULL;
}

/** What the compute node found. */
static int read_outcome(const struct ports *p, const char *path, struct bench_sample *out, char *why)
{
	json_error_t error;
	json_t *all = json_load_file(path, 0, &error), *run = json_array_get(json_object_get(all, "runs"), 0);
	json_t *latency = json_array_get(json_object_get(run, "latencies"), 0);

	out->value = emu_number(latency, "p50_ns");
	out->got = emu_number(run, "run/cpu_seconds");
	out->wall = emu_number(run, "run/host_seconds") * emu_number(run, "run/lcores");
	json_decref(all);
	if (out->value <= 0) {
		snprintf(why, BENCH_REASON, "memfab-perf: no latency in its result");
		return -EIO;
	}
	if (p->env->cpus >= PROCESSES)
		return 0;
	snprintf(why, BENCH_REASON,
		 "oversubscribed: %d processes that poll, CPUs: %u; they had %.0f %% of one", PROCESSES,
		 p->env->cpus, out->wall > 0 ? out->got / out->wall * 100 : 0);
	out->got = out->wall; /* waiting for a CPU is what is measured */
	return 0;
}

/** Starts what plays a role, in its namespace if it has one. */
static int start(const struct ports *p, unsigned int role, unsigned int cpu, struct child *c,
		 const char *const program[])
{
	char in[NAME];
	const char *argv[INSIDE + ARGS] = {"ip", "netns", "exec", name(p, space[role], in)};
	unsigned int n = p->param->interfaces ? INSIDE : 0;

	while (*program != NULL && n < INSIDE + ARGS - 1)
		argv[n++] = *program++;
	argv[n] = NULL;
	return child_start(c, p->env, (struct child_cpus){.first = cpu, .n = 1}, argv, NULL);
}

/** Of who has failed first: whom the others may be waiting for. */
static void find_reason(struct child c[PROCESSES], const char *perf, char *why)
{
	static char output[OUTPUT];

	child_reason("memfab-perf", perf, why);
	for (unsigned int i = 0; i < COMPUTE; i++)
		if (child_wait(&c[i], 0.1, output, sizeof(output)) == -EIO)
			child_reason("memfab-emu", output, why);
}

static int ports_run(void *state, struct bench_sample *out, char *why)
{
	static const char *const role[] = {[SWITCH] = "sw0", [MEMORY] = "mn"};
	static char output[OUTPUT];
	struct ports *p = state;
	struct child c[PROCESSES] = {0};
	char result[PATH_LEN + 16];
	int rc = 0;

	snprintf(result, sizeof(result), "%s/perf.json", p->env->scratch);
	unlink(result);
	for (unsigned int i = 0; i < COMPUTE && rc == 0; i++)
		rc = start(p, i, 1 + i, &c[i],
			   (const char *const[]){p->env->emu, "--run", role[i], p->path, NULL});
	if (rc == 0)
		rc = start(p, COMPUTE, 0, &c[COMPUTE],
			   (const char *const[]){p->perf, "read_lat", "--run", "cn", "--warmup", "50ms", "-D",
						 p->env->quick ? "100ms" : "400ms", "--out_json", result,
						 p->path, NULL});
	if (rc == 0) {
		rc = child_wait(&c[COMPUTE], PATIENCE, output, sizeof(output));
		if (rc != 0)
			find_reason(c, output, why);
	}
	for (unsigned int i = 0; i < COMPUTE && rc == 0; i++) {
		rc = child_wait(&c[i], PATIENCE, output, sizeof(output));
		if (rc != 0)
			child_reason("memfab-emu", output, why);
	}
	for (int i = 0; i < PROCESSES; i++)
		child_kill(&c[i]);
	return rc != 0 ? rc : read_outcome(p, result, out, why);
}

static const struct bench_ops ports_ops = {.open = ports_open, .run = ports_run, .close = ports_close};

void bench_ports(struct bench_suite *s)
{
	static const struct ports_param memif = {0}, shared = {.shared = true},
					interfaces = {.interfaces = true, .shared = true};
	struct bench_line l = {.name = "ports.read64.latency.memif",
			       .what = "64 B read, two hops over memif, a CPU for each process, p50",
			       .unit = "ns",
			       .crosses = 4,
			       .fabric = "read64-memif.json",
			       .goal_kind = BENCH_GOAL,
			       .goal = 3000,
			       .ops = &ports_ops,
			       .param = &memif};

	bench_add(s, &l);
	l = (struct bench_line){.name = "ports.read64.latency.memif.shared",
				.what = "the same with fewer CPUs than processes, p50",
				.unit = "ns",
				.crosses = -1,
				.fabric = "read64-memif.json",
				.ops = &ports_ops,
				.param = &shared};
	bench_add(s, &l);
	l = (struct bench_line){.name = "ports.read64.latency.af_packet",
				.what = "64 B read, two hops over veth and af_packet, p50",
				.unit = "ns",
				.crosses = -1,
				.fabric = "read64-af_packet.json",
				.ops = &ports_ops,
				.param = &interfaces};
	bench_add(s, &l);
}
