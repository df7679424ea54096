/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what is asked of a switch to the function of its kind: directly for hot kinds (kinds.h), by the table
 * for others. A handle is only ever cast: to the type of its switch, or to what all of them begin with.
 */
#include <assert.h>

#include <rte_branch_prediction.h>

#include "systems/kinds.h"
#include "systems/mf_sw.h"

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

static inline bool is_frames(const struct mf_sw *sw)
{
	return likely(ports_of(sw)->kind == SWITCH_FRAMES);
}

/** What its kind is. */
static inline const struct mf_role_ops *ops(const struct mf_sw *sw)
{
	return mf_switch_kinds[ports_of(sw)->kind];
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
	struct mf_sw *sw = (struct mf_sw *)mf_switch_new(config);

	if (sw != NULL)
		ports(sw)->foresees = true;
	return sw;
}

struct mf_sw *mf_sw_new_frames(const struct mf_frame_switch_config *config)
{
	struct mf_sw *sw = (struct mf_sw *)mf_frame_switch_new(config);

	if (sw != NULL) {
		ports(sw)->kind = SWITCH_FRAMES;
		ports(sw)->makes_room = mf_frame_switch_role.tx_makes_room;
	}
	return sw;
}

void mf_sw_free(struct mf_sw *sw)
{
	if (sw != NULL)
		ops(sw)->destroy(sw);
}

/* ---- links and time ---- */

inline bool mf_sw_can_rx(const struct mf_sw *sw)
{
	if (is_edm(sw))
		return mf_switch_can_rx(edm_of(sw));
	return ops(sw)->can_rx == NULL || ops(sw)->can_rx(sw);
}

inline void mf_sw_rx(struct mf_sw *sw, unsigned int port, mf_time now, const struct mf_span *span)
{
	if (is_edm(sw))
		mf_switch_rx(edm(sw), port, now, span);
	else if (is_frames(sw))
		mf_frame_switch_rx(frames(sw), port, now, span);
	else
		ops(sw)->rx(sw, port, now, span);
}

inline unsigned int mf_sw_tx(struct mf_sw *sw, unsigned int port, mf_time now, unsigned int max,
			     struct mf_span *out)
{
	if (is_edm(sw))
		return mf_switch_tx(edm(sw), port, now, max, out);
	if (is_frames(sw))
		return mf_frame_switch_tx(frames(sw), port, now, max, out);
	return ops(sw)->tx(sw, port, now, max, out);
}

inline struct mf_span *mf_sw_tx_in_place(struct mf_sw *sw, unsigned int port, mf_time now,
					 struct mf_span *room)
{
	if (is_edm(sw))
		return mf_switch_tx_in_place(edm(sw), port, now, room);
	if (is_frames(sw))
		return mf_frame_switch_tx_in_place(frames(sw), port, now, room);
	return ops(sw)->tx_in_place(sw, port, now, room);
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
	if (is_frames(sw))
		return mf_frame_switch_run(frames(sw), now);
	return ops(sw)->run(sw, now);
}

inline mf_time mf_sw_next(const struct mf_sw *sw)
{
	return ports_of(sw)->next;
}

bool mf_sw_has_frames(const struct mf_sw *sw)
{
	return ops(sw)->busy != NULL && ops(sw)->busy(sw);
}

void mf_sw_link_down(struct mf_sw *sw, unsigned int port, mf_time now)
{
	ops(sw)->link_down(sw, port, now);
}

bool mf_sw_link_up(struct mf_sw *sw, unsigned int port, mf_time now)
{
	return ops(sw)->link_up == NULL || ops(sw)->link_up(sw, port, now);
}

void mf_sw_bear(struct mf_sw *sw, unsigned int port, mf_time by)
{
	if (ops(sw)->bear != NULL)
		ops(sw)->bear(sw, port, by);
}

inline bool mf_sw_has_requests(const struct mf_sw *sw, unsigned int port, unsigned int n)
{
	if (is_edm(sw))
		return mf_switch_has_requests(edm_of(sw), port, n);
	return ops(sw)->has_requests == NULL || ops(sw)->has_requests(sw, port, n);
}

/* ---- the scheduler ---- */

const struct mf_channel *mf_sw_channel(const struct mf_sw *sw)
{
	return ops(sw)->channel;
}

inline void *mf_sw_peek(struct mf_sw *sw, unsigned int *n)
{
	if (is_edm(sw))
		return mf_switch_sched_peek(edm(sw), n);
	*n = 0;
	return NULL;
}

inline void mf_sw_advance(struct mf_sw *sw, unsigned int n)
{
	mf_switch_sched_advance(edm(sw), n); /* of what only EDM's tells */
}

