/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From spans to messages. A message that stands whole in a span is used where it is; one that comes in
 * several is assembled first. Nothing acts on a message before its check has passed.
 *
 * Under the virtual clock things are dated by their blocks; under the wall clock by the call.
 */
#include "base/mf_cycles.h"
#include "systems/edm/host/redundancy.h"
#include "systems/edm/host/rx.h"

#define RX_ITEMS 16

int host_receiver_init(struct mf_receiver *r, const struct mf_host_config *c, unsigned int link)
{
	return mf_receiver_init(r, &(struct mf_receiver_config){.blocks = c->memory_enabled,
								.period = c->mux.period,
								.ber_window = c->ber_window,
								.guard = c->guard[link],
								.room = MF_BLOCKS_MAX});
}

void host_rx_bad(struct mf_host *h, int err)
{
	if (err == -EBADMSG)
		h->stats.drop_check++;
	else
		h->stats.drop_proto++;
}

void host_rx_stray(struct mf_host *h, uint16_t dst)
{
	if (dst != h->shell.node)
		h->stats.drop_dst++;
	else
		h->stats.drop_proto++;
}

/** ACK, ERR, and what no host takes. */
static HOST_ASIDE void rx_other(struct mf_host *h, uint64_t word, mf_time at)
{
	MF_CYCLES(MF_CYCLES_HOST_RX_OTHER);
	struct mf_msg m;
	int err = mf_proto_get_single(word, &m);

	if (err) {
		host_rx_bad(h, err);
		return;
	}
	h->stats.rx[m.kind]++;
	if (m.kind == MF_TAKE && h->redundancy)
		host_redundancy_take(h, &m, at);
	else if (m.kind == MF_GRET && h->redundancy)
		host_redundancy_asked(h, &m, at);
	else if (m.kind != MF_ACK && m.kind != MF_ERR)
		h->stats.drop_unknown++;
	else if (!host_rx_is_for_us(h, &m))
		return;
	else if (m.kind == MF_ACK)
		host_rx_ack(h, &m, at);
	else
		host_rx_error(h, &m, at);
}

/**
 * What fails its check speaks against the link, if it was right when it was sent on it: what the switch
 * makes, or has checked. It sends chunks on as they come, so those may have been damaged before.
 */
static HOST_ASIDE void guard_single(const struct mf_host *h, uint64_t word, mf_time at)
{
	struct mf_msg m;

	if (mf_proto_get_single(word, &m) == -EBADMSG)
		mf_demux_refused(&h->rx.demux, at);
}

static HOST_ASIDE void guard_message(const struct mf_host *h, const uint64_t *word, unsigned int n,
				     mf_time last)
{
	uint8_t kind = mf_proto_kind(word[0]);

	if ((kind == MF_RREQ || kind == MF_RMWREQ) && mf_proto_verify(&h->config.proto, word, n) == -EBADMSG)
		mf_demux_refused(&h->rx.demux, last);
}

static inline void rx_single(struct mf_host *h, uint64_t word, mf_time at)
{
	if (unlikely(h->rx.demux.guarded))
		guard_single(h, word, at);
	if (mf_block_type(word) == MF_BT_G) {
		if (likely(!h->deaf))
			host_rx_grant(h, word, at);
		else
			h->stats.ignored_grants++;
	} else
		rx_other(h, word, at);
}

/** A kind that there is not: counted as what is wrong with it first. */
static HOST_ASIDE void rx_unknown(struct mf_host *h, const uint64_t *word, unsigned int n)
{
	int err = mf_proto_verify(&h->config.proto, word, n);

	host_rx_bad(h, err ? err : -EPROTO);
}

/** Whether a request or a chunk of a write is taken, by the link that it came by. */
static inline bool hears(struct mf_host *h, const uint64_t *word, mf_time at)
{
	return likely(h->redundancy == NULL) || host_redundancy_hears(h, field_of(word[0], MS_SRC), at);
}

