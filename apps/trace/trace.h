/* SPDX-License-Identifier: BSD-3-Clause */
/* What memfab-trace does. Each returns the exit status and has said what went wrong. */
#ifndef TRACE_H
#define TRACE_H

#include "options.h"

/** Rows from a generator or a file, as often as one likes. */
struct rows {
	/** Begins, again if it has been there. @return exit status */
	int (*begin)(struct rows *r);
	/** @return 1; 0: that was all; -1: has complained */
	int (*next)(struct rows *r, struct mf_trace_row *row);
	void *ctx;
};

int gen(const struct options *o);
int convert(const struct options *o);
int info(const struct options *o);

/**
 * Whether it writes what it reads.
 * @param config  NULL: the file is a trace @return exit status, has complained
 */
int compare_files(const struct options *o, const struct mf_config *config);

/** Writes all rows, once all of them are known to be good. */
int write_trace(const struct options *o, struct rows *rows);

/** A fabric made of options. @return exit status, has complained */
int make_fabric(const struct options *o, struct mf_config *config);

#endif
