/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_GIVE_UP_H
#define HOST_GIVE_UP_H

#include "systems/edm/host/host.h"

/** Tells the switches that a message is over here, though it may not have been executed. */
void host_gives_up(struct mf_host *h, uint16_t node, uint8_t id, mf_time at);

#endif
