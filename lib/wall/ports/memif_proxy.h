/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A proxy in front of a memif server. DPDK's driver takes a client in by accept(), tells EAL to watch it, and
 * sends HELLO. If the client has gone by then it closes the descriptor and leaves it with EAL, whose
 * interrupt thread panics over it: so whoever connects and dies, or only looks, ends the process.
 *
 *     client --- socket of the file --- [ proxy ] --- socket of our own --- driver
 *
 * The proxy takes clients in instead, and is the driver's client in their place, which never leaves before
 * HELLO. What either side sends, descriptors included, it hands to the other. Blocks do not come this way:
 * they are in memory that both sides share.
 */
#ifndef WALL_PORTS_MEMIF_PROXY_H
#define WALL_PORTS_MEMIF_PROXY_H

#include <stddef.h>

struct memif_proxy;

/**
 * A proxy for the device, if it is a memif server. Devices on one socket share theirs. Any thread.
 * @param device  name and arguments, as EAL takes them
 * @param inner   the device to make instead: of a server, with a socket behind the proxy
 * @param room    octets of inner
 * @param out     set to the proxy, for memif_proxy_free(); NULL: the device needs none
 * @return 0 or -errno
 */
int memif_proxy_new(const char *device, char *inner, size_t room, struct memif_proxy **out);
/** The device is removed; the last one of a proxy ends it. NULL: nothing is done. */
void memif_proxy_free(struct memif_proxy *d);

#endif
