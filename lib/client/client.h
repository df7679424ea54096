/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the client. A queue is shared by two: its program, which prepares operations and takes
 * completions, and the embedded client of its node, which begins them in the node's turns. Two rings with one
 *writer and one reader each are between them:
 *
 *	program: idle slot -> prepared -> submitted   ==>   embedded client: begun -> active -> completed
 *	   ^                                                                             |
 *	   +------ advanced <- looked at              <==                 completions ---+
 *
 * There are as many slots as either ring has room, so neither can overflow, and nothing is copied: an
 * operation stays in its slot until its completion has been taken.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdatomic.h>

#include "client/memfab.h"
#include "client/mf_session.h"

#define CLIENT_ENTRIES_MAX 4096
#define CLIENT_LINE 64

struct mf_below;

struct memfab {
	struct mf_session *session;
	const struct mf_config *config;
	char *only; /**< the node of this process; NULL: all */
};

/** An operation from preparation to completion. */
struct slot {
	struct memfab_sqe sqe; /**< program: w until it is submitted; embedded client: ro then */
	struct memfab_queue *queue;
	/* Embedded client */
	uint64_t given; /**< octets handed to the host */
	uint64_t old;
	uint64_t answer[2]; /**< to what was asked of a space: MF_SPACE_ANSWER bytes */
	uint32_t iov; /**< the next buffer */
	uint32_t live; /**< operations of the host that it is made of and that are under way */
	int error; /**< the first one of these */
} __attribute__((aligned(CLIENT_LINE)));

struct completion {
	struct memfab_cqe cqe;
	uint32_t slot;
};

/** What the last operation means for the next one. */
enum link {
	LINK_NONE,
	LINK_WAITS, /**< it has to wait for its success */
	LINK_BROKEN, /**< it is cancelled */
};

struct memfab_queue {
	struct slot *slot;
	uint16_t *sq; /**< [entries] slots in the order of their preparation */
	struct completion *cq; /**< [entries] */
	uint32_t mask;
	struct attachment *attachment;
	uint32_t holder; /**< how locks of the node name it */
	/* Program. Positions in the rings count from 0 on and wrap with their type. */
	uint16_t *idle; /**< stack of slots: the last used is the next one */
	uint32_t idles;
	uint32_t prepared; /**< in sq */
	uint32_t taken; /**< from cq */
	/** Program: w. What is before it in sq, slots included, is the embedded client's (release, acquire)
	 */
	_Alignas(CLIENT_LINE) _Atomic uint32_t submitted;
	/** Embedded client: w. What is before it in cq is the program's (release, acquire) */
	_Alignas(CLIENT_LINE) _Atomic uint32_t completed;
	/* Embedded client; others with the session's lock */
	uint32_t begun; /**< in sq */
	uint32_t active; /**< begun and not completed */
	enum link link;
	struct queue_history *history; /**< NULL: nothing is recorded */
	struct slot *halfway; /**< the host had no room for all of it; NULL: none */
	struct memfab_queue *next; /**< at the same node, in a circle */
};

/* queue_embedded.c: turns of the embedded client; the session's lock is held */
/** What the host had no room for goes on. @return whether all of it was given */
bool queue_go_on(struct memfab_queue *q, const struct mf_below *below, mf_time now);
/** Begins what may begin, until the host has no room. @return how many operations it dealt with */
unsigned int queue_begin(struct memfab_queue *q, const struct mf_below *below, mf_time now);
/** An operation of the host, whose user is a slot, has completed. */
void queue_completed(const struct mf_completion *c);
/** Nothing more begins; what has begun will have completed when `completed` is what this returns. */
uint32_t queue_stop(struct memfab_queue *q);

/* region.c */
/** Whether octets reach beyond the region of the file that has the first of them. */
bool region_crossed(const struct mf_config *config, unsigned int node, uint64_t addr, uint64_t len);

/* operation.c */
/** Why an operation cannot be begun at a node: 0 or -errno. */
int operation_check(const struct mf_config *config, unsigned int node, const struct memfab_sqe *s);
/** Its octets are in no buffer. */
static inline bool operation_is_atomic(uint8_t op)
{
	return op >= MEMFAB_CAS && op != MEMFAB_CALL;
}

/** Octets that are moved to or from buffers of the program. */
static inline uint64_t operation_octets(const struct memfab_sqe *s)
{
	return s->op == MEMFAB_NOP || operation_is_atomic(s->op) ? 0 : s->len;
}
/** The next operation of the host that the slot's is made of. */
void operation_piece(struct slot *s, const struct mf_config *config, struct mf_op *op);

/* sync.c */
/** Does one operation. @param old  as memfab_cqe.old; or NULL. @return 0 or -errno; -EBUSY, -EPERM: not begun
 */
int sync_one(struct memfab_queue *q, const struct memfab_sqe *what, uint64_t *old);

/* queue.c */
/** Turns the fabric for so long, us, where nobody else does. */
void queue_turn_for(struct memfab_queue *q, int64_t time);

/* space.c */
/** A space, as a node of this process has it. What may change is atomic. */
struct memfab_space {
	struct attachment *attachment;
	uint32_t number; /**< mf_space_number(), of the maker's number in its network */
	uint16_t maker; /**< node */
	uint16_t of_maker; /**< the space's number there */
	bool own; /**< this node made it */
	unsigned int nodes;
	_Atomic unsigned int next; /**< place of the node that is asked first for pages */
	uint16_t node[MEMFAB_SPACE_NODES]; /**< memory nodes */
};

/** Why an operation of a space cannot be begun: 0 or -errno. */
int space_check(const struct mf_config *config, unsigned int node, const struct memfab_sqe *s);
/** What is asked of a space, for the host. */
void space_piece(struct slot *s, const struct mf_config *config, struct mf_op *op);
static inline bool space_is_task(uint8_t op)
{
	return op >= MEMFAB_SPACE_MAKE && op <= MEMFAB_SPACE_LEAVE;
}

/** The number of a node in the network of the queue's, by which memory nodes know it. @param node  any */
uint16_t space_node_number(const struct memfab_queue *q, unsigned int node);
/** May several operations be asked in a row? @return 0, -EPERM, -EBUSY */
int space_may_ask(const struct memfab_queue *q);

/* space_token.c */
/** What a token says; attachment, number and own are not filled in. @return 0, -EINVAL */
int space_of_token(const struct mf_config *config, const struct memfab_token *t, struct memfab_space *s);

/* error.c */
/** Of enum mf_status, -errno. */
int error_of(uint8_t status);

/* attachment.c: the embedded client of a node, which all queues there share, whoever opened the fabric */
int attachment_take(struct memfab *m, unsigned int node, struct memfab_queue *q);
void attachment_leave(struct memfab_queue *q);
struct mf_session *attachment_session(const struct attachment *s);
unsigned int attachment_node(const struct attachment *s);
/** A number for a space of the node, 1 and up. Any thread. @return 0: all are used */
uint32_t attachment_space_take(struct attachment *s);
void attachment_space_give(struct attachment *s, uint32_t number);
/** How often a node was lost. Any thread */
unsigned int attachment_lost(const struct attachment *s, unsigned int node);

#endif
