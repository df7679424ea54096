/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RoCEv2 with reliable connections and go-back-N: what the stacks rocev2 and pfc are made of.
 *
 *      operations of a peer --> send queue --> requester --> packets    (roce_requester.c)
 *      packets --> responder --> response queue ----------> packets    (roce_responder.c)
 *
 * A queue pair for each pair of nodes, which is there from the start. Packet sequence numbers are kept in 32
 * bits, of which 24 are on the wire. A request takes as many as it has packets, a read as many as its
 * response has. Section numbers are those of the InfiniBand specification (roce_wire.h).
 */
#ifndef ROCE_H
#define ROCE_H

#include "base/mf_deadlines.h"
#include "net/mf_pause.h"
#include "systems/frames/mf_operations.h"
#include "systems/rdma/dcqcn.h"
#include "systems/rdma/roce_wire.h"

#define ROCE_NIL UINT32_MAX
#define ROCE_NO_PEER UINT16_MAX
#define ROCE_MESSAGE_MAX (UINT32_C(1) << 31) /**< 9.7.7 */
#define ROCE_WINDOW (UINT32_C(1) << 23) /**< PSNs under way: half of them all */

/** Parameters that both stacks have, at the start of their tables. */
enum { ROCE_MTU, ROCE_TIMEOUT, ROCE_RETRIES, ROCE_READS, ROCE_ACK_EVERY, ROCE_CLASS, ROCE_PARAMS };
#define ROCE_PARAM_MTU "path_mtu", MF_PARAM_COUNT, 1024, 256, 4096, "path MTU: 256, 512, 1024, 2048 or 4096"
#define ROCE_PARAM_TIMEOUT                            \
	"ack_timeout", MF_PARAM_LINE_POWER, 8, 0, 31, \
		"local ack timeout: 4.096 us x 2^this, 0: none (9.7.6.1.3)"
#define ROCE_PARAM_RETRIES "retries", MF_PARAM_COUNT, 7, 0, 7, "timeouts in a row before a queue pair fails"
#define ROCE_PARAM_READS \
	"rd_atomic", MF_PARAM_COUNT, 16, 1, 128, "reads and atomics of a queue pair under way (ConnectX: 16)"
#define ROCE_PARAM_ACK_EVERY \
	"ack_every", MF_PARAM_COUNT, 64, 1, 65536, "packets of a write between two that ask for an ack"
#define ROCE_PARAM_CLASS "class", MF_PARAM_COUNT, 3, 0, 7, "class of traffic, and PFC's priority"

/** Beside each operation of the table. */
struct roce_request {
	mf_time ready;
	uint32_t next, prev; /**< in the send queue */
	uint32_t first, packets; /**< PSNs; first: once it has begun */
	bool begun; /**< it has its PSNs */
};

/** Something to send to a requester. */
struct roce_response {
	struct mf_places data; /**< of a read: in the memory, held */
	uint64_t value; /**< of an atomic */
	mf_time ready;
	uint32_t next;
	uint32_t psn, packets, sent;
	uint32_t len, msn;
	uint8_t opcode; /**< READ_REQUEST: a read; ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE */
	uint8_t syndrome;
};

/** What an atomic brought, for the case that it is asked again (9.4.5). */
struct roce_replay {
	uint32_t psn;
	bool there;
	uint64_t value;
};

/** A queue pair, by peer. All zero, and not looked at, while nothing was sent or received. */
struct roce_qp {
	bool begun;
	/* Requester: una <= send <= nxt */
	uint32_t head, tail; /**< send queue: operations; the oldest is not complete */
	uint32_t cur; /**< the one that is sent next */
	uint32_t una; /**< oldest PSN that is not acknowledged */
	uint32_t send; /**< the next to send */
	uint32_t sent; /**< behind the last that ever was */
	uint32_t nxt; /**< the first that no request has */
	uint32_t reads; /**< reads and atomics under way */
	uint32_t unasked; /**< packets of writes since one asked for an acknowledgement */
	mf_time floor; /**< nothing is sent again before: stage costs */
	mf_time deadline; /**< of the oldest; MF_NEVER: the timer does not run */
	uint16_t timer_prev, timer_next;
	uint16_t generation; /**< of the connection: a part of the QP number */
	uint8_t retries;
	bool went_back; /**< to una, and una has not come yet */
	bool responded; /**< a response was sent last: a request is next */
	/* Responder */
	bool nak_sent; /**< and what it asked for has not come */
	bool dead; /**< it refused a request: nothing more is done of this generation */
	uint16_t their_incarnation; /**< of the peer: whose requests they are */
	uint16_t their; /**< generation of the peer's requests */
	uint16_t queued_reads;
	uint32_t epsn, msn;
	uint32_t rhead, rtail; /**< responses, in the order of their PSNs */
	uint64_t waddr; /**< write in progress: where the next packet goes */
	uint32_t wleft, wdone; /**< its octets that are to come, and that came */
	uint8_t wid;
	uint8_t replays; /**< atomics seen */
	/* DCQCN: pacing of data, notification point */
	bool cnp_queued;
	uint16_t cnp_next;
	uint32_t cnp_qp; /**< number of the queue pair that it is for */
	mf_time pace; /**< no data before */
	mf_time cnp_ready, cnp_last; /**< cnp_last: plus one; 0: none yet */
};

