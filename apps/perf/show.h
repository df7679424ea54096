/* SPDX-License-Identifier: BSD-3-Clause */
/* What the prompt shows, in testpmd's manner; and what was cleared, or shown before. */
#ifndef SHOW_H
#define SHOW_H

#include <stdio.h>

#include "counters.h"
#include "run.h"

/** One viewer: rates are since it looked last, counters since it cleared them. */
struct view {
	struct run *run;
	struct counters now, shown;
	struct counters clear_stats, clear_xstats, clear_sched; /**< what "clear" has made 0 */
};

/** @return 0 or -ENOMEM; view_fini() follows in any case */
int view_init(struct view *v, struct run *r);
void view_fini(struct view *v);

/** Takes the counters of now. @return false: nothing has run yet; it has been said */
bool view_take(struct view *v, FILE *out);

/** A counter since it was cleared: what was cleared of an earlier run does not count. */
uint64_t view_since(const struct view *v, const struct counters *cleared, uint64_t now, uint64_t then);

/** Head and end of a block: "######## title ########". */
void show_head(FILE *out, const char *title);
void show_end(FILE *out);
/** "  name:   value" */
void show_line(FILE *out, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* show_table.c */
/** A counter that may have been cleared. @param cleared  NULL: it has not */
uint64_t show_since(const struct view *v, const struct counters *cleared, enum mf_merge merge, uint64_t now,
		    uint64_t then);

/** A table of counters, and the structure that it is about. */
struct shown_table {
	const struct view *v;
	const struct mf_counter_desc *table;
	const void *now;
	const struct counters *cleared; /**< counters of what happens begin at 0 there; NULL: nowhere */
	const void *then; /**< the structure as it was then */
};
/** All rows: those of the first section, and those of others below the names of their sections. */
void show_table(FILE *out, const struct shown_table *t);
/** The rows of one section, below its name. */
void show_section(FILE *out, const struct shown_table *t, const char *section);

/** @param port  -1: all that have a node */
void show_port_stats(FILE *out, struct view *v, int port);
void show_port_xstats(FILE *out, struct view *v, int port);
void show_sched(FILE *out, struct view *v);
void show_node(FILE *out, struct view *v, unsigned int port);
/** Settings of the test that is set. @param t  the test */
void show_config(FILE *out, const struct run *r, const struct test *t);

/** What is asked for from now on counts from 0. */
void clear_port_stats(struct view *v, int port);
void clear_port_xstats(struct view *v, int port);
void clear_sched(struct view *v);

#endif
