/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what is asked of a switch to the function of its system. A handle is only ever cast: to the type of
 * its switch, or to what all of them begin with.
 */
#include <assert.h>

#include <rte_branch_prediction.h>

#include "base/mf_fetch.h"
#include "systems/mf_sw.h"

#define FETCH_ITEMS 1

/** mf_ports.kind */
enum { SWITCH_EDM, SWITCH_FRAMES };

static inline struct mf_ports *ports(struct mf_sw *sw)
{
	return (struct mf_ports *)sw;
}

static inline const struct mf_ports *ports_of(const struct mf_sw *sw)
{
	return (const struct mf_ports *)sw;
}

static inline struct mf_mux *mux(const struct mf_sw *sw, unsigned int port)
{
	return mf_port(ports_of(sw), port)->mux;
}

static inline bool is_edm(const struct mf_sw *sw)
{
	return likely(ports_of(sw)->kind == SWITCH_EDM);
}

static inline struct mf_switch *edm(struct mf_sw *sw)
{
	return (struct mf_switch *)sw;
}

static inline const struct mf_switch *edm_of(const struct mf_sw *sw)
{
	return (const struct mf_switch *)sw;
}

static inline struct mf_frame_switch *frames(struct mf_sw *sw)
{
	return (struct mf_frame_switch *)sw;
}

static inline const struct mf_frame_switch *frames_of(const struct mf_sw *sw)
{
	return (const struct mf_frame_switch *)sw;
}

struct mf_sw *mf_sw_new_edm(const struct mf_switch_config *config)
{
	return (struct mf_sw *)mf_switch_new(config);
}

struct mf_sw *mf_sw_new_frames(const struct mf_frame_switch_config *config)
{
	struct mf_sw *sw = (struct mf_sw *)mf_frame_switch_new(config);

	if (sw != NULL)
		ports(sw)->kind = SWITCH_FRAMES;
	return sw;
}

void mf_sw_free(struct mf_sw *sw)
{
	if (sw == NULL)
		return;
	if (is_edm(sw))
		mf_switch_free(edm(sw));
	else
		mf_frame_switch_free(frames(sw));
}

/* ---- links and time ---- */

inline bool mf_sw_can_rx(const struct mf_sw *sw)
{
	return !is_edm(sw) || mf_switch_can_rx(edm_of(sw));
}

inline void mf_sw_rx(struct mf_sw *sw, unsigned int port, mf_time now, const struct mf_span *span)
{
	if (is_edm(sw))
		mf_switch_rx(edm(sw), port, now, span);
	else
		mf_frame_switch_rx(frames(sw), port, now, span);
}

inline unsigned int mf_sw_tx(struct mf_sw *sw, unsigned int port, mf_time now, unsigned int max,
			     struct mf_span *out)
{
	if (is_edm(sw))
		return mf_switch_tx(edm(sw), port, now, max, out);
	return mf_frame_switch_tx(frames(sw), port, now, max, out);
}

inline struct mf_span *mf_sw_tx_in_place(struct mf_sw *sw, unsigned int port, mf_time now,
					 struct mf_span *room)
{
	if (is_edm(sw))
		return mf_switch_tx_in_place(edm(sw), port, now, room);
	return mf_frame_switch_tx_in_place(frames(sw), port, now, room);
}

inline mf_time mf_sw_tx_next(const struct mf_sw *sw, unsigned int port, mf_time now)
{
	return mf_mux_next(mux(sw, port), now);
}

inline mf_time mf_sw_tx_next_block(const struct mf_sw *sw, unsigned int port, mf_time now)
{
	return mf_mux_next_block(mux(sw, port), now);
}

inline bool mf_sw_tx_waits(const struct mf_sw *sw, unsigned int port)
{
	return mf_mux_waits(mux(sw, port));
}

void mf_sw_short_spans(struct mf_sw *sw, unsigned int port)
{
	mf_mux_short_spans(mux(sw, port));
}

inline uint64_t *mf_sw_tx_set(struct mf_sw *sw)
{
	return ports(sw)->sending;
}

inline mf_time mf_sw_run(struct mf_sw *sw, mf_time now)
{
	if (is_edm(sw))
		return mf_switch_run(edm(sw), now);
	return mf_frame_switch_run(frames(sw), now);
}

inline mf_time mf_sw_next(const struct mf_sw *sw)
{
	return ports_of(sw)->next;
}

bool mf_sw_has_frames(const struct mf_sw *sw)
{
	if (is_edm(sw))
		return mf_switch_has_frames(edm_of(sw));
	return mf_frame_switch_has_frames(frames_of(sw));
}

void mf_sw_link_down(struct mf_sw *sw, unsigned int port, mf_time now)
{
	if (is_edm(sw))
		mf_switch_link_down(edm(sw), port, now);
	else
		mf_frame_switch_link_down(frames(sw), port, now);
}

bool mf_sw_link_up(struct mf_sw *sw, unsigned int port, mf_time now)
{
	if (is_edm(sw))
		return mf_switch_link_up(edm(sw), port, now);
	return mf_frame_switch_link_up(frames(sw), port, now);
}

void mf_sw_bear(struct mf_sw *sw, unsigned int port, mf_time by)
{
	if (is_edm(sw)) /* a bridge has no timers for nodes */
		mf_switch_bear(edm(sw), port, by);
}

