/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people, made of the JSON of a result. */
#ifndef MF_REPORT_H
#define MF_REPORT_H

#include <jansson.h>
#include <stdio.h>

/** The report for people, made of the JSON result: the same numbers. */
void mf_fabric_report(FILE *out, const json_t *result);

/**
 * Of the results of several seeds every number, by its path: {"PATH": {"mean", "ci95", "n", "values"}}.
 * ci95 is half the 95 % interval by Student's t; null: there is one value only.
 * @param seeds  array of what mf_fabric_result() gave @return the caller's
 */
json_t *mf_fabric_over_seeds(const json_t *seeds);
/** The chief of them for people. @param json  {"seeds": ..., "over_seeds": ...} */
void mf_fabric_report_seeds(FILE *out, const json_t *json);

/** Of "run" the cycle account, a part of the report; nothing where it was not compiled in. */
void mf_fabric_report_cycles(FILE *out, const json_t *run);

#endif