struct roce {
	struct mf_stack_config config;
	uint16_t incarnation; /**< of this node: 1..ROCE_INCARNATIONS; 0: it has none */
	uint8_t peer_bits; /**< of the number of a queue pair */
	uint16_t generations; /**< all bits of a generation */
	double param[MF_PARAMS_MAX];
	struct operations operations;
	struct roce_request *request; /**< beside operations.op */
	struct roce_qp *qp; /**< [nodes] */
	struct roce_response *response;
	uint32_t responses, fresh, free;
	struct roce_replay *replay; /**< [nodes][rd_atomic] */
	struct mf_deadlines due;
	uint16_t timer_head, timer_tail;
	mf_time timeout; /**< 0: none */
	mf_time cost_tx, cost_rx;
	uint32_t mtu, mtu_shift, rd_atomic, ack_every;
	uint8_t class, cnp_class, retries;
	struct mf_pause pause;
	struct dcqcn_config dcqcn;
	struct dcqcn *rate; /**< [nodes]; NULL: no congestion control */
	uint16_t cnp_head, cnp_tail;
	uint8_t *scratch; /**< a frame */
	struct {
		uint64_t packets_sent, packets_received, data_sent, data_received;
		uint64_t acks_sent, naks_sent, naks_received;
		uint64_t went_back, timeouts, packets_again, failed;
		uint64_t cnps_sent, cnps_received, ce_received, paused;
		uint64_t drop_bad, drop_icrc, drop_unknown, drop_sequence, drop_duplicate, drop_stale;
		uint64_t drop_room;
	} n;
};

/** @param dcqcn  its parameters; NULL: no congestion control @return NULL with errno */
struct mf_stack *roce_new(const struct mf_stack_config *config, unsigned int params,
			  const struct dcqcn_config *dcqcn, uint8_t cnp_class);
void roce_free(struct mf_stack *s);
int roce_submit(struct mf_stack *s, mf_time now, const struct mf_op *op);
unsigned int roce_completions(struct mf_stack *s, mf_time now, struct mf_completion *out, unsigned int max);
uint32_t roce_outstanding(const struct mf_stack *s);
bool roce_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len);
uint16_t roce_pull(struct mf_stack *s, mf_time now, uint8_t *frame);
mf_time roce_ready(const struct mf_stack *s);
void roce_link_lost(struct mf_stack *s);
void roce_run(struct mf_stack *s, mf_time now);
mf_time roce_next(const struct mf_stack *s);
unsigned int roce_counters(const struct mf_stack *s, struct mf_counter *out);
struct mf_op_blocks roce_blocks(const double *param, uint8_t kind, uint64_t octets);
uint8_t roce_pfc_classes(const double *param);
uint32_t roce_packet(const double *param);

#define ROCE_OPS                                                                                          \
	.timing = "rocev2", .destroy = roce_free, .submit = roce_submit, .completions = roce_completions, \
	.outstanding = roce_outstanding, .frame = roce_frame, .pull = roce_pull, .ready = roce_ready,     \
	.link_lost = roce_link_lost, .run = roce_run, .next = roce_next, .counters = roce_counters,       \
	.blocks = roce_blocks, .packet = roce_packet, .stages = true

/* roce.c, for the two sides */

/** Something of a peer has changed: when may it send? */
void roce_schedule(struct roce *r, uint16_t peer, mf_time now);

/** A PSN of the wire, as the one that is nearest to another. */
static inline uint32_t roce_psn(uint32_t near, uint32_t wire)
{
	return near + (uint32_t)((int32_t)((wire - near) << 8) >> 8);
}

static inline bool roce_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/**
 * The number of a node's queue pair towards a peer, of 24 bits: the generation of the connection above the
 * peer, plus 2, since 0 and 1 have a use of their own (3.9.2).
 */
static inline uint32_t roce_qp_number(const struct roce *r, uint16_t peer, uint16_t generation)
{
	return ((uint32_t)generation << r->peer_bits | peer) + 2;
}

static inline uint16_t roce_qp_peer(const struct roce *r, uint32_t qp)
{
	return (uint16_t)((qp - 2) & ((1U << r->peer_bits) - 1));
}

static inline uint16_t roce_qp_generation(const struct roce *r, uint32_t qp)
{
	return (uint16_t)((qp - 2) >> r->peer_bits);
}

/** Packets of so many octets. */
static inline uint32_t roce_packets(const struct roce *r, uint32_t octets)
{
	return (uint32_t)(((uint64_t)octets + r->mtu - 1) >> r->mtu_shift);
}

/* roce_requester.c */
void requester_append(struct roce *r, uint16_t peer, uint32_t op);
/** When its next packet may go; MF_NEVER: there is none. */
mf_time requester_due(const struct roce *r, uint16_t peer);
/** It must be due. @return octets of the frame */
uint16_t requester_send(struct roce *r, uint16_t peer, mf_time now, uint8_t *frame);
void requester_receive(struct roce *r, mf_time at, const struct roce_packet *p);
/** Timers that have run out. */
void requester_run(struct roce *r, mf_time now);
/** An operation whose time has run out. */
void requester_expire(struct roce *r, uint32_t op, mf_time now);

/* roce_responder.c */
/** The node is at its end: what its responses hold of the memory is let go. */
void responder_fini(struct roce *r);
mf_time responder_due(const struct roce *r, uint16_t peer);
uint16_t responder_send(struct roce *r, uint16_t peer, mf_time now, uint8_t *frame);
void responder_receive(struct roce *r, mf_time at, const struct roce_packet *p);

/** Fills in what all packets towards a peer have, sends it, and counts. */
uint16_t roce_emit(struct roce *r, uint16_t peer, mf_time now, struct roce_packet *p, uint8_t *frame);

#endif
