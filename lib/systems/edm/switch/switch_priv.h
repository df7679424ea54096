/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the switch: shared by its files, by nobody else. */
#ifndef SWITCH_PRIV_H
#define SWITCH_PRIV_H

#include <string.h>

#include <rte_branch_prediction.h>

#include "role/mf_ports.h"
#include "systems/edm/switch/mf_switch.h"

#define NONE UINT32_MAX
#define REQUEST_ASKED (UINT32_MAX - 1)

/** What the scheduler is told of a chunk when it has left: a word, so that it travels as a cookie. */
struct circuit_chunk {
	uint16_t src;
	uint8_t id;
	bool resp;
	uint32_t octets; /**< payload still to come; a mega's: wire octets */
};

/**
 * A circuit: a chunk that was granted and has not been forwarded (3.1.1: the grant sets the way of the
 * chunk, so nothing has to be looked up when it comes). One cache line.
 *
 * Those of an ingress port stand in a ring, in the order of grants. The first entries of the table are the
 * ends of the rings, so that nothing has to be asked when a circuit is linked.
 */
struct circuit {
	uint32_t next, prev;
	mf_time expires;
	uint32_t blocks; /**< granted; not a mega: the length of the chunk */
	uint32_t granted, inbound; /**< blocks that count for W, for K */
	uint32_t parked; /**< first request that waits behind this chunk, NONE */
	uint32_t parked_last;
	struct circuit_chunk chunk;
	uint16_t dst;
	bool mega;
	bool queued; /**< of a write: it stands at its egress, or will not come */
	bool late; /**< of two switches: a write that is asked for, or a response behind one; has no share */
	bool asked_again; /**< of two switches, of a response: a later use of its id asks */
	mf_time until; /**< a late write is waited for no longer */
} __attribute__((aligned(64)));

/**
 * A buffered RREQ or RMWREQ: waits in the demand queue until it is granted (3.2.2). Or a /G/ that must
 * not overtake one.
 */
struct request {
	mf_time ready; /**< granted: when it could go, but for the writes before it */
	uint32_t next; /**< free list, or list of parked ones; REQUEST_ASKED: the scheduler has to grant it */
	uint16_t cn, mn;
	uint8_t blocks;
	uint8_t id;
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
} __attribute__((aligned(64)));

/** What is known of a compute and a memory node. */
struct pair {
	mf_time write_ready; /**< when the youngest write chunk at its egress may be sent: circuit.queued */
	uint32_t last_write; /**< the youngest that is not there yet, or NONE */
};

/** What the message that is arriving at a port is. */
enum rx_state {
	RX_IDLE,
	RX_REQUEST, /**< collected in rx.word */
	RX_STREAM, /**< cut through into the egress */
	RX_COLLECT, /**< collected in rx.word, forwarded when complete: mega, or the egress is faster */
	RX_LOGGED, /**< collected in rx.word, forwarded by its header when complete: standby.c */
	RX_DROP, /**< the rest of it is thrown away; the cause was counted */
};

/** Of the link at a port: see link.c. */
enum link_state { LINK_UP, LINK_SWEEP, LINK_FLUSH, LINK_DOWN };

struct port {
	struct mf_port_shell shell; /**< `rx.first`: of the message that is arriving */
	/* message that is arriving, in parts */
	enum rx_state state;
	uint32_t circuit; /**< STREAM, COLLECT */
	uint32_t have, want; /**< words */
	uint64_t *words; /**< STREAM: in the egress multiplexer; otherwise rx.word */
	struct mf_mux_item *item;
	mf_time last; /**< when its last part came, for the hold timer */
	mf_time ends_at; /**< the block that ends it is told of, and comes then; 0: not so */
	bool misfit; /**< with ends_at: STREAM, COLLECT: it is not as granted */
	bool last_kept; /**< with ends_at: STREAM: the egress has not been told of the last block */
	/* K and W */
	uint32_t backlog_k, source_w;
	uint32_t requests; /**< of this node that are buffered */
	uint32_t granted; /**< blocks granted to this source and not arrived: W */
	uint32_t inbound; /**< blocks granted towards this port and not arrived: K */
	bool held_dst, held_src;
	bool reborn; /**< link lost, at a switch that is alone: its next incarnation has begun */
	enum link_state link;
} __attribute__((aligned(64)));

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

