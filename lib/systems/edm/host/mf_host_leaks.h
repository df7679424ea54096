/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host holds: when nothing is under way, and all timers have run out, it should be nothing. */
#ifndef MF_HOST_LEAKS_H
#define MF_HOST_LEAKS_H

#include "systems/edm/host/mf_host.h"

struct mf_host_held {
	uint32_t operations; /**< queued, under way, or not taken when complete */
	uint32_t ids; /**< that are in use, or rest */
	uint32_t slots; /**< active notifications of all pairs (X) */
	uint32_t jobs; /**< entries of the grant queue */
	uint32_t lanes; /**< the same as its lanes count them */
	uint32_t buffers; /**< data buffers that no response has */
	uint32_t blocks; /**< memory blocks in the multiplexer */
};

void mf_host_held(const struct mf_host *h, mf_time now, struct mf_host_held *out);

#endif
