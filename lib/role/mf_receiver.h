/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiver of a link, of a node or of a port of a switch: the demultiplexer, and the message that is arriving
 * in several spans.
 *
 * The thread that is given the spans of the link calls. Nothing is allocated after mf_receiver_init().
 */
#ifndef MF_RECEIVER_H
#define MF_RECEIVER_H

#include <string.h>

#include "pcs/mf_demux.h"

struct mf_receiver {
	mf_time first; /**< when the message that is assembled began */
	uint64_t *word; /**< room for it; NULL: the link carries no messages */
	uint32_t room, count; /**< words that fit, words that are there */
	bool collecting; /**< a message has begun and has not ended */
	bool ready; /**< the demultiplexer is set up */
	struct mf_demux demux;
};

struct mf_receiver_config {
	bool blocks; /**< the link carries messages of blocks, not only frames */
	uint32_t period; /**< ps a block; 0: wall clock */
	mf_time ber_window; /**< of the hi-BER monitor, ps, 1.. */
	struct mf_guard *guard; /**< the caller's, must outlive the receiver: told of bad blocks; or NULL */
	uint32_t room; /**< words of the longest message; not used without `blocks` */
};

/**
 * @param r  all zero, or freed by mf_receiver_fini()
 * @return 0, -EINVAL without a window, or -ENOMEM. mf_receiver_fini() frees, after a failure, too.
 */
int mf_receiver_init(struct mf_receiver *r, const struct mf_receiver_config *config);
/** @param r  also one that is all zero, or was freed before */
void mf_receiver_fini(struct mf_receiver *r);

/** What a part of a message has made of the message. */
enum mf_assembly {
	MF_PART_MORE, /**< not whole yet */
	MF_PART_WHOLE, /**< word[0..count) is the message until the next part, `first` its begin */
	MF_PART_STRAY, /**< its beginning was not seen, or was forgotten */
	MF_PART_LONG, /**< there is no room for it; what was there is forgotten */
};

/**
 * Adds a part to the message that is arriving. One that begins ends what was there.
 *
 * @param it     MF_RX_RUN, at least one word
 * @param first  when its first block came
 */
static inline enum mf_assembly mf_receiver_part(struct mf_receiver *r, const struct mf_rx_item *it,
						mf_time first)
{
	if (it->begins) {
		r->collecting = true;
		r->count = 0;
		r->first = first;
	}
	if (!r->collecting)
		return MF_PART_STRAY;
	if (it->count > r->room - r->count) {
		r->collecting = false;
		return MF_PART_LONG;
	}
	memcpy(r->word + r->count, it->word, it->count * sizeof(*it->word));
	r->count += it->count;
	if (!it->ends)
		return MF_PART_MORE;
	r->collecting = false;
	return MF_PART_WHOLE;
}

#endif
