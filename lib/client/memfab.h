/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memfab for programs: open a fabric as one of its nodes, and read and write the memory of others.
 *
 *	struct memfab *m;
 *	struct memfab_queue *q;
 *	char err[MEMFAB_ERR_LEN];
 *
 *	if (memfab_open("fabric.json", NULL, &m, err, sizeof(err)) != 0 ||
 *	    memfab_queue_new(m, "cn0", 64, &q, err, sizeof(err)) != 0)
 *		return complain(err);
 *	memfab_write(q, memfab_node(m, "mn0"), 0x1000, text, sizeof(text));
 *
 * Operations go through a queue in the manner of io_uring: get a slot, prepare it, submit; look at what has
 * completed, go on behind it. The calls that do one operation and wait for it are made of these.
 *
 * Threads: a queue belongs to one thread at a time; each thread has one of its own. Everything else may be
 * called by any thread.
 *
 * Errors are negative numbers of errno.h, in results of functions and of operations:
 *
 *	-EPERM       the process was forked from the one that has the fabric: it can only close it; of
 *	             memfab_runlock(): the queue does not have the lock
 *	-EINVAL      bad argument: size 0, no buffer, address beyond 48 bits, a target without memory
 *	-EAGAIN      no slot is free: look at completions first
 *	-ERANGE      address or length outside the target's memory
 *	-EFAULT      an atomic's address is no multiple of 8
 *	-EOPNOTSUPP  unknown operation
 *	-EACCES      the target does not let this node in; of an address space: there is no such right or
 *	             address
 *	-ENOBUFS     the target has no room for it now
 *	-ETIMEDOUT   a read without an answer within its timer (EDM 3.3: the NULL response); or an operation
 *	             of any kind that could not begin within it, and has not happened
 *	-EINPROGRESS a write or atomic whose outcome is not known: it has happened once or not at all
 *	-ECANCELED   it stood behind a failed operation that it was linked to
 *	-EHOSTDOWN   a read that was under way when the target's link was lost; it is there again, perhaps
 *	             with empty memory
 *
 * Memory, regions and rights are checked before anything is sent. So with -EINVAL, -ERANGE, -EFAULT, -EACCES
 * nothing has changed, unless a right is taken back while a write is under way: then chunks of it
 * (scheduler.chunk) may have been applied, and a plain write that has completed hears of nothing. A write
 * with -EINPROGRESS that is larger than a chunk may have happened in part. The buffer of a read that failed
 * has undefined contents.
 *
 * Of plain writes that had completed before a target was lost no result says that they are lost:
 * memfab_losses().
 */
#ifndef MEMFAB_H
#define MEMFAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMFAB_ERR_LEN 256

struct memfab; /* an open fabric */
struct memfab_queue; /* of one thread, at one node */
struct memfab_space; /* an address space of memory nodes */

struct memfab_options {
	/**
	 * NULL: the whole fabric lives in this process. The name of a compute node: only that one does, and
	 * the others are in processes of their own (memfab-emu --run), behind the ports that the file names.
	 * Another node of the same file is a fabric of its own.
	 */
	const char *only;
	/** A thread of its own turns the fabric; else whoever waits for something does. */
	bool thread;
	/** The workloads of the file run, too, at nodes that no queue is at. */
	bool workload;
	/** Options for DPDK's EAL, one line, where the program has not started it: NULL: without hugepages */
	const char *eal;
};

/**
 * Opens the fabric of a file; the same file twice in a process, with the same `only`, is the same fabric.
 *
 * With MEMFAB_HISTORY=FILE[,room=SIZE] in the environment what the program does is recorded, and written
 * there when the fabric is closed (docs/history.md).
 *
 * @param file     JSON, see docs/fabric-file.md
 * @param options  or NULL: the whole fabric, turned by whoever waits
 * @param err      on failure: one line
 * @return 0 or -errno
 */
int memfab_open(const char *file, const struct memfab_options *options, struct memfab **out, char *err,
		size_t errlen);
/** Its queues must have been freed. NULL: nothing */
void memfab_close(struct memfab *m);

