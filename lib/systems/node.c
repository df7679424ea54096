/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what is asked of a node to the function of its host. A handle is only ever cast, to the type of its
 * host or to the shell.
 */
#include "systems/edm/host/mf_host_leaks.h"
#include "systems/mf_node.h"

static inline struct mf_host *edm(struct mf_node *n)
{
	return (struct mf_host *)n;
}

static inline const struct mf_host *edm_of(const struct mf_node *n)
{
	return (const struct mf_host *)n;
}

struct mf_node *mf_node_new_edm(const struct mf_host_config *config)
{
	return (struct mf_node *)mf_host_new(config);
}

void mf_node_free(struct mf_node *n)
{
	mf_host_free(edm(n));
}

/* ---- operations and frames ---- */

inline int mf_node_submit(struct mf_node *n, mf_time now, const struct mf_op *op)
{
	return mf_host_submit(edm(n), now, op);
}

inline unsigned int mf_node_completions(struct mf_node *n, mf_time now, struct mf_completion *out,
					unsigned int max)
{
	return mf_host_completions(edm(n), now, out, max);
}

uint32_t mf_node_outstanding(const struct mf_node *n)
{
	return mf_host_outstanding(edm_of(n));
}

void mf_node_on_frame(struct mf_node *n, mf_node_frame_fn fn, void *ctx)
{
	mf_host_on_frame(edm(n), fn, ctx);
}

bool mf_node_send_frame(struct mf_node *n, mf_time now, const uint8_t *frame, uint16_t len)
{
	return mf_host_send_frame(edm(n), now, frame, len);
}

bool mf_node_frame_room(const struct mf_node *n, uint16_t len)
{
	return mf_host_frame_room(edm_of(n), len);
}

uint32_t mf_node_frame_bytes(const struct mf_node *n)
{
	return mf_host_frame_bytes(edm_of(n));
}

void mf_node_on_restart(struct mf_node *n, mf_node_restart_fn fn, void *ctx)
{
	mf_host_on_restart(edm(n), fn, ctx);
}

bool mf_node_link_is_lost(const struct mf_node *n)
{
	return mf_host_link_is_lost(edm_of(n));
}

void mf_node_under_way(const struct mf_node *n, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx)
{
	mf_host_under_way(edm_of(n), node, fn, ctx);
}

/* ---- the link and time ---- */

inline bool mf_node_can_rx(const struct mf_node *n)
{
	return mf_host_can_rx(edm_of(n));
}

inline void mf_node_rx(struct mf_node *n, mf_time now, const struct mf_span *span)
{
	mf_host_rx(edm(n), now, span);
}

inline void mf_node_rx_by(struct mf_node *n, unsigned int link, mf_time now, const struct mf_span *span)
{
	mf_host_rx_by(edm(n), link, now, span);
}

inline unsigned int mf_node_tx(struct mf_node *n, mf_time now, unsigned int max, struct mf_span *out)
{
	return mf_host_tx(edm(n), now, max, out);
}

inline struct mf_span *mf_node_tx_in_place(struct mf_node *n, mf_time now, struct mf_span *room)
{
	return mf_host_tx_in_place(edm(n), now, room);
}

inline mf_time mf_node_tx_next(const struct mf_node *n, mf_time now)
{
	return mf_host_tx_next(edm_of(n), now);
}

inline mf_time mf_node_tx_next_block(const struct mf_node *n, mf_time now)
{
	return mf_host_tx_next_block(edm_of(n), now);
}

inline bool mf_node_tx_waits(const struct mf_node *n)
{
	return mf_host_tx_waits(edm_of(n));
}

void mf_node_short_spans(struct mf_node *n)
{
	mf_host_short_spans(edm(n));
}

inline mf_time mf_node_run(struct mf_node *n, mf_time now)
{
	return mf_host_run(edm(n), now);
}

inline mf_time mf_node_next(const struct mf_node *n)
{
	return mf_host_next(edm_of(n));
}

void mf_node_link_lost(struct mf_node *n, mf_time now)
{
	mf_host_link_lost(edm(n), now);
}

void mf_node_link_down(struct mf_node *n, unsigned int link, mf_time now)
{
	mf_host_link_down(edm(n), link, now);
}

void mf_node_link_up(struct mf_node *n, unsigned int link, mf_time now)
{
	mf_host_link_up(edm(n), link, now);
}

inline bool mf_node_obeys(const struct mf_node *n)
{
	return mf_host_obeys(edm_of(n));
}

bool mf_node_tells(const struct mf_node *n)
{
	return mf_host_tells(edm_of(n));
}

uint16_t mf_node_epoch(const struct mf_node *n)
{
	return mf_host_epoch(edm_of(n));
}

/* ---- faults ---- */

int mf_node_restart(struct mf_node *n, mf_time now, struct mf_memory *memory)
{
	return mf_host_restart(edm(n), now, memory);
}

void mf_node_exhaust(struct mf_node *n, enum mf_host_room what, bool on)
{
	mf_host_exhaust(edm(n), what, on);
}

/* ---- what is counted ---- */

void mf_node_stats(const struct mf_node *n, struct mf_host_stats *out)
{
	*out = *mf_host_stats(edm_of(n));
}

const struct mf_mux_stats *mf_node_mux_stats(const struct mf_node *n)
{
	return mf_host_mux_stats(edm_of(n));
}

uint32_t mf_node_ahead(const struct mf_node *n, mf_time now)
{
	return mf_host_ahead(edm_of(n), now);
}

const struct mf_demux *mf_node_demux(const struct mf_node *n)
{
	return mf_host_demux(edm_of(n));
}

const struct mf_demux *mf_node_demux_of(const struct mf_node *n, unsigned int link)
{
	return mf_host_demux_of(edm_of(n), link);
}

unsigned int mf_node_stack_counters(const struct mf_node *n, struct mf_counter *out)
{
	return mf_host_stack_counters(edm_of(n), out);
}

void mf_node_held(const struct mf_node *n, mf_time now, struct mf_host_held *out)
{
	mf_host_held(edm_of(n), now, out);
}

/* ---- hints ---- */

inline void mf_node_fetch(const struct mf_node *n)
{
	mf_host_fetch(edm_of(n));
}

inline void mf_node_fetch_mux(const struct mf_node *n)
{
	mf_host_fetch_mux(edm_of(n));
}

inline void mf_node_fetch_items(const struct mf_node *n)
{
	mf_host_fetch_items(edm_of(n));
}

inline void mf_node_fetch_peer(const struct mf_node *n, uint16_t node)
{
	mf_host_fetch_peer(edm_of(n), node);
}

inline void mf_node_fetch_message(const struct mf_node *n, uint64_t first, uint64_t last)
{
	mf_host_fetch_message(edm_of(n), first, last);
}

inline void mf_node_fetch_state(const struct mf_node *n, uint64_t first)
{
	mf_host_fetch_state(edm_of(n), first);
}

inline void mf_node_fetch_op(const struct mf_node *n, uint64_t first)
{
	mf_host_fetch_op(edm_of(n), first);
}

inline uint64_t mf_node_fetch_data(const struct mf_node *n, uint64_t first)
{
	return mf_host_fetch_data(edm_of(n), first);
}
