/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedulers as their definitions read, without any thought of speed. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "mf_sched.h"

/**
 * Grants that come out of a list of messages, in the order in which they leave.
 *
 * @param grants to be freed by the caller
 * @return their number
 */
size_t reference_run(const struct mf_sched_config *config, bool greedy, const struct mf_sched_msg *msgs,
		     size_t n, struct mf_sched_grant **grants);

/** When a message takes effect. */
mf_time reference_effective(const struct mf_sched_config *config, const struct mf_sched_msg *msg);

/** Whose order of input() counts among messages of equal time. */
unsigned int reference_origin(const struct mf_sched_msg *msg);

/** Wire time of a grant under WIRE and PAPER. */
mf_time reference_duration(const struct mf_sched_config *config, const struct mf_sched_grant *g);

#endif
