/* SPDX-License-Identifier: BSD-3-Clause */
/* Fastpass. */
#ifndef MF_FASTPASS_H
#define MF_FASTPASS_H

#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_fastpass;

#endif
