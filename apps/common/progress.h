/* SPDX-License-Identifier: BSD-3-Clause */
/* One line that says how far a run of more than two seconds is, on a terminal only. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <time.h>

#include "config/mf_config.h"

struct progress {
	enum mf_clock clock;
	mf_time end; /**< of the load */
	bool open; /**< nobody knows when it ends: no per cent */
	char what[64]; /**< begins the line; empty: nothing does */
	time_t begun;
	bool terminal;
	bool shown;
};

#define PROGRESS_LINES 8

/** The same said in fewer and fewer words. */
struct progress_lines {
	char line[PROGRESS_LINES][160];
	unsigned int n;
};

void progress_add(struct progress_lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Shows the first that fits the terminal, as wide as it is now; if there is none, nothing. */
void progress_put(const struct progress_lines *l);

void progress_init(struct progress *p, const struct mf_config *config, enum mf_clock clock);

/** For mf_run_options.progress; ctx is the struct progress. */
void progress_show(void *ctx, double done, mf_time now);

/** Clears the line. */
void progress_end(struct progress *p);

#endif
