/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP in hardware: a connection between each two nodes, which is there from the start (the handshake and the
 * end of a connection are left out); each direction of it is a stream of the messages of mf_remote.h.
 *
 *      tcp.c      the connections, the ops table
 *      tcp_tx.c   the stream that is sent, segments, what may be sent when
 *      tcp_rx.c   a segment that comes: checks, the stream that is received, acknowledgements that are due
 *      tcp_ack.c  what an acknowledgement does to the sender: RFC 5681, 6582, 6298
 *      cc_*.c     congestion control
 *
 * Places in a stream are counted in 64 bits from 0; on the wire they are sequence numbers of 32 bits.
 *
 * A segment is checked and its data are used when it comes, since their outcomes are dated (mf_remote.h).
 * What it makes the node send passes the stack in both directions first: that is done `turn` later.
 */
#ifndef TCP_H
#define TCP_H

#include "base/mf_deadlines.h"
#include "net/mf_packet.h"
#include "systems/frames/mf_remote.h"

enum {
	TCP_MSS,
	TCP_WINDOW,
	TCP_INIT_CWND,
	TCP_ACK_EVERY,
	TCP_ACK_DELAY,
	TCP_RTO_INIT,
	TCP_RTO_MIN,
	TCP_RTO_MAX,
	TCP_REORDER,
	TCP_PARAMS
};
#define TCP_PARAM_MSS "mss", MF_PARAM_SIZE, 1460, 64, 8946, "octets of a segment behind the TCP header"
#define TCP_PARAM_WINDOW "window", MF_PARAM_SIZE, 1 << 18, 1 << 14, 1 << 24, "receive window of a connection"
#define TCP_PARAM_INIT_CWND "init_cwnd", MF_PARAM_COUNT, 10, 1, 1000, "segments, RFC 6928"
#define TCP_PARAM_ACK_EVERY \
	"ack_every", MF_PARAM_COUNT, 2, 1, 64, "segments per ACK, RFC 5681 4.2; 1: no delay"
#define TCP_PARAM_ACK_DELAY \
	"ack_delay", MF_PARAM_LINE_TIME, 1000000, 0, 1e12, "of an ACK at most, RFC 5681 4.2"
#define TCP_PARAM_RTO_INIT \
	"rto_init", MF_PARAM_LINE_TIME, 1e9, 1e6, 1e13, "before the first sample, RFC 6298 2.1"
#define TCP_PARAM_RTO_MIN \
	"rto_min", MF_PARAM_LINE_TIME, 2e8, 1e6, 1e13, "RFC 6298 2.4; pFabric's table 2: 200 us"
#define TCP_PARAM_RTO_MAX "rto_max", MF_PARAM_LINE_TIME, 1e11, 1e6, 1e14, "RFC 6298 2.5"
#define TCP_PARAM_REORDER "reorder", MF_PARAM_COUNT, 4096, 1, 65536, "segments that a node keeps behind a gap"

#define TCP_PORT 0xedad /* of both ends */
#define TCP_HEADER 20
#define TCP_HEADERS (MF_PACKET_L4 + TCP_HEADER)
#define TCP_DUPACKS 3

/** An option that says that the data of a segment are void (RFC 6994): kind, length, experiment. */
#define TCP_VOID 4
#define TCP_VOID_OPTION                   \
	{                                 \
		253, TCP_VOID, 0xed, 0x4d \
	}

struct tcp;
struct tcp_conn;

/** Congestion control. What it does not change is Reno's. */
struct tcp_cc_ops {
	bool ecn; /**< data are ECN-capable */
	bool echo_each; /**< the receiver echoes CE packet by packet (DCTCP 3.2), not until CWR (RFC 3168) */
	void (*init)(const struct tcp *t, struct tcp_conn *c);
	/** Octets were acknowledged, with or without an echo. @return false: the window does not grow */
	bool (*acked)(struct tcp *t, struct tcp_conn *c, uint32_t octets, bool echo);
};

struct tcp_conn {
	/* The stream that is sent */
	uint64_t una; /**< first octet that is not acknowledged */
	uint64_t una_known; /**< the same, as the sending side knows it: `turn` later */
	uint64_t nxt; /**< next octet to send */
	uint64_t top; /**< behind the last one that was ever sent */
	uint64_t end; /**< behind the last one that there is */
	uint64_t head_at, cursor_at; /**< where these messages begin */
	uint32_t head; /**< messages that are not acknowledged as a whole, */
	uint32_t tail;
	uint32_t cursor; /**< the one that nxt is in; REMOTE_NIL: nothing is left */

	/* Loss and congestion */
	uint32_t cwnd, ssthresh, window, dupacks, grown;
	uint64_t recover; /**< RFC 6582; losses before it are known */
	uint64_t cut; /**< the window is not cut by an echo again before this is acknowledged */
	uint64_t timed; /**< an octet whose acknowledgement is a sample, */
	mf_time timed_at; /**< and when it was sent; MF_NEVER: none */
	mf_time srtt, rttvar, rto, rto_at, sent_at;
	uint64_t alpha_end; /**< DCTCP: the window that is observed */
	uint32_t observed, marked; /**< octets of it */
	double alpha;
	bool recovering, retransmitting, cwr;