/**
 * Waits until all partners in other processes are there.
 * @param timeout  ms; < 0: for ever
 * @return 0, -ETIMEDOUT or -EPERM
 */
int memfab_wait_ready(struct memfab *m, int timeout);

/** Number of a node, as target of operations. @return -ENOENT: there is none of this name */
int memfab_node(const struct memfab *m, const char *name);
/** Octets of a node's memory; 0: it has none, or there is no such node. */
uint64_t memfab_memory(const struct memfab *m, int node);
/** Whether a node's memory has address spaces: type "virtual" (docs/memory.md). Any thread */
bool memfab_has_spaces(const struct memfab *m, int node);

/**
 * A queue at a compute node of this process.
 * @param node     name; NULL: memfab_options.only, or the first compute node of the file
 * @param entries  operations under way at most, 1..4096; rounded up to a power of 2
 * @return 0 or -errno; -EBUSY: a workload of the file has the node
 */
int memfab_queue_new(struct memfab *m, const char *node, unsigned int entries, struct memfab_queue **out,
		     char *err, size_t errlen);
/** Forgets what has not begun, waits for what has; results are lost. NULL: nothing */
void memfab_queue_free(struct memfab_queue *q);

enum memfab_op {
	MEMFAB_NOP, /**< completes by itself: a mark in the order of completions, a fence */
	MEMFAB_READ,
	MEMFAB_WRITE, /**< completes when it has left the node (EDM: unacknowledged) */
	MEMFAB_WRITE_ACK, /**< completes when the target has acknowledged it */
	MEMFAB_CAS, /**< these on 8 octets: the old value is the result */
	MEMFAB_FETCH_ADD,
	MEMFAB_SWAP,
	MEMFAB_FETCH_OR,
	MEMFAB_FETCH_AND,
	/* Of the region that has the address; results as of atomics. -EACCES for who is not the owner */
	MEMFAB_CLAIM, /**< one that is nobody's: it is this node's, and all zeros. Old value: the epoch */
	MEMFAB_RELEASE, /**< it is zeroed, and nobody's. Old value: the epoch */
	MEMFAB_SHARE, /**< operand: memfab_share() */
	/* Of an address space: its own calls and memfab_prep_r...() fill these in. */
	MEMFAB_SPACE_MAKE,
	MEMFAB_SPACE_END,
	MEMFAB_SPACE_JOIN,
	MEMFAB_SPACE_GRANT,
	MEMFAB_SPACE_ALLOCATE,
	MEMFAB_SPACE_FREE,
	MEMFAB_SPACE_PROTECT,
	MEMFAB_SPACE_FENCE,
	MEMFAB_SPACE_RENEW,
	MEMFAB_SPACE_LIFE,
	MEMFAB_SPACE_USAGE,
	MEMFAB_SPACE_LEAVE,
	MEMFAB_CALL, /**< memfab_prep_rcall() */
	MEMFAB_OPS
};

/** What the owner of a region may give another node. */
enum memfab_right { MEMFAB_RIGHT_READ, MEMFAB_RIGHT_WRITE };

/** Operand of MEMFAB_SHARE. @param give  or take it back */
static inline uint64_t memfab_share(int node, enum memfab_right right, bool give)
{
	return (uint64_t)(uint16_t)node | (uint64_t)right << 16 | (uint64_t)give << 18;
}

enum {
	MEMFAB_FENCE = 1, /**< begins when all operations before it in the queue have completed */
	/**
	 * The next one of the queue, whenever it is submitted, begins when this one has succeeded; -ECANCELED
	 * if it fails. What stands behind it begins later still.
	 */
	MEMFAB_LINK = 2,
};

/** An operation to be submitted. Filled in by the functions below, then flags, user_data by the program. */
struct memfab_sqe {
	uint8_t op; /**< enum memfab_op */
	uint8_t flags;
	uint16_t node; /**< target */
	uint32_t iovs; /**< 0: one buffer; else each buffer is an operation of the fabric, in this order */
	uint64_t addr; /**< in the target's memory */
	union {
		void *buf; /**< the program's until completion; a write only reads it */
		const struct iovec
			*iov; /**< scattered: in this order, together len; as buf, and what it names */
	};
	uint64_t len;
	/** atomics: CAS expected, desired; others the operand. CALL: which one, octets of arguments */
	uint64_t arg[2];
	const struct memfab_space *space; /**< whose address it is; NULL: the target's memory as such */
	uint64_t user_data; /**< given back */
};

