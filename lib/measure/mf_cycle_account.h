/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cycle account of a run under the wall clock (mf_cycles.h): each lcore accounts for the measured
 * time on its own; the result has the sum. Without the option `cycles` all of it is nothing.
 */
#ifndef MF_CYCLE_ACCOUNT_H
#define MF_CYCLE_ACCOUNT_H

#include "base/mf_cycles.h"
#include "base/mf_time.h"

struct mf_fabric;

#ifdef MF_WITH_CYCLES

enum cycles_state { CYCLES_NEW, CYCLES_BEFORE, CYCLES_DURING, CYCLES_AFTER };

/** Of one lcore, whose other lcores do not write. While it measures, its cycles are in mf_cycles_here. */
struct cycles_account {
	unsigned int lcore;
	enum cycles_state state;
	struct mf_cycles_cost cost;
	struct mf_cycles found;
} __attribute__((aligned(64)));

struct cycles {
	unsigned int lcores;
	struct cycles_account account[];
};

/** @return 0 or -ENOMEM; cycles_free() follows in any case */
int cycles_init(struct mf_fabric *f, unsigned int lcores);
void cycles_free(struct mf_fabric *f);

/** Between the turns of lcore i; now is MF_NEVER when there will be no other. */
void cycles_turn(struct mf_fabric *f, unsigned int i, mf_time now);

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

#endif

#endif
