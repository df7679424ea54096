/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes what memfab-bench would write of lines that are made up, one of each kind: for the test of the
 * JSON against its schema. Usage: bench_sample FILE.json FABRIC.json
 */
#include <stdlib.h>

#include "script.h"

static const struct script steady = {.n = 5, .value = {5, 1, 4, 2, 3}, .share = {1, 1, 1, 1, 1}},
			   noisy = {.n = 1, .value = {5}, .share = {0.5}}, skipped = {.skip = "is not here"},
			   failed = {.n = 1, .value = {5}, .share = {1}, .fail = 2};

static void add(struct bench_suite *s, const struct script *script, const struct bench_line *line)
{
	struct bench_line l = *line;

	l.ops = &script_ops;
	l.param = script;
	l.unit = "ns";
	bench_add(s, &l);
}

static void add_all(struct bench_suite *s)
{
	add(s, &steady, &(struct bench_line){.name = "r.steady", .reference = true, .crosses = 2});
	add(s, &noisy, &(struct bench_line){.name = "r.noisy", .reference = true, .crosses = -1});
	add(s, &skipped, &(struct bench_line){.name = "r.skipped", .reference = true, .crosses = -1});
	add(s, &steady,
	    &(struct bench_line){.name = "met",
				 .crosses = 2,
				 .goal_kind = BENCH_GOAL,
				 .goal = 3,
				 .fabric = "given",
				 .beside = {"r.steady", "r.noisy", "r.skipped"}});
	add(s, &steady,
	    &(struct bench_line){.name = "missed",
				 .crosses = -1,
				 .better = BENCH_HIGHER,
				 .goal_kind = BENCH_GOAL_RATIO,
				 .goal = 2,
				 .beside = {"r.steady"}});
	add(s, &noisy,
	    &(struct bench_line){.name = "noisy", .crosses = -1, .goal_kind = BENCH_GOAL, .goal = 3});
	add(s, &skipped, &(struct bench_line){.name = "skipped", .crosses = -1, .beside = {"r.steady"}});
	add(s, &failed, &(struct bench_line){.name = "failed", .crosses = 0});
}

int main(int argc, char **argv)
{
	const struct bench_env env = {
		.repetitions = 5, .share = BENCH_SHARE, .seconds = 0.2, .cpus = 2, .cpu = {0, 1}};
	static struct bench_result r;
	struct bench_suite s = {0};
	json_t *header, *lines = json_array(), *all;
	int rc;

	if (argc != 3)
		return EXIT_FAILURE;
	add_all(&s);
	header = bench_header(&env);
	bench_print_header(stdout, header);
	for (unsigned int i = 0; i < s.lines; i++) {
		if (s.line[i]->reference)
			continue;
		bench_measure(&s, s.line[i], &env, &r);
		if (s.line[i]->fabric != NULL)
			r.fabric = bench_fabric_info(argv[2], i & 1);
		bench_print(stdout, &r);
		json_array_append_new(lines, bench_json(&r));
		json_decref(r.fabric);
	}
	all = json_pack("{s:o, s:o}", "run", header, "lines", lines);
	rc = json_dump_file(all, argv[1], JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(all);
	bench_suite_free(&s);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
