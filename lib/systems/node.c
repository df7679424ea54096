/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what is asked of a node to the function of its kind: directly for hot kinds (kinds.h), by the table
 * for others. A handle is only ever cast, to the type of its host or to the shell.
 */
#include <assert.h>
#include <string.h>

#include "systems/hosts.h"
#include "systems/kinds.h"
#include "systems/mf_node.h"

#define FETCH_ITEMS 4

static_assert(MF_STACK_BLOCKS_MAX == MF_BLOCKS_MAX, "the same is too long, whatever the system");

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

static inline bool is_frames(const struct mf_node *n)
{
	return likely(shell_of(n)->kind == NODE_FRAMES);
}

/** What its kind is. */
static inline const struct mf_role_ops *ops(const struct mf_node *n)
{
	return mf_node_kinds[shell_of(n)->kind];
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
	struct mf_node *n = (struct mf_node *)mf_host_new(config);

	if (n != NULL)
		shell(n)->foresees = true; /* segments of frames say it too late */
	return n;
}

struct mf_node *mf_node_new_frames(const struct mf_frame_host_config *config)
{
	struct mf_node *n = (struct mf_node *)mf_frame_host_new(config);

	if (n != NULL)
		shell(n)->kind = NODE_FRAMES;
	return n;
}

struct mf_node *mf_node_new_hosts(const struct mf_hosts_config *config)
{
	struct mf_node *node = (struct mf_node *)hosts_new(config);

	if (node != NULL)
		shell(node)->kind = NODE_HOSTS;
	return node;
}

struct mf_node *mf_node_host(struct mf_node *n, unsigned int end)
{
	return shell(n)->kind == NODE_HOSTS ? hosts_at((struct hosts *)n, end) : n;
}

void mf_node_free(struct mf_node *n)
{
	if (n != NULL)
		ops(n)->destroy(n);
}

/* ---- operations and frames ---- */

inline int mf_node_submit(struct mf_node *n, mf_time now, const struct mf_op *op)
{
	if (is_edm(n))
		return mf_host_submit(edm(n), now, op);
	if (is_frames(n))
		return mf_frame_host_submit(frames(n), now, op);
	return ops(n)->requester != NULL ? ops(n)->requester->submit(n, now, op) : -EPERM;
}

inline unsigned int mf_node_completions(struct mf_node *n, mf_time now, struct mf_completion *out,
					unsigned int max)
{
	if (is_edm(n))
		return mf_host_completions(edm(n), now, out, max);
	if (is_frames(n))
		return mf_frame_host_completions(frames(n), now, out, max);
	return ops(n)->requester != NULL ? ops(n)->requester->completions(n, now, out, max) : 0;
}

uint32_t mf_node_outstanding(const struct mf_node *n)
{
	return ops(n)->requester != NULL ? ops(n)->requester->outstanding(n) : 0;
}

void mf_node_on_frame(struct mf_node *n, mf_node_frame_fn fn, void *ctx)
{
	if (ops(n)->requester != NULL)
		ops(n)->requester->on_frame(n, fn, ctx);
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
	const struct mf_requester_ops *r = ops(n)->requester;

	if (r != NULL && r->on_restart != NULL)
		r->on_restart(n, fn, ctx);
}

bool mf_node_link_is_lost(const struct mf_node *n)
{
	return ops(n)->requester->link_is_lost(n); /* asked from within what on_restart() has set */
}

void mf_node_under_way(const struct mf_node *n, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx)
{
	ops(n)->requester->under_way(n, node, fn, ctx); /* likewise */
}

/* ---- the link and time ---- */

inline bool mf_node_can_rx(const struct mf_node *n)
{
	if (is_edm(n))
		return mf_host_can_rx(edm_of(n));
	return ops(n)->can_rx == NULL || ops(n)->can_rx(n);
}

inline void mf_node_rx(struct mf_node *n, mf_time now, const struct mf_span *span)
{
	if (is_edm(n))
		mf_host_rx(edm(n), now, span);
	else if (is_frames(n))
		mf_frame_host_rx(frames(n), now, span);
	else
		ops(n)->rx(n, 0, now, span);
}

inline void mf_node_rx_by(struct mf_node *n, unsigned int link, mf_time now, const struct mf_span *span)
{
	if (is_edm(n))
		mf_host_rx_by(edm(n), link, now, span);
	else
		ops(n)->rx(n, link, now, span);
}

inline unsigned int mf_node_tx(struct mf_node *n, mf_time now, unsigned int max, struct mf_span *out)
{
	if (is_edm(n))
		return mf_host_tx(edm(n), now, max, out);
	if (is_frames(n))
		return mf_frame_host_tx(frames(n), now, max, out);
	return ops(n)->tx(n, 0, now, max, out);
}

inline struct mf_span *mf_node_tx_in_place(struct mf_node *n, mf_time now, struct mf_span *room)
{
	if (is_edm(n))
		return mf_host_tx_in_place(edm(n), now, room);
	if (is_frames(n))
		return mf_frame_host_tx_in_place(frames(n), now, room);
	return ops(n)->tx_in_place(n, 0, now, room);
}

