/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says of its partners, and of its links: lines on standard error. */
#ifndef PARTNERS_H
#define PARTNERS_H

#include "run/mf_fabric.h"

/* All for mf_run_options. */
void partners_say(void *ctx, const char *link, const char *end, const char *port,
		  const struct mf_link_status *status);
void partners_stalled(void *ctx, const struct mf_stall *stall);
void partners_device(void *ctx, const char *port, const char *device, const char *what);
void partners_wait(void *ctx, const char *whom);
void partners_disabled(void *ctx, const char *one, const char *other, const char *seen_by, const char *cause,
		       mf_time at);

#endif
