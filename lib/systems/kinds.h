/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of nodes and of switches by number, which is all that a role keeps of its kind. */
#ifndef KINDS_H
#define KINDS_H

#include "role/mf_role.h"

/**
 * Hot kinds have fixed numbers. node.c and sw.c call their functions directly, since an indirect call for
 * each span is too slow. They call other kinds by their tables. EDM's number is 0, since the shell of a host
 * is all zero again after its process was restarted.
 */
enum { NODE_EDM, NODE_FRAMES, NODE_OTHERS };
enum { SWITCH_EDM, SWITCH_FRAMES, SWITCH_OTHERS };

/* kinds.c; hot ones first */
extern const struct mf_role_ops *const mf_node_kinds[];
extern const struct mf_role_ops *const mf_switch_kinds[];

#endif
