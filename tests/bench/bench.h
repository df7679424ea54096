/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The benchmarks' harness: what a line is, when a repetition counts, and what is made of it.
 *
 * A line is measured in repetitions of equal length. One that got less than 95 % of the CPU time that its
 * threads wanted is marked and does not count; a line that has not enough of the others within
 * BENCH_TRIES times as many tries has no figure: the host is too noisy. What stands beside a line as a
 * reference is measured between the repetitions of the line itself, by the same rule.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#define BENCH_SHARE 0.95 /* --share */
#define BENCH_REPETITIONS 5
#define BENCH_TRIES 3
#define BENCH_REPETITIONS_MAX 100
#define BENCH_SAMPLES_MAX (BENCH_TRIES * BENCH_REPETITIONS_MAX)
#define BENCH_BESIDE_MAX 4
#define BENCH_TEXT 128
#define BENCH_REASON 256
#define BENCH_CPUS 64

/** One repetition. */
struct bench_sample {
	double value; /**< in the unit of its line */
	double cpu; /**< bench_loop(): seconds on the CPU that the steps took */
	double got; /**< seconds on the CPU that its threads got, all together, from first to last */
	double wall; /**< seconds that they would have got undisturbed: the sum of their wall time */
};

enum bench_status {
	BENCH_MEASURED,
	BENCH_NOISY, /**< too few repetitions got their CPU time */
	BENCH_SKIPPED, /**< cannot be measured here; the reason says why */
	BENCH_FAILED, /**< the reason says why */
	BENCH_STATUSES
};

enum bench_better { BENCH_LOWER, BENCH_HIGHER };

enum bench_goal_kind {
	BENCH_NO_GOAL,
	BENCH_GOAL, /**< the figure, at least or at most as the line's better says */
	BENCH_GOAL_RATIO, /**< the figure over that of the first line beside it */
};

/** What all lines are measured with. */
struct bench_env {
	unsigned int repetitions; /**< that have to count */
	double share; /**< of the CPU that a repetition must get */
	double seconds; /**< of a repetition; processes that are started take their own time on top */
	unsigned int cpus;
	unsigned int cpu[BENCH_CPUS]; /**< to run on, in this order */
	bool quick;
	bool (*stopped)(void); /**< somebody wants the run to end; or NULL */
	const char *emu; /**< path of memfab-emu */
	const char *fabrics; /**< folder of the fabric files */
	const char *scratch; /**< folder for what lives as long as the run */
};

struct bench_line;

/** How a line is measured. A reason is one line, without newline, of at most BENCH_REASON octets. */
struct bench_ops {
	/** @return state of the measurement, or NULL: cannot be measured here, why says the reason */
	void *(*open)(const struct bench_line *line, const struct bench_env *env, char *why);
	/** One repetition. @return 0, or -errno with the reason in why: the line has failed */
	int (*run)(void *state, struct bench_sample *out, char *why);
	void (*close)(void *state);
};

struct bench_line {
	char name[BENCH_TEXT]; /**< for --only: part.what.variant */
	char what[BENCH_TEXT]; /**< for people */
	const char *unit;
	enum bench_better better;
	bool reference; /**< stands beside others, not for itself */
	int crosses; /**< latency: how often a round trip goes from core to core; -1: not a latency */
	const char *fabric; /**< file in tests/bench, or NULL */
	enum bench_goal_kind goal_kind;
	double goal;
	const char *beside[BENCH_BESIDE_MAX]; /**< names of references, up to the first NULL */
	const struct bench_ops *ops;
	const void *param; /**< of ops, static or owned by the suite */
};

/** All lines in the order in which they are measured. */
struct bench_suite {
	struct bench_line **line;
	unsigned int lines, room;
};

/** What came of a line, or of a reference beside one. */
struct bench_tally {
	enum bench_status status;
	char reason[BENCH_REASON]; /**< of SKIPPED and FAILED; otherwise what there is to know, or empty */
	struct bench_sample sample[BENCH_SAMPLES_MAX];
	unsigned int samples;
	unsigned int want; /**< repetitions that have to count */
	double share; /**< of the CPU that a repetition must have got to count */
	double median, min, max; /**< of those that count; MEASURED only */
};

