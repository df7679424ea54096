/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says of the processes that it plays a fabric with: lines on standard error. */
#ifndef PARTNERS_H
#define PARTNERS_H

#include "mf_fabric.h"

/* All for mf_run_options. */
void partners_say(void *ctx, const char *node, bool switch_end, const char *port,
		  const struct mf_link_status *status);
void partners_stalled(void *ctx, const struct mf_stall *stall);
void partners_wait(void *ctx, const char *whom);

#endif