/** An operation that has completed. */
struct memfab_cqe {
	uint64_t user_data;
	int64_t res; /**< octets; of an atomic 0; of a call those of its answer; or -errno */
	uint64_t
		old; /**< atomics: what was there before; memfab_prep_ralloc(): the pointer; a call: as res */
};

/** @return a slot, all 0; NULL: as many operations are under way, or prepared, as the queue holds */
struct memfab_sqe *memfab_get_sqe(struct memfab_queue *q);

static inline void memfab_prep(struct memfab_sqe *s, enum memfab_op op, int node, uint64_t addr, void *buf,
			       uint64_t len)
{
	/* What is no operation stays none, -EOPNOTSUPP, and what is no number of a node, -EINVAL. */
	s->op = (unsigned int)op <= UINT8_MAX ? (uint8_t)op : UINT8_MAX;
	s->node = node >= 0 && node <= UINT16_MAX ? (uint16_t)node : UINT16_MAX;
	s->addr = addr;
	s->buf = buf;
	s->len = len;
}

static inline void memfab_prep_read(struct memfab_sqe *s, int node, uint64_t addr, void *buf, uint64_t len)
{
	memfab_prep(s, MEMFAB_READ, node, addr, buf, len);
}

static inline void memfab_prep_write(struct memfab_sqe *s, int node, uint64_t addr, const void *buf,
				     uint64_t len)
{
	memfab_prep(s, MEMFAB_WRITE, node, addr, (void *)(uintptr_t)buf, len);
}

static inline void memfab_prep_write_ack(struct memfab_sqe *s, int node, uint64_t addr, const void *buf,
					 uint64_t len)
{
	memfab_prep(s, MEMFAB_WRITE_ACK, node, addr, (void *)(uintptr_t)buf, len);
}

/** @param iov  until completion, and what it names */
static inline void memfab_prep_vector(struct memfab_sqe *s, enum memfab_op op, int node, uint64_t addr,
				      const struct iovec *iov, unsigned int iovs)
{
	memfab_prep(s, op, node, addr, NULL, 0);
	s->iov = iov;
	s->iovs = iovs;
	for (unsigned int i = 0; i < iovs; i++)
		s->len += iov[i].iov_len;
}

static inline void memfab_prep_cas(struct memfab_sqe *s, int node, uint64_t addr, uint64_t expected,
				   uint64_t desired)
{
	memfab_prep(s, MEMFAB_CAS, node, addr, NULL, 8);
	s->arg[0] = expected;
	s->arg[1] = desired;
}

/** @param op  MEMFAB_FETCH_ADD, MEMFAB_SWAP, MEMFAB_FETCH_OR, MEMFAB_FETCH_AND; those of regions */
static inline void memfab_prep_atomic(struct memfab_sqe *s, enum memfab_op op, int node, uint64_t addr,
				      uint64_t operand)
{
	memfab_prep(s, op, node, addr, NULL, 8);
	s->arg[0] = operand;
}

/** Hands over what was prepared. @return how many */
unsigned int memfab_submit(struct memfab_queue *q);

/**
 * What has completed, without waiting; turns the fabric once where nobody else does. Order is that of
 * completion.
 * @return the oldest one, until memfab_cq_advance(); NULL: none
 */
const struct memfab_cqe *memfab_peek_cqe(struct memfab_queue *q);
/** @return number written to out[0..max) */
unsigned int memfab_peek_batch_cqe(struct memfab_queue *q, const struct memfab_cqe **out, unsigned int max);
/** Their slots are free again. */
void memfab_cq_advance(struct memfab_queue *q, unsigned int n);

/**
 * Waits until n completions are there; submits nothing.
 * @param timeout  us; < 0: for ever, which ends by the timers of the fabric
 * @return 0; -ETIMEDOUT; -ENOENT: fewer than n are under way; -EPERM
 */
