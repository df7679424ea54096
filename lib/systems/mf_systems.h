/* SPDX-License-Identifier: BSD-3-Clause */
/* The systems that there are: what the nodes of each speak, and what forwards in the switch. */
#ifndef MF_SYSTEMS_H
#define MF_SYSTEMS_H

#include "role/mf_role.h"
#include "systems/frames/mf_bridge.h"
#include "systems/frames/mf_stack.h"

#define MF_STACK_EDM "edm"

/** By the name of the JSON. NULL: unknown, or EDM's. */
const struct mf_stack_ops *mf_stack_find(const char *name);
/** The kind of the nodes that speak a stack. @param stack  NULL: EDM's */
const struct mf_role_ops *mf_stack_node(const struct mf_stack_ops *stack);
/** EDM's first; NULL-terminated. */
extern const char *const mf_stack_names[];

/** By the name of the JSON. NULL: unknown. */
const struct mf_bridge_ops *mf_bridge_find(const char *name);
/** NULL-terminated. */
extern const char *const mf_bridge_names[];

#endif
