/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks that there are, besides EDM's own. */
#ifndef MF_STACKS_H
#define MF_STACKS_H

#include "systems/frames/mf_stack.h"

#define MF_STACK_EDM "edm"

/** By the name of the JSON. NULL: unknown, or EDM's. */
const struct mf_stack_ops *mf_stack_find(const char *name);
/** EDM's first; NULL-terminated. */
extern const char *const mf_stack_names[];

#endif