inline bool mf_sw_has_requests(const struct mf_sw *sw, unsigned int port, unsigned int n)
{
	return !is_edm(sw) || mf_switch_has_requests(edm_of(sw), port, n);
}

/* ---- the scheduler ---- */

inline struct mf_sched_msg *mf_sw_sched_peek(struct mf_sw *sw, unsigned int *n)
{
	if (is_edm(sw))
		return mf_switch_sched_peek(edm(sw), n);
	*n = 0;
	return NULL;
}

inline void mf_sw_sched_advance(struct mf_sw *sw, unsigned int n)
{
	if (is_edm(sw))
		mf_switch_sched_advance(edm(sw), n);
}

unsigned int mf_sw_to_sched(struct mf_sw *sw, struct mf_sched_msg *out, unsigned int max)
{
	return is_edm(sw) ? mf_switch_to_sched(edm(sw), out, max) : 0;
}

inline void mf_sw_grant(struct mf_sw *sw, mf_time now, const struct mf_sched_grant *grant)
{
	assert(is_edm(sw)); /* who tells a scheduler nothing is granted nothing */
	mf_switch_grant(edm(sw), now, grant);
}

bool mf_sw_active(const struct mf_sw *sw, uint16_t *epoch)
{
	return !is_edm(sw) || mf_switch_active(edm_of(sw), epoch);
}

inline bool mf_sw_deposed(const struct mf_sw *sw)
{
	return is_edm(sw) && mf_switch_deposed(edm_of(sw));
}

/* ---- faults ---- */

void mf_sw_crash(struct mf_sw *sw, mf_time now)
{
	assert(is_edm(sw)); /* the configuration refuses the fault with other stacks */
	mf_switch_crash(edm(sw), now);
}

void mf_sw_close(struct mf_sw *sw, unsigned int port, bool closed)
{
	assert(is_edm(sw)); /* as above */
	mf_switch_close(edm(sw), port, closed);
}

void mf_sw_no_requests(struct mf_sw *sw, bool none)
{
	assert(is_edm(sw)); /* as above */
	mf_switch_no_requests(edm(sw), none);
}

/* ---- what is counted ---- */

void mf_sw_stats(const struct mf_sw *sw, struct mf_switch_stats *out)
{
	struct mf_frame_switch_counts c;

	if (is_edm(sw)) {
		*out = *mf_switch_stats(edm_of(sw));
		return;
	}
	mf_frame_switch_counts(frames_of(sw), &c);
	*out = (struct mf_switch_stats){.frames = c.frames,
					.drop_proto = c.drop_proto,
					.drop_room = c.drop_room,
					.drop_frame_room = c.drop_frame_room};
}

const struct mf_mux_stats *mf_sw_mux_stats(const struct mf_sw *sw, unsigned int port)
{
	return mf_mux_stats(mux(sw, port));
}

uint32_t mf_sw_ahead(const struct mf_sw *sw, unsigned int port, mf_time now)
{
	return mf_mux_ahead(mux(sw, port), now);
}

const struct mf_demux *mf_sw_demux(const struct mf_sw *sw, unsigned int port)
{
	return &mf_port(ports_of(sw), port)->rx.demux;
}

unsigned int mf_sw_bridge_counters(const struct mf_sw *sw, struct mf_counter *out)
{
	return is_edm(sw) ? 0 : mf_frame_switch_counters(frames_of(sw), out);
}

void mf_sw_held(const struct mf_sw *sw, mf_time now, struct mf_switch_held *out)
{
	*out = (struct mf_switch_held){0};
	if (is_edm(sw))
		mf_switch_held(edm_of(sw), now, out);
}

/* ---- hints ---- */

inline void mf_sw_fetch(const struct mf_sw *sw, unsigned int port, uint64_t word)
{
	const struct mf_port_shell *p = mf_port(ports_of(sw), port);

	if (is_edm(sw)) {
		mf_switch_fetch(edm_of(sw), port, word);
		return;
	}
	mf_fetch_only();
	__builtin_prefetch(p, 1);
	__builtin_prefetch(&p->rx.demux.ber, 1);
	__builtin_prefetch(&p->rx.demux.stats, 1);
}

inline void mf_sw_fetch_mux(const struct mf_sw *sw, unsigned int port, uint64_t word)
{
	if (is_edm(sw))
		mf_switch_fetch_mux(edm_of(sw), port, word);
	else
		mf_mux_fetch(mux(sw, port));
}

inline void mf_sw_fetch_items(const struct mf_sw *sw, unsigned int port, uint64_t word)
{
	if (is_edm(sw))
		mf_switch_fetch_items(edm_of(sw), port, word);
	else
		mf_mux_fetch_items(mux(sw, port), FETCH_ITEMS);
}

inline void mf_sw_fetch_tx(const struct mf_sw *sw, unsigned int port)
{
	if (is_edm(sw))
		mf_switch_fetch_tx(edm_of(sw), port);
	else
		mf_mux_fetch(mux(sw, port));
}

inline void mf_sw_fetch_head(const struct mf_sw *sw, unsigned int port)
{
	mf_mux_fetch_head(mux(sw, port));
}
