/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedulers as their definitions read, without any thought of speed. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "systems/edm/sched/mf_sched.h"

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

/** When the ports of a grant are released under WIRE and PAPER. */
mf_time reference_until(const struct mf_sched_config *config, const struct mf_sched_grant *g);

/** Octets of a grant, of which the rest is known, for a demand that still wants so many. */
uint32_t reference_size(const struct mf_sched_config *config, uint32_t remaining,
			const struct mf_sched_grant *g);

#endif
