/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a case, and whether anything about it is wrong. */
#ifndef JUDGE_H
#define JUDGE_H

#include <jansson.h>

#include "verdict.h"

/**
 * Runs a case and judges it: docs/chaos.md has the judges.
 * @param name   of the case, for what is said of it
 * @param twice  run it again: both results must be the same
 * @return 0; -EINVAL: it is no fabric file, and v->reason says why; -ENOMEM
 */
int judge_case(const json_t *json, const char *name, bool twice, struct verdict *v);

#endif
