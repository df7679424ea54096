/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The in-switch scheduler (EDM 3.1): demand notification queues, one per destination port, and a
 * priority-based online maximal matching that grants chunks.
 *
 * It knows ports, octets and times, nothing of blocks and links: how many wire blocks a chunk takes
 * comes in as numbers. Descriptors go in (mf_sched_input), grants come out (mf_sched_run). Another
 * scheduler is another const struct mf_sched_ops, one more file.
 *
 * Words: a pair is a compute node c and a memory node m. The data of a write flows c -> m, the data
 * of a read or read-modify-write m -> c. Source s and destination d are those of the data.
 */
#ifndef MF_SCHED_H
#define MF_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_counter.h"
#include "base/mf_param.h"
#include "base/mf_time.h"

enum mf_sched_priority {
	MF_SCHED_FCFS, /**< time of notification */
	MF_SCHED_SRPT, /**< remaining octets, only across pairs (3.1.1, property 5) */
};

enum mf_sched_order {
	MF_ORDER_PAIR, /**< requests of all kinds between c and m in order (D9) */
	MF_ORDER_DIRECTION, /**< reads among reads, writes among writes */
};

enum mf_sched_release {
	MF_RELEASE_WIRE, /**< l / B with l in wire blocks (D2) */
	MF_RELEASE_PAPER, /**< the literal l / B, payload only */
	MF_RELEASE_WINDOW, /**< wall clock: a budget of granted, not yet forwarded octets (D4) */
};

struct mf_sched_config {
	unsigned int ports; /**< N: 2..512 */
	enum mf_sched_priority priority;
	enum mf_sched_order order;
	enum mf_sched_release release;
	uint32_t chunk; /**< c: octets, a multiple of 16, 16..65536 */
	uint32_t x; /**< active notifications of a pair, writes and reads counted apart: 1..128 */
	uint32_t window; /**< WINDOW: octets a source or destination may have outstanding */
	unsigned int iterations; /**< of a matching; 0: until it is maximal */
	bool srpt_transfer; /**< SRPT by what remains of the whole transfer (D7) */
	/**
	 * Who is beyond X is told, though he is beyond his share, too: another switch has to be told, or this
	 * one counts what the scheduler holds. Else it would be a block to him for each of a flood.
	 */
	bool tells_excess;
	/**
	 * WIRE: a chunk that leaves some of its message is cut so that it ends at a multiple of a chunk's
	 * time: the ports of long messages are released together. By steps (2) and (7) to the letter a
	 * message waits, whatever its priority, while its two ports are busy in turn.
	 */
	bool slots;
	uint32_t chunk_overhead; /**< wire blocks of a chunk besides ceil(octets / 8) data blocks */
	/* Scheduling time (D6, 3.1.2), in ps; all 0: none. */
	mf_time insert; /**< from arrival to the first matching that sees a demand */
	mf_time iteration; /**< of one iteration */
	/**
	 * A matching may take a port this long before it is released, once its last grant has left; the
	 * new grant leaves at the release. 3.1.3: "the link remains busy while forming the next maximal
	 * matching". 0: step (7) of 3.1.1 to the letter, which at a scheduling time above 0 leaves the
	 * link idle from the release to the next grant. WIRE and PAPER.
	 */
	mf_time ahead;
	uint32_t period[512]; /**< ps a block of each port's link; WIRE and PAPER */
	unsigned int max_simd_bits; /**< the widest vectors to use, 0: what the CPU has; same grants */
	const double
		*param; /**< in the order of mf_sched_ops.params; the caller's, not read after create() */
};

/** What the switch tells the scheduler. */
enum mf_sched_msg_kind {
	MF_SCHED_DEMAND, /**< a notification, or the implicit demand of a request */
	MF_SCHED_FORWARDED, /**< octets of grants of a pair have left, or expired: WINDOW release */
	MF_SCHED_CANCEL, /**< the rest of a demand is not wanted: error, grant returned, expired, given up */
	MF_SCHED_HOLD, /**< destination d takes no grants: its egress backlog is over K (D3) */
	MF_SCHED_UNHOLD,
	MF_SCHED_HOLD_SRC, /**< source s takes no grants: its granted-but-not-arrived blocks are over W */
	MF_SCHED_UNHOLD_SRC,
	/**
	 * All demands of port s, compute or memory node, are dropped, those of the same time included: its
	 * link is down. Answered by a grant
	 * of size 0 from s to s without a cookie: no grant that involves s and was made before comes after
	 * it. One at a time: input() takes no other before its answer has left.
	 */
	MF_SCHED_FLUSH,
};

#define MF_SCHED_NO_COOKIE UINT32_MAX
#define MF_SCHED_BEHIND 256
#define MF_SCHED_REQUEST_MAX 15

/** Descriptor of both directions; plain data, so that it travels through rings. */
struct mf_sched_msg {
	/**
	 * Of arrival at the scheduler; may lie ahead. Messages of equal time are ordered by the pair's
	 * compute node, whose port they came in by (HOLD: by the port held); those of one port keep the
	 * order of input().
	 */
	mf_time at;
	uint16_t src; /**< s */
	uint16_t dst; /**< d */
	uint8_t kind; /**< enum mf_sched_msg_kind */
	uint8_t id;
	bool resp; /**< the data is a response: c = dst, m = src. Otherwise c = src, m = dst */
	bool mega; /**< DEMAND: size is in wire octets, granted whole (D8) */
	/** DEMAND with resp: wire blocks of the request (D2), MF_SCHED_REQUEST_MAX at most; a /G/ has 1 */
	uint8_t request_blocks;
	/** DEMAND: beyond the share of who asks: served behind all that are not, whatever the priority */
	bool excess;
	/** DEMAND: what its transfer has behind it, see srpt_transfer; in MF_SCHED_BEHIND octets */
	uint16_t behind;
	uint32_t size; /**< DEMAND: octets; FORWARDED: octets */
	/**
	 * DEMAND: the caller's, MF_SCHED_NO_COOKIE for none: the switch's buffered request. Comes back in
	 * every grant; or in one of size 0 when the demand ends before it is granted anything (dropped,
	 * cancelled), so that nothing leaks.
	 */
	uint32_t cookie;
};