int memfab_wait_cqe(struct memfab_queue *q, unsigned int n, int64_t timeout);

/*
 * Sleeping. A program that has nothing to do need not turn the fabric all the time, but it has to now and
 * then: links live by that, and what others ask of its node is answered in turns.
 */
/**
 * Does a turn, and says when the next one is due. What is submitted afterwards begins in a turn, too: so this
 * is what a program calls last before it sleeps. Any thread.
 *
 * Timers are exact. What comes by a port makes memfab_fd() readable, if the port can tell: net_af_packet,
 * net_tap, NICs with interrupts of receive queues. With others, as net_memif, it waits for that turn: the
 * fabric is looked at after an eighth of the time that it has had nothing to do, 50 us to 4 ms; and at once
 * for 200 us after the last work, while an operation is under way. So an answer that takes long takes an
 * eighth longer.
 *
 * Where a thread or a service lcore turns the fabric nothing is due, and completions are to be looked at
 * after 1 ms.
 *
 * @return us from now, rounded down; 0: at once, look at completions; INT64_MAX: only for what comes by ports
 * or is submitted; -EPERM
 */
int64_t memfab_next(struct memfab *m);
/**
 * A descriptor for poll() or epoll of the program's own: readable when what the last memfab_next() said is
 * due, or something has come by a port that can tell. It is only waited for, never read; the next
 * memfab_next() sets it anew. The fabric's, until memfab_close(). Any thread.
 * @return or -errno: -EPERM, -EMFILE
 */
int memfab_fd(struct memfab *m);
/**
 * Sleeps, and turns the fabric when that is due, until there was something to do. Any thread: others that
 * submit turn it themselves.
 * @param timeout  us; < 0: for ever
 * @return 0: look at completions; -ETIMEDOUT; -EINTR: a signal came; -EPERM, -EMFILE
 */
int memfab_wait(struct memfab *m, int64_t timeout);

/**
 * How often a target, or the way to it, was lost since the queue's node had its first queue. Plain writes
 * (MEMFAB_WRITE) that had completed by then may be lost, and so may all that the target held, if it was
 * started again; what was under way has failed. What is submitted afterwards goes to who is there now. It
 * grows before a completion is seen that came behind the loss: a program that looks at it behind a read
 * knows whether its writes before that read were lost. Of acknowledged writes that had completed only a
 * target that was started again has lost any.
 */
unsigned int memfab_losses(const struct memfab_queue *q, int node);

/** Operations that are under way, or whose completions wait. */
unsigned int memfab_outstanding(const struct memfab_queue *q);

/*
 * One operation, and wait for it. Nothing may be under way in the queue: -EBUSY.
 * @return 0 or -errno of the operation
 */
int memfab_read(struct memfab_queue *q, int node, uint64_t addr, void *buf, uint64_t len);
int memfab_write(struct memfab_queue *q, int node, uint64_t addr, const void *buf, uint64_t len);
int memfab_write_ack(struct memfab_queue *q, int node, uint64_t addr, const void *buf, uint64_t len);
/** @param old  what was there; equal to expected: it is desired now */
int memfab_cas(struct memfab_queue *q, int node, uint64_t addr, uint64_t expected, uint64_t desired,
	       uint64_t *old);
int memfab_atomic(struct memfab_queue *q, enum memfab_op op, int node, uint64_t addr, uint64_t operand,
		  uint64_t *old);

/*
 * Regions, where the file has some (docs/client.md). Keys come and go by themselves: who has the right just
 * reads and writes, who has not gets -EACCES.
 */
/** Where a region of the file is at a node. @return 0 or -ENOENT */
int memfab_region(const struct memfab *m, const char *name, int node, uint64_t *addr, uint64_t *size);
/**
 * One operation, and wait for it, as above.
 * @param addr   some address of the region
 * @param epoch  how often it has changed hands; or NULL
 * @return 0 or -errno; -EACCES: it is somebody's, or there is none; not the owner; as many as one may own
 */
