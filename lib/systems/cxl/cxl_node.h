/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CXL.mem: a node reads and writes the memory of others by cache lines, over a link with credits
 * (cxl_link.h).
 *
 *      READ        for each line MemRd (REQ)            -> MemData (DRS), 64 octets
 *      WRITE       for each line MemWr, MemWrPtl (RwD)  -> Cmp (NDR)
 *      RMW         MemRmw (RwD) with two operands       -> RmwData (DRS), the old value
 *
 * An operation is cut into lines. Each has a tag until its answer has come; an operation completes when
 * all of its lines have. Memory nodes take turns, line by line; the reads to one go in their order, and
 * so do its writes, but nothing orders the ones and the others. Answers are taken in at once, whatever
 * else goes on. A memory node takes a request out of its buffer when it has room for the answer
 * (`depth`), and its credit returns then: what its answers wait for holds up requests, and never the
 * other way round.
 *
 *      cxl_node.c      parameters, the ends of the link, the ops table
 *      cxl_lines.c     operations, and whose turn it is to send a line
 *      cxl_requests.c  lines that go, and their answers that come
 *      cxl_memory.c    requests that come, and their answers that go
 */
#ifndef SYSTEMS_CXL_CXL_NODE_H
#define SYSTEMS_CXL_CXL_NODE_H

#include <string.h>

#include "systems/cxl/cxl_link.h"
#include "systems/frames/mf_operations.h"

#define CXL_NIL UINT32_MAX

/** What an operation has beyond struct operation, by its number. */
struct cxl_lines {
	uint64_t sent; /**< octets whose lines have been sent */
	mf_time ready; /**< its lines may go from then on */
	uint32_t under_way; /**< lines whose answers are to come */
	uint32_t next, prev; /**< among those that are not ready, or to the same memory node */
	uint32_t generation; /**< of the operation of this number */
	bool listed;
};

struct cxl_queue {
	uint32_t head, tail;
};

/** By peer. */
struct cxl_peer {
	struct cxl_queue ops[CXL_RWD + 1]; /**< operations that have lines to send, by class */
	uint16_t next[CXL_RWD + 1], prev[CXL_RWD + 1]; /**< in the ring of those that have some */
	uint32_t written; /**< memory node: octets of the write whose lines come */
};

struct cxl_tag {
	uint32_t op, generation;
	uint32_t offset; /**< of its octets in the operation's */
	uint8_t skip, len; /**< of the line: its octets */
};

/** An answer that a memory node is to give. */
struct cxl_answer {
	mf_time ready;
	uint64_t value; /**< RMW: the old value */
	struct mf_places line; /**< of a read: in the memory, held */
	uint32_t next;
	uint16_t tag, peer;
	uint8_t op, code;
};

/** A request that waits in its buffer. */
struct cxl_waiting {
	struct cxl_message message;
	uint32_t next;
};

struct cxl {
	struct mf_stack_config config;
	struct operations operations;
	struct cxl_link link;
	mf_time cost_tx, cost_rx;
	/* compute node */
	struct cxl_lines *lines; /**< [operations.size] */
	struct cxl_queue fresh; /**< operations that are not ready, by their time */
	struct cxl_peer *peer; /**< [nodes] */
	uint32_t turn[CXL_RWD + 1]; /**< peers with lines to send, a ring: whose turn it is, by class; NIL */
	struct cxl_tag *tag;
	uint32_t *free_tag;
	uint32_t tags, fresh_tags, free_tags;
	/* memory node */
	struct cxl_answer *answer;
	uint32_t answers, fresh_answers, free_answer, in_work;
	struct cxl_queue out[CXL_CLASSES]; /**< NDR, DRS: answers by their time */
	struct cxl_waiting *wait;
	uint32_t waits, fresh_wait, free_wait;
	struct cxl_queue waiting;
	uint64_t octets_sent, octets_received, waited_depth, drop_unknown, drop_bad;
};

/* cxl_lines.c */
int cxl_submit(struct mf_stack *s, mf_time now, const struct mf_op *op);
/** Operations whose time has come may send their lines. */
void cxl_begin(struct cxl *x, mf_time now);
/** All lines of an operation have been sent. */
void cxl_all_sent(struct cxl *x, uint32_t op);
/** It has come to its end: what of it has not been sent is not, and the answers to the rest are nobody's. */
void cxl_finish(struct cxl *x, uint32_t op, mf_time date, enum mf_status status);

/* cxl_requests.c */
static inline bool cxl_has_tag(const struct cxl *x)
{
	return x->free_tags != 0 || x->fresh_tags < x->tags;
}
/** The next line of the operation whose turn it is; there must be one, and a tag. */
void cxl_take_request(struct cxl *x, unsigned int class, mf_time now, struct cxl_message *m);
void cxl_take_response(struct cxl *x, mf_time at, const struct cxl_message *m);

/* cxl_memory.c */
/** A request has come. @return false: it waits in its buffer */
bool cxl_request(struct cxl *x, mf_time at, const struct cxl_message *m);
/** The node is at its end: what its answers hold of the memory is let go. */
void cxl_memory_fini(struct cxl *x);
/** The next answer of a class; there must be one. */
void cxl_take_answer(struct cxl *x, unsigned int class, mf_time now, struct cxl_message *m);

/*
 * Where a real CXL has nothing, in 4 bits of the message and the low bits of the line's address, a write
 * has the number of its operation, and whether it is the last line: for the probe at the memory node.
 */
#define CXL_PROBE_LAST 0x100

static inline void cxl_put_probe(struct cxl_message *m, unsigned int probe)
{
	m->code = probe & 15;
	m->addr |= probe >> 4;
}

static inline unsigned int cxl_get_probe(const struct cxl_message *m)
{
	return m->code | (unsigned int)(m->addr % CXL_LINE) << 4;
}

#endif
