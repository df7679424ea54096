/* SPDX-License-Identifier: BSD-3-Clause */
/* The history of a run (docs/history.md): a log for each client of this process. */
#ifndef HISTORY_H
#define HISTORY_H

#include "fabric_priv.h"
#include "mf_history.h"

/**
 * Before the run: makes the history and has the clients record.
 * @param octets  room of all logs together; 0: no history
 * @return 0 or -ENOMEM
 */
int history_start(struct mf_fabric *f, uint64_t octets);

/**
 * A node has a new client: its history goes on behind that of the client before it, whose writes on their way
 * may be lost. Nothing where there is no history.
 * @return 0 or -ENOMEM
 */
int history_attach(struct mf_fabric *f, unsigned int node, mf_time now);

/** The wall clock begins: what a moment is for all processes of this machine. */
void history_clock(struct mf_fabric *f, mf_time (*now)(void *ctx), void *ctx, uint64_t tick0, uint64_t hz);

#endif
