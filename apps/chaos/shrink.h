/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a case smaller that has something wrong, as long as the same kind of thing is wrong with it. */
#ifndef SHRINK_H
#define SHRINK_H

#include <jansson.h>

#include "verdict.h"

/**
 * Greedy and deterministic: the same case gives the same smaller one, but where what is wrong with it is how
 * long it takes.
 * @param json    not changed
 * @param runs_max  so many runs at most; of a run that hangs fewer
 * @param reason  what is wrong with it; replaced by what is wrong with the smaller one
 * @param runs    how many runs it took
 * @return the caller's
 */
json_t *shrink(const json_t *json, uint64_t runs_max, char reason[REASON_LEN], unsigned int *runs);

#endif
