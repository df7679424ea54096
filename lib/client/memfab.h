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
 *	-EPERM       the process was forked from the one that has the fabric: it can only close it
 *	-EINVAL      bad argument: size 0, no buffer, address beyond 48 bits, a target without memory
 *	-EAGAIN      no slot is free: look at completions first
 *	-ERANGE      address or length outside the target's memory
 *	-EFAULT      an atomic's address is no multiple of 8
 *	-EOPNOTSUPP  unknown operation
 *	-EACCES      the target does not let this node in
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
	uint64_t arg[2]; /**< atomics: CAS expected, desired; others the operand */
	uint64_t user_data; /**< given back */
};

/** An operation that has completed. */
struct memfab_cqe {
	uint64_t user_data;
	int64_t res; /**< octets; of an atomic 0; or -errno */
	uint64_t old; /**< atomics: what was there before */
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

/** "a read or atomic without an answer": of results, in words. */
const char *memfab_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
