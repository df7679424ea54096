/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the interface under a device of af_packet is there still. */
#ifndef WALL_PORTS_HOTPLUG_H
#define WALL_PORTS_HOTPLUG_H

#include "wall/ports/mf_port.h"

/** From when a device was made until it is closed; of other devices nothing is watched. */
void interface_watch(struct wall_port *p);
void interface_unwatch(struct wall_port *p);
/**
 * Of a port that is silent. For its lcore. Sees to it that the device is made again where it has to.
 * @return whether there is one
 */
bool interface_look(const struct wall *w, struct wall_port *p);
/** Before the port is closed: nobody makes a device any more. */
void interface_leave(struct wall_port *p);

#endif