struct mf_sched_grant {
	mf_time at; /**< when it leaves the scheduler */
	mf_time since; /**< at of its demand: arrival at the scheduler */
	uint16_t dst; /**< dst, resp, id, src: in this order they are the bits of a key (issue.h) */
	bool resp;
	uint8_t id;
	uint16_t src;
	bool first; /**< first grant of its demand: for a response it is the request itself */
	bool last; /**< the demand is now granted in full */
	bool mega;
	bool refused; /**< the demand was beyond X: size is 0. Said of those without a cookie, too */
	uint32_t size; /**< l: octets granted (wire octets for a mega); 0: only gives the cookie back */
	uint32_t cookie;
	uint16_t iteration; /**< of its matching, from 1: for statistics */
};

struct mf_item; /* role/mf_item.h */

/** What crosses between a switch and its scheduler: struct mf_sched_msg one way, mf_sched_grant the other. */
extern const struct mf_item mf_sched_msg_item, mf_sched_grant_item;

struct mf_sched_stats {
	uint64_t demands, demand_octets;
	uint64_t grants, granted_octets;
	uint64_t matchings, iterations; /**< iterations that granted something */
	uint64_t matched_max; /**< most grants of one matching */
	uint64_t iterations_max;
	uint64_t dropped_x; /**< demands beyond X of their pair */
	uint64_t dropped_bad; /**< kind, ports or size out of range, id in use */
	uint64_t refused; /**< -ENOBUFS of input() */
	uint64_t cancelled, cancelled_octets; /**< rest of demands that were cancelled */
	uint64_t cancel_unknown; /**< cancels that named no demand: it was granted in full */
	uint64_t flushed, flushed_octets; /**< rest of demands whose port was flushed */
	uint64_t queue_max; /**< most entries of one destination's queue: <= queue_bound */
	uint64_t entries, entries_max; /**< demands held now and at most */
	uint64_t memory; /**< octets allocated */
	/**
	 * K * N^2 of EDM 4.1 for this N, K being the 33 bits of a notification in 3.1.4 (destination 9,
	 * id 8, size 16): 1.08 MB for 512 ports, "around 1 MB" in the paper. It leaves X out.
	 */
	uint64_t memory_paper;
	uint64_t queue_bound; /**< 2 * X * N */
};

/** Counters of struct mf_sched_stats by the names of the result. */
extern const struct mf_counter_desc mf_sched_counters[];

#define MF_SCHED_PENDING 64

struct mf_sched;

/**
 * A scheduling policy.
 *
 * A matching begins at the first time T at which some pair is eligible and no matching is under way.
 * It is made of what is there at T: a demand that arrived by T - insert, ports released by T. Grants
 * of its iteration k leave at T + k * iteration. It ends with its last iteration that granted
 * something: when nothing is eligible any more the hardware sees so from the request lines of the next
 * clock, which is the first of the next matching. What comes meanwhile enters the next matching.
 *
 * One thread calls; no call allocates but new(). */
struct mf_sched_ops {
	const char *name; /**< as in the fabric file */
	const struct mf_param *params; /**< of its own; NULL: none */
	bool iterates; /**< it has more than one iteration a matching, so mf_sched_config.iterations counts */
	struct mf_sched *(*create)(const struct mf_sched_config *config); /**< NULL with errno set */
	void (*destroy)(struct mf_sched *s);
	/**
	 * Takes a descriptor. Hand in all of a time before run() of that time: one that comes after it
	 * counts as arriving then (FCFS still goes by its at).
	 * @return 0, also for one that is dropped and counted; -ENOBUFS: nothing taken, call run() first.
	 *   There is room for MF_SCHED_PENDING descriptors a port between two calls of run().
	 */
	int (*input)(struct mf_sched *s, const struct mf_sched_msg *msg);
	/**
	 * Takes n descriptors, as input() takes each.
	 * @return how many, from the first on. There is no room for the others now: they are the caller's
	 *   still, and are not counted as refused
	 */
	unsigned int (*inputs)(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n);
	/**
	 * Works up to time now. Call again while it returns max.
	 * @return number of grants written, none with at > now, in the order in which they leave
	 */
	unsigned int (*run)(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max);
	/**
	 * input() of one descriptor and run() of its time: the same grants and counters, in fewer steps for
	 * a demand that finds nothing else there. For who hands in one demand after the other, each an
	 * instant of its own.
	 * @return as run(); a descriptor for which there is no room is counted as refused
	 */
	unsigned int (*offer)(struct mf_sched *s, const struct mf_sched_msg *msg, mf_time now,
			      struct mf_sched_grant *grants, unsigned int max);
	/** When run() has something to do, or MF_NEVER. Never earlier than the last run's now. */
	mf_time (*next)(const struct mf_sched *s);
	void (*stats)(const struct mf_sched *s, struct mf_sched_stats *out);
	/** What else it counts. NULL: nothing. @param out  room for MF_COUNTERS_MAX. @return how many */
	unsigned int (*counters)(const struct mf_sched *s, struct mf_counter *out);
};

extern const struct mf_sched_ops mf_sched_pim; /**< priority PIM, 3.1.2: the default */
extern const struct mf_sched_ops mf_sched_greedy; /**< steps (1)-(7) of 3.1.1 literally */

#endif
