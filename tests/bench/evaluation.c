/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the evaluation runs again and again: each stack under the virtual clock, a million messages of 64
 * octets and the hadoop workload at 144 nodes. The figure is CPU time of the program as a whole, set-up
 * included, or the peak of its memory. A run that is unsound is none: every message has to complete, with the
 * right data.
 */
#include <errno.h>
#include <stdlib.h>

#include "emu.h"

#define PATH_LEN 4096
#define OTHERS 4 /* times as much as EDM's goal is that of each other stack */

struct evaluation_param {
	double (*figure)(const struct emu_cost *cost);
};

struct evaluation {
	const struct evaluation_param *param;
	const struct bench_env *env;
	char path[PATH_LEN];
};

static double cpu_seconds(const struct emu_cost *cost)
{
	return cost->cpu;
}

static double peak_mb(const struct emu_cost *cost)
{
	return cost->rss / 1e6;
}

static void *evaluation_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct evaluation *e = calloc(1, sizeof(*e));

	(void)why;
	if (e == NULL)
		return NULL;
	e->param = line->param;
	e->env = env;
	snprintf(e->path, sizeof(e->path), "%s/%s", env->fabrics, line->fabric);
	return e;
}

static int evaluation_run(void *state, struct bench_sample *out, char *why)
{
	const struct evaluation *e = state;
	const struct emu_run run = {.fabric = e->path, .virtual_clock = true, .cpus = 1};
	struct emu_cost cost;
	json_t *all = emu_run(e->env, &run, &cost, why);

	if (all == NULL)
		return -EIO;
	out->value = e->param->figure(&cost);
	out->got = emu_number(all, "run/cpu_seconds");
	out->wall = emu_number(all, "run/host_seconds");
	snprintf(why, BENCH_REASON, "%.0f messages", emu_number(all, "result/operations/completed_all"));
	json_decref(all);
	return 0;
}

static const struct bench_ops evaluation_ops = {
	.open = evaluation_open, .run = evaluation_run, .close = free};

#define STACK(name)                                                      \
	{                                                                \
		name,                                                    \
		{                                                        \
			"messages-" name ".json", "hadoop-" name ".json" \
		}                                                        \
	}

enum workload { MESSAGES, HADOOP };

static const struct {
	const char *name;
	const char *file[2]; /**< by enum workload */
} stacks[] = {
	STACK("edm"),     STACK("ethernet"), STACK("rocev2"), STACK("tcp"), STACK("dctcp"),
	STACK("pfabric"), STACK("pfc"),      STACK("ird"),    STACK("cxl"), STACK("fastpass"),
};

/** A line for each stack. @param goal  of EDM, which is the first */
static void add(struct bench_suite *s, enum workload workload, const char *name, const char *what,
		const char *unit, double goal, const struct evaluation_param *param)
{
	for (unsigned int i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		struct bench_line l = {.unit = unit,
				       .crosses = -1,
				       .fabric = stacks[i].file[workload],
				       .goal_kind = BENCH_GOAL,
				       .goal = i == 0 ? goal : OTHERS * goal,
				       .ops = &evaluation_ops,
				       .param = param};

		snprintf(l.name, sizeof(l.name), "virtual.%s.%s", name, stacks[i].name);
		snprintf(l.what, sizeof(l.what), "virtual clock, 144 nodes, %s, %s", what, stacks[i].name);
		bench_add(s, &l);
	}
}

void bench_evaluation(struct bench_suite *s)
{
	static const struct evaluation_param cpu = {.figure = cpu_seconds}, memory = {.figure = peak_mb};

	add(s, MESSAGES, "messages", "1 M messages of 64 B, load 0.8", "s", 2, &cpu);
	add(s, HADOOP, "hadoop", "hadoop, 216 MB, load 0.4", "s", 2.5, &cpu);
	add(s, HADOOP, "hadoop.memory", "hadoop, peak of the program's memory", "MB", 200, &memory);
}
