/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IRD, the idealised receiver-driven transport of EDM 4.3: it "notifies each receiver of new flows in zero
 * time", with SRPT scheduling (from Homa, pHost, NDP) and credits at the rate of the link (from ExpressPass).
 *
 *      sender                 board (ird_board.h)               receiver
 *        | message ------------ known at once ------------------> |  least octets left first,
 *        | <------------------- CREDIT for one packet ----------- |  at the pace of its link,
 *        | DATA ------------------------------------------------> |  at most a window under way
 *
 * Credits and data are frames that pay for their blocks. A sender that two receivers ask has one link: what
 * it cannot send at once waits, the least octets left first, and its receiver's link stays idle meanwhile,
 * since nobody coordinates the receivers. That is what EDM's scheduler in the switch is to be compared with.
 *
 * Messages without data (requests, acknowledgements) go without credit. A write is acknowledged by a frame;
 * that all others have come is known to their sender by the board. What is lost is credited again.
 *
 *      ird.c         parameters, which frame goes next, the ops table
 *      ird_tx.c      messages and their data, credits that come
 *      ird_rx.c      demands and their credits, data that come
 *      ird_wire.c    frames
 */
#ifndef IRD_H
#define IRD_H

#include "systems/frames/mf_remote.h"
#include "systems/ird/ird_board.h"
#include "systems/ird/ird_wire.h"

#define IRD_NIL MF_HEAP_NIL

/** A frame without data that waits: credits are made when they go. */
struct ird_ack {
	mf_time ready;
	uint32_t number; /**< of the message at its sender */
	uint16_t generation;
	uint16_t to;
};

/** Messages, by their field next. */
struct ird_list {
	uint32_t first, last;
};

/*
 * Of a remote_message: sent is how far it has been given out, acked how far it is credited, due when the last
 * credit is through the MAC, first the generation of its demand, prev its order, extra what follows.
 */
enum {
	IRD_LIVE = 1, /**< it has data, and is not over */
	IRD_ENDED = 2, /**< it is, but somebody comes across it still */
	IRD_SOON = 4, /**< in `soon` */
	IRD_LISTED = 8 /**< in `credited` */
};

struct ird {
	struct remote remote;
	struct ird_board *board;
	struct ird_node *own; /**< of the board */
	uint32_t mtu; /**< octets of data in a packet */
	uint32_t window;
	uint64_t limit; /**< octets credited in all */
	mf_time retransmit, mac;
	uint32_t period;
	/* sending */
	struct mf_heap heap; /**< of messages */
	uint32_t credited; /**< that may send: the least left first */
	uint32_t order; /**< of messages */
	struct ird_list soon; /**< messages whose credit has come and is not through the MAC yet */
	struct ird_list control; /**< messages without data */
	/* receiving */
	struct ird_ack *ack; /**< ring of as many as there can be writes towards this node */
	uint32_t acks, ack_head, ack_tail;
	uint64_t credits_sent, credits_received, resent, drop_duplicate, drop_gap, drop_frame, drop_ack;
};

/* ird_tx.c */
void ird_send(struct remote *r, uint32_t m, mf_time now);
void ird_give_up(struct remote *r, uint32_t op, mf_time now);
/** A credit has come. */
void ird_credited(struct ird *d, mf_time at, const struct ird_frame *f);
/** A write has come to its receiver. */
void ird_acknowledged(struct ird *d, mf_time at, const struct ird_frame *f);
/** Messages that are known to be over by now are free. */
void ird_learn(struct ird *d, mf_time now);
/** Messages whose credits are through the MAC may send. */
void ird_ripen(struct ird *d, mf_time now);
/** The first message without data; there must be one. @return octets of the frame */
uint16_t ird_pull_control(struct ird *d, uint8_t *frame);
/** The next packet of the message that is first to send; there must be one. */
uint16_t ird_pull_data(struct ird *d, mf_time now, uint8_t *frame);

/* ird_rx.c */
/** Data have come. */
void ird_data(struct ird *d, mf_time at, const struct ird_frame *f);
/** When the next credit may be given; MF_NEVER: nobody asks, or a window is under way. */
static inline mf_time ird_credit_at(const struct ird *d)
{
	return d->own->waiting != IRD_NIL && d->own->outstanding < d->limit ? d->own->next : MF_NEVER;
}
/** The next credit; somebody must ask for it. */
uint16_t ird_pull_credit(struct ird *d, mf_time now, uint8_t *frame);
/** When the oldest credit is given again; MF_NEVER. */
static inline mf_time ird_retransmit_at(const struct ird *d)
{
	return d->own->oldest_at != MF_NEVER ? d->own->oldest_at + d->retransmit : MF_NEVER;
}
/** When the first acknowledgement may go; MF_NEVER: there is none. */
static inline mf_time ird_ack_at(const struct ird *d)
{
	return d->ack_head != d->ack_tail ? d->ack[d->ack_head % d->acks].ready : MF_NEVER;
}
uint16_t ird_pull_ack(struct ird *d, uint8_t *frame);

#endif
