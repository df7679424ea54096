/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory over a transport of messages: what the stacks share that have no memory operations of their
 * own (RoCEv2 and CXL have).
 *
 *      READ:       request ------------------------> memory is read
 *                  <------------------ response with the data
 *      WRITE:      message with the data ----------> memory is written
 *      WRITE_ACK:  the same; <----------------------- acknowledgement
 *      RMW:        request with the arguments -----> done; <--- response with 8 octets
 *
 * A message is sent in segments, each with the header below, so that each can be used by itself. A transport
 * decides when which segment of which message goes, what is sent again, and sees to it that each is handed to
 * remote_segment() once.
 *
 * In a stream of octets a message is the header, once, and its data (remote_put_stream, remote_stream): the
 * header's octets and offset are 0.
 *
 * The data of a response are read from memory when their segment is sent, as an RDMA NIC does: until then
 * the message holds them there. Those of a write are read from the caller's buffer, which is his again when
 * the operation completes.
 *
 *      remote.c           messages and their segments
 *      remote_compute.c   operations: the messages that they begin with, and what comes of them
 *      remote_memory.c    what a memory node does and answers
 *      remote_stream.c    messages as a stream
 *      remote_fifo.c      messages that are sent in the order in which they are there
 */
#ifndef MF_REMOTE_H
#define MF_REMOTE_H

#include "base/mf_heap.h"
#include "systems/frames/mf_operations.h"
#include "systems/frames/stamp.h"

enum remote_kind {
	REMOTE_READ = 1,
	REMOTE_WRITE,
	REMOTE_WRITE_ACK,
	REMOTE_RMW,
	REMOTE_RESPONSE,
	REMOTE_ACK,
	REMOTE_ERROR,
	REMOTE_KINDS
};

/** In front of each segment's data; numbers are big-endian. */
struct remote_header {
	uint8_t kind; /**< enum remote_kind */
	uint8_t code; /**< RMW: enum mf_rmw_op; ERROR: enum mf_status */
	uint16_t id; /**< of the operation */
	uint16_t octets; /**< of data in this segment */
	uint8_t retransmit; /**< it was sent before */
	uint8_t reserved;
	uint32_t offset; /**< of this segment in the message's data */
	uint32_t len; /**< of the message's data; READ: octets asked for */
	uint64_t addr; /**< READ, WRITE, RMW */
};
static_assert(sizeof(struct remote_header) == 24, "on the wire");

#define REMOTE_HEADER 24
#define REMOTE_QUEUE_MAX 65536 /* mf_stack_config.queue */
#define REMOTE_MESSAGES_PEER 32 /* responses under way for each other node, on average */
#define REMOTE_NIL UINT32_MAX

/** A message that a transport has to send. */
struct remote_message {
	/** at[0] NULL: it has none, or they are in word. Of the caller's buffer, or of memory. */
	struct mf_places data;
	uint64_t addr;
	uint64_t word[2]; /**< data of RMW and of its response */
	mf_time ready; /**< it may not go before: stage costs, DRAM */
	uint32_t len; /**< octets of data that it carries; at least one segment goes, with none */
	uint32_t told; /**< what its header says as len */
	uint32_t op; /**< of the operation that it belongs to; OPERATION_NIL: a response */
	uint16_t peer, id;
	uint8_t kind, code;
	bool held; /**< data is a place of memory that is held: let go with the message */
	/* the transport's */
	struct mf_heap_link link;
	uint32_t next, prev;
	uint32_t sent; /**< octets given out, */
	uint32_t acked; /**< and known to have come */
	bool begun; /**< its first segment was given out */
	bool retransmit; /**< the same one was given out before */
	mf_time due;
	uint32_t first; /**< sequence number of its first segment, or what the transport will */
	uint32_t extra;
};

/** What came of a write or RMW, by peer and id, at a memory node. */
struct remote_write {
	uint64_t addr;
	uint64_t result; /**< of an RMW */
	uint32_t received;
	uint16_t id;
	bool busy; /**< not all of it has come */
	bool refused;
	bool done; /**< it has taken effect */
};

/** A stream of messages that comes in. */
struct remote_stream {
	struct remote_header header; /**< of the message that is coming in */
	uint8_t head[REMOTE_HEADER + 16]; /**< its first octets: the header, and what must be whole (RMW) */
	uint32_t have; /**< of them */
	uint32_t taken; /**< octets of its data */
	bool broken; /**< nobody knows where the next message begins */
};

/** Most messages that a node has at a time. */
static inline uint32_t remote_messages_max(uint16_t nodes)
{
	return REMOTE_QUEUE_MAX + (uint32_t)REMOTE_MESSAGES_PEER * nodes;
}

struct remote;

struct remote_transport {
	/** A message is to be sent: r->message[m]. The transport frees it by remote_free_message(). */
	void (*send)(struct remote *r, uint32_t m, mf_time now);
	/** An operation was given up: nothing more of it is to be sent. */
	void (*give_up)(struct remote *r, uint32_t op, mf_time now);
	bool unordered; /**< the segments of a message come in any order */
	/**
	 * Operations are begun again (remote_retransmit) until they are answered, writes of either kind, too.
	 * What has taken effect is answered again and not done again.
	 */
	bool repeats;
};

