/* SPDX-License-Identifier: BSD-3-Clause */
/* The idealised receiver-driven transport. */
#ifndef MF_IRD_H
#define MF_IRD_H

#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_ird;

#endif
