/* SPDX-License-Identifier: BSD-3-Clause */
/* How the files of the result write their numbers. */
#ifndef RESULT_PRIV_H
#define RESULT_PRIV_H

#include <jansson.h>
#include <stdint.h>

#include "mf_hist.h"

void result_count(json_t *o, const char *key, uint64_t value);
void result_real(json_t *o, const char *key, double value);
/** Percentiles, and the histogram as pairs of the lowest value of a bucket (ps) and its count. */
json_t *result_hist(const struct mf_hist *h);

#endif
