/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs that a test consists of, and the workload of each. */
#ifndef PLAN_H
#define PLAN_H

#include "test.h"

/** One run: a line of a table, or an entry of the matrix. */
struct point {
	uint32_t size;
	mf_time delay; /**< loaded latency: what is injected between two operations of a client */
	int compute, memory; /**< matrix: the one client and the one target; -1: as the test says */
};

/**
 * Whether operations of this size fit buffers and memories.
 * @param reason  why not, one line
 * @return 0 or -EINVAL
 */
int plan_fits(const struct test *t, const struct mf_config *config, uint32_t size, char *reason,
	      size_t capacity);

/** All runs of a test that was checked. @param points  to be freed @return how many, or -ENOMEM */
int plan_points(const struct test *t, const struct mf_config *config, struct point **points);

/** Loaded latency: the node whose client probes at depth 1, or -1: there is none to spare. */
int plan_probe(const struct test *t, const struct mf_config *config);

/**
 * Lays a run over the configuration of the fabric: its workload and how long it takes.
 * @return 0, -EINVAL or -ENOMEM, with one line in err
 */
int plan_apply(const struct test *t, const struct point *p, enum mf_clock clock, struct mf_config *config,
	       char *err, size_t errlen);

#endif
