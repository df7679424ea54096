/* SPDX-License-Identifier: BSD-3-Clause */
/* The systems that there are: what the nodes of each speak, and what forwards in the switch. */
#ifndef MF_SYSTEMS_H
#define MF_SYSTEMS_H

#include "role/mf_role.h"
#include "systems/edm/sched/mf_sched.h"
#include "systems/frames/mf_bridge.h"
#include "systems/frames/mf_stack.h"

#define MF_STACK_EDM "edm"

/** By the name of the JSON. NULL: unknown, or EDM's. */
const struct mf_stack_ops *mf_stack_find(const char *name);
/** The kind of the nodes that speak a stack. @param stack  NULL: EDM's */
const struct mf_role_ops *mf_stack_node(const struct mf_stack_ops *stack);
/** EDM's first; NULL-terminated. */
extern const char *const mf_stack_names[];

/** Pools of a node that speaks a stack. @param stack  NULL: EDM's. @return NULL: it has none */
const struct mf_pool_desc *mf_stack_pools(const struct mf_stack_ops *stack);

/** By the name of the JSON. NULL: unknown. */
const struct mf_bridge_ops *mf_bridge_find(const char *name);
/** The kind of a switch that has a bridge. @param bridge  NULL: EDM's */
const struct mf_role_ops *mf_bridge_switch(const struct mf_bridge_ops *bridge);
/** Pools of a switch that has a bridge. @param bridge  NULL: EDM's. @return NULL: it has none */
const struct mf_pool_desc *mf_bridge_pools(const struct mf_bridge_ops *bridge);
/** NULL-terminated. */
extern const char *const mf_bridge_names[];

/** A policy of EDM's scheduler, by the name of the JSON. NULL: unknown. */
const struct mf_sched_ops *mf_policy_find(const char *name);
/** NULL-terminated. */
extern const char *const mf_policy_names[];

#endif
