/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the wall clock. */
#ifndef MF_WALL_RUN_H
#define MF_WALL_RUN_H

#include "fabric/mf_run.h"

/** Runs the fabric under the wall clock. EAL must be up. @return 0 or -errno */
int wall_run(struct mf_fabric *f, const struct mf_run_options *options);

#endif
