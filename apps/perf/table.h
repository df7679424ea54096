/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test prints: perftest's tables, or MLC's. */
#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

#include "run.h"

/** The dashed head: what is measured, how, and what the figures mean. */
void table_head(FILE *out, const struct run *r, bool gbits);
/** The line of a run in the first table, as soon as it is over; the matrix waits for all of them. */
void table_line(FILE *out, const struct run *r, const struct outcome *o, bool gbits);
/** Ends the first table, prints the others, and the verdict. */
void table_end(FILE *out, const struct run *r);

/** All of a test that is over. */
void table_all(FILE *out, const struct run *r, bool gbits);

/* mlc.c */
void mlc_loaded_head(FILE *out, const struct run *r);
void mlc_loaded_line(FILE *out, const struct outcome *o);
void mlc_matrix(FILE *out, const struct run *r);

#endif
