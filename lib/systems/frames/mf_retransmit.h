/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that are begun again when no answer comes, for a transport that knows of no losses by itself:
 * the timer of RFC 6298 over the answers of a node's operations, of whatever peer.
 *
 *      all of it handed out --> retransmit_sent() --> answer: retransmit_over(), a sample
 *                                 ^  '--> RTO: retransmit_expired(): it goes once more, and the RTO doubles
 *                                 '-------------'
 */
#ifndef MF_RETRANSMIT_H
#define MF_RETRANSMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

#define RETRANSMIT_NIL UINT32_MAX

/** Beside operations.op. */
struct retransmit_entry {
	mf_time sent;
	uint32_t next, prev;
	bool waits; /**< for its answer */
	uint8_t times; /**< that it was begun again */
	bool partly; /**< answered */
};

struct retransmit {
	struct retransmit_entry *entry;
	uint32_t head, tail; /**< those that wait, by when they were sent */
	mf_time least, rto, srtt, var;
	mf_time doubled; /**< when the RTO was, last */
	uint64_t count;
};

/** @param operations  at most @param least  RTO @return 0 or -ENOMEM */
int retransmit_init(struct retransmit *a, uint32_t operations, mf_time least);
void retransmit_fini(struct retransmit *a);

/** A new operation has this number. */
static inline void retransmit_new(struct retransmit *a, uint32_t op)
{
	a->entry[op].times = 0;
}

/** The last of what an operation sends was handed out. */
void retransmit_sent(struct retransmit *a, uint32_t op, mf_time now);
/** A part of its answer has come: its time begins anew. */
void retransmit_goes_on(struct retransmit *a, uint32_t op, mf_time now);
/** It has its answer, or was given up: MF_NEVER. @return whether something of it may still be on its way */
bool retransmit_over(struct retransmit *a, uint32_t op, mf_time now);
/** The first whose time has run out; RETRANSMIT_NIL: none. */
uint32_t retransmit_expired(struct retransmit *a, mf_time now);

static inline mf_time retransmit_next(const struct retransmit *a)
{
	return a->head != RETRANSMIT_NIL ? a->entry[a->head].sent + a->rto : MF_NEVER;
}

#endif
