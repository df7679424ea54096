/* SPDX-License-Identifier: BSD-3-Clause */
/* What frames cost on the wire, in blocks of 66 bits: for the load (D17). */
#ifndef MF_WIRE_BLOCKS_H
#define MF_WIRE_BLOCKS_H

#include "pcs/mf_frame.h"

/** A frame of so many octets without FCS: preamble, FCS and the average gap included. */
static inline double wire_blocks_frame(uint64_t octets)
{
	if (octets < MF_FRAME_MIN)
		octets = MF_FRAME_MIN;
	return (double)(8 + octets + MF_FCS_LEN + MF_FRAME_IFG) / 8;
}

/** Octets of data, in frames with at most max of them behind so many octets of headers; at least one. */
static inline double wire_blocks_of(uint64_t octets, uint32_t max, uint32_t headers)
{
	uint64_t full = octets / max, rest = octets % max;
	double blocks = (double)full * wire_blocks_frame(headers + max);

	return rest != 0 || full == 0 ? blocks + wire_blocks_frame(headers + rest) : blocks;
}

#endif