static inline void rx_message(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first,
			      mf_time last)
{
	if (unlikely(h->rx.demux.guarded))
		guard_message(h, word, n, last);
	switch (mf_proto_kind(word[0])) {
	case MF_RRES:
		host_rx_response(h, word, n, first, last);
		break;
	case MF_RREQ:
		if (likely(hears(h, word, last)))
			host_rx_read(h, word, n, first, last);
		break;
	case MF_RMWREQ:
		if (likely(hears(h, word, last)))
			host_rx_rmw(h, word, n, first, last);
		break;
	case MF_WREQ:
	case MF_WREQ_ACK:
		if (likely(hears(h, word, last)))
			host_rx_write(h, word, n, first, last);
		break;
	default:
		rx_unknown(h, word, n);
		break;
	}
}

static HOST_ASIDE void rx_part(struct mf_host *h, const struct mf_rx_item *it, mf_time first, mf_time last)
{
	enum mf_assembly part = mf_receiver_part(&h->rx, it, first);

	if (part == MF_PART_WHOLE)
		rx_message(h, h->rx.word, h->rx.count, h->rx.first, last);
	else if (part == MF_PART_LONG)
		h->stats.drop_proto++;
}

static inline void rx_item(struct mf_host *h, mf_time now, const struct mf_rx_item *it)
{
	mf_time first = h->shell.wall ? now : it->at;
	mf_time last = h->shell.wall ? now : it->at + (mf_time)(it->count - 1) * it->period;

	if (likely(it->kind == MF_RX_RUN)) {
		if (likely(it->begins && it->ends))
			rx_message(h, it->word, it->count, first, last);
		else
			rx_part(h, it, first, last);
	} else if (it->kind == MF_RX_SINGLE) {
		rx_single(h, it->word[0], first);
	} else if (it->kind == MF_RX_FRAME) {
		mf_node_hand_up(&h->sink, first, it->frame, it->count);
	} /* MF_RX_ABORT: what comes next of a message begins one, which ends what was assembled */
}

bool mf_host_can_rx(const struct mf_host *h)
{
	return !host_jobs_full(h, MF_SPAN_MAX);
}

/** What is not a whole message in the span. */
static HOST_ASIDE void rx_items(struct mf_host *h, mf_time now, const struct mf_span *span, unsigned int *pos)
{
	struct mf_rx_item item[RX_ITEMS];
	unsigned int n = mf_demux_span(&h->rx.demux, span, pos, item, RX_ITEMS);

	for (unsigned int i = 0; i < n; i++)
		rx_item(h, now, &item[i]);
}

/**
 * The memory that the reads of a span ask for: so their cache misses are one. Unchecked: what is wrong is
 * only fetched.
 */
static inline void rx_prefetch(const struct mf_host *h, const struct mf_span *span)
{
	const struct mf_memory_ops *ops = h->config.memory_ops;
	const uint64_t rreq = MF_BT_MS | MF_RREQ << 8;

	if (!ops || span->count <= 2)
		return;
	for (unsigned int i = 0; i + 1 < span->count; i++)
		if (span->sync[i] == MF_SYNC_CTRL && (span->word[i] & 0xfff) == rreq) {
			ops->fetch(h->config.memory, mf_proto_addr(span->word[i], span->word[i + 1]));
			i++;
		}
}

void mf_host_rx(struct mf_host *h, mf_time now, const struct mf_span *span)
{
	unsigned int pos = 0, n;

	if (unlikely(now >= h->wake))
		host_advance_rx(h, now);
	rx_prefetch(h, span);
	while (pos < span->count) {
		n = mf_demux_message(&h->rx.demux, span, pos);
		if (unlikely(n == 0)) {
			rx_items(h, now, span, &pos);
			continue;
		}
		if (h->shell.wall)
			rx_message(h, &span->word[pos], n, now, now);
		else
			rx_message(h, &span->word[pos], n, mf_span_at(span, pos),
				   mf_span_at(span, pos + n - 1));
		pos += n;
	}
}

/** Idle has passed: the frame behind whose /T/ nothing came. */
HOST_ASIDE void host_rx_idle(struct mf_host *h, mf_time now)
{
	struct mf_rx_item item;

	if (mf_demux_poll(&h->rx.demux, now, &item))
		rx_item(h, now, &item);
}
