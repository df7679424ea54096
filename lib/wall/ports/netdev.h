/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says of the interface that a port's device stands on: its MTU, and whether frames can
 * pass. The driver of af_packet tells neither: to DPDK its MTU is 1500 and its link is up, whatever the
 * interface is.
 */
#ifndef WALL_PORTS_NETDEV_H
#define WALL_PORTS_NETDEV_H

#include <net/if.h>
#include <stddef.h>

#include "wall/ports/mf_port.h"

/**
 * @param name  set to that of the interface under the port's device; "": there is none, as with memif and
 * vfio
 */
void netdev_name(const struct wall_port *p, char name[IF_NAMESIZE]);

/** @return the MTU of an interface; 0: not known */
unsigned int netdev_mtu(const char *name);

/**
 * Whether frames can pass: says what has changed of that since it was said last, one line each time. The
 * port's lcore, now and then.
 */
void netdev_look(const struct wall *w, struct wall_port *p);

/** " (interface cn0 is down)" and so on, for who waits; "" where there is nothing to say. */
const char *netdev_waiting(const struct wall_port *p);

#endif
