/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2, and RoCEv2 with DCQCN on a network with PFC. */
#ifndef MF_RDMA_H
#define MF_RDMA_H

#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_rocev2, stack_pfc;

#endif