unsigned int mf_sw_take(struct mf_sw *sw, void *out, unsigned int max)
{
	return is_edm(sw) ? mf_switch_to_sched(edm(sw), out, max) : 0;
}

bool mf_sw_possible(const struct mf_sw *sw, const void *item)
{
	return ops(sw)->possible == NULL || ops(sw)->possible(sw, item);
}

inline void mf_sw_give(struct mf_sw *sw, mf_time now, const void *items, unsigned int n)
{
	const struct mf_sched_grant *grant = items;

	assert(n == 0 || is_edm(sw)); /* who tells a scheduler nothing is granted nothing */
	for (unsigned int i = 0; i < n; i++)
		mf_switch_grant(edm(sw), now, &grant[i]);
}

bool mf_sw_active(const struct mf_sw *sw)
{
	uint16_t epoch;

	if (is_edm(sw))
		return mf_switch_active(edm_of(sw), &epoch);
	return ops(sw)->redundancy == NULL || ops(sw)->redundancy->active(sw);
}

inline bool mf_sw_demoted(const struct mf_sw *sw)
{
	const struct mf_redundancy_ops *r;

	if (is_edm(sw))
		return mf_switch_demoted(edm_of(sw));
	r = ops(sw)->redundancy;
	return r != NULL && r->demoted != NULL && r->demoted(sw);
}

/* ---- faults ---- */

void mf_sw_crash(struct mf_sw *sw, mf_time now)
{
	assert(ops(sw)->crash != NULL); /* the configuration refuses the fault with such kinds */
	ops(sw)->crash(sw, now, NULL);
}

const struct mf_role_ops *mf_sw_role(const struct mf_sw *sw)
{
	return ops(sw);
}

const struct mf_pool_desc *mf_sw_pools(const struct mf_sw *sw)
{
	return ops(sw)->policy_pools != NULL ? ops(sw)->policy_pools(sw) : ops(sw)->pools;
}

void mf_sw_exhaust(struct mf_sw *sw, unsigned int pool, unsigned int port, bool on)
{
	assert(ops(sw)->exhaust != NULL); /* as above */
	ops(sw)->exhaust(sw, pool, port, on);
}

/* ---- what is counted ---- */

void mf_sw_stats(const struct mf_sw *sw, struct mf_switch_stats *out)
{
	struct mf_frame_switch_counts c = {0};

	if (is_edm(sw)) {
		*out = *mf_switch_stats(edm_of(sw));
		return;
	}
	if (is_frames(sw))
		mf_frame_switch_counts(frames_of(sw), &c);
	*out = (struct mf_switch_stats){.frames = c.frames,
					.drop_proto = c.drop_proto,
					.drop_room = c.drop_room,
					.drop_frame_room = c.drop_frame_room};
}

void mf_sw_counts(const struct mf_sw *sw, struct mf_role_stats *out)
{
	ops(sw)->stats(sw, out);
}

const struct mf_mux_stats *mf_sw_mux_stats(const struct mf_sw *sw, unsigned int port)
{
	return mf_mux_stats(mux(sw, port));
}

uint32_t mf_sw_ahead(const struct mf_sw *sw, unsigned int port, mf_time now)
{
	return mf_mux_ahead(mux(sw, port), now);
}

void mf_sw_depth(struct mf_sw *sw, unsigned int port, mf_time now, bool anew, struct mf_queue_depth *out)
{
	*out = (struct mf_queue_depth){0};
	if (ops(sw)->depth != NULL)
		ops(sw)->depth(sw, port, anew, out);
	out->octets += mf_mux_octets(mux(sw, port), now);
}

const struct mf_demux *mf_sw_demux(const struct mf_sw *sw, unsigned int port)
{
	return &mf_port(ports_of(sw), port)->rx.demux;
}

unsigned int mf_sw_bridge_counters(const struct mf_sw *sw, struct mf_counter *out)
{
	return ops(sw)->policy != NULL ? ops(sw)->policy(sw, out) : 0;
}

void mf_sw_held(const struct mf_sw *sw, mf_time now, struct mf_switch_held *out)
{
	*out = (struct mf_switch_held){0};
	if (is_edm(sw))
		mf_switch_held(edm_of(sw), now, out);
}

/* ---- hints, which hot kinds alone have ---- */

inline void mf_sw_fetch(const struct mf_sw *sw, unsigned int port, uint64_t word)
{
	mf_switch_fetch(edm_of(sw), port, word);
}

inline void mf_sw_fetch_mux(const struct mf_sw *sw, unsigned int port, uint64_t word)
{
	mf_switch_fetch_mux(edm_of(sw), port, word);
}

inline void mf_sw_fetch_items(const struct mf_sw *sw, unsigned int port, uint64_t word)
{
	mf_switch_fetch_items(edm_of(sw), port, word);
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
