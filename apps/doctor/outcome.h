/* SPDX-License-Identifier: BSD-3-Clause */
/* What the checks found, as text and as JSON. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdio.h>

#include "check.h"

struct outcome {
	unsigned int count[LEVELS];
	json_t *checks; /**< array; NULL: there was no memory for it */
};

void outcome_init(struct outcome *o);

/** Takes what a check found, and writes a line. Takes over the detail. */
void outcome_add(struct outcome *o, FILE *out, const struct check *check, struct finding *f);

/** The last line. */
void outcome_sum(const struct outcome *o, FILE *out);

/** @return a new reference, or NULL: no memory */
json_t *outcome_json(const struct outcome *o, const struct machine *m);

void outcome_free(struct outcome *o);

#endif
