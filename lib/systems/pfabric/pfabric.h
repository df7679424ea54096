/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pFabric (Alizadeh et al., SIGCOMM 2013): each message is a flow, its packets say how much of it remains,
 * and the switch sends what remains least and drops what remains most. Rate control is minimal.
 *
 *      pfabric.c      flows, the ops table
 *      pfabric_tx.c   which packet goes next; windows, timeouts, probes
 *      pfabric_rx.c   packets that come: what came before, acknowledgements
 *
 * A message is a flow from the moment at which it gets a number. Numbers of a pair count up; the receiver
 * keeps in mind which of the last FLOWS are complete, and so the sender has none under way that is further
 * behind its newest one.
 */
#ifndef PFABRIC_H
#define PFABRIC_H

#include "base/mf_deadlines.h"
#include "systems/frames/mf_remote.h"
#include "systems/pfabric/pfabric_wire.h"

enum { PFABRIC_WINDOW, PFABRIC_RTO, PFABRIC_PROBE, PFABRIC_PARAMS };

#define PFABRIC_SPAN 256 /* segments between the first that is missing and the last that is under way */
#define PFABRIC_FLOWS 256 /* of a pair, between the oldest and the newest under way */
#define PFABRIC_PAYLOAD (MF_PFABRIC_MTU - 20 - MF_PFABRIC_HEADER) /* mf_remote.h's header and data */
#define PFABRIC_DATA (PFABRIC_PAYLOAD - REMOTE_HEADER)
#define PFABRIC_WORDS (PFABRIC_SPAN / 64)
static_assert(PFABRIC_SPAN == PFABRIC_FLOWS, "both have the same bitmap");

/** A ring of bits: those of the last, or next, PFABRIC_SPAN numbers. */
struct pfabric_bits {
	uint64_t word[PFABRIC_WORDS];
};

static inline bool pfabric_bit(const struct pfabric_bits *b, uint32_t i)
{
	return b->word[i / 64 % PFABRIC_WORDS] >> i % 64 & 1;
}

static inline void pfabric_set_bit(struct pfabric_bits *b, uint32_t i, bool on)
{
	uint64_t mask = UINT64_C(1) << i % 64;

	if (on)
		b->word[i / 64 % PFABRIC_WORDS] |= mask;
	else
		b->word[i / 64 % PFABRIC_WORDS] &= ~mask;
}

/** A message that is sent; beside remote_message, by the same number. */
struct pfabric_flow {
	uint32_t number; /**< of its pair */
	uint32_t segments;
	uint32_t base; /**< first segment that is not acknowledged */
	uint32_t pos; /**< next one to send, since the last timeout */
	uint32_t top; /**< behind the last one that was ever sent */
	uint32_t flight; /**< sent since the last timeout, and not acknowledged */
	uint32_t acked; /**< octets of data */
	uint32_t order; /**< of flows that began */
	float cwnd, ssthresh; /**< segments */
	mf_time timer; /**< MF_NEVER: off */
	struct pfabric_bits have; /**< acknowledged, of base .. base + PFABRIC_SPAN - 1 */
	uint8_t timeouts; /**< one after the other */
	bool live, probing, probe;
};

/** Flows to a peer. */
struct pfabric_peer {
	uint32_t next, oldest; /**< numbers: the next one, the oldest under way */
	struct pfabric_bits over; /**< of oldest .. next - 1 */
	uint32_t head, tail; /**< messages that have no number yet; plus one, 0: none */
	/* from it */
	uint32_t newest; /**< number behind the last one that has come */
	struct pfabric_bits complete; /**< of those before it */
};

/** A message that comes in, of several segments. */
struct pfabric_coming {
	uint32_t number, base;
	struct pfabric_bits have;
	bool live;
};

/** A packet of the receiver. */
struct pfabric_answer {
	mf_time due;
	uint32_t flow, slot, segment, segments;
	uint16_t peer;
	uint8_t kind;
};

/** An acknowledgement that the sending side learns of. */
struct pfabric_event {
	mf_time due;
	uint32_t m, number;
	bool counted; /**< it was one of those in flight */
	bool probed;
};

struct pfabric {
	struct remote remote;
	float window;
	mf_time rto, turn;
	uint8_t probe_after;
	uint32_t order;
	struct pfabric_flow *flow; /**< [messages] */
	struct pfabric_peer *peer; /**< [nodes] */
	struct pfabric_coming *coming; /**< [number % PFABRIC_FLOWS][peer] */
	struct mf_deadlines waiting; /**< messages that may not go yet, by time */
	struct mf_deadlines best; /**< that have something to send, by what remains */
	struct mf_deadlines late; /**< by their timers */
	struct pfabric_answer *answer; /**< a ring */
	uint32_t answer_mask, answer_head, answer_tail;
	struct pfabric_event *event; /**< a ring */
	uint32_t event_mask, event_head, event_tail;

	uint64_t sent, received, acks, resent, timeouts, probes, given_up, flows_waiting, duplicates;
	uint64_t drop_foreign, drop_checksum, drop_header, drop_stale, drop_answer;
};

static inline struct pfabric *pfabric_of(struct mf_stack *s)
{
	return (struct pfabric *)s;
}

static inline const struct pfabric *pfabric_const(const struct mf_stack *s)
{
	return (const struct pfabric *)s;
}

/* pfabric_tx.c */
void pfabric_send(struct remote *r, uint32_t m, mf_time now);
void pfabric_give_up(struct remote *r, uint32_t op, mf_time now);
uint16_t pfabric_pull(struct mf_stack *s, mf_time now, uint8_t *frame);
/** A segment of a flow of ours has come to its receiver. */
void pfabric_acked(struct pfabric *p, uint16_t peer, const struct mf_pfabric_header *h, mf_time at);
/** Does what is due. */
void pfabric_turn(struct pfabric *p, mf_time now);

/* pfabric_rx.c */
bool pfabric_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len);
uint16_t pfabric_checksum(const uint8_t *frame, uint16_t octets);

#endif
