/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of nodes and of switches by number, which is all that a role keeps of its kind. */
#ifndef KINDS_H
#define KINDS_H

#include <assert.h>

#include "role/mf_role.h"
#include "systems/list.h"

/**
 * Hot kinds and that of several hosts have fixed numbers. node.c and sw.c call hot ones directly, since an
 * indirect call for each span is too slow. They call other kinds by their tables. EDM's number is 0, since
 * the shell of a host is all zero again after its process was restarted.
 */
#define KIND(name, table) NODE_##name,
enum { LIST_NODES(KIND) NODE_HOSTS, NODE_OTHERS };
#undef KIND
#define KIND(name, table) SWITCH_##name,
enum { LIST_SWITCHES(KIND) SWITCH_OTHERS };
#undef KIND
static_assert(NODE_EDM == 0 && SWITCH_EDM == 0, "see above");

/** Of a node with several hosts: hosts.c */
extern const struct mf_role_ops mf_hosts_role;

/* kinds.c; hot ones first */
extern const struct mf_role_ops *const mf_node_kinds[];
extern const struct mf_role_ops *const mf_switch_kinds[];

#endif