struct bench_result {
	const struct bench_line *line;
	struct bench_tally tally;
	unsigned int besides;
	const struct bench_line *beside_line[BENCH_BESIDE_MAX];
	struct bench_tally beside[BENCH_BESIDE_MAX];
	json_t *fabric; /**< what the fabric file says, or NULL */
};

/* suite.c */
/** Adds a copy of a line. Aborts where there is no memory: nothing has been measured yet. */
void bench_add(struct bench_suite *s, const struct bench_line *line);
const struct bench_line *bench_find(const struct bench_suite *s, const char *name);
void bench_suite_free(struct bench_suite *s);
/** Whether "a.b*,c" names it: shell patterns with commas between. */
bool bench_named(const char *patterns, const char *name);

/* tally.c: the rule */
/** Share of the CPU that a repetition got. */
double bench_share(const struct bench_sample *s);
bool bench_counts(const struct bench_tally *t, unsigned int i);
/** Number of samples that count. */
unsigned int bench_counted(const struct bench_tally *t);
/** Whether another repetition is due. */
bool bench_wants(const struct bench_tally *t);
/** Once none is due any more: the status, and the figure if there is one. */
void bench_judge(struct bench_tally *t);
/** The figure of a line over that of a reference; 0: one of them has none. */
double bench_ratio(const struct bench_result *r, unsigned int beside);
/** Whether the goal is met; only where bench_has_verdict(). */
bool bench_met(const struct bench_result *r);
bool bench_has_verdict(const struct bench_result *r);

/* measure.c */
/**
 * Measures a line and what stands beside it, one repetition of each in turn.
 * @return false: stopped before it was through
 */
bool bench_measure(const struct bench_suite *s, const struct bench_line *line, const struct bench_env *env,
		   struct bench_result *out);

/* clock.c */
double bench_seconds(void);
/** A stretch of time of the calling thread. */
struct bench_watch {
	double got, wall;
};
void bench_start(struct bench_watch *w);
/** Adds what has passed since bench_start(). */
void bench_stop(const struct bench_watch *w, struct bench_sample *out);
/**
 * Repeats step() until a repetition is over; the first tenth is not counted. What prepare() takes, which
 * may be NULL, is not in out->cpu. The share is that of the repetition as a whole: a step may be so short
 * that looking at two clocks before and behind it would show in the difference between them.
 *
 * @return what step() returned, summed up; out->cpu, got and wall are set
 */
double bench_loop(const struct bench_env *env, void (*prepare)(void *), uint64_t (*step)(void *), void *ctx,
		  struct bench_sample *out);
/** Puts the calling thread on the i-th CPU of the run, round about. */
void bench_pin(const struct bench_env *env, unsigned int i);

/* fabric_info.c */
/** Nodes, pairs, X, chunk, window, scrambling of a fabric file under a clock. NULL: cannot be read */
json_t *bench_fabric_info(const char *path, bool virtual_clock);

/* table.c, json.c */
void bench_print_header(FILE *out, const json_t *header);
void bench_print(FILE *out, const struct bench_result *r);
json_t *bench_json(const struct bench_result *r);
const char *bench_status_name(enum bench_status status);

/* header.c */
/** What the run runs on: docs/bench.schema.json. */
json_t *bench_header(const struct bench_env *env);

/* One function a part: adds its lines. */
void bench_pcs(struct bench_suite *s);
void bench_proto(struct bench_suite *s);
void bench_sched(struct bench_suite *s);
void bench_host(struct bench_suite *s);
void bench_switch(struct bench_suite *s);
void bench_mux(struct bench_suite *s);
void bench_link(struct bench_suite *s);
void bench_memory(struct bench_suite *s);
void bench_fabric(struct bench_suite *s);
void bench_ports(struct bench_suite *s);
void bench_evaluation(struct bench_suite *s);
void bench_references(struct bench_suite *s);
void bench_ring(struct bench_suite *s);
void bench_ucx(struct bench_suite *s);
void bench_memcached(struct bench_suite *s);
void bench_memory_references(struct bench_suite *s);
void bench_program_lines(struct bench_suite *s);
void bench_counter_references(struct bench_suite *s);
void bench_counters(struct bench_suite *s);

#endif
