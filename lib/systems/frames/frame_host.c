/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/mf_cycles.h"
#include "base/mf_fetch.h"
#include "role/mf_receiver.h"
#include "systems/frames/feed.h"
#include "systems/frames/mf_frame_host.h"

#define ITEMS 16

struct mf_frame_host {
	struct mf_node_shell shell;
	const struct mf_stack_ops *ops; /**< NULL: there is no stack */
	struct mf_stack *stack;
	uint8_t *frame; /**< the next one, of MF_FRAME_MAX bytes */
	uint32_t commit; /**< frames that the line is given at most */
	bool messages; /**< the stack sends and takes messages, not frames */
	bool lost; /**< the link is: nothing is given to the line */
	struct mf_frame_sink sink;
	struct mf_frame_host_counts counts;
	struct mf_receiver rx;
};

static bool config_ok(const struct mf_frame_host_config *c)
{
	return c->of.node < c->of.nodes && (c->stack == NULL || c->of.queue >= 1) &&
	       (!c->of.memory_ops || c->of.memory);
}

static int stack_init(struct mf_frame_host *h, const struct mf_frame_host_config *c)
{
	struct mf_stack_config of = c->of;

	if (!c->stack)
		return 0;
	h->frame = malloc(MF_FRAME_MAX);
	if (!h->frame)
		return -ENOMEM;
	of.period = c->mux.period;
	h->stack = c->stack->create(&of);
	return h->stack ? 0 : -errno;
}

static int init(struct mf_frame_host *h, const struct mf_frame_host_config *c)
{
	const struct mf_receiver_config rx = {.blocks = c->blocks,
					      .period = c->mux.period,
					      .ber_window = c->ber_window,
					      .guard = c->guard,
					      .room = MF_STACK_BLOCKS_MAX};
	struct mf_mux_config mux = c->mux;
	int err;

	h->shell.node = c->of.node;
	h->shell.nodes = c->of.nodes;
	h->shell.wall = mux.period == 0;
	h->shell.submits = c->of.compute && c->stack;
	h->ops = c->stack;
	h->messages = c->stack && c->stack->messages;
	h->commit = h->shell.wall && !mux.shaped ? FEED_COMMIT_WALL : FEED_COMMIT;
	mux.memory_enabled = c->blocks;
	h->shell.mux = mf_mux_new(&mux);
	if (!h->shell.mux)
		return -errno;
	err = mf_receiver_init(&h->rx, &rx);
	return err ? err : stack_init(h, c);
}

struct mf_frame_host *mf_frame_host_new(const struct mf_frame_host_config *config)
{
	struct mf_frame_host *h;
	int err;

	if (!config_ok(config)) {
		errno = EINVAL;
		return NULL;
	}
	h = aligned_alloc(64, (sizeof(*h) + 63) & ~(size_t)63);
	if (!h) {
		errno = ENOMEM;
		return NULL;
	}
	memset(h, 0, sizeof(*h));
	err = init(h, config);
	if (err) {
		mf_frame_host_free(h);
		errno = -err;
		return NULL;
	}
	return h;
}

void mf_frame_host_free(struct mf_frame_host *h)
{
	if (!h)
		return;
	if (h->stack)
		h->ops->destroy(h->stack);
	free(h->frame);
	mf_receiver_fini(&h->rx);
	if (h->shell.mux)
		mf_mux_free(h->shell.mux);
	free(h);
}

/* ---- operations ---- */

int mf_frame_host_submit(struct mf_frame_host *h, mf_time now, const struct mf_op *op)
{
	MF_CYCLES(MF_CYCLES_HOST_SUBMIT);
	int err = mf_node_check(&h->shell, op, mf_node_len(op));

	if (!err)
		err = h->ops->submit(h->stack, now, op);
	if (!err)
		h->counts.op.submitted[op->kind]++;
	return err;
}

unsigned int mf_frame_host_completions(struct mf_frame_host *h, mf_time now, struct mf_completion *out,
				       unsigned int max)
{
	MF_CYCLES(MF_CYCLES_HOST_COMPLETIONS);
	unsigned int n = h->ops ? h->ops->completions(h->stack, now, out, max) : 0;

	for (unsigned int i = 0; i < n; i++)
		if (out[i].status == MF_OK)
			h->counts.op.completed[out[i].kind]++;
		else
			h->counts.op.failed[out[i].kind]++;
	return n;
}

uint32_t mf_frame_host_outstanding(const struct mf_frame_host *h)
{
	return h->ops ? h->ops->outstanding(h->stack) : 0;
}

void mf_frame_host_on_frame(struct mf_frame_host *h, mf_node_frame_fn fn, void *ctx)
{
	h->sink = (struct mf_frame_sink){fn, ctx};
}

/* ---- what arrives ---- */

/** A message of blocks, of which a span may have had a part only. */
static void rx_run(struct mf_frame_host *h, const struct mf_rx_item *it, mf_time last)
{
	enum mf_assembly part;

	if (it->begins && it->ends) {
		h->ops->message(h->stack, last, it->word, it->count);
		return;
	}
	part = mf_receiver_part(&h->rx, it, last);
	if (part == MF_PART_WHOLE)
		h->ops->message(h->stack, last, h->rx.word, h->rx.count);
	else if (part != MF_PART_MORE)
		h->counts.drop_proto++;
}

