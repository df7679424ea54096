/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame of ours: addresses and EtherType, then 26 octets of fields and a fill, all derived from what the
 * fields say, so that every octet of a frame proves itself. Little-endian but for Ethernet's own.
 *
 *    0  destination 02:00:00:00:nn:nn
 *    6  source
 *   12  EtherType
 *   14  length of the frame, without FCS
 *   16  magic
 *   20  sender
 *   22  target
 *   24  sequence number, of the pair
 *   32  intended time, ps
 *   40  fill: content of a key that depends on all fields
 */
#ifndef ETHER_FRAME_H
#define ETHER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

#define ETHER_FRAME_MIN 60 /* without FCS */
#define ETHER_FRAME_MAX 9000
#define ETHER_FCS 4

struct ether_fields {
	uint16_t sender, target;
	uint64_t number;
	mf_time intended;
};

/** @param frame  aligned to 8, room for len rounded up to 8 */
void ether_frame_put(uint8_t *frame, uint16_t len, const struct ether_fields *f);

enum ether_verdict { ETHER_OURS, ETHER_FOREIGN, ETHER_DAMAGED };

/** @param node  who has received it: a frame for somebody else is foreign */
enum ether_verdict ether_frame_get(const uint8_t *frame, uint16_t len, uint16_t node, struct ether_fields *f);

#endif
