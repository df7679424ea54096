/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program writes, and how it says that it could not. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <jansson.h>
#include <stdio.h>

/** A file that is opened later must not get the number of a standard stream that the caller closed. */
void output_hold(void);

/** What errno says of a stream that failed, never 0. @return -errno */
int output_error(void);

/** @param json  NULL: there was no memory for it @return 0 or -errno */
int output_json(const json_t *json, FILE *out);

#endif
