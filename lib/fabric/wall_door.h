/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A door in front of a memif server. DPDK's driver takes a client in by accept(), tells EAL to watch it, and
 * sends HELLO. If the client has gone by then it closes the descriptor and leaves it with EAL, whose
 * interrupt thread panics over it: so whoever connects and dies, or only looks, ends the process.
 *
 *     client --- socket of the file --- [ door ] --- socket of our own --- driver
 *
 * The door takes clients in instead, and is the driver's client itself. It never leaves before it had HELLO;
 * what either side sends, descriptors included, it hands to the other one. Blocks do not come this way: they
 * are in memory that both sides share.
 */
#ifndef WALL_DOOR_H
#define WALL_DOOR_H

#include <stddef.h>

struct door;

/**
 * A door for the device, if it is a memif server; it may be that of another device on the same socket.
 *
 * @param device  name and arguments, as EAL takes them
 * @param inner   becomes the device behind the door; without one it is `device`
 * @param out     NULL: it needs none
 * @return 0 or -errno
 */
int door_new(const char *device, char *inner, size_t room, struct door **out);
/** The device has gone. NULL: nothing */
void door_free(struct door *d);

#endif
