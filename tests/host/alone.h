/* SPDX-License-Identifier: BSD-3-Clause */
/* A host without a fabric: the test gives it messages block by block, and sees what it sends. */
#ifndef ALONE_H
#define ALONE_H

#include "systems/edm/host/mf_host.h"

#define ALONE_PERIOD 2560 /**< ps a block */

/** One of three nodes, with the extension, timers off. A test adds what it is about. @param chunk  octets */
static inline struct mf_host_config alone_config(uint16_t node, uint32_t chunk)
{
	return (struct mf_host_config){
		.node = node,
		.nodes = 3,
		.x = 4,
		.chunk = chunk,
		.queue = 16,
		.proto = {.ext = true},
		.mux = {.policy = MF_MUX_FAIR,
			.period = ALONE_PERIOD,
			.memory_blocks = 1 << 14,
			.memory_items = 1 << 10,
			.frames = 16,
			.frame_bytes = 1 << 16,
			.quantum = 16},
		.memory_enabled = true,
		.ber_window = MF_US(125),
	};
}

#endif
