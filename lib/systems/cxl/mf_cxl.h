/* SPDX-License-Identifier: BSD-3-Clause */
/* CXL.mem: its nodes, and its switch. */
#ifndef MF_CXL_H
#define MF_CXL_H

#include "systems/frames/mf_bridge.h"
#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_cxl;
extern const struct mf_bridge_ops bridge_cxl;

#endif
