/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the switch: shared by its files, by nobody else. */
#ifndef SWITCH_PRIV_H
#define SWITCH_PRIV_H

#include "mf_switch.h"

#define NONE UINT32_MAX

/**
 * A circuit: a chunk that was granted and has not been forwarded (3.1.1: the grant sets the way of the
 * chunk, so nothing has to be looked up when it comes). Hangs in the list of its ingress port, in the
 * order of grants, and in the list of expiry.
 */
struct circuit {
	uint32_t next, prev; /**< of the ingress port */
	uint32_t older, younger; /**< of all, by time of grant */
	uint32_t octets; /**< payload still to come; a mega's: wire octets */
	uint32_t granted, inbound; /**< blocks that count for W, for K */
	uint32_t parked; /**< first request that waits behind this chunk, NONE */
	uint32_t parked_last;
	mf_time expires;
	uint16_t src, dst;
	uint8_t id;
	bool resp, mega;
	bool queued; /**< of a write: it stands at its egress, or will not come */
};

/**
 * A buffered RREQ or RMWREQ: waits in the demand queue until it is granted (3.2.2). Or a /G/ that must
 * not overtake one.
 */
struct request {
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	mf_time ready; /**< granted: when it could go, but for the writes before it */
	uint32_t next; /**< free list, or the list of parked ones */
	uint16_t cn, mn;
	uint8_t blocks;
	uint8_t id;
};

/** What the message that is arriving at a port is. */
enum rx_state {
	RX_IDLE,
	RX_REQUEST, /**< collected in buf */
	RX_STREAM, /**< cut through into the egress */
	RX_COLLECT, /**< collected in buf, forwarded when complete: mega, or the egress is faster */
	RX_DROP, /**< the rest of it is thrown away; the cause was counted */
};

struct port {
	struct mf_mux *mux;
	struct mf_demux demux;
	bool up, memory_enabled;
	uint32_t period;
	uint32_t backlog_k, source_w;
	/* message that is arriving */
	enum rx_state state;
	uint32_t circuit; /**< STREAM, COLLECT */
	uint32_t have, want; /**< words */
	uint64_t *words; /**< STREAM: in the egress multiplexer; otherwise buf */
	struct mf_mux_item *item;
	uint64_t *buf; /**< room for the longest message */
	mf_time first, last; /**< start of its first block; when its last part came, for the hold timer */
	/* circuits of which this port is the ingress */
	uint32_t head, tail;
	uint32_t granted; /**< blocks granted to this source and not arrived: W */
	uint32_t inbound; /**< blocks granted towards this port and not arrived: K */
	bool held_dst, held_src;
};

/** A frame inside the layer-2 pipeline; its octets follow. */
struct l2_frame {
	mf_time at; /**< when it leaves the pipeline */
	uint32_t size; /**< of this entry in the ring */
	uint16_t len;
	uint16_t ingress;
};

struct l2_entry {
	uint64_t mac; /**< 48 bits, plus bit 48: valid */
	uint16_t port;
};

struct l2 {
	struct l2_entry *table;
	unsigned int mask;
	uint8_t *ring; /**< frames in the pipeline */
	uint32_t ring_size, ring_head, ring_tail, ring_used;
	uint32_t *order; /**< offsets in the ring, sorted by (at, ingress) */
	uint32_t order_mask, order_head, order_tail;
};

struct mf_switch {
	unsigned int ports;
	struct mf_proto proto;
	const struct mf_probe *probe;
	mf_time next; /**< earliest deadline that is known of */
	/* delays, ps */
	mf_time identify, through, grant_out; /**< identify; identify + forward; make grant + forward */
	struct mf_timing timing;
	bool window;
	mf_time grant_timeout, hold_timeout, l2_latency;
	mf_time align[MF_PORTS_MAX];
	struct mf_switch_stats stats;

	struct circuit *circuits;
	uint32_t circuits_max, circuit_free;
	uint32_t oldest, youngest;
	uint32_t *last_write; /**< [cn * ports + mn]: the youngest write chunk that has not begun to
				       arrive, or NONE */
	mf_time *write_ready; /**< [cn * ports + mn]: when the youngest that did may be sent */

	struct request *requests;
	uint32_t requests_max, request_free;
	uint32_t parked_grant_free, parked_grants_used; /**< of those behind requests_max */

	struct mf_sched_msg *out; /**< ring of descriptors for the scheduler */
	uint32_t out_mask, out_head, out_tail;

	uint64_t dirty_set[MF_PORTS_MAX / 64]; /**< of mf_switch_tx_set() */
	uint64_t accept_set[MF_PORTS_MAX / 64]; /**< ports with a frame that waits behind its /T/ */
	uint64_t hold_set[MF_PORTS_MAX / 64]; /**< ports in RX_STREAM or RX_COLLECT: the hold timer runs */