struct mf_mux *mf_node_mux(const struct mf_node *n, unsigned int end)
{
	return ops(n)->mux != NULL ? ops(n)->mux(n, end) : shell_of(n)->mux;
}

unsigned int mf_node_tx_by(struct mf_node *n, unsigned int end, mf_time now, unsigned int max,
			   struct mf_span *out)
{
	return ops(n)->tx(n, end, now, max, out);
}

struct mf_span *mf_node_tx_in_place_by(struct mf_node *n, unsigned int end, mf_time now, struct mf_span *room)
{
	return ops(n)->tx_in_place(n, end, now, room);
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

inline mf_time mf_node_run(struct mf_node *n, mf_time now)
{
	if (is_edm(n))
		return mf_host_run(edm(n), now);
	if (is_frames(n))
		return mf_frame_host_run(frames(n), now);
	return ops(n)->run(n, now);
}

inline mf_time mf_node_next(const struct mf_node *n)
{
	if (is_edm(n))
		return mf_host_next(edm_of(n));
	if (is_frames(n))
		return mf_frame_host_next(frames_of(n));
	return ops(n)->next(n);
}

void mf_node_link_down(struct mf_node *n, unsigned int link, mf_time now)
{
	ops(n)->link_down(n, link, now);
}

void mf_node_link_up(struct mf_node *n, unsigned int link, mf_time now)
{
	if (ops(n)->link_up != NULL)
		ops(n)->link_up(n, link, now);
}

inline bool mf_node_has_primary(const struct mf_node *n)
{
	const struct mf_redundancy_ops *r;

	if (is_edm(n))
		return mf_host_has_primary(edm_of(n));
	r = ops(n)->redundancy;
	return r == NULL || r->active(n);
}

bool mf_node_tells(const struct mf_node *n)
{
	const struct mf_redundancy_ops *r = ops(n)->redundancy;

	return r != NULL && r->tells != NULL && r->tells(n);
}

uint16_t mf_node_epoch(const struct mf_node *n)
{
	const struct mf_redundancy_ops *r = ops(n)->redundancy;

	return r != NULL ? r->epoch(n) : 0;
}

/* ---- faults ---- */

int mf_node_restart(struct mf_node *n, mf_time now, struct mf_memory *memory)
{
	bool foresees = mf_node_foresees(n);
	int err;

	assert(ops(n)->crash != NULL); /* the configuration refuses the fault with such kinds */
	err = ops(n)->crash(n, now, memory);
	shell(n)->foresees = foresees;
	return err;
}

const struct mf_role_ops *mf_node_role(const struct mf_node *n)
{
	return ops(n);
}

const struct mf_pool_desc *mf_node_pools(const struct mf_node *n)
{
	return ops(n)->policy_pools != NULL ? ops(n)->policy_pools(n) : ops(n)->pools;
}

void mf_node_exhaust(struct mf_node *n, unsigned int pool, bool on)
{
	assert(ops(n)->exhaust != NULL); /* as above */
	ops(n)->exhaust(n, pool, 0, on);
}

/* ---- what is counted ---- */

void mf_node_stats(const struct mf_node *n, struct mf_host_stats *out)
{
	struct mf_frame_host_counts c = {0};

	if (is_edm(n)) {
		*out = *mf_host_stats(edm_of(n));
		return;
	}
	if (shell_of(n)->kind == NODE_HOSTS) {
		hosts_stats((const struct hosts *)n, out);
		return;
	}
	if (is_frames(n))
		mf_frame_host_counts(frames_of(n), &c);
	*out = (struct mf_host_stats){.drop_proto = c.drop_proto, .drop_unknown = c.drop_unknown};
	memcpy(out->submitted, c.op.submitted, sizeof(out->submitted));
	memcpy(out->completed, c.op.completed, sizeof(out->completed));
	memcpy(out->failed, c.op.failed, sizeof(out->failed));
}

void mf_node_counts(const struct mf_node *n, struct mf_role_stats *out)
{
	ops(n)->stats(n, out);
}

const struct mf_mux_stats *mf_node_mux_stats(const struct mf_node *n)
{
	return mf_mux_stats(shell_of(n)->mux);
}

const struct mf_demux *mf_node_demux(const struct mf_node *n)
{
	return ops(n)->heard(n);
}

const struct mf_demux *mf_node_demux_of(const struct mf_node *n, unsigned int link)
{
	return ops(n)->demux(n, link);
}

unsigned int mf_node_stack_counters(const struct mf_node *n, struct mf_counter *out)
{
	return ops(n)->policy != NULL ? ops(n)->policy(n, out) : 0;
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
	else if (is_frames(n))
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

inline uint16_t mf_node_fetch_message(const struct mf_node *n, uint64_t first, uint64_t last)
{
	return mf_host_fetch_message(edm_of(n), first, last);
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
