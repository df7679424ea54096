/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch holds: when nothing is under way, and all timers have run out, it should be nothing. */
#ifndef MF_SWITCH_LEAKS_H
#define MF_SWITCH_LEAKS_H

#include "systems/edm/switch/mf_switch.h"

struct mf_switch_held {
	uint32_t circuits; /**< of chunks that were granted */
	uint32_t requests; /**< buffered */
	uint32_t parked; /**< /G/ that wait behind one */
	uint32_t messages; /**< that are arriving at a port */
	uint64_t granted, inbound; /**< blocks that count for W and K, of all ports */
	uint32_t blocks; /**< memory blocks in the multiplexers */
	uint32_t outstanding; /**< demands that count for the limit of their nodes */
	uint32_t descriptors; /**< that the scheduler has not taken */
};

void mf_switch_held(const struct mf_switch *sw, mf_time now, struct mf_switch_held *out);

#endif