/** What is kept of a port for its limits. */
struct port_limit {
	mf_time due; /**< of the next demand, at its rate */
	mf_time believed; /**< from when on it is, again */
	uint32_t expired; /**< times that it was not, one after the other */
};

struct mf_switch {
	struct mf_ports shell;
	mf_time expire_at; /**< no circuit expires before then */
	const struct mf_probe *probe; /**< NULL: nobody wants stamps */
	/* delays, ps */
	mf_time identify, through, grant_out; /**< identify; identify + forward; make grant + forward */
	mf_time grant_timeout, hold_timeout, l2_latency;
	mf_time patient_until; /**< nothing is too late until then: the switch itself was */
	mf_time excuse_at; /**< when that may be so again */
	struct mf_proto proto;
	bool window;
	uint32_t answer; /**< of a call, at most */
	bool limits; /**< some port has K or W */
	bool limited; /**< see limits.h */
	struct standby *standby; /**< NULL: there is no other switch */
	bool one_rate; /**< of all ports */
	bool flushing; /**< the scheduler has been told to flush a port, and has not answered */
	unsigned int barring; /**< nodes with an incarnation that somebody has not heard of: incarnation.h */
	struct incarnations *incarnations;

	struct circuit *circuits; /**< [ports + circuits_max] */
	uint32_t circuit_free, circuits_used, circuits_end; /**< those behind circuits_used were never used */
	bool no_requests; /**< for a test */
	uint32_t request_free, requests_used, requests_max;
	uint32_t requests_port; /**< of one port at most */
	struct request *requests; /**< [requests_max + circuits_max] */
	struct pair *pair; /**< [cn * ports + mn] */

	struct mf_sched_msg *out; /**< ring of descriptors for the scheduler */
	uint32_t out_mask, out_head, out_tail;
	uint32_t parked_grant_free, parked_grants_used, parked_grants_end; /**< slots behind requests_max */

