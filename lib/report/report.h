/* SPDX-License-Identifier: BSD-3-Clause */
/* How the report reads the result and writes its lines. At most REPORT_WIDTH columns. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mf_time.h"

#define REPORT_WIDTH 100
#define REPORT_NAME 22 /**< columns of the name of a line */
#define REPORT_NUMBER 32 /**< room for a number as text */

/** The value at a path of keys, "scheduler/grants"; NULL where there is none. */
const json_t *report_at(const json_t *o, const char *path);
/** Values at a path; 0 where there is none. */
uint64_t report_count(const json_t *o, const char *path);
double report_real(const json_t *o, const char *path);
const char *report_text(const json_t *o, const char *path);

/** "1,234,567". @return buf, of REPORT_NUMBER octets */
char *report_group(char *buf, uint64_t n);
/** "2.5 ms": three digits behind the point, those that are 0 left out. @return buf */
char *report_time(char *buf, mf_time ps);

/** A grouped count of a path, each call in a buffer of its own: at most 8 to a line. */
struct counts {
	char text[8][REPORT_NUMBER];
	unsigned int used;
};

static inline const char *count(struct counts *c, const json_t *o, const char *path)
{
	return report_group(c->text[c->used++ % 8], report_count(o, path));
}

/** Begins a block: "######## title (virtual clock) ########". */
void report_head(FILE *out, const json_t *result, const char *title);

/** A line of a block: "name            value", a counted value with what it means. */
void report_line(FILE *out, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** "stages" of the result: Table 1 and Figure 5 (stages.c). */
void report_stages(FILE *out, const json_t *result);

/** "phases" and "load" of the result (phases.c). */
void report_phases(FILE *out, const json_t *result);
/** "messages", where there is a log (messages.c). */
void report_messages(FILE *out, const json_t *result);
/** "load": virtual clock only. */
void report_load(FILE *out, const json_t *result);

/** The blocks of parts.c: everything but operations and stages. */
void report_links(FILE *out, const json_t *result);
void report_sched(FILE *out, const json_t *result);
void report_backlog(FILE *out, const json_t *result);
void report_frames(FILE *out, const json_t *result);
void report_drops(FILE *out, const json_t *result);
/* memory.c: memory with address spaces, where there is such */
void report_memory(FILE *out, const json_t *result);
/** @param what  "stack" or "bridge" */
void report_policy(FILE *out, const json_t *result, const char *what);
/* tunnels.c */
void report_tunnels(FILE *out, const json_t *result);

/** "series", where there are such (series.c). */
void report_series(FILE *out, const json_t *result);

/** "test_patterns", where there are such (test_patterns.c). */
void report_tests(FILE *out, const json_t *result);

void report_run(FILE *out, const json_t *result, const json_t *run);

#endif
