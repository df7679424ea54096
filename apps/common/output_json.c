/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON into a stream. */
#include <errno.h>

#include "output.h"

int output_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

/* Reals with 15 digits: those that a double always keeps, so 0.1 stays 0.1. */
int output_json(const json_t *json, FILE *out)
{
	if (json == NULL || json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0)
		return json == NULL ? -ENOMEM : output_error();
	return fputc('\n', out) == EOF || fflush(out) != 0 ? output_error() : 0;
}
