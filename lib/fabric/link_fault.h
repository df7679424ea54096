/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of faults of links, under both clocks: made of the file's rules, and counted. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include "fabric_priv.h"

/**
 * The stage of one direction of a link; none is made where no rule is of it.
 * @param sw       number of the switch at its other end
 * @param period   of the link's blocks, 0: wall clock
 * @param secrets  what those know who forge; NULL: nobody forges
 * @return 0 or -errno
 */
int link_fault_new(const struct mf_fabric *f, unsigned int sw, unsigned int node, bool up, uint32_t period,
		   const struct mf_fault_secrets *secrets, struct mf_fault **out);
/** Counts what it has done, and frees it. @param fault  NULL: there is none */
void link_fault_over(struct mf_fabric *f, unsigned int sw, unsigned int node, bool up,
		     struct mf_fault *fault);

#endif
