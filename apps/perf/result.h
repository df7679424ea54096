/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a test as JSON: docs/perf.schema.json. The same figures as in the tables. */
#ifndef RESULT_H
#define RESULT_H

#include "run.h"

/** @return a new reference */
json_t *result_json(const struct run *r);

#endif
