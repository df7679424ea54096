/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What engines and clients ask of the host of a node, whatever its kind. Behind each function stands the one
 * of the kind (role/mf_role.h): of mf_node_X() mf_host_X() of EDM's host (systems/edm/host/mf_host.h), where
 * what is EDM's is explained, and mf_frame_host_X() of a host of frames. A kind answers with nothing what it
 * does not have.
 *
 * Sans-I/O; one thread calls. At one time of the virtual clock the order is: mf_node_rx(), mf_node_tx(),
 * mf_node_run(), mf_node_completions(), and what the client submits; tx and run again while they have
 * something. Under the wall clock everything is dated by the time of the call.
 */
#ifndef MF_NODE_H
#define MF_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_timing.h"
#include "op/mf_op.h"
#include "pcs/mf_demux.h"
#include "pcs/mf_mux.h"
#include "role/mf_node_shell.h"
#include "systems/edm/host/mf_host.h"
#include "systems/edm/host/mf_host_leaks.h"
#include "systems/frames/mf_frame_host.h"

struct mf_node; /**< a host of some system; its first member is its shell */

/** What its kind is: never NULL. */
const struct mf_role_ops *mf_node_role(const struct mf_node *n);
/** A host of EDM. @return NULL with errno: EINVAL for a bad config, ENOMEM. mf_node_free() frees it. */
struct mf_node *mf_node_new_edm(const struct mf_host_config *config);
/** A host of frames, which has none of EDM's tables. @return NULL with errno, see mf_frame_host_new() */
struct mf_node *mf_node_new_frames(const struct mf_frame_host_config *config);
#define MF_NODE_HOSTS_MAX 64 /**< hosts of a node */
#define MF_HOST_NONE UINT8_MAX
/** How a node is reached: by which host, and its number in that host's network. */
struct mf_node_way {
	uint16_t number;
	uint8_t host; /**< MF_HOST_NONE: by none */
};

struct mf_hosts_config {
	uint16_t node, nodes; /**< own number in the fabric, 0..nodes - 1 */
	unsigned int hosts; /**< 1..MF_NODE_HOSTS_MAX */
	struct mf_node *const *host; /**< [hosts], of any kind; they belong to the new node */
	const uint16_t *const
		*name; /**< [hosts]: the fabric's numbers of a host's nodes; used from then on */
	const struct mf_node_way *way; /**< [nodes]; copied */
};

/**
 * A node with a host for each of its ends: end k is the only one of host k. The hosts are in networks in
 * which nodes have numbers of their own. They share the memory of the node, if it has one. The target of an
 * operation is a number of the fabric. The operation goes to the host that reaches it; one without such a
 * host is refused with -EINVAL. Completions and restarts name nodes by numbers of the fabric.
 *
 * @return NULL with errno: EINVAL, ENOMEM; the hosts are still the caller's then
 */
struct mf_node *mf_node_new_hosts(const struct mf_hosts_config *config);
/** The host of an end of a node: of one that is no such node itself. */
struct mf_node *mf_node_host(struct mf_node *n, unsigned int end);
/** @param n  or NULL */
void mf_node_free(struct mf_node *n);

/* ---- operations and frames: for clients ---- */

/**
 * Submits an operation. Its buffer stays the caller's, until the completion.
 * @return 0; -EAGAIN: there is no room now; -EINVAL, -EPERM: see mf_node_check()
 */
int mf_node_submit(struct mf_node *n, mf_time now, const struct mf_op *op);
/** Takes completions that are due at now, in the order of their time. @return how many, up to max */
unsigned int mf_node_completions(struct mf_node *n, mf_time now, struct mf_completion *out, unsigned int max);
/** Operations that wait or are under way. */
uint32_t mf_node_outstanding(const struct mf_node *n);

/** Where frames go that the stack does not take. Called from within mf_node_rx() and mf_node_run(). */
void mf_node_on_frame(struct mf_node *n, mf_node_frame_fn fn, void *ctx);
/** Sends a frame, from destination address on, without FCS. @return false: no room */
bool mf_node_send_frame(struct mf_node *n, mf_time now, const uint8_t *frame, uint16_t len);
/** Whether mf_node_send_frame() would take a frame of len octets now; asking is not counted. */
bool mf_node_frame_room(const struct mf_node *n, uint16_t len);
/** Octets of frames that wait to be sent, the one under way included. */
uint32_t mf_node_frame_bytes(const struct mf_node *n);

/** Who is told that a node may know nothing any more of what was sent to it: mf_host_on_restart(). */
void mf_node_on_restart(struct mf_node *n, mf_node_restart_fn fn, void *ctx);
/** Within mf_node_restart_fn: whether the way to the node is what was lost. */
bool mf_node_link_is_lost(const struct mf_node *n);
/** Within mf_node_restart_fn: tells which operations go to the node that is there now, in no order. */
void mf_node_under_way(const struct mf_node *n, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx);

/* ---- the link and time: for engines ---- */

/** Wall clock: whether mf_node_rx() has room for what a whole span may cause. */
bool mf_node_can_rx(const struct mf_node *n);
/** Takes a span from the link. */
void mf_node_rx(struct mf_node *n, mf_time now, const struct mf_span *span);
/** The same from one of two links, 0 or 1. */
void mf_node_rx_by(struct mf_node *n, unsigned int link, mf_time now, const struct mf_span *span);

