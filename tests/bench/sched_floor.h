/* SPDX-License-Identifier: BSD-3-Clause */
/* A scheduler that does not schedule, to measure what the messages and grants by themselves cost. */
#ifndef SCHED_FLOOR_H
#define SCHED_FLOOR_H

#include "bench.h"
#include "systems/edm/sched/mf_sched.h"

extern const struct mf_sched_ops sched_floor;

/** A matching from full demand that does not match, to measure what its memory by itself costs. */
extern const struct bench_ops sched_full_floor;

#endif
