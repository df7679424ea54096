/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of mf_fault.h that break links: made of the file's rules, and counted. For both clocks. */
#ifndef MF_LINK_FAULT_H
#define MF_LINK_FAULT_H

#include "fabric/mf_fabric_state.h"

/**
 * Makes the stage of one direction of a link. Where no rule is for it none is made, and *out stays as it is.
 * @param link     its number in the graph
 * @param end      which of its ends sends, 0 or 1: of the link of a node the node is 0
 * @param period   ps a block; 0: wall clock
 * @param secrets  of all regions; NULL: no rule is "forge"
 * @return 0 or -errno
 */
int link_fault_new(const struct mf_fabric *f, uint32_t link, unsigned int end, uint32_t period,
		   const struct mf_fault_secrets *secrets, struct mf_fault **out);
/** Adds what the stage has done to the fabric's counters, and frees it. @param fault  NULL: there is none */
void link_fault_over(struct mf_fabric *f, uint32_t link, unsigned int end, struct mf_fault *fault);

#endif
