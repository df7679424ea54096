/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host whose stack is above the MAC (mf_stack.h): what it sends is asked for when the line wants it, what
 * arrives is handed to it whole.
 */
#include <stdlib.h>

#include "systems/edm/host/host.h"
#include "systems/frames/feed.h"

#define STACK_ITEMS 16

static_assert(MF_STACK_BLOCKS_MAX == MF_BLOCKS_MAX, "the same is too long, whatever the system");

int host_stack_init(struct mf_host *h)
{
	const struct mf_host_config *c = &h->config;
	const struct mf_stack_config s = {
		.node = c->node,
		.nodes = c->nodes,
		.compute = c->compute,
		.memory_ops = c->memory_ops,
		.memory = c->memory,
		.queue = c->queue,
		.read_timeout = c->read_timeout,
		.write_timeout = c->write_timeout,
		.period = c->mux.period,
		.rtt = c->stack_rtt,
		.server = c->stack_server,
		.slowest = c->stack_slowest,
		.timing = c->timing,
		.probe = c->probe,
		.param = c->stack_param,
		.shared = c->stack_shared,
	};

	h->frame = malloc(MF_FRAME_MAX);
	if (!h->frame)
		return -ENOMEM;
	h->stack = c->stack->create(&s);
	return h->stack ? 0 : -errno;
}

void host_stack_fini(struct mf_host *h)
{
	if (h->stack)
		h->config.stack->destroy(h->stack);
	free(h->frame);
}

/** Whether the line wants another frame, or message. */
static bool wants(const struct mf_host *h)
{
	return feed_wants(h->shell.mux, h->config.stack->messages,
			  h->shell.wall ? FEED_COMMIT_WALL : FEED_COMMIT);
}

static bool feed_frame(struct mf_host *h, mf_time now)
{
	uint16_t len = h->config.stack->pull(h->stack, now, h->frame);

	return len != 0 && mf_mux_frame(h->shell.mux, now, h->frame, len);
}

static bool feed_message(struct mf_host *h, mf_time now)
{
	uint64_t word[MF_STACK_BLOCKS_MAX];
	unsigned int n = h->config.stack->pull_message(h->stack, now, word);

	return n != 0 && feed_words(h->shell.mux, now, word, n);
}

/**
 * Only from host_stack_run(), the last to be called at an instant: so what a stack gives is decided when it
 * knows all that came until then, in whatever spans.
 */
static void feed(struct mf_host *h, mf_time now)
{
	bool messages = h->config.stack->messages;

	while (wants(h) && h->config.stack->ready(h->stack) <= now &&
	       (messages ? feed_message(h, now) : feed_frame(h, now)))
		;
}

int host_stack_submit(struct mf_host *h, mf_time now, const struct mf_op *op)
{
	int err = h->config.stack->submit(h->stack, now, op);

	if (err)
		return err;
	h->stats.submitted[op->kind]++;
	return 0;
}

unsigned int host_stack_completions(struct mf_host *h, mf_time now, struct mf_completion *out,
				    unsigned int max)
{
	unsigned int n = h->config.stack->completions(h->stack, now, out, max);

	for (unsigned int i = 0; i < n; i++)
		if (out[i].status == MF_OK)
			h->stats.completed[out[i].kind]++;
		else
			h->stats.failed[out[i].kind]++;
	return n;
}

/** A message of blocks, of which a span may have had a part only. */
static void rx_run(struct mf_host *h, const struct mf_rx_item *it, mf_time last)
{
	enum mf_part part;

	if (it->begins && it->ends) {
		h->config.stack->message(h->stack, last, it->word, it->count);
		return;
	}
	part = mf_receiver_part(&h->rx, it, last);
	if (part == MF_PART_WHOLE)
		h->config.stack->message(h->stack, last, h->rx.word, h->rx.count);
	else if (part != MF_PART_MORE)
		h->stats.drop_proto++;
}

static void rx_item(struct mf_host *h, mf_time now, const struct mf_rx_item *it)
{
	mf_time at = h->shell.wall ? now : it->at;

	switch (it->kind) {
	case MF_RX_FRAME:
		if (!h->config.stack->frame(h->stack, at, it->frame, it->count))
			mf_node_hand_up(&h->sink, at, it->frame, it->count);
		break;
	case MF_RX_ABORT:
		h->rx.collecting = false;
		break;
	default:
		if (h->config.stack->messages)
			rx_run(h, it, h->shell.wall ? now : it->at + (mf_time)(it->count - 1) * it->period);
		else
			h->stats.drop_unknown++;
	}
}

void host_stack_rx(struct mf_host *h, mf_time now, const struct mf_span *span)
{
	struct mf_rx_item item[STACK_ITEMS];
	unsigned int pos = 0, n;

	while ((n = mf_demux_span(&h->rx.demux, span, &pos, item, STACK_ITEMS)) > 0)
		for (unsigned int i = 0; i < n; i++)
			rx_item(h, now, &item[i]);
}

void host_stack_run(struct mf_host *h, mf_time now)
{
	struct mf_rx_item item;

	if (now >= mf_demux_next(&h->rx.demux) && mf_demux_poll(&h->rx.demux, now, &item))
		rx_item(h, now, &item);
	if (h->config.stack->next(h->stack) <= now)
		h->config.stack->run(h->stack, now);
	feed(h, now);
}

mf_time host_stack_next(const struct mf_host *h)
{
	mf_time next = mf_time_min(h->config.stack->next(h->stack), mf_demux_next(&h->rx.demux));

	return wants(h) ? mf_time_min(next, h->config.stack->ready(h->stack)) : next;
}

void host_stack_sent(struct mf_host *h, mf_time now)
{
	(void)now;
	feed_sent(h->shell.mux);
}

unsigned int mf_host_stack_counters(const struct mf_host *h, struct mf_counter *out)
{
	return h->stack ? h->config.stack->counters(h->stack, out) : 0;
}