	/* The stream that is received */
	bool up, echo; /**< echo: RFC 3168: CE until CWR; DCTCP: state of 3.2 */
	uint32_t pending; /**< segments without an acknowledgement */
	uint64_t rcv; /**< next octet */
	uint64_t rcv_known; /**< the same, as acknowledgements say it: `turn` later */
	uint32_t gap; /**< segments behind a gap, sorted; REMOTE_NIL */
	struct remote_stream stream;
};

/** What a segment means for what is sent. */
struct tcp_event {
	mf_time due;
	uint64_t ack, rcv;
	uint32_t window;
	uint16_t peer;
	bool data, at_once, ce, echo, cwr;
};

/** An acknowledgement that goes by itself. */
struct tcp_pure {
	uint64_t ack;
	uint16_t peer;
	bool echo, duplicate;
};

/** A segment behind a gap. */
struct tcp_kept {
	uint64_t at;
	uint32_t next;
	uint16_t len;
};

struct tcp {
	struct remote remote;
	const struct tcp_cc_ops *cc;
	uint32_t mss, window, shift, init_cwnd, ack_every;
	mf_time ack_delay, rto_init, rto_min, rto_max, turn;
	double g, alpha; /**< DCTCP */
	struct tcp_conn *conn; /**< [nodes] */
	struct mf_deadlines ready; /**< connections that have something to send, */
	struct mf_deadlines late; /**< whose retransmission timer runs, */
	struct mf_deadlines lazy; /**< and whose acknowledgement is delayed */
	struct tcp_event *event; /**< a ring, in the order of `due` */
	uint32_t event_mask, event_head, event_tail;
	struct tcp_pure *pure; /**< a ring */
	uint32_t pure_mask, pure_head, pure_tail;
	struct tcp_kept *kept;
	uint8_t *kept_octets;
	uint32_t kept_size, kept_count, kept_fresh, kept_free;

	uint64_t sent, received, acks, resent_octets, fast, timeouts, echoes, cuts, given_up;
	uint64_t drop_foreign, drop_checksum, drop_header, drop_ack, drop_window, drop_reorder, drop_pure;
	uint64_t duplicates, out_of_order, stream_octets;
};

static inline struct tcp *tcp_of(struct mf_stack *s)
{
	return (struct tcp *)s;
}

static inline const struct tcp *tcp_const(const struct mf_stack *s)
{
	return (const struct tcp *)s;
}

/** Sequence number of the first octet of the stream from a node to another. */
uint32_t tcp_isn(uint16_t from, uint16_t to);
/** The connection with a node; it begins with its first use. */
struct tcp_conn *tcp_connection(struct tcp *t, uint16_t peer);

/** Does what is due: events, timers. */
void tcp_turn(struct tcp *t, mf_time now);

/* tcp_tx.c */
void tcp_send(struct remote *r, uint32_t m, mf_time now);
void tcp_give_up(struct remote *r, uint32_t op, mf_time now);
/** Puts a connection among those that are ready, if it has something that may be sent. */
void tcp_consider(struct tcp *t, uint16_t peer, mf_time now);
/** Messages that are acknowledged up to c->una are over; known: when that is known. */
void tcp_release(struct tcp *t, struct tcp_conn *c, mf_time known);
/** Sending goes back to what is not acknowledged. */
void tcp_rewind(struct tcp_conn *c);
uint16_t tcp_pull(struct mf_stack *s, mf_time now, uint8_t *frame);

/* tcp_rx.c */
bool tcp_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len);
/** The receiving side of an event: acknowledgements. */
void tcp_acknowledge(struct tcp *t, struct tcp_conn *c, const struct tcp_event *e);
/** An acknowledgement was delayed for long enough. */
void tcp_acknowledge_late(struct tcp *t, uint16_t peer);

/* tcp_ack.c */
/** The sending side of an event. */
void tcp_acked(struct tcp *t, struct tcp_conn *c, const struct tcp_event *e);
void tcp_timeout(struct tcp *t, uint16_t peer, mf_time now);

/* tcp.c */
struct mf_stack *tcp_create(const struct mf_stack_config *c, const struct tcp_cc_ops *cc,
			    unsigned int params);
void tcp_destroy(struct mf_stack *s);
mf_time tcp_ready(const struct mf_stack *s);
void tcp_run(struct mf_stack *s, mf_time now);
mf_time tcp_next(const struct mf_stack *s);
unsigned int tcp_counters(const struct mf_stack *s, struct mf_counter *out);
struct mf_op_blocks tcp_blocks(const double *param, uint8_t kind, uint64_t octets);

uint32_t tcp_packet(const double *param);

#define TCP_OPS                                                                                      \
	.destroy = tcp_destroy, .submit = remote_submit, .completions = remote_completions,          \
	.outstanding = remote_outstanding, .frame = tcp_frame, .pull = tcp_pull, .ready = tcp_ready, \
	.run = tcp_run, .next = tcp_next, .counters = tcp_counters, .blocks = tcp_blocks,            \
	.packet = tcp_packet

/* cc_reno.c */
void reno_init(const struct tcp *t, struct tcp_conn *c);
/** Half of what is under way, RFC 5681 (4). */
static inline uint32_t tcp_half_flight(const struct tcp *t, const struct tcp_conn *c)
{
	uint64_t half = (c->nxt - c->una_known) / 2;

	return half > 2 * t->mss ? (uint32_t)half : 2 * t->mss;
}
/** The window is cut to this by an echo, and the next segment says so (CWR). */
void tcp_cut(struct tcp *t, struct tcp_conn *c, uint32_t cwnd);

#endif
