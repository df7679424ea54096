/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What engines and results ask of a switch, whatever its system. Behind each function stands the one of the
 * system: of mf_sw_X() mf_switch_X() of EDM's switch (systems/edm/switch/mf_switch.h), where what is EDM's is
 * explained, and mf_frame_switch_X() of a switch of frames. What only EDM has, switches of frames answer with
 * nothing.
 *
 * Sans-I/O; one thread calls. At one time of the virtual clock the order is: all mf_sw_rx(), mf_sw_run(),
 * mf_sw_tx() of the ports that mf_sw_tx_set() tells. Port p belongs to node p.
 */
#ifndef MF_SW_H
#define MF_SW_H

#include "role/mf_ports.h"
#include "systems/edm/switch/mf_switch.h"
#include "systems/edm/switch/mf_switch_leaks.h"
#include "systems/frames/mf_frame_switch.h"

struct mf_sw; /**< a switch of some system; its first member is its struct mf_ports */

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

/** Does what is due. @return mf_sw_next() */
mf_time mf_sw_run(struct mf_sw *sw, mf_time now);
/** The next time at which mf_sw_run() may have something to do, TX of ports not included; or MF_NEVER. */
mf_time mf_sw_next(const struct mf_sw *sw);
/** Whether frames are inside. */
bool mf_sw_has_frames(const struct mf_sw *sw);

/** The link of a port is lost: what is arriving is cut. What it has to send is the engine's to throw away. */
void mf_sw_link_down(struct mf_sw *sw, unsigned int port, mf_time now);
/** It is there again. @return false: not yet, the engine asks again */
bool mf_sw_link_up(struct mf_sw *sw, unsigned int port, mf_time now);
/** See mf_switch_bear(). */
void mf_sw_bear(struct mf_sw *sw, unsigned int port, mf_time by);
/** See mf_switch_has_requests(). What takes in no requests has room for all. */
bool mf_sw_has_requests(const struct mf_sw *sw, unsigned int port, unsigned int n);

/* ---- the scheduler, of EDM's switches alone: others tell it nothing, and it grants them nothing ---- */

/** See mf_switch_sched_peek(). @return the first of *n; NULL: there is none, *n is 0 */
struct mf_sched_msg *mf_sw_sched_peek(struct mf_sw *sw, unsigned int *n);
/** The first n of those told by mf_sw_sched_peek() have been taken. */
void mf_sw_sched_advance(struct mf_sw *sw, unsigned int n);
/** See mf_switch_to_sched(). @return number written to out[0..max) */
unsigned int mf_sw_to_sched(struct mf_sw *sw, struct mf_sched_msg *out, unsigned int max);
void mf_sw_grant(struct mf_sw *sw, mf_time now, const struct mf_sched_grant *grant);

/** Whether it schedules; and, of two, in which epoch. One that is alone is active. */
bool mf_sw_active(const struct mf_sw *sw, uint16_t *epoch);
/** See mf_switch_deposed(). */
bool mf_sw_deposed(const struct mf_sw *sw);

/* ---- faults, of EDM's switches alone: the configuration refuses them with other stacks ---- */

/** The switch is gone, and will be there again with nothing of what it knew: mf_switch_crash(). */
void mf_sw_crash(struct mf_sw *sw, mf_time now);
/** An egress has no room for memory; no request can be buffered. */
void mf_sw_close(struct mf_sw *sw, unsigned int port, bool closed);
void mf_sw_no_requests(struct mf_sw *sw, bool none);

/* ---- what is counted ---- */

/** What the switch counts. What its system does not count is 0. */
void mf_sw_stats(const struct mf_sw *sw, struct mf_switch_stats *out);
const struct mf_mux_stats *mf_sw_mux_stats(const struct mf_sw *sw, unsigned int port);
/** See mf_mux_ahead(). */
uint32_t mf_sw_ahead(const struct mf_sw *sw, unsigned int port, mf_time now);
const struct mf_demux *mf_sw_demux(const struct mf_sw *sw, unsigned int port);
/** What a bridge counts; 0: there is none. @param out  room for MF_COUNTERS_MAX */
unsigned int mf_sw_bridge_counters(const struct mf_sw *sw, struct mf_counter *out);
/** What is held now: for a check of leaks. */
void mf_sw_held(const struct mf_sw *sw, mf_time now, struct mf_switch_held *out);

/*
 * Hints, which change nothing: a message will soon arrive at a port, and what it looks at is fetched into the
 * caches. Each of them looks itself at what the one above it has fetched.
 */
/** @param word  the first of the message */
void mf_sw_fetch(const struct mf_sw *sw, unsigned int port, uint64_t word);
void mf_sw_fetch_mux(const struct mf_sw *sw, unsigned int port, uint64_t word);
void mf_sw_fetch_items(const struct mf_sw *sw, unsigned int port, uint64_t word);
/** The same for what a port will send, in two steps. */
void mf_sw_fetch_tx(const struct mf_sw *sw, unsigned int port);
void mf_sw_fetch_head(const struct mf_sw *sw, unsigned int port);

#endif
