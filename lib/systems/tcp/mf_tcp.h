/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP with NewReno, and DCTCP. */
#ifndef MF_TCP_H
#define MF_TCP_H

#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_tcp, stack_dctcp;

#endif
