/* SPDX-License-Identifier: BSD-3-Clause */
/* The history of a run (docs/history.md): a log for each client of this process. */
#ifndef MF_RUN_HISTORY_H
#define MF_RUN_HISTORY_H

#include "fabric/mf_fabric_state.h"
#include "linear/mf_history.h"

/**
 * Before the run: makes the history and has the clients record.
 * @param octets  room of all logs together; 0: no history
 * @return 0 or -ENOMEM
 */
int history_start(struct mf_fabric *f, uint64_t octets);

/** See mf_fabric_history_log() and mf_fabric_history(). */
struct mf_history_log *history_log(struct mf_fabric *f, unsigned int node);
const struct mf_history *history_of(const struct mf_fabric *f);

/** The wall clock begins: what a moment is for all processes of this machine. */
void history_clock(struct mf_fabric *f, mf_time (*now)(void *ctx), void *ctx, uint64_t tick0, uint64_t hz);

#endif
