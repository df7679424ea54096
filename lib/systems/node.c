/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what is asked of a node to the function of its host. A handle is only ever cast, to the type of its
 * host or to the shell.
 */
#include <string.h>

#include "systems/mf_node.h"

#define FETCH_ITEMS 4

static_assert(MF_STACK_BLOCKS_MAX == MF_BLOCKS_MAX, "the same is too long, whatever the system");

/** mf_node_shell.kind. EDM's is 0, which a host has again when its process was started again. */
enum { NODE_EDM, NODE_FRAMES };

static inline struct mf_node_shell *shell(struct mf_node *n)
{
	return (struct mf_node_shell *)n;
}

static inline const struct mf_node_shell *shell_of(const struct mf_node *n)
{
	return (const struct mf_node_shell *)n;
}

static inline bool is_edm(const struct mf_node *n)
{
	return likely(shell_of(n)->kind == NODE_EDM);
}

static inline struct mf_host *edm(struct mf_node *n)
{
	return (struct mf_host *)n;
}

static inline const struct mf_host *edm_of(const struct mf_node *n)
{
	return (const struct mf_host *)n;
}

static inline struct mf_frame_host *frames(struct mf_node *n)
{
	return (struct mf_frame_host *)n;
}

static inline const struct mf_frame_host *frames_of(const struct mf_node *n)
{
	return (const struct mf_frame_host *)n;
}

struct mf_node *mf_node_new_edm(const struct mf_host_config *config)
{
	return (struct mf_node *)mf_host_new(config);
}

struct mf_node *mf_node_new_frames(const struct mf_frame_host_config *config)
{
	struct mf_node *n = (struct mf_node *)mf_frame_host_new(config);

	if (n != NULL)
		shell(n)->kind = NODE_FRAMES;
	return n;
}

void mf_node_free(struct mf_node *n)
{
	if (n == NULL)
		return;
	if (is_edm(n))
		mf_host_free(edm(n));
	else
		mf_frame_host_free(frames(n));
}

/* ---- operations and frames ---- */

inline int mf_node_submit(struct mf_node *n, mf_time now, const struct mf_op *op)
{
	if (is_edm(n))
		return mf_host_submit(edm(n), now, op);
	return mf_frame_host_submit(frames(n), now, op);
}

inline unsigned int mf_node_completions(struct mf_node *n, mf_time now, struct mf_completion *out,
					unsigned int max)
{
	if (is_edm(n))
		return mf_host_completions(edm(n), now, out, max);
	return mf_frame_host_completions(frames(n), now, out, max);
}

uint32_t mf_node_outstanding(const struct mf_node *n)
{
	if (is_edm(n))
		return mf_host_outstanding(edm_of(n));
	return mf_frame_host_outstanding(frames_of(n));
}

void mf_node_on_frame(struct mf_node *n, mf_node_frame_fn fn, void *ctx)
{
	if (is_edm(n))
		mf_host_on_frame(edm(n), fn, ctx);
	else
		mf_frame_host_on_frame(frames(n), fn, ctx);
}

bool mf_node_send_frame(struct mf_node *n, mf_time now, const uint8_t *frame, uint16_t len)
{
	return mf_mux_frame(shell(n)->mux, now, frame, len);
}

bool mf_node_frame_room(const struct mf_node *n, uint16_t len)
{
	return mf_mux_frame_room(shell_of(n)->mux, len);
}

uint32_t mf_node_frame_bytes(const struct mf_node *n)
{
	return mf_mux_frame_bytes(shell_of(n)->mux);
}

void mf_node_on_restart(struct mf_node *n, mf_node_restart_fn fn, void *ctx)
{
	if (is_edm(n)) /* a stack of frames says nothing of others */
		mf_host_on_restart(edm(n), fn, ctx);
}

bool mf_node_link_is_lost(const struct mf_node *n)
{
	return is_edm(n) && mf_host_link_is_lost(edm_of(n));
}

void mf_node_under_way(const struct mf_node *n, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx)
{
	if (is_edm(n))
		mf_host_under_way(edm_of(n), node, fn, ctx);
}

/* ---- the link and time ---- */

inline bool mf_node_can_rx(const struct mf_node *n)
{
	return !is_edm(n) || mf_host_can_rx(edm_of(n));
}

inline void mf_node_rx(struct mf_node *n, mf_time now, const struct mf_span *span)
{
	if (is_edm(n))
		mf_host_rx(edm(n), now, span);
	else
		mf_frame_host_rx(frames(n), now, span);
}

inline void mf_node_rx_by(struct mf_node *n, unsigned int link, mf_time now, const struct mf_span *span)
{
	if (is_edm(n))
		mf_host_rx_by(edm(n), link, now, span);
	else
		mf_frame_host_rx(frames(n), now, span);
}

inline unsigned int mf_node_tx(struct mf_node *n, mf_time now, unsigned int max, struct mf_span *out)
{
	if (is_edm(n))
		return mf_host_tx(edm(n), now, max, out);
	return mf_frame_host_tx(frames(n), now, max, out);
}

