/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of mf_fault.h that break links: made of the file's rules, and counted. For both clocks. */
#ifndef MF_LINK_FAULT_H
#define MF_LINK_FAULT_H

#include "fabric/mf_fabric_state.h"

/**
 * Makes the stage of one direction of a link. Where no rule is for it none is made, and *out stays as it is.
 * @param sw       number of the switch at its other end
 * @param up       from the node
 * @param period   ps a block; 0: wall clock
 * @param secrets  of all regions; NULL: no rule is "forge"
 * @return 0 or -errno
 */
int link_fault_new(const struct mf_fabric *f, unsigned int sw, unsigned int node, bool up, uint32_t period,
		   const struct mf_fault_secrets *secrets, struct mf_fault **out);
/** Adds what the stage has done to the fabric's counters, and frees it. @param fault  NULL: there is none */
void link_fault_over(struct mf_fabric *f, unsigned int sw, unsigned int node, bool up,
		     struct mf_fault *fault);

#endif
