/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw Ethernet. */
#ifndef MF_ETHERNET_H
#define MF_ETHERNET_H

#include "systems/frames/mf_stack.h"

extern const struct mf_stack_ops stack_ethernet;

#endif
