/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the virtual clock. */
#ifndef MF_VIRTUAL_RUN_H
#define MF_VIRTUAL_RUN_H

#include "fabric/mf_run.h"

/** Runs the fabric under the virtual clock to its end. @return 0 or -errno */
int virtual_run(struct mf_fabric *f, const struct mf_run_options *options);

#endif
