/* SPDX-License-Identifier: BSD-3-Clause */
/* How much waits at the sender of a link. */
#ifndef MF_QUEUE_DEPTH_H
#define MF_QUEUE_DEPTH_H

#include <stdint.h>

/** In bytes. Of frames with their FCS, of messages of blocks 8 a block. */
struct mf_queue_depth {
	uint64_t octets; /**< that wait now */
	uint64_t max; /**< longest queue of those that the sender has for the link, for a while */
};

#endif
