/* SPDX-License-Identifier: BSD-3-Clause */
/* pFabric: its nodes, and its switch. */
#ifndef MF_PFABRIC_H
#define MF_PFABRIC_H

#include "systems/frames/mf_bridge.h"
#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_pfabric;
extern const struct mf_bridge_ops bridge_pfabric;

#endif
