/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGES_H
#define BRIDGES_H

#include "systems/frames/mf_bridge.h"

extern const struct mf_bridge_ops bridge_fifo, bridge_pfabric, bridge_pfc, bridge_cxl;

#endif