	uint64_t reach_set[MF_PORTS_MAX / 64]; /**< ports that memory messages may go to */
	struct mf_switch_stats stats;
	unsigned int ending; /**< ports with ends_at */
	uint64_t hold_set[MF_PORTS_MAX / 64]; /**< ports in RX_STREAM or RX_COLLECT: the hold timer runs */
	struct mf_switch_limits limit;
	uint64_t *asked; /**< [mn], wall clock: blocks of all demands */
	mf_time *pair_due; /**< [cn * ports + mn]: of the next demand, within the share */
	struct port_limit *port_limit; /**< [ports] */
	uint32_t *outstanding; /**< [cn]: demands; NULL: nobody counts them */
	uint64_t *demanded; /**< bits by [cn][mn], kind and id: those that count */
	struct l2 l2;
	struct mf_timing timing;
	mf_time align[MF_PORTS_MAX];
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
static inline void wake_at(struct mf_switch *sw, mf_time at)
{
	mf_ports_wake(&sw->shell, at);
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

/** Of a message that passes, where somebody wants to know: `if (unlikely(sw->probe != NULL))`. */
static inline void stamp(const struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id,
			 enum mf_stage stage, mf_time from, mf_time to)
{
	sw->probe->stamp(sw->probe->ctx, cn, mn, id, stage, from, to);
}

/** Copies a request: all but a few have two blocks. */
static inline void copy_request(uint64_t *to, const uint64_t *word, unsigned int n)
{
	if (likely(n == 2))
		memcpy(to, word, 2 * sizeof(*to));
	else
		memcpy(to, word, n * sizeof(*to));
}

/** The TX of a port may have something new. */
static inline void switch_dirty(struct mf_switch *sw, unsigned int port)
{
	mf_ports_send(&sw->shell, port);
}

/** Room for the next descriptor, which the caller fills in. NULL: there is none, counted. */
static inline struct mf_sched_msg *switch_descriptor(struct mf_switch *sw)
{
	if (unlikely(sw->out_head - sw->out_tail > sw->out_mask)) {
		sw->stats.drop_descriptor++;
		return NULL;
	}
	return &sw->out[sw->out_head++ & sw->out_mask];
}

/* limits.c */
/** Demands are not wanted any more: CANCEL, FLUSH. */
void limits_cancelled(struct mf_switch *sw, const struct mf_sched_msg *msg);

static inline void switch_tell(struct mf_switch *sw, const struct mf_sched_msg *msg)
{
	struct mf_sched_msg *to = switch_descriptor(sw);

	if (to != NULL)
		*to = *msg;
	if (unlikely(sw->limited) && (msg->kind == MF_SCHED_CANCEL || msg->kind == MF_SCHED_FLUSH))
		limits_cancelled(sw, msg);
}

/* hold.c */
/** Tells the scheduler that port d is held as a destination, or no longer. */
void switch_hold(struct mf_switch *sw, unsigned int d, bool over, mf_time now);

/**
 * Holds or releases port d as a destination (D3): its blocks granted and not arrived, and those that
 * wait at its egress, are over K or no longer. Called whenever they change, so that it does not matter
 * when else.
 */
static inline void switch_backlog(struct mf_switch *sw, unsigned int d, mf_time now)
{
	struct port *p = &sw->port[d];
	bool over;

	if (likely(!sw->limits))
		return;
	over = p->backlog_k != 0 && p->inbound + mf_mux_waiting(p->shell.mux) > p->backlog_k;
	if (unlikely(over != p->held_dst))
		switch_hold(sw, d, over, now);
}

/* rx.c */
/** Frames behind whose /T/ nothing came. @return the next such time */
mf_time rx_accept(struct mf_switch *sw, mf_time now);
/** What comes at a port, whether the switch was demoted or not. */
void rx_span(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_span *span);

/* intake.c: what the scheduler is told */
void intake_single(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item);
/** n blocks of one, the last of which began at `at`, the first at the port's `first`. */
void intake_request(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word,
		    unsigned int n, mf_time at);

/** A slot is free again. */
static inline void request_release(struct mf_switch *sw, uint32_t slot)
{
	bool request = slot < sw->requests_max;
	uint32_t *list = request ? &sw->request_free : &sw->parked_grant_free;
	struct request *r = &sw->requests[slot];

	sw->port[r->cn].requests -= request;
	r->next = *list;
	*list = slot;
}

/* grant.c */
/** Lets a granted request, or a /G/ that stayed behind one, out to its memory node, behind the writes. */
void grant_let_out(struct mf_switch *sw, uint32_t slot, mf_time write_ready, mf_time now);

/* single.c */
void forward_single(struct mf_switch *sw, unsigned int ingress, uint16_t egress, uint64_t word, mf_time now,
		    mf_time at);

/* link.c */
/** One of two whose fabric is there already: no link is up before the engine says so. */
void link_begin_down(struct mf_switch *sw);
/** Goes on with what ends when a link is lost. @return the next time that it wants to be called */
mf_time link_run(struct mf_switch *sw, mf_time now);
/** The scheduler holds nothing of a port any more. */
void link_flushed(struct mf_switch *sw, unsigned int port, mf_time now);
#define TOLD_TIMES 3 /* a link that loses a block here and there will hardly lose all of them */
/**
 * Puts a word of a node for a port, behind what that gets from there; say.c
 * @param status  MF_ERR_RESTARTED or MF_ERR_INCARNATION
 * @param incarnation    which one it has; 0: what was on its way to it may be lost
 * @param times   so often
 * @return false: there is no room for all
 */
bool link_say(struct mf_switch *sw, uint16_t to, uint16_t of, enum mf_status status, uint16_t incarnation,
	      unsigned int times, mf_time now);
/**
 * Tells a port that writes on their way from it to another one may be lost, in order with what it has from
 * there. @return false: there is no room
 */
bool link_tell_writes_lost(struct mf_switch *sw, uint16_t to, uint16_t of, mf_time now);

/** Whether the link of a port is lost. */
static inline bool link_lost(const struct mf_switch *sw, unsigned int port)
{
	return unlikely(sw->shell.links_lost != 0) && sw->port[port].link != LINK_UP;
}

/* l2.c */
int l2_init(struct mf_switch *sw, const struct mf_switch_config *config);
void l2_fini(struct mf_switch *sw);
/** All addresses, and the frames in the pipeline. */
void l2_forget(struct mf_switch *sw);
void l2_frame(struct mf_switch *sw, unsigned int ingress, mf_time at, const uint8_t *frame, uint16_t len);
/** Lets out what is through the pipeline. @return the next time */
mf_time l2_run(struct mf_switch *sw, mf_time now);

#endif
