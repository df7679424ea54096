/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of noise. */
#ifndef CHECK_NOISE_H
#define CHECK_NOISE_H

#include "finding.h"
#include "noise.h"

/** Judges what was heard on n > 0 CPUs by the worst of them. */
void noise_judge(const struct noise *heard, unsigned int n, struct finding *f);

#endif
