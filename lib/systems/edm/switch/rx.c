/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives at a port of the switch: to the scheduler's intake, along circuits, or to layer 2. */
#include "systems/edm/switch/forward.h"
#include "systems/edm/switch/incarnation.h"
#include "systems/edm/switch/standby.h"

static void take(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	switch (item->kind) {
	case MF_RX_RUN:
		forward_run(sw, port, now, item);
		break;
	case MF_RX_SINGLE:
		intake_single(sw, port, now, item);
		break;
	case MF_RX_ABORT:
		forward_abort(sw, port, now);
		break;
	case MF_RX_FRAME:
		if (standby_idle(sw)) {
			sw->stats.drop_standby++;
			break;
		}
		l2_frame(sw, port, mf_time_max(now, item->at), item->frame, item->count);
		break;
	}
}

bool mf_switch_can_rx(const struct mf_switch *sw)
{
	/* A block may make two: a grant-return ends a chunk and its demand. */
	return sw->out_head - sw->out_tail + 2 * MF_SPAN_MAX <= sw->out_mask + 1;
}

/** Most are short: a call would cost more. */
static inline void copy_chunk(uint64_t *to, const uint64_t *word, unsigned int n)
{
	if (unlikely(n > 32)) {
		memcpy(to, word, n * sizeof(*to));
		return;
	}
	for (; n >= 2; n -= 2, to += 2, word += 2)
		memcpy(to, word, 2 * sizeof(*to));
	if (n != 0)
		*to = *word;
}

/** A chunk, as granted. */
static inline bool take_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word,
			      unsigned int n, mf_time at)
{
	uint64_t *to;
	struct mf_msg m;
	bool overtakes;
	uint32_t c;

	mf_proto_look(word[0], &m);
	c = circuit_find(sw, port, m.dst, m.id, m.kind == MF_RRES, &overtakes);
	if (unlikely(m.src != port || c == NONE || (overtakes && m.kind != MF_RRES)))
		return false;
	struct circuit *ct = &sw->circuits[c];

	if (unlikely(!cuts_through(sw, port, ct) || n != ct->blocks || incarnation_bar(sw, port, m.dst)))
		return false;
	circuit_begun(sw, ct, now);
	to = mf_mux_put(sw->port[ct->dst].shell.mux, at + sw->through, tie(TIE_CHUNK, port), n,
			window_cookie(sw, ct, &ct->chunk));
	if (likely(to != NULL))
		copy_chunk(to, word, n);
	if (enters(sw, c, now, at, to != NULL)) {
		circuit_queued(sw, c, at + sw->through, now);
		chunk_through(sw, c, n, now);
	}
	return true;
}

/**
 * A message that is whole within a span needs no state, no buffer and no timer. What is out of the ordinary
 * is left to forward_run(), which gives the same for the others, too.
 * @return false: nothing was done
 */
static inline bool take_message(struct mf_switch *sw, unsigned int port, mf_time now,
				const struct mf_span *span, unsigned int pos, unsigned int n)
{
	const uint64_t *word = &span->word[pos];
	mf_time at = mf_span_at(span, pos), last = at + (mf_time)(n - 1) * span->period;

	if (unlikely(sw->standby != NULL) && last > now) /* it ends when its last block has come */
		return false;
	switch (mf_proto_kind(word[0])) {
	case MF_RREQ:
	case MF_RMWREQ:
		if (unlikely(n > MF_REQUEST_BLOCKS_MAX))
			return false;
		sw->port[port].shell.rx.first = at;
		intake_request(sw, port, now, word, n, last);
		return true;
	case MF_WREQ:
	case MF_WREQ_ACK:
	case MF_RRES:
		return take_chunk(sw, port, now, word, n, at);
	default:
		return false;
	}
}

static void take_run(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_span *span,
		     unsigned int pos, unsigned int n)
{
	forward_run(sw, port, now,
		    &(struct mf_rx_item){.kind = MF_RX_RUN,
					 .begins = true,
					 .ends = true,
					 .count = (uint16_t)n,
					 .word = &span->word[pos],
					 .at = mf_span_at(span, pos),
					 .period = span->period});
}

void rx_span(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_span *span)
{
	struct mf_demux *d = &sw->port[port].shell.rx.demux;
	mf_time accept_at = mf_demux_next(d);
	struct mf_rx_item item;
	unsigned int pos = 0, n;

	while (pos < span->count) {
		n = mf_demux_message(d, span, pos);
		if (likely(n != 0)) {
			if (unlikely(!take_message(sw, port, now, span, pos, n)))
				take_run(sw, port, now, span, pos, n);
			pos += n;
		} else if (mf_demux_span(d, span, &pos, &item, 1) != 0) {
			take(sw, port, now, &item);
			if (standby_is_demoted(sw))
				break;
		}
	}
	if (unlikely(mf_demux_next(d) != accept_at))
		mf_ports_watch(&sw->shell, port);
}

void mf_switch_rx(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_span *span)
{
	if (unlikely(sw->ending != 0))
		forward_ends(sw, now, port);
	if (!standby_is_demoted(sw))
		rx_span(sw, port, now, span);
}

static void take_late(struct mf_ports *s, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	take((struct mf_switch *)s, port, now, item);
}

mf_time rx_accept(struct mf_switch *sw, mf_time now)
{
	return mf_ports_accept(&sw->shell, now, take_late);
}
