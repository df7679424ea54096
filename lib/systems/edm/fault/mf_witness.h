/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Beside the check of messages: it is told what every block of a link was when it was sent, takes what came
 * of them apart as a receiver does, and says of each message that the check lets pass whether it is one
 * that was sent, bit for bit. What is not went undetected, whatever it was made of: a block that is wrong,
 * one more or less, blocks of two messages, idle. "Sent" is on this link: the switch sends on what it has
 * not checked, and a chunk that was damaged on its way to it is refused at its end; unless this link flips
 * the very bit back, and it is right again.
 *
 * One thread calls.
 */
#ifndef MF_WITNESS_H
#define MF_WITNESS_H

#include "pcs/mf_block.h"
#include "systems/edm/proto/mf_proto.h"

/** What a block was when it was sent. */
struct mf_witness_tag {
	uint64_t word;
	uint64_t message; /**< number of its memory message, 1..; 0: it belongs to none */
	uint16_t index; /**< of the block in it, from 0 */
	bool last; /**< it is the last of it */
};

/** Of messages that came whole, as the receiver takes them. Those of the first two lines are all. */
struct mf_witness_stats {
	uint64_t intact; /**< let pass: as they were sent */
	uint64_t damaged; /**< any that are not */
	uint64_t refused_check; /**< of damaged ones: by the check */
	uint64_t refused_fields; /**< of damaged ones: by what they say, the check having let them pass */
	uint64_t healed; /**< of damaged ones: let pass, as what was sent would not have been */
	uint64_t undetected; /**< of damaged ones: by nothing */
	uint64_t sent_bad; /**< of intact ones: refused, since they were damaged before they were sent */
	uint64_t aborted; /**< messages that were cut by what stood in the middle of them */
};

struct mf_witness;

/** @return NULL with errno: ENOMEM */
struct mf_witness *mf_witness_new(const struct mf_proto *proto);
void mf_witness_free(struct mf_witness *w);

/**
 * Blocks have come, in order.
 * @param tag  [came->count]
 */
void mf_witness_see(struct mf_witness *w, const struct mf_span *came, const struct mf_witness_tag *tag);

/** The link is cut: its receiver has nothing left of a message that had begun, and looks for the next one. */
void mf_witness_cut(struct mf_witness *w);

const struct mf_witness_stats *mf_witness_stats(const struct mf_witness *w);

/** What two links have seen, together. */
static inline void mf_witness_add(struct mf_witness_stats *to, const struct mf_witness_stats *s)
{
	to->intact += s->intact;
	to->damaged += s->damaged;
	to->refused_check += s->refused_check;
	to->refused_fields += s->refused_fields;
	to->healed += s->healed;
	to->undetected += s->undetected;
	to->sent_bad += s->sent_bad;
	to->aborted += s->aborted;
}

/** All that went to the check. */
static inline uint64_t mf_witness_checked(const struct mf_witness_stats *s)
{
	return s->intact + s->damaged;
}

#endif
