/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rates are over: here alone, for the result, the report and memfab-perf (docs/accounting.md).
 *
 * They are over the steady state, and count what completed within it, whether it began in it or in the
 * warm-up: what the lines have carried in that time, and had carried before of what was under way at its
 * begin. Where that is too much, or the steady state is shorter than an operation, they are over the time
 * from the first begin to the last end of measured operations, and only those count: all of it was carried in
 * that time.
 *
 * A load that has an end is over with its last operation, so what comes then is no part of the time. Nor is
 * what comes before its first one, where nothing began in the warm-up; where something did, the time begins
 * with the first of that to complete, so that it goes from completion to completion.
 */
#ifndef MF_WINDOW_H
#define MF_WINDOW_H

#include "workload/mf_workload.h"

struct mf_fabric;

/** Why rates are not over the steady state. */
enum mf_window_reason {
	MF_WINDOW_FITS, /**< they are */
	MF_WINDOW_SHORT, /**< a measured operation took longer, or none completed in it */
	/**
	 * Virtual clock: more completed in it than arrived in it, by more than half of what the warm-up's
	 * operations brought, or by so much that a line would have been faster than it is.
	 */
	MF_WINDOW_EARLY,
};

struct mf_window {
	mf_time from, to; /**< by the clock of the fabric */
	bool apart; /**< what completed at `from`, of the warm-up's operations, does not count */
	enum mf_window_reason reason;
};

/** Of a fabric that has run. */
struct mf_window mf_fabric_window(const struct mf_fabric *f);

/** So many a second; 0 where the time is. */
double mf_window_rate(const struct mf_window *w, uint64_t count);

/** What counts of a client's operations of a kind. */
struct mf_client_done mf_window_counts(const struct mf_window *w, const struct mf_client_stats *s,
				       enum mf_client_kind kind);
/** What counts of its queries. */
uint64_t mf_window_queries(const struct mf_window *w, const struct mf_client_stats *s,
			   enum mf_query_kind kind);

#endif
