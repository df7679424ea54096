/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the interface under a device of af_packet is there still. */
#ifndef WALL_INTERFACE_H
#define WALL_INTERFACE_H

#include "wall_port.h"

/** From when a device was made until it is closed; of other devices nothing is watched. */
void interface_watch(struct wall_port *p);
void interface_unwatch(struct wall_port *p);
/**
 * Of a port that is silent, or has no device. For its lcore. Makes the device again where it has to.
 * @return whether there is one
 */
bool interface_look(struct wall *w, struct wall_port *p, mf_time now);

#endif