int memfab_region_claim(struct memfab_queue *q, int node, uint64_t addr, uint64_t *epoch);
int memfab_region_release(struct memfab_queue *q, int node, uint64_t addr, uint64_t *epoch);
/** Lets another node read or write, or no longer, from the answer on. @param with  its number */
int memfab_region_share(struct memfab_queue *q, int node, uint64_t addr, int with, enum memfab_right right,
			bool give);

/*
 * Address spaces, of memory nodes whose memory has the type "virtual" (docs/client.md, Clio 3.1). A space has
 * pages at some memory nodes. Who made it grants rights to other nodes, which then join it by its token. Keys
 * come and go by themselves.
 *
 * A pointer has the number of the memory node in its upper 16 bits and an address there in the others, so
 * pointers into all nodes of a space are of one kind, and 0 is none.
 *
 * Calls that wait for something, as above, want a queue with nothing under way: -EBUSY. The queue has to be
 * of the space's node. A space may be used by several threads at a time, each with a queue of its own.
 *
 * Of one queue, operations on the same octets take effect in their order, and a free or protect comes behind
 * what was submitted for its range before, and before what is behind it. An operation that fails with -EACCES
 * may have read or written some of its pages, those that are there.
 */
#define MEMFAB_SPACE_NODES 64
#define MEMFAB_TOKEN_LEN (12 + 2 * MEMFAB_SPACE_NODES)

/** By what others join a space: plain octets, which open nothing to who was granted nothing. */
struct memfab_token {
	uint8_t octets[MEMFAB_TOKEN_LEN];
};

/** What a node may do in a space, and what may be done in pages. */
enum memfab_rights {
	MEMFAB_RIGHTS_NONE,
	MEMFAB_RIGHTS_READ,
	MEMFAB_RIGHTS_WRITE, /**< and read */
};

/** Of memfab_ralloc(). */
enum {
	MEMFAB_READ_ONLY = 1, /**< until memfab_rprotect() */
	/**
	 * All pages are accessed once. Else a node gives out more addresses than it has pages, and a first
	 * access may find none: -ENOBUFS.
	 */
	MEMFAB_POPULATE = 2,
	MEMFAB_SPREAD =
		4, /**< the next memory node of the space each time, not the one before until it is full */
	MEMFAB_HINT = 8, /**< *ptr is the address that is wanted; another one is given where it is not free */
};

/** A flag of memfab_ralloc(): pages of 2^shift octets, 12..30. Without: the largest that waste nothing */
#define MEMFAB_PAGE(shift) ((unsigned int)(shift) << 8)
/** A flag of memfab_ralloc(): at this memory node, and no other. */
#define MEMFAB_AT(node) (((unsigned int)(node) + 1) << 16)

/**
 * Makes a space at memory nodes.
 * @param nodes  their numbers, each once; NULL: all memory nodes with address spaces that the node reaches
 * @param n      how many, 1..MEMFAB_SPACE_NODES
 * @param out    until memfab_space_end()
 * @return 0; -EINVAL: one has none; -ENOBUFS: one can have no more; or -errno of the operation
 */
int memfab_space_new(struct memfab_queue *q, const int *nodes, unsigned int n, struct memfab_space **out);
/** @param out  for other nodes, by whatever way. Any thread */
void memfab_space_token(const struct memfab_space *s, struct memfab_token *out);
/**
 * Joins a space that another node, or another process at this one, has made.
 * @return 0; -EINVAL: no token; -EACCES: this node has no right there; or -errno of the operation
 */
int memfab_space_join(struct memfab_queue *q, const struct memfab_token *t, struct memfab_space **out);
/**
 * Gives a node rights, or takes them: whoever made the space alone. Rights that are taken are gone when this
 * returns.
 * @param node  a compute node's number. @param rights  enum memfab_rights: all that it has from now on
 * @return 0; -EINVAL: no compute node; no such rights; less than all for who made it; or -errno of the
 * operation
 */
int memfab_space_grant(struct memfab_queue *q, struct memfab_space *s, int node, enum memfab_rights rights);
/**
 * The node that made it: ends it, and all its pages are free; also if it returns an error, but -EBUSY and
 * -EPERM. Others: forget it. Its operations must have completed.
 */