/** The beginning of each stack that is built on it. */
struct remote {
	struct mf_stack_config config;
	double param[MF_PARAMS_MAX];
	const struct remote_transport *transport;
	struct operations operations;
	struct remote_message *message;
	uint32_t messages, fresh, free;
	uint32_t head,
		tail; /**< of remote_fifo: messages that wait, through next; head is REMOTE_NIL: none */
	struct remote_write *write; /**< [id % write_ids][peer] */
	uint32_t write_ids; /**< OPERATION_IDS; 1 at a node without memory, which refuses all */
	mf_time cost_tx, cost_rx; /**< protocol and MAC */
	uint64_t segments_sent, segments_received, octets_sent, octets_received;
	uint64_t drop_room, drop_bad, drop_unknown;
	uint64_t drop_order; /**< of a transport that repeats */
};

/** @return 0 or -ENOMEM */
int remote_init(struct remote *r, const struct mf_stack_config *config, unsigned int params,
		const struct remote_transport *transport);
void remote_fini(struct remote *r);

/* Of the ops table; r is the stack. */
int remote_submit(struct mf_stack *s, mf_time now, const struct mf_op *op);
unsigned int remote_completions(struct mf_stack *s, mf_time now, struct mf_completion *out, unsigned int max);
uint32_t remote_outstanding(const struct mf_stack *s);

void remote_run(struct mf_stack *s, mf_time now); /**< remote_expire() */
mf_time remote_next(const struct mf_stack *s);

/** Data in one place. */
static inline struct mf_places remote_place(const void *data, uint32_t len)
{
	return (struct mf_places){.at = {data}, .len = {len}};
}

/** Sends once more what an operation begins with. */
void remote_retransmit(struct remote *r, uint32_t op, mf_time now);

/** Gives up operations whose time has run out. */
void remote_expire(struct remote *r, mf_time now);

/** Octets of a segment of a message from an offset on, header included, at most max. */
static inline uint32_t remote_segment_size(const struct remote_message *m, uint32_t offset, uint32_t max)
{
	uint32_t rest = m->len - offset;

	return REMOTE_HEADER + (rest < max - REMOTE_HEADER ? rest : max - REMOTE_HEADER);
}

/** Writes a segment: header and data. @param octets  of data @return header and data together */
uint32_t remote_put_segment(struct remote *r, const struct remote_message *m, uint32_t offset,
			    uint32_t octets, uint8_t *out);

/**
 * A segment has come.
 * @param at   when it was whole at the MAC
 * @param max  octets from it on to the end of what it came in
 * @return false: it is not one, or not for us
 */
bool remote_segment(struct remote *r, mf_time at, uint16_t peer, const uint8_t *segment, uint32_t max);

/** A transport that sends messages in the order in which they are there, each once. */
extern const struct remote_transport remote_fifo;
/**
 * Writes the next segment of the first message of remote_fifo, if it may go at now.
 * @param max   octets, header included, that there is room for
 * @param peer  set: the node that it is for
 * @return octets written to out, header included; 0: there is none
 */
uint32_t remote_fifo_pull(struct remote *r, mf_time now, uint32_t max, uint16_t *peer, uint8_t *out);
/** From when on remote_fifo_pull() has something to give; as mf_stack_ops.ready. */
mf_time remote_fifo_ready(const struct mf_stack *s);

/** Octets of a message in a stream. */
static inline uint64_t remote_stream_size(const struct remote_message *m)
{
	return (uint64_t)REMOTE_HEADER + m->len;
}

/** Writes octets of a message as it is in a stream, from an offset on. */
void remote_put_stream(struct remote *r, const struct remote_message *m, uint64_t offset, uint32_t octets,
		       uint8_t *out);

/**
 * The next octets of a stream have come.
 * @param data  NULL: they are void, the sender has given their message up
 */
void remote_stream(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer, const uint8_t *data,
		   uint32_t octets);

/** The transport knows that all of a write has come (or, where it knows nothing, was given out). */
void remote_sent(struct remote *r, const struct remote_message *m, mf_time at);
/** The first block of an operation goes out. */
void remote_begun(struct remote *r, const struct remote_message *m, mf_time at);

void remote_free_message(struct remote *r, uint32_t m);

unsigned int remote_counters(const struct remote *r, struct mf_counter *out);

static inline struct remote *remote_of(struct mf_stack *s)
{
	return (struct remote *)s;
}

static inline const struct remote *remote_const(const struct mf_stack *s)
{
	return (const struct remote *)s;
}

/** Octets of data that the messages of an operation carry: requests, and what comes back. */
struct remote_load {
	uint64_t there; /**< c -> m */
	uint64_t back; /**< m -> c */
	bool answers; /**< there is a message back */
};
struct remote_load remote_load(uint8_t kind, uint64_t octets);
/**
 * What an operation costs on the wire, for mf_stack_ops.blocks.
 * @param data, headers  octets of data that a frame has at most, and of headers that each has, without FCS
 */
struct mf_op_blocks remote_blocks(uint8_t kind, uint64_t octets, uint32_t data, uint32_t headers);

#endif
