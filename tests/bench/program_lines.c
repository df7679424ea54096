/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that use the client library: memfab-bench-program is started for each repetition. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "program_lines.h"

#define PATH_LEN 4096
#define OUTPUT 4096
#define PATIENCE 120.0
#define FIGURES 4

struct program_run {
	const struct program_param *param;
	const struct bench_env *env;
	char path[PATH_LEN], fabric[PATH_LEN];
};

double program_first(const double *figure)
{
	return figure[0];
}

/** It is beside this program. */
static int find_program(char *path, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", path, room);

	if (n <= 0 || (size_t)n + sizeof("-program") > room)
		return -ENOENT;
	memcpy(path + n, "-program", sizeof("-program"));
	return 0;
}

static unsigned int cpus(const struct program_param *p)
{
	return p->cpus > 0 ? p->cpus : 1;
}

static void *program_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct program_run *r;

	if (env->cpus < cpus(line->param)) {
		snprintf(why, BENCH_REASON, "needs %u CPUs", cpus(line->param));
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return NULL;
	r->param = line->param;
	r->env = env;
	snprintf(r->fabric, sizeof(r->fabric), "%s/%s", env->fabrics, line->fabric);
	if (find_program(r->path, sizeof(r->path)) == 0 && access(r->path, X_OK) == 0)
		return r;
	snprintf(why, BENCH_REASON, "memfab-bench-program is not beside memfab-bench");
	free(r);
	return NULL;
}

/** The last line has the share and the figures. @return false: it is not so */
static bool read_figures(const char *text, struct bench_sample *out, double figure[FIGURES])
{
	const char *end = text + strlen(text), *at = end;

	while (at > text && (at == end || at[-1] != '\n'))
		at--;
	return sscanf(at, "%lf %lf %lf %lf %lf %lf", &out->got, &out->wall, &figure[0], &figure[1],
		      &figure[2], &figure[3]) >= 3;
}

static int program_run(void *state, struct bench_sample *out, char *why)
{
	struct program_run *r = state;
	unsigned int threads = r->param->threads > 0 ? r->param->threads : 1;
	double figure[FIGURES] = {0};
	char text[OUTPUT] = "", seconds[32], number[2][16];
	const char *argv[] = {r->path, r->param->test, r->fabric, seconds, number[0], number[1], NULL};
	struct child c;
	int rc;

	snprintf(seconds, sizeof(seconds), "%f", r->env->seconds);
	snprintf(number[0], sizeof(number[0]), "%u", threads);
	snprintf(number[1], sizeof(number[1]), "%u", r->param->depth > 0 ? r->param->depth : 1);
	rc = child_start(&c, r->env, (struct child_cpus){.first = 0, .n = cpus(r->param)}, argv, NULL);
	if (rc == 0)
		rc = child_wait(&c, PATIENCE, text, sizeof(text));
	if (rc == 0 && !read_figures(text, out, figure))
		rc = -EIO;
	if (rc != 0) {
		child_reason("memfab-bench-program", text, why);
		return rc;
	}
	if (threads > 1) /* they share the CPU */
		out->got = out->wall;
	out->value = r->param->figure(figure);
	return 0;
}

const struct bench_ops bench_program = {.open = program_open, .run = program_run, .close = free};

/** Of requests of 100 pages, over those of one. */
static double more_of_a_page(const double *figure)
{
	return (figure[1] - figure[0]) / (100 - 1);
}

static double ratio(const double *figure)
{
	return figure[1] / figure[0];
}

static const struct program_param ralloc = {.test = "ralloc", .figure = program_first},
				  ralloc_page = {.test = "ralloc", .figure = more_of_a_page},
				  neighbour = {.test = "neighbour", .figure = ratio},
				  read_here = {.test = "read", .figure = program_first},
				  read_apart = {.test = "read-apart", .cpus = 2, .figure = program_first};

static const struct bench_line lines[] = {
	{.name = "memory.ralloc",
	 .what = "memfab_ralloc() of a page, 2^18 pages, 90 % full, one lcore, p50",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "ralloc.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 5000,
	 .param = &ralloc},
	{.name = "memory.ralloc.page",
	 .what = "what each page more takes, of requests of 100",
	 .unit = "ns",
	 .crosses = -1,
	 .fabric = "ralloc.json",
	 .goal_kind = BENCH_GOAL_RATIO,
	 .goal = 2,
	 .beside = {"reference.dram"},
	 .param = &ralloc_page},
	{.name = "memory.neighbour",
	 .what = "p99 of 64 B reads beside a tenant of 10,000 pages, over that without",
	 .unit = "x",
	 .crosses = -1,
	 .fabric = "ralloc.json",
	 .goal_kind = BENCH_GOAL,
	 .goal = 1.5,
	 .param = &neighbour},
	{.name = "client.read64.latency.1lcore",
	 .what = "64 B read by the client library, all on one lcore, p50",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "read64.json",
	 .param = &read_here},
	{.name = "client.rread64.latency.1lcore",
	 .what = "the same of an address space",
	 .unit = "ns",
	 .crosses = 0,
	 .fabric = "counters.json",
	 .beside = {"client.read64.latency.1lcore"},
	 .param = &read_here},
	{.name = "client.read64.latency.apart",
	 .what = "64 B read by the client library, the fabric on another lcore, p50",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "read64.json",
	 .beside = {"reference.ucx.lat.shm"},
	 .param = &read_apart},
	{.name = "client.rread64.latency.apart",
	 .what = "the same of an address space",
	 .unit = "ns",
	 .crosses = 2,
	 .fabric = "counters.json",
	 .goal_kind = BENCH_GOAL_RATIO,
	 .goal = 1.3,
	 .beside = {"client.read64.latency.apart", "reference.ucx.lat.shm"},
	 .param = &read_apart},
};

void bench_program_lines(struct bench_suite *s)
{
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct bench_line l = lines[i];

		l.ops = &bench_program;
		bench_add(s, &l);
	}
}
