/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdio.h>

#include "config/mf_config.h"

/**
 * Writes the graph of a fabric as text for Graphviz (dot): links have their rate, and those to a backup are
 * dashed. Errors are those of the stream, which the caller looks at.
 */
void graph_print(FILE *out, const struct mf_config *config);

#endif