int memfab_space_end(struct memfab_queue *q, struct memfab_space *s);

/**
 * Allocates pages, which are zero.
 * @param size   octets, 1..2^45 less a page
 * @param flags  MEMFAB_READ_ONLY and so on
 * @param ptr    the first octet; MEMFAB_HINT: in, too
 * @return 0; -EINVAL: no such flag, page or node; -ENOBUFS: no node has room; or -errno of the operation
 */
int memfab_ralloc(struct memfab_queue *q, struct memfab_space *s, uint64_t size, unsigned int flags,
		  uint64_t *ptr);
/**
 * Frees whole pages.
 * @param ptr   the first octet of a page that is allocated
 * @param size  octets, of what is
 * @return 0; -ENOBUFS: a part of an allocation, while the node has no ranges left, or of more than 64
 * ranges; or -errno of the operation
 */
int memfab_rfree(struct memfab_queue *q, struct memfab_space *s, uint64_t ptr, uint64_t size);
/** Likewise, what may be done there from now on. @param rights  READ or WRITE */
int memfab_rprotect(struct memfab_queue *q, struct memfab_space *s, uint64_t ptr, uint64_t size,
		    enum memfab_rights rights);
int memfab_rread(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, void *buf, uint64_t len);
/** Acknowledged. */
int memfab_rwrite(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, const void *buf,
		  uint64_t len);
/**
 * @param op   MEMFAB_CAS with the value expected in *old, or as of memfab_atomic()
 * @param old  what was there
 */
int memfab_ratomic(struct memfab_queue *q, const struct memfab_space *s, enum memfab_op op, uint64_t ptr,
		   uint64_t operand, uint64_t *old);
/**
 * Takes a lock: 8 octets of a space, 0 at first. It names who has it: the node, how often that has begun
 * anew, and the queue. A lock whose holder has begun anew, or was not heard of for a lease ("lease" of the
 * memory node), is taken over: what it protects may be half done.
 * @param timeout  us; < 0: for ever
 * @return 0; -ETIMEDOUT: others have it; -EDEADLK: this queue has it; or -errno of the operation
 */
int memfab_rlock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, int64_t timeout);
/** @return 0; -EPERM: this queue does not have it; or -errno of the operation */
int memfab_runlock(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr);
/** What a space has at a memory node, or at all of its nodes together. */
struct memfab_usage {
	uint64_t pages; /**< that were accessed: each takes memory */
	uint64_t octets; /**< of these */
	uint64_t entries; /**< pages that are allocated */
	uint64_t allocated; /**< octets of these */
	uint64_t ranges; /**< pages that follow each other and have equal rights are one */
};

/**
 * What a space has now. While others use it, each number may be of another moment. Who may read asks.
 * @param node  a memory node of the space; < 0: of all of them together
 * @return 0; -EACCES: the space has no such node; or -errno of the operation
 */
int memfab_rusage(struct memfab_queue *q, const struct memfab_space *s, int node, struct memfab_usage *out);
/** What was asked of the space before, by any node, is done when this returns (Clio 4.5: rfence). */
int memfab_rfence(struct memfab_queue *q, const struct memfab_space *s);
/** What a memory node can be asked to do by memfab_rcall(). */
enum memfab_call {
	MEMFAB_ECHO, /**< answers with its arguments, which are within two pages */
	MEMFAB_ECHO_FENCED, /**< likewise, when what was asked of the space before is done */
};

/**
 * Has a memory node do something in a space (Clio 4.6), and takes its answer: one round trip. The arguments
 * are octets of the space, which writes of this queue have put there: they may be submitted just before the
 * call, and need not have completed. It needs the right to read.
 * @param call    enum memfab_call
 * @param ptr     the first octet of its arguments. @param len  how many, 1..
 * @param answer  gets the answer, and zeros behind it; undefined after an error
 * @param size    octets that it has room for, 1.. "answer" of the node
 * @return octets of the answer; -EOPNOTSUPP: there is no such call; -EINVAL: size; -ERANGE: len is more than
 *         the call takes, or the answer more than size; or -errno of the operation
 */
