/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics whose compute nodes have the toy cache between client and host. */
#ifndef LAYER_TEST_H
#define LAYER_TEST_H

#include <jansson.h>

#include "run/mf_fabric.h"
#include "toy_cache.h"

/** Few lines, which are written and read again and again. Acknowledged: hits are what was written. */
#define LAYER_WORKLOAD                                                                       \
	"\"workload\": [{\"mix\": {\"read\": 6, \"write_ack\": 2, \"cas\": 1, \"fadd\": 1}," \
	" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 100}, \"depth\": 4, \"span\": \"2KiB\"}]"

/**
 * Runs the fabric of a text.
 * @param sound   the test fails where it is not
 * @param counts  of all its caches, added to; NULL: it has none
 * @return its "result"
 */
json_t *layer_run(const char *text, enum mf_clock clock, const struct mf_run_options *options, bool sound,
		  struct toy_cache_counts *counts);
/** "operations" of a result. */
json_int_t layer_number(const json_t *result, const char *key);

#endif
