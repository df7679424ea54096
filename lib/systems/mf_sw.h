/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What engines and results ask of a switch, whatever its kind. Behind each function stands the one of the
 * kind (role/mf_role.h): of mf_sw_X() mf_switch_X() of EDM's switch (systems/edm/switch/mf_switch.h), where
 * what is EDM's is explained, and mf_frame_switch_X() of a switch of frames. A kind answers with nothing what
 * it does not have.
 *
 * Sans-I/O; one thread calls. At one time of the virtual clock the order is: all mf_sw_rx(), mf_sw_run(),
 * mf_sw_tx() of the ports that mf_sw_tx_set() tells. Of a single switch port p belongs to node
 * p.
 */
#ifndef MF_SW_H
#define MF_SW_H

#include "role/mf_ports.h"
#include "systems/edm/switch/mf_switch.h"
#include "systems/edm/switch/mf_switch_leaks.h"
#include "systems/frames/mf_frame_switch.h"

struct mf_sw; /**< a switch of some system; its first member is its struct mf_ports */

/** What its kind is: never NULL. */
const struct mf_role_ops *mf_sw_role(const struct mf_sw *sw);
/** A switch of EDM. @return NULL with errno: EINVAL, ENOMEM. mf_sw_free() frees it. */
struct mf_sw *mf_sw_new_edm(const struct mf_switch_config *config);
/** A switch of frames, which has none of EDM's tables. @return NULL with errno, see mf_frame_switch_new() */
struct mf_sw *mf_sw_new_frames(const struct mf_frame_switch_config *config);
/** @param sw  or NULL */
void mf_sw_free(struct mf_sw *sw);

/* ---- links and time ---- */

/** Whether a span may be given, or blocks taken: there is room for what may come of it. */
bool mf_sw_can_rx(const struct mf_sw *sw);
/** Takes a span from the link of a port. */
void mf_sw_rx(struct mf_sw *sw, unsigned int port, mf_time now, const struct mf_span *span);
/** Next blocks of a port; see mf_mux_pull(). @return how many, up to max */
unsigned int mf_sw_tx(struct mf_sw *sw, unsigned int port, mf_time now, unsigned int max,
		      struct mf_span *out);
/** The same without a copy; see mf_mux_pull_in_place(). */
struct mf_span *mf_sw_tx_in_place(struct mf_sw *sw, unsigned int port, mf_time now, struct mf_span *room);
/** See mf_mux_next(). */
mf_time mf_sw_tx_next(const struct mf_sw *sw, unsigned int port, mf_time now);
/** See mf_mux_next_block(). */
mf_time mf_sw_tx_next_block(const struct mf_sw *sw, unsigned int port, mf_time now);
/** See mf_mux_waits(). */
bool mf_sw_tx_waits(const struct mf_sw *sw, unsigned int port);
/** See mf_mux_short_spans(). */
void mf_sw_short_spans(struct mf_sw *sw, unsigned int port);
/**
 * Ports whose TX may have something new, a bit each; (ports + 63) / 64 words. The engine clears the bit of
 * a port before it takes what there is, or leaves it where that has to wait.
 */
uint64_t *mf_sw_tx_set(struct mf_sw *sw);

/** Whether mf_sw_run() may have something to do by what a port sends, which makes room. */
static inline bool mf_sw_tx_makes_room(const struct mf_sw *sw)
{
	return ((const struct mf_ports *)sw)->makes_room;
}

/** Does what is due. @return mf_sw_next() */
mf_time mf_sw_run(struct mf_sw *sw, mf_time now);
/** The next time at which mf_sw_run() may have something to do, TX of ports not included; or MF_NEVER. */
mf_time mf_sw_next(const struct mf_sw *sw);
/** Whether frames are inside. */
bool mf_sw_has_frames(const struct mf_sw *sw);

/**
 * The link of a port is lost: what is arriving is cut. What the port has to send is thrown away. EDM's
 * switch leaves that to the engine.
 */
void mf_sw_link_down(struct mf_sw *sw, unsigned int port, mf_time now);
/** It is there again. @return false: not yet, the engine asks again */
bool mf_sw_link_up(struct mf_sw *sw, unsigned int port, mf_time now);
/** See mf_switch_bear(). */
void mf_sw_bear(struct mf_sw *sw, unsigned int port, mf_time by);
/** Whether there is room for n requests that come by a port, and as many by each other one. */
bool mf_sw_has_requests(const struct mf_sw *sw, unsigned int port, unsigned int n);