static void rx_item(struct mf_frame_host *h, mf_time now, const struct mf_rx_item *it)
{
	mf_time at = h->shell.wall ? now : it->at;

	switch (it->kind) {
	case MF_RX_FRAME:
		if (!h->ops || !h->ops->frame(h->stack, at, it->frame, it->count))
			mf_node_hand_up(&h->sink, at, it->frame, it->count);
		break;
	case MF_RX_ABORT:
		h->rx.collecting = false;
		break;
	default:
		if (h->messages)
			rx_run(h, it, h->shell.wall ? now : it->at + (mf_time)(it->count - 1) * it->period);
		else
			h->counts.drop_unknown++;
	}
}

void mf_frame_host_rx(struct mf_frame_host *h, mf_time now, const struct mf_span *span)
{
	struct mf_rx_item item[ITEMS];
	unsigned int pos = 0, n;

	while ((n = mf_demux_span(&h->rx.demux, span, &pos, item, ITEMS)) > 0)
		for (unsigned int i = 0; i < n; i++)
			rx_item(h, now, &item[i]);
}

void mf_frame_host_link_lost(struct mf_frame_host *h, mf_time now)
{
	struct mf_span s;

	mf_span_no_signal(&s, now);
	mf_frame_host_rx(h, now, &s);
	mf_mux_flush(h->shell.mux, now);
	h->lost = true;
	if (h->ops && h->ops->link_lost)
		h->ops->link_lost(h->stack);
}

void mf_frame_host_link_back(struct mf_frame_host *h, mf_time now)
{
	h->lost = false;
	mf_mux_line_up(h->shell.mux, now);
}

/* ---- what is sent, and time ---- */

/** Whether the line wants something that the stack may have. */
static bool wants(const struct mf_frame_host *h)
{
	return h->ops && !h->lost && feed_wants(h->shell.mux, h->messages, h->commit);
}

static bool feed_frame(struct mf_frame_host *h, mf_time now)
{
	uint16_t len = h->ops->pull(h->stack, now, h->frame);

	return len != 0 && mf_mux_frame(h->shell.mux, now, h->frame, len);
}

static bool feed_message(struct mf_frame_host *h, mf_time now)
{
	uint64_t word[MF_STACK_BLOCKS_MAX];
	unsigned int n = h->ops->pull_message(h->stack, now, word);

	return n != 0 && feed_words(h->shell.mux, now, word, n);
}

static void feed(struct mf_frame_host *h, mf_time now)
{
	while (wants(h) && h->ops->ready(h->stack) <= now &&
	       (h->messages ? feed_message(h, now) : feed_frame(h, now)))
		;
}

mf_time mf_frame_host_run(struct mf_frame_host *h, mf_time now)
{
	MF_CYCLES(MF_CYCLES_HOST_RUN);
	struct mf_rx_item item;

	if (now >= mf_demux_next(&h->rx.demux) && mf_demux_poll(&h->rx.demux, now, &item))
		rx_item(h, now, &item);
	if (h->ops && h->ops->next(h->stack) <= now)
		h->ops->run(h->stack, now);
	feed(h, now);
	return mf_frame_host_next(h);
}

mf_time mf_frame_host_next(const struct mf_frame_host *h)
{
	mf_time next = mf_demux_next(&h->rx.demux);

	if (!h->ops)
		return next;
	next = mf_time_min(next, h->ops->next(h->stack));
	return wants(h) ? mf_time_min(next, h->ops->ready(h->stack)) : next;
}

unsigned int mf_frame_host_tx(struct mf_frame_host *h, mf_time now, unsigned int max, struct mf_span *out)
{
	unsigned int n = mf_mux_pull(h->shell.mux, now, max, out);

	if (n > 0)
		feed_sent(h->shell.mux);
	return n;
}

struct mf_span *mf_frame_host_tx_in_place(struct mf_frame_host *h, mf_time now, struct mf_span *room)
{
	struct mf_span *s = mf_mux_pull_in_place(h->shell.mux, now, room);

	if (s)
		feed_sent(h->shell.mux);
	return s;
}

const struct mf_pool_desc *mf_frame_host_pools(const struct mf_frame_host *h)
{
	return h->ops ? h->ops->pools : NULL;
}

void mf_frame_host_exhaust(struct mf_frame_host *h, unsigned int pool, bool on)
{
	if (h->ops) /* a plain Ethernet node has no stack, and no pools */
		h->ops->exhaust(h->stack, pool, on);
}

/* ---- what is counted ---- */

const struct mf_demux *mf_frame_host_demux(const struct mf_frame_host *h)
{
	return &h->rx.demux;
}

void mf_frame_host_counts(const struct mf_frame_host *h, struct mf_frame_host_counts *out)
{
	*out = h->counts;
}

unsigned int mf_frame_host_counters(const struct mf_frame_host *h, struct mf_counter *out)
{
	return h->ops ? h->ops->counters(h->stack, out) : 0;
}

void mf_frame_host_fetch(const struct mf_frame_host *h)
{
	mf_fetch_only();
	for (size_t at = 0; at < sizeof(*h); at += 64)
		__builtin_prefetch((const uint8_t *)h + at, 1);
}
