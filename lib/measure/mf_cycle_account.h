/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cycle account of a run under the wall clock (mf_cycles.h): each lcore accounts for the measured
 * time on its own; the result has the sum. Without the option `cycles` all of it is nothing.
 */
#ifndef MF_CYCLE_ACCOUNT_H
#define MF_CYCLE_ACCOUNT_H

#include <jansson.h>

#include "base/mf_time.h"

struct mf_fabric;

#ifdef MF_WITH_CYCLES

/** @return 0 or -ENOMEM; cycles_free() follows in any case */
int cycles_init(struct mf_fabric *f, unsigned int lcores);
void cycles_free(struct mf_fabric *f);

/** Between the turns of lcore i; now is MF_NEVER when there will be no other. */
void cycles_turn(struct mf_fabric *f, unsigned int i, mf_time now);

/** Adds "cycles" to "run", where something was measured. */
void cycles_json(const struct mf_fabric *f, json_t *run);

#else

static inline int cycles_init(__attribute__((unused)) struct mf_fabric *f,
			      __attribute__((unused)) unsigned int lcores)
{
	return 0;
}

static inline void cycles_free(__attribute__((unused)) struct mf_fabric *f)
{
}

static inline void cycles_turn(__attribute__((unused)) struct mf_fabric *f,
			       __attribute__((unused)) unsigned int i, __attribute__((unused)) mf_time now)
{
}

static inline void cycles_json(__attribute__((unused)) const struct mf_fabric *f,
			       __attribute__((unused)) json_t *run)
{
}

#endif

#endif