/** Next blocks for the link; see mf_mux_pull(). @return how many, up to max */
unsigned int mf_node_tx(struct mf_node *n, mf_time now, unsigned int max, struct mf_span *out);
/** The same without a copy; see mf_mux_pull_in_place(). */
struct mf_span *mf_node_tx_in_place(struct mf_node *n, mf_time now, struct mf_span *room);
/** When mf_node_tx() next has something to give; see mf_mux_next(). */
mf_time mf_node_tx_next(const struct mf_node *n, mf_time now);
/** See mf_mux_next_block(). */
mf_time mf_node_tx_next_block(const struct mf_node *n, mf_time now);
/** Whether it has anything to send, or changes by being asked; see mf_mux_waits(). */
bool mf_node_tx_waits(const struct mf_node *n);

/*
 * A node whose ends send apart: the same by end, 0 to ends - 1. What is the multiplexer's alone is asked of
 * that. A node whose ends all send the same has one multiplexer.
 */
/** The multiplexer of an end; the host's. */
struct mf_mux *mf_node_mux(const struct mf_node *n, unsigned int end);
unsigned int mf_node_tx_by(struct mf_node *n, unsigned int end, mf_time now, unsigned int max,
			   struct mf_span *out);
struct mf_span *mf_node_tx_in_place_by(struct mf_node *n, unsigned int end, mf_time now,
				       struct mf_span *room);

/** Does what is due. @return mf_node_next() */
mf_time mf_node_run(struct mf_node *n, mf_time now);
/**
 * When mf_node_run() or mf_node_completions() next has something to do, TX not included; MF_NEVER: nothing.
 * A time that has passed means at once.
 */
mf_time mf_node_next(const struct mf_node *n);

/**
 * A link, 0 or 1, is lost, or there again. With the only one, or the last, what waited to be sent is thrown
 * away. What is under way fails at once with EDM, else by the timers of the stack.
 */
void mf_node_link_down(struct mf_node *n, unsigned int link, mf_time now);
void mf_node_link_up(struct mf_node *n, unsigned int link, mf_time now);

/** Two links: whether the host knows which switch to obey. With one: always. */
bool mf_node_has_primary(const struct mf_node *n);
/** Two links: whether one of the switches may yet be told by this node that another one is to be active. */
bool mf_node_tells(const struct mf_node *n);
/** Two links: switch epoch % 2 is obeyed. */
uint16_t mf_node_epoch(const struct mf_node *n);

/* ---- faults: the configuration refuses those that the kind has not ---- */

/**
 * The process of the node is gone, and there again.
 * @param memory  of the new incarnation; the caller's, must outlive the host
 * @return 0 or -ENOMEM: of no use but to be freed
 */
int mf_node_restart(struct mf_node *n, mf_time now, struct mf_memory *memory);
/** Pools of its kind, or of its stack. @return NULL: it has none */
const struct mf_pool_desc *mf_node_pools(const struct mf_node *n);
/**
 * Takes away what is free of a pool, or gives it back: for tests of what happens then.
 * @param pool  its place in mf_node_pools(), which is that of mf_stack_pools()
 */
void mf_node_exhaust(struct mf_node *n, unsigned int pool, bool on);

/* ---- what is counted ---- */

/** What the host counts, by the table of its kind, mf_node_role()->counters. */
void mf_node_counts(const struct mf_node *n, struct mf_role_stats *out);
/** The same in the structure of EDM's host. What the kind does not count is 0. */
void mf_node_stats(const struct mf_node *n, struct mf_host_stats *out);
const struct mf_mux_stats *mf_node_mux_stats(const struct mf_node *n);
/** The receiver of the link that something came by last. */
const struct mf_demux *mf_node_demux(const struct mf_node *n);
/** That of a link, 0 or 1; NULL: it has no such link. Not while another thread calls the host. */
const struct mf_demux *mf_node_demux_of(const struct mf_node *n, unsigned int link);
/** What a stack above the MAC counts; 0: there is none. @param out  room for MF_COUNTERS_MAX */
unsigned int mf_node_stack_counters(const struct mf_node *n, struct mf_counter *out);
/** What is held now: for a check of leaks. */
void mf_node_held(const struct mf_node *n, mf_time now, struct mf_host_held *out);

/*
 * Hints, which change nothing: what is named will soon be looked at, and is fetched into the caches. What one
 * of them looks at itself is what those above it have fetched.
 */
/** The host. */
void mf_node_fetch(const struct mf_node *n);
/** Its multiplexer. */
void mf_node_fetch_mux(const struct mf_node *n);
/** What that has and will have. */
void mf_node_fetch_items(const struct mf_node *n);
/** What the submission of an operation to a node looks at. */
void mf_node_fetch_peer(const struct mf_node *n, uint16_t node);
/** Whether the first block of a message says what the host will look at: then the functions below. */
static inline bool mf_node_foresees(const struct mf_node *n)
{
	return ((const struct mf_node_shell *)n)->foresees;
}
/**
 * What a message will look at when it arrives.
 * @param first, last  its first and its last block
 * @return the node whose write it is; UINT16_MAX: it is none
 */
uint16_t mf_node_fetch_message(const struct mf_node *n, uint64_t first, uint64_t last);
/** What is known of that. */
void mf_node_fetch_state(const struct mf_node *n, uint64_t first);
/** The operation that it belongs to. */
void mf_node_fetch_op(const struct mf_node *n, uint64_t first);
/** The operation's buffer. @return user of the operation; 0: it belongs to none */
uint64_t mf_node_fetch_data(const struct mf_node *n, uint64_t first);

#endif
