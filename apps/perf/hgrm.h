/* SPDX-License-Identifier: BSD-3-Clause */
/* The percentile text of HdrHistogram, which its plotter reads. */
#ifndef HGRM_H
#define HGRM_H

#include <stdio.h>

#include "base/mf_hist.h"

/** Values in microseconds, five lines for each halving of the distance to 100 %. @return 0 or -errno */
int hgrm_write(FILE *out, const struct mf_hist *h);

#endif
