/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame decoder under test, and the bookkeeping that has to add up. */
#ifndef FRAME_TEST_H
#define FRAME_TEST_H

#include "pcs/mf_codec.h"
#include "pcs/mf_frame.h"

struct receiver {
	struct mf_frame_dec dec;
	uint64_t blocks; /**< fed */
	uint64_t starts; /**< among them, found through the codec */
	unsigned int len; /**< of the frame that the last block brought, or 0 */
	const uint8_t *frame;
};

void receiver_init(struct receiver *r);
void receiver_fini(struct receiver *r);

/** Feeds a block. @return length of the frame that it brought */
unsigned int receive(struct receiver *r, uint8_t sync, uint64_t word);

/** Drops of all causes. */
uint64_t receiver_drops(const struct receiver *r);

/** Asserts that every block and every start is accounted for. */
void receiver_check(const struct receiver *r);

#endif
