/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry: what a fabric counts, under /memfab/ of the program's telemetry socket, for dpdk-telemetry.py
 * and whatever else speaks DPDK's protocol (docs/telemetry.md). The numbers are those of the result, by the
 * same names, since they are made by the same functions; see mf_live.h for what may be read while it runs.
 */
#ifndef MF_TELEMETRY_H
#define MF_TELEMETRY_H

#include "run/mf_fabric.h"

/**
 * Makes a fabric known. Any thread, whether EAL is up or not.
 * @param file  where it is described, for people; copied. NULL: not known
 * @return 0 or -ENOMEM
 */
int mf_telemetry_add(struct mf_fabric *f, const char *file);

/**
 * Before it ends, or is freed: nobody reads it any more when this returns. Nothing where it is not known.
 * Any thread that holds nothing a reader waits for.
 */
void mf_telemetry_remove(const struct mf_fabric *f);

#endif
