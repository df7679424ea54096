/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a session says of its partners goes into EAL's log, as "memfab": whom it waits for (notice), why a
 * link is refused (warning), and when links come up and go down (info, which EAL does not show by itself).
 */
#ifndef SESSION_LOG_H
#define SESSION_LOG_H

#include <stdbool.h>

#include "link/mf_link.h"

/* As those of struct mf_run_options. */
void session_log_link(void *ctx, const char *link, const char *end, const char *port,
		      const struct mf_link_status *status);
/** The interface of a port: see struct mf_run_options. */
void session_log_device(void *ctx, const char *port, const char *device, const char *what);
void session_log_waiting(void *ctx, const char *whom);

#endif
