/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches with output queues that several systems use. */
#ifndef MF_QUEUES_H
#define MF_QUEUES_H

#include "systems/frames/mf_bridge.h"

extern const struct mf_bridge_ops bridge_fifo, bridge_pfc;

#endif