	struct l2 l2;
	struct port port[];
};

/** Classes of equal-time messages at an egress; the port breaks the tie within a class. */
enum tie_class {
	TIE_GRANT,
	TIE_SINGLE,
	TIE_CHUNK,
};

static inline uint32_t tie(enum tie_class class, unsigned int port)
{
	return (uint32_t) class << 16 | port;
}

/** Something falls due at `at`. */
static inline void due(struct mf_switch *sw, mf_time at)
{
	if (at < sw->next)
		sw->next = at;
}

static inline void set_bit(uint64_t *set, unsigned int i)
{
	set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void clear_bit(uint64_t *set, unsigned int i)
{
	set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline bool test_bit(const uint64_t *set, unsigned int i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static inline void stamp(const struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id,
			 enum mf_stage stage, mf_time from, mf_time to)
{
	if (sw->probe != NULL && sw->probe->stamp != NULL)
		sw->probe->stamp(sw->probe->ctx, cn, mn, id, stage, from, to);
}

/** The TX of a port may have something new. */
static inline void switch_dirty(struct mf_switch *sw, unsigned int port)
{
	set_bit(sw->dirty_set, port);
}

/* switch.c */
/** @return false: no room, counted */
bool switch_tell(struct mf_switch *sw, const struct mf_sched_msg *msg);
/**
 * Holds or releases port d as a destination (D3): its blocks granted and not arrived, and those that
 * wait at its egress, are over K or no longer. Called whenever they change, so that it does not matter
 * when else.
 */
void switch_backlog(struct mf_switch *sw, unsigned int d, mf_time now);

/* intake.c: what the scheduler is told */
void intake_single(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item);
void intake_request(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word,
		    unsigned int n, mf_time first, mf_time at);
void request_release(struct mf_switch *sw, uint32_t slot);

/* circuit.c */
int circuit_init(struct mf_switch *sw, const struct mf_switch_config *config);
/** @return NONE: there is no room */
uint32_t circuit_open(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g);
/** The circuit that a chunk goes along: for an id in the midst of a mega that of the mega. */
uint32_t circuit_find(const struct mf_switch *sw, unsigned int ingress, uint16_t dst, uint8_t id, bool resp);
/** The circuit of a demand. @param mega  whether it may be that of a mega, which bears its first id */
uint32_t circuit_named(const struct mf_switch *sw, unsigned int ingress, uint16_t dst, uint8_t id, bool resp,
		       bool mega);
/**
 * The chunk stands in the queue of its egress, to be sent from `ready` on: the requests that wait
 * for it follow right behind.
 */
void circuit_queued(struct mf_switch *sw, uint32_t c, mf_time ready, mf_time now);
/** Takes the circuit out. */
void circuit_close(struct mf_switch *sw, uint32_t c, mf_time now);
/** The chunk will not come, or not as granted: ends it at the egress, gives its window back, closes it. */
void circuit_kill(struct mf_switch *sw, uint32_t c, mf_time now);
/** The same, and the rest of its demand is cancelled. */
void circuit_give_up(struct mf_switch *sw, uint32_t c, mf_time now);
void circuit_expire(struct mf_switch *sw, mf_time now);
/** So many blocks of the circuit stand at its egress, or will not come: for K. */
void circuit_arrived(struct mf_switch *sw, struct circuit *ct, uint32_t blocks, mf_time now);
/**
 * Its chunk, or its mega, has begun to arrive: for W, whose descriptors must not hang on when the end of
 * what is collected becomes known (D18).
 */
void circuit_begun(struct mf_switch *sw, struct circuit *ct, mf_time now);

/** Where last_write and write_ready have the pair of a compute and a memory node. */
static inline unsigned int circuit_pair(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return cn * sw->ports + mn;
}

/* grant.c */
/** Lets a granted request, or a /G/ that stayed behind one, out to its memory node, behind the writes. */
void grant_let_out(struct mf_switch *sw, uint32_t slot, mf_time write_ready, mf_time now);

/* forward.c */
void forward_run(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item);
void forward_abort(struct mf_switch *sw, unsigned int port, mf_time now);
void forward_single(struct mf_switch *sw, unsigned int ingress, uint16_t egress, uint64_t word, mf_time now,
		    mf_time at);
void forward_done(struct mf_switch *sw, unsigned int egress, mf_time now);

/* l2.c */
int l2_init(struct mf_switch *sw, const struct mf_switch_config *config);
void l2_fini(struct mf_switch *sw);
void l2_frame(struct mf_switch *sw, unsigned int ingress, mf_time at, const uint8_t *frame, uint16_t len);
/** Lets out what is through the pipeline. @return the next time */
mf_time l2_run(struct mf_switch *sw, mf_time now);

#endif
