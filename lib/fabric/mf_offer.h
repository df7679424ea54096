/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the clients of a fabric would ask for, without running it: the same messages at the same times as
 * in a run with open loops.
 */
#ifndef MF_OFFER_H
#define MF_OFFER_H

#include "config/mf_config.h"
#include "workload/mf_trace.h"

struct mf_offer;

/**
 * @param config  must outlive it
 * @param keyed   queries to a store, without an end, instead of messages
 * @param err     on failure one line: there is no workload, or one without times of its own
 * @return NULL on failure
 */
struct mf_offer *mf_offer_new(const struct mf_config *config, enum mf_clock clock, bool keyed, char *err,
			      size_t errlen);
void mf_offer_free(struct mf_offer *m);

/** The next message of all nodes, in the order of time. @return false: that was all of the run */
bool mf_offer_next(struct mf_offer *m, struct mf_trace_row *row);

#endif
