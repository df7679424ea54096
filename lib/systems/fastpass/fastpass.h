/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fastpass (Perry et al., SIGCOMM 2014): a node sends in timeslots that a central arbiter gives it, so
 * nothing queues in the switch.
 *
 *      message ready --> REQUEST (slots that all messages to a node together need) --> arbiter
 *      slot comes   <-- ALLOCATION (slots, each for a node) <-------------------------- arbiter
 *      in the slot: frames to its node, as many as fit
 *
 * What is asked for is told as a sum since the beginning, so a request that comes twice asks once (the
 * paper's FCP). Request frames are acknowledged in order, at most REQUESTS of them are under way, and those
 * that are not acknowledged in time are sent again. Of an allocation that is lost the arbiter gets no
 * acknowledgement and gives others. A slot that comes too late is used at once. The clock is common.
 *
 * Their switch has no queues, so data are lost to errors of lines only. In the paper TCP sends them again;
 * here an operation that is not answered in time is begun again as a whole (mf_retransmit.h), and each has an
 * answer.
 *
 *      fastpass.c           parameters, which frame goes next, the ops table
 *      fastpass_queue.c     messages that wait, and the slots that they need
 *      fastpass_slots.c     slots, and the frames in them
 *      fastpass_control.c   requests and allocations
 *      fastpass_arbiter.c   who gives the slots
 */
#ifndef FASTPASS_H
#define FASTPASS_H

#include "systems/fastpass/fastpass_arbiter.h"
#include "systems/frames/mf_remote.h"
#include "systems/frames/mf_retransmit.h"
#include "systems/frames/mf_wire_blocks.h"

#define FASTPASS_NIL UINT16_MAX
#define FASTPASS_REQUESTS 8 /* frames that wait for their acknowledgement */
#define FASTPASS_ACK_FRAMES 16 /* allocation frames that are acknowledged at once */
#define FASTPASS_SLOTS 256 /* that are known ahead */
#define FASTPASS_SLOT_WORDS (FASTPASS_SLOTS / 64)

/** By destination. */
struct fastpass_peer {
	uint32_t head, tail; /**< messages */
	uint64_t queued; /**< octets of their frames on the wire */
	uint32_t owed; /**< slots that were asked for and have not come */
	uint32_t asked; /**< of all time */
	uint16_t next; /**< among those with something to ask for */
	bool asks;
};

struct fastpass_request {
	uint8_t n;
	uint16_t node[FASTPASS_BATCH_MAX];
};

struct fastpass {
	struct remote remote;
	struct retransmit retransmit;
	struct arbiter *arbiter; /**< NULL: this is a node like others */
	uint16_t server;
	unsigned int batch;
	uint32_t payload; /**< most of a segment, its header included */
	uint64_t slot_octets; /**< on the wire */
	mf_time slot, ack_delay, timeout;
	uint32_t coming_head, coming_tail; /**< messages that are not ready, by their time */
	struct fastpass_peer *peer;
	/* requests */
	uint16_t ask, last_ask; /**< peers */
	uint32_t asks;
	uint16_t sequence, acked;
	mf_time retransmit_at; /**< when what is not acknowledged is sent again */
	struct fastpass_request request[FASTPASS_REQUESTS];
	/* allocations */
	bool any; /**< one has come */
	uint16_t latest;
	uint32_t before; /**< which of those before it have come, too */
	mf_time ack_at;
	unsigned int unacked; /**< allocation frames */
	uint64_t set[FASTPASS_SLOT_WORDS]; /**< slots that are ours, by slot % FASTPASS_SLOTS */
	uint16_t node[FASTPASS_SLOTS];
	uint64_t low; /**< no slot before it */
	uint32_t slots; /**< in set */
	uint16_t active; /**< to whom the slot under way is; FASTPASS_NIL */
	uint64_t room; /**< octets that are left of it */
	uint64_t requests_sent, acks_sent, retransmitted, slots_come, late, wasted, drop_slot;
};

/** Octets on the wire of a frame with such a segment. */
static inline uint64_t fastpass_frame_octets(uint32_t segment)
{
	return (uint64_t)(wire_blocks_frame(FASTPASS_HEADERS + segment) * 8);
}

/* fastpass_queue.c */
void fastpass_send(struct remote *r, uint32_t m, mf_time now);
void fastpass_give_up(struct remote *r, uint32_t op, mf_time now);
/** What is ready by now stands in line. */
void fastpass_settle(struct fastpass *f, mf_time now);
/** A message is not in the line of its peer any more. */
void fastpass_leave_line(struct fastpass *f, uint32_t m);
/** A peer is in the next request. */
void fastpass_must_ask(struct fastpass *f, uint16_t node);
/** Asks for slots if more are needed than were asked for; not while one is under way, which may have room. */
void fastpass_need(struct fastpass *f, uint16_t node);

/* fastpass_slots.c */
void fastpass_add_slot(struct fastpass *f, uint64_t slot, uint16_t node);
/** The first that there is; there must be one. */
uint64_t fastpass_first_slot(const struct fastpass *f);
/** Slots before now's that are not used cannot come any more. */
void fastpass_move_low(struct fastpass *f, mf_time now);
/** The slot of this time, or one that was missed, begins. @return false: there is none */
bool fastpass_activate(struct fastpass *f, mf_time now);
/** The slot is over where the next frame does not fit. */
void fastpass_end_slot(struct fastpass *f);
/** The next frame of the slot under way. @return its octets */
uint16_t fastpass_put_data(struct fastpass *f, mf_time now, uint8_t *frame);

/* fastpass_control.c */
/** There is something to ask for, and a request may go. */
static inline bool fastpass_may_ask(const struct fastpass *f)
{
	return f->asks != 0 && (uint16_t)(f->sequence - f->acked) < FASTPASS_REQUESTS;
}

uint16_t fastpass_put_control(struct fastpass *f, mf_time now, uint8_t *frame);
/** What was asked for and not acknowledged is asked for again. */
void fastpass_retransmit(struct fastpass *f, mf_time now);
/** @return false: it is damaged */
bool fastpass_take_allocation(struct fastpass *f, mf_time at, const struct fastpass_frame *frame);

#endif