int64_t memfab_rcall(struct memfab_queue *q, const struct memfab_space *s, enum memfab_call call,
		     uint64_t ptr, uint64_t len, void *answer, uint64_t size);
/**
 * Waits until all operations that were submitted have ended (Clio 3.1: rrelease). Their completions stay to
 * be looked at.
 * @return 0, or -EPERM
 */
int memfab_rrelease(struct memfab_queue *q);
/**
 * Waits for the oldest operation that has not been looked at (Clio 3.1: rpoll), and takes its completion.
 * @param user_data  of it; or NULL
 * @return octets, 0 of an atomic; or -errno of the operation; -ENOENT: none is under way
 */
int64_t memfab_rpoll(struct memfab_queue *q, uint64_t *user_data);

static inline void memfab_prep_space(struct memfab_sqe *s, enum memfab_op op,
				     const struct memfab_space *space, uint64_t ptr, void *buf, uint64_t len)
{
	memfab_prep(s, op, (int)(ptr >> 48), ptr & ((UINT64_C(1) << 48) - 1), buf, len);
	s->space = space;
}

static inline void memfab_prep_rread(struct memfab_sqe *s, const struct memfab_space *space, uint64_t ptr,
				     void *buf, uint64_t len)
{
	memfab_prep_space(s, MEMFAB_READ, space, ptr, buf, len);
}

static inline void memfab_prep_rwrite(struct memfab_sqe *s, const struct memfab_space *space, uint64_t ptr,
				      const void *buf, uint64_t len)
{
	memfab_prep_space(s, MEMFAB_WRITE_ACK, space, ptr, (void *)(uintptr_t)buf, len);
}

static inline void memfab_prep_rcas(struct memfab_sqe *s, const struct memfab_space *space, uint64_t ptr,
				    uint64_t expected, uint64_t desired)
{
	memfab_prep_space(s, MEMFAB_CAS, space, ptr, NULL, 8);
	s->arg[0] = expected;
	s->arg[1] = desired;
}

/** @param op  MEMFAB_FETCH_ADD, MEMFAB_SWAP, MEMFAB_FETCH_OR, MEMFAB_FETCH_AND */
static inline void memfab_prep_ratomic(struct memfab_sqe *s, const struct memfab_space *space,
				       enum memfab_op op, uint64_t ptr, uint64_t operand)
{
	memfab_prep_space(s, op, space, ptr, NULL, 8);
	s->arg[0] = operand;
}

/** The same by a slot. @param answer  the program's, until completion, whose `res` is its octets */
static inline void memfab_prep_rcall(struct memfab_sqe *s, const struct memfab_space *space,
				     enum memfab_call call, uint64_t ptr, uint64_t len, void *answer,
				     uint64_t size)
{
	memfab_prep_space(s, MEMFAB_CALL, space, ptr, answer, size);
	s->arg[0] = (uint64_t)(unsigned int)call;
	s->arg[1] = len;
}

/**
 * Allocates at one node of the space: in the completion `old` is the pointer, and `res` is 0.
 * @param node   its number
 * @param shift  pages of 2^shift octets. @param rights  READ or WRITE
 */
static inline void memfab_prep_ralloc(struct memfab_sqe *s, const struct memfab_space *space, int node,
				      uint64_t size, unsigned int shift, enum memfab_rights rights)
{
	memfab_prep(s, MEMFAB_SPACE_ALLOCATE, node, 0, NULL, size);
	s->space = space;
	s->arg[0] = shift;
	s->arg[1] = rights;
}

static inline void memfab_prep_rfree(struct memfab_sqe *s, const struct memfab_space *space, uint64_t ptr,
				     uint64_t size)
{
	memfab_prep_space(s, MEMFAB_SPACE_FREE, space, ptr, NULL, size);
}

static inline void memfab_prep_rprotect(struct memfab_sqe *s, const struct memfab_space *space, uint64_t ptr,
					uint64_t size, enum memfab_rights rights)
{
	memfab_prep_space(s, MEMFAB_SPACE_PROTECT, space, ptr, NULL, size);
	s->arg[1] = rights;
}

/** "a read or atomic without an answer": of results, in words. */
const char *memfab_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
