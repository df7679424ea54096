/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of all kinds of nodes and switches. */
#include "systems/kinds.h"

#define KIND(name, table) extern const struct mf_role_ops table;
LIST_NODES(KIND)
LIST_SWITCHES(KIND)
#undef KIND

#define KIND(name, table) &table,
const struct mf_role_ops *const mf_node_kinds[] = {LIST_NODES(KIND) & mf_hosts_role};
const struct mf_role_ops *const mf_switch_kinds[] = {LIST_SWITCHES(KIND)};