/* ---- its scheduler: items of role/mf_item.h; a switch without one gives and gets nothing ---- */

/** What it gives its scheduler, and takes from it. NULL: it has none */
const struct mf_channel *mf_sw_channel(const struct mf_sw *sw);
/**
 * Items for the scheduler, in order and in place: an engine that dates them anew may. They
 * stay where they are, whatever is called meanwhile, until mf_sw_advance().
 * @param n  how many. There may be more: the next call returns those
 * @return the first; NULL: there is none, *n is 0
 */
void *mf_sw_peek(struct mf_sw *sw, unsigned int *n);
/** The first n of those told by mf_sw_peek() have been taken. */
void mf_sw_advance(struct mf_sw *sw, unsigned int n);
/** The same, copied out. @param out  room for max @return how many */
unsigned int mf_sw_take(struct mf_sw *sw, void *out, unsigned int max);
/** Whether an item that its channel takes can come now: for items that no scheduler gave. */
bool mf_sw_possible(const struct mf_sw *sw, const void *item);
/** Takes what the scheduler gave. @param items  n that its channel takes, one after the other */
void mf_sw_give(struct mf_sw *sw, mf_time now, const void *items, unsigned int n);

/** Whether it schedules. One that is alone does. */
bool mf_sw_active(const struct mf_sw *sw);
/** See mf_switch_demoted(). */
bool mf_sw_demoted(const struct mf_sw *sw);

/* ---- faults: the configuration refuses those that the kind has not ---- */

/** The switch is gone, and will be there again with nothing of what it knew: mf_switch_crash(). */
void mf_sw_crash(struct mf_sw *sw, mf_time now);
/** Pools of its kind, or of its bridge. @return NULL: it has none */
const struct mf_pool_desc *mf_sw_pools(const struct mf_sw *sw);
/**
 * Takes away what is free of a pool, or gives it back: for tests of what happens then.
 * @param pool  its place in mf_sw_pools(), which is that of mf_bridge_pools()
 * @param port  whose, if each port has its own
 */
void mf_sw_exhaust(struct mf_sw *sw, unsigned int pool, unsigned int port, bool on);

/* ---- what is counted ---- */

/** What the switch counts, by the table of its kind, mf_sw_role()->counters. */
void mf_sw_counts(const struct mf_sw *sw, struct mf_role_stats *out);
/** The same in the structure of EDM's switch. What the kind does not count is 0. */
void mf_sw_stats(const struct mf_sw *sw, struct mf_switch_stats *out);
const struct mf_mux_stats *mf_sw_mux_stats(const struct mf_sw *sw, unsigned int port);
/** See mf_mux_ahead(). */
uint32_t mf_sw_ahead(const struct mf_sw *sw, unsigned int port, mf_time now);
/**
 * What waits to be sent by a port: in its queue, and at its line.
 * @param anew  `max` begins anew, see mf_bridge_ops.depth
 */
void mf_sw_depth(struct mf_sw *sw, unsigned int port, mf_time now, bool anew, struct mf_queue_depth *out);
const struct mf_demux *mf_sw_demux(const struct mf_sw *sw, unsigned int port);
/** What a bridge counts; 0: there is none. @param out  room for MF_COUNTERS_MAX */
unsigned int mf_sw_bridge_counters(const struct mf_sw *sw, struct mf_counter *out);
/** What is held now: for a check of leaks. */
void mf_sw_held(const struct mf_sw *sw, mf_time now, struct mf_switch_held *out);

/*
 * Hints, which change nothing: a message will soon arrive at a port, and what it looks at is fetched into the
 * caches. Each of them looks itself at what the one above it has fetched.
 */
/** Whether the first block of what will arrive says what that will look at: then the next three. */
static inline bool mf_sw_foresees(const struct mf_sw *sw)
{
	return ((const struct mf_ports *)sw)->foresees;
}
/** @param word  the first of the message */
void mf_sw_fetch(const struct mf_sw *sw, unsigned int port, uint64_t word);
void mf_sw_fetch_mux(const struct mf_sw *sw, unsigned int port, uint64_t word);
void mf_sw_fetch_items(const struct mf_sw *sw, unsigned int port, uint64_t word);
/** The same for what a port will send, in two steps. */
void mf_sw_fetch_tx(const struct mf_sw *sw, unsigned int port);
void mf_sw_fetch_head(const struct mf_sw *sw, unsigned int port);

#endif
