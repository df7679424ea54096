/* SPDX-License-Identifier: BSD-3-Clause */
/* A campaign of link ends (wire.h): its faults and how one run is judged. */
#ifndef ENDS_H
#define ENDS_H

#include "verdict.h"

/** What may fire; ends with NULL. */
extern const char *const ends_classes[];

/** For struct trial. */
int ends_run(const void *ctx, uint64_t seed, struct verdict *v);

#endif
