/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kind of role is to the rest of memfab: a node, a switch, later a slow path or a pool of NICs. Each
 * kind has one constant table: what it is called, what it counts, what a fault may take from it, and its
 * functions. Engines, records, results and faults use the table, and know no system.
 *
 * A role is sans-I/O: time and spans come in, spans and the next deadline come out. Nothing but crash()
 * allocates memory. One thread calls; any thread may read what counters say.
 *
 * `self` is the role. An end is where a link is attached: a port of a switch, a link of a node, from 0. A
 * function that may be NULL says what NULL means.
 */
#ifndef MF_ROLE_H
#define MF_ROLE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mf_counter.h"
#include "base/mf_pool.h"
#include "op/mf_op.h"
#include "pcs/mf_demux.h"
#include "role/mf_item.h"
#include "role/mf_node_shell.h"
#include "role/mf_queue_depth.h"

struct mf_memory;

/** Which lcore of the wall clock a role is best polled by. */
enum mf_placement {
	MF_PLACE_SHARED, /**< any; roles are dealt over those that are no role's own */
	MF_PLACE_OWN, /**< one for itself, as long as others are left for the roles that share */
};

#define MF_ROLE_STATS 1024 /**< bytes of the largest structure of statistics */

/** The statistics of a role of any kind. The table of its kind describes the layout. */
struct mf_role_stats {
	uint64_t word[MF_ROLE_STATS / 8];
};

/** Copies a structure of statistics. @param stats  not a pointer: the structure itself */
#define mf_role_stats_set(out, stats)                                                           \
	do {                                                                                    \
		static_assert(sizeof(stats) <= MF_ROLE_STATS, "room for what the role counts"); \
		memcpy((out), &(stats), sizeof(stats));                                         \
	} while (0)

/** What clients ask of a role that takes operations. */
struct mf_requester_ops {
	/** See mf_node_submit(). */
	int (*submit)(void *self, mf_time now, const struct mf_op *op);
	/** See mf_node_completions(). */
	unsigned int (*completions)(void *self, mf_time now, struct mf_completion *out, unsigned int max);
	/** Operations that wait or are under way. */
	uint32_t (*outstanding)(const void *self);
	/** See mf_node_on_frame(). */
	void (*on_frame)(void *self, mf_node_frame_fn fn, void *ctx);
	/* Restarts of others, see mf_node_on_restart(). NULL, all three: the role is not told of them. */
	void (*on_restart)(void *self, mf_node_restart_fn fn, void *ctx);
	bool (*link_is_lost)(const void *self);
	void (*under_way)(const void *self, uint16_t node, void (*fn)(void *ctx, uint64_t user), void *ctx);
};

/** 1+1 protection: what a node with two links, or one of two switches, says of itself. */
struct mf_redundancy_ops {
	/** Whether it is in use: a node that knows which switch it obeys, a switch that schedules. */
	bool (*active)(const void *self);
	/** Node: switch epoch % 2 is obeyed. */
	uint16_t (*epoch)(const void *self);
	/** Node: whether it may yet tell a switch that another one is to be active. NULL: no. */
	bool (*tells)(const void *self);
	/** Switch: another one has taken over, and the engine is to let this one begin anew. NULL: never. */
	bool (*demoted)(const void *self);
};

struct mf_role_ops {
	const char *kind; /**< "edm-host", "frame-switch": one of its own */
	enum mf_placement placement;
	const struct mf_pool_desc
		*pools; /**< NULL: there are none, or a policy (a stack, a bridge) has them */

	/** Frees it. @param self  not NULL */
	void (*destroy)(void *self);

	/** Whether rx() has room for all that a span may cause. NULL: always */
	bool (*can_rx)(const void *self);
	/** Takes a span from the link of an end. */
	void (*rx)(void *self, unsigned int end, mf_time now, const struct mf_span *span);
	/** Next blocks of an end; see mf_mux_pull(). @return how many, 0..max */
	unsigned int (*tx)(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out);
	/** The same without a copy; see mf_mux_pull_in_place(). @return NULL: there is nothing */
	struct mf_span *(*tx_in_place)(void *self, unsigned int end, mf_time now, struct mf_span *room);
	/** Switch: what an end sends makes room, and run() may have something to do by that. */
	bool tx_makes_room;

	/** Does what is due. @return next() */
	mf_time (*run)(void *self, mf_time now);
	/**
	 * Node: when run() or completions have something to do, what ends send not included; MF_NEVER:
	 * nothing. NULL: a switch, which keeps mf_ports.next
	 */
	mf_time (*next)(const void *self);
	/** Whether something is inside that is not at an end. NULL: never */
	bool (*busy)(const void *self);

	/** The link of an end is lost: what was arriving is cut. */
	void (*link_down)(void *self, unsigned int end, mf_time now);
	/** It is there again. @return false: not yet, the engine asks again. NULL: nothing is to be done */
	bool (*link_up)(void *self, unsigned int end, mf_time now);
	/**
	 * The role at the other end was alive, but could do nothing for so long: its timers here are not late
	 * by that. NULL: there are no such timers.
	 */
	void (*bear)(void *self, unsigned int end, mf_time by);
	/**
	 * The process of the role is gone, and there again: it knows nothing of what was. Its counters go on.
	 * @param memory  of the new incarnation; the caller's, must outlive the role; NULL: it has none
	 * @return 0 or -ENOMEM: of no use but to be freed. NULL: this fault is not available
	 */
	int (*crash)(void *self, mf_time now, struct mf_memory *memory);
	/** The pools of its policy. @return NULL: none. NULL: it has no policy, so `pools` counts */
	const struct mf_pool_desc *(*policy_pools)(const void *self);
	/** Takes away what is free of a pool, or gives it back. @param pool  its place in the table */
	void (*exhaust)(void *self, unsigned int pool, unsigned int end, bool on);
	/**
	 * Whether n requests that come by an end, and as many by each other, find room. If not, it matters
	 * which comes first. NULL: they do
	 */
	bool (*has_requests)(const void *self, unsigned int end, unsigned int n);

	/** Node whose ends send apart: the multiplexer of an end. NULL: all ends send what the shell's has */
	struct mf_mux *(*mux)(const void *self, unsigned int end);
	/** Node: the receiver of an end, for the thread of the role. @return NULL: it has no such end */
	const struct mf_demux *(*demux)(const void *self, unsigned int end);
	/** Node: that of the end that something came by last. */
	const struct mf_demux *(*heard)(const void *self);
	/** What it counts: the table, not NULL, and a copy of what it describes. Any thread may ask. */
	const struct mf_counter_desc *counters;
	void (*stats)(const void *self, struct mf_role_stats *out);
	/**
	 * What waits for an end inside the role: see mf_bridge_ops.depth. What its multiplexer has is
	 * not in it.
	 * NULL: nothing does
	 */
	void (*depth)(void *self, unsigned int end, bool anew, struct mf_queue_depth *out);
	/** What its policy counts. @param out  room for MF_COUNTERS_MAX. @return how many. NULL: nothing */
	unsigned int (*policy)(const void *self, struct mf_counter *out);

	const struct mf_channel *channel; /**< what it exchanges with a scheduler; NULL: it has none */
	/**
	 * Whether an item that the channel takes can come now. A record that was made by hand may have items
	 * that no peer gives. NULL: any may
	 */
	bool (*possible)(const void *self, const void *item);
	const struct mf_requester_ops *requester; /**< NULL: it takes no operations */
	const struct mf_redundancy_ops *redundancy; /**< NULL: it is never one of two */
};

#endif