inline struct mf_span *mf_node_tx_in_place(struct mf_node *n, mf_time now, struct mf_span *room)
{
	if (is_edm(n))
		return mf_host_tx_in_place(edm(n), now, room);
	return mf_frame_host_tx_in_place(frames(n), now, room);
}

inline mf_time mf_node_tx_next(const struct mf_node *n, mf_time now)
{
	return mf_mux_next(shell_of(n)->mux, now);
}

inline mf_time mf_node_tx_next_block(const struct mf_node *n, mf_time now)
{
	return mf_mux_next_block(shell_of(n)->mux, now);
}

inline bool mf_node_tx_waits(const struct mf_node *n)
{
	return mf_mux_waits(shell_of(n)->mux);
}

void mf_node_short_spans(struct mf_node *n)
{
	mf_mux_short_spans(shell(n)->mux);
}

inline mf_time mf_node_run(struct mf_node *n, mf_time now)
{
	if (is_edm(n))
		return mf_host_run(edm(n), now);
	return mf_frame_host_run(frames(n), now);
}

inline mf_time mf_node_next(const struct mf_node *n)
{
	if (is_edm(n))
		return mf_host_next(edm_of(n));
	return mf_frame_host_next(frames_of(n));
}

void mf_node_link_lost(struct mf_node *n, mf_time now)
{
	if (is_edm(n))
		mf_host_link_lost(edm(n), now);
	else
		mf_frame_host_link_lost(frames(n), now);
}

void mf_node_link_down(struct mf_node *n, unsigned int link, mf_time now)
{
	if (is_edm(n))
		mf_host_link_down(edm(n), link, now);
	else
		mf_frame_host_link_lost(frames(n), now);
}

void mf_node_link_up(struct mf_node *n, unsigned int link, mf_time now)
{
	if (is_edm(n))
		mf_host_link_up(edm(n), link, now);
}

inline bool mf_node_obeys(const struct mf_node *n)
{
	return !is_edm(n) || mf_host_obeys(edm_of(n));
}

bool mf_node_tells(const struct mf_node *n)
{
	return is_edm(n) && mf_host_tells(edm_of(n));
}

uint16_t mf_node_epoch(const struct mf_node *n)
{
	return is_edm(n) ? mf_host_epoch(edm_of(n)) : 0;
}

/* ---- faults ---- */

int mf_node_restart(struct mf_node *n, mf_time now, struct mf_memory *memory)
{
	assert(is_edm(n)); /* the configuration refuses the fault with other stacks */
	return mf_host_restart(edm(n), now, memory);
}

void mf_node_exhaust(struct mf_node *n, enum mf_host_room what, bool on)
{
	assert(is_edm(n)); /* as above */
	mf_host_exhaust(edm(n), what, on);
}

/* ---- what is counted ---- */

void mf_node_stats(const struct mf_node *n, struct mf_host_stats *out)
{
	struct mf_frame_host_counts c;

	if (is_edm(n)) {
		*out = *mf_host_stats(edm_of(n));
		return;
	}
	mf_frame_host_counts(frames_of(n), &c);
	*out = (struct mf_host_stats){.drop_proto = c.drop_proto, .drop_unknown = c.drop_unknown};
	memcpy(out->submitted, c.op.submitted, sizeof(out->submitted));
	memcpy(out->completed, c.op.completed, sizeof(out->completed));
	memcpy(out->failed, c.op.failed, sizeof(out->failed));
}

const struct mf_mux_stats *mf_node_mux_stats(const struct mf_node *n)
{
	return mf_mux_stats(shell_of(n)->mux);
}

uint32_t mf_node_ahead(const struct mf_node *n, mf_time now)
{
	return mf_mux_ahead(shell_of(n)->mux, now);
}

const struct mf_demux *mf_node_demux(const struct mf_node *n)
{
	if (is_edm(n))
		return mf_host_demux(edm_of(n));
	return mf_frame_host_demux(frames_of(n));
}

const struct mf_demux *mf_node_demux_of(const struct mf_node *n, unsigned int link)
{
	if (is_edm(n))
		return mf_host_demux_of(edm_of(n), link);
	return link == 0 ? mf_frame_host_demux(frames_of(n)) : NULL;
}

unsigned int mf_node_stack_counters(const struct mf_node *n, struct mf_counter *out)
{
	return is_edm(n) ? 0 : mf_frame_host_counters(frames_of(n), out);
}

void mf_node_held(const struct mf_node *n, mf_time now, struct mf_host_held *out)
{
	*out = (struct mf_host_held){0};
	if (is_edm(n))
		mf_host_held(edm_of(n), now, out);
}

/* ---- hints ---- */

inline void mf_node_fetch(const struct mf_node *n)
{
	if (is_edm(n))
		mf_host_fetch(edm_of(n));
	else
		mf_frame_host_fetch(frames_of(n));
}

inline void mf_node_fetch_mux(const struct mf_node *n)
{
	mf_mux_fetch(shell_of(n)->mux);
}

inline void mf_node_fetch_items(const struct mf_node *n)
{
	mf_mux_fetch_items(shell_of(n)->mux, FETCH_ITEMS);
}

inline void mf_node_fetch_peer(const struct mf_node *n, uint16_t node)
{
	if (is_edm(n))
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
