/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's history. All of these are called only where it has one. */
#ifndef WORKLOAD_HISTORY_H
#define WORKLOAD_HISTORY_H

#include "workload/client_priv.h"

void client_history_free(struct client_history *h);

/** The client is called: before anything of that call is told. */
void client_history_turn(struct mf_client *c, mf_time now);
/** Its completion is about to be looked at. */
void client_history_done(struct mf_client *c, const struct slot *s, const struct mf_completion *done);
/** The host says that a target was lost, at a time that it does not say: at the next call it has been. */
void client_history_cut(struct mf_client *c, uint32_t target);

#endif
