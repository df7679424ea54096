/* SPDX-License-Identifier: BSD-3-Clause */
/* The same run with several seeds, each in a process of its own, as many at a time as there are CPUs for. */
#ifndef SEEDS_H
#define SEEDS_H

#include <stdio.h>

#include "options.h"

/**
 * Runs seeds config->seed, config->seed + 1, ..., o->seeds of them, and reports what they say together. Does
 * not depend on how many run at a time.
 *
 * @param json  where the results go, too; NULL: nowhere
 * @return exit status: that of a run if one was not sound
 */
int seeds_run(const struct options *o, const struct mf_config *config, struct output *json);

#endif
