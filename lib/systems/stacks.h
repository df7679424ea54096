/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STACKS_H
#define STACKS_H

#include "systems/mf_stacks.h"

extern const struct mf_stack_ops stack_ethernet, stack_rocev2, stack_tcp, stack_dctcp, stack_pfabric,
	stack_pfc, stack_ird, stack_cxl, stack_fastpass;

#endif
