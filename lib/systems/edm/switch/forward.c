/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding of memory messages (EDM 3.2.2): requests are collected for the scheduler, chunks go along
 * the circuit that their grant has set, block by block and without being processed.
 *
 * A chunk cuts through: its length is known from the grant, so the egress reserves it when the /MS/
 * arrives and is held by it until the /MT/ (D14). It is collected first where the egress is faster than
 * the ingress, or where the length of each message is not known beforehand (a mega-message).
 */
#include "systems/edm/switch/forward.h"
#include "systems/edm/switch/incarnation.h"
#include "systems/edm/switch/standby.h"

void forward_done(struct mf_switch *sw, unsigned int egress, mf_time now)
{
	struct mf_mux *mux = sw->port[egress].shell.mux;
	struct mf_sched_msg *msg = NULL;
	struct circuit_chunk chunk;
	uint64_t cookie;
	mf_time at;

	while ((cookie = mf_mux_done(mux, &at)) != 0) {
		memcpy(&chunk, &cookie, sizeof(chunk));
		if (msg != NULL && msg->src == chunk.src) { /* chunks of one source, side by side in a span */
			msg->size += chunk.octets;
			continue;
		}
		msg = switch_descriptor(sw);
		if (msg == NULL)
			continue;
		*msg = (struct mf_sched_msg){
			.at = now,
			.src = chunk.src,
			.dst = (uint16_t)egress,
			.kind = MF_SCHED_FORWARDED,
			.size = chunk.octets,
		};
	}
}

static void collect(struct port *p, enum rx_state state, uint32_t want)
{
	p->state = state;
	p->words = p->shell.rx.word;
	p->want = want;
}

void forward_stamp(const struct mf_switch *sw, const struct circuit *ct, mf_time at)
{
	uint16_t cn = ct->chunk.resp ? ct->dst : ct->chunk.src, mn = ct->chunk.resp ? ct->chunk.src : ct->dst;

	stamp(sw, cn, mn, ct->chunk.id, MF_STAGE_IDENTIFY, at, at + sw->identify);
	stamp(sw, cn, mn, ct->chunk.id, MF_STAGE_FORWARD, at + sw->identify, at + sw->through);
}

/** A chunk begins: finds its circuit and makes room at the egress. */
static void begin_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_msg *m,
			mf_time at)
{
	struct port *p = &sw->port[port];
	bool overtakes, resp = m->kind == MF_RRES;
	uint32_t c = circuit_find(sw, port, m->dst, m->id, resp, &overtakes);

	if (c == NONE && m->dst < sw->shell.ports &&
	    standby_logs(sw, resp ? m->dst : (uint16_t)port, resp ? (uint16_t)port : m->dst)) {
		collect(p, RX_LOGGED, MF_BLOCKS_MAX);
		return;
	}
	if (c == NONE) {
		sw->stats.drop_ungranted++;
		return;
	}
	if (resp && incarnation_bar(sw, port, m->dst)) {
		sw->stats.drop_link++;
		return;
	}
	if (unlikely(overtakes) && m->kind != MF_RRES)
		circuit_overtaken(sw, c, now);
	struct circuit *ct = &sw->circuits[c];

	p->circuit = c;
	set_bit(sw->hold_set, port);
	if (sw->hold_timeout != 0)
		wake_at(sw, now + sw->hold_timeout);
	circuit_begun(sw, ct, now);
	if (!cuts_through(sw, port, ct)) {
		collect(p, RX_COLLECT, ct->mega ? ct->chunk.octets / 8 : ct->blocks);
		return;
	}
	p->want = ct->blocks;
	p->item = mf_mux_push(sw->port[ct->dst].shell.mux, at + sw->through, tie(TIE_CHUNK, port), ct->blocks,
			      window_cookie(sw, ct, &ct->chunk), &p->words);
	if (!enters(sw, c, now, at, p->item != NULL))
		return;
	p->state = RX_STREAM;
	/* Of two switches: if it does not go on it comes by the other one, and what waits for it, too. */
	if (likely(sw->standby == NULL))
		circuit_queued(sw, c, at + sw->through, now);
}

static void begin(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	struct port *p = &sw->port[port];
	struct mf_msg m;

	p->state = RX_DROP;
	p->have = 0;
	p->shell.rx.first = item->at;
	mf_proto_peek(item->word[0], &m);
	switch (m.kind) {
	case MF_RREQ:
	case MF_RMWREQ:
		collect(p, RX_REQUEST, MF_REQUEST_BLOCKS_MAX);
		break;
	case MF_WREQ:
	case MF_WREQ_ACK:
	case MF_RRES:
		if (m.src != port)
			sw->stats.drop_spoof++;
		else
			begin_chunk(sw, port, now, &m, item->at);
		break;
	default:
		sw->stats.drop_proto++;
		break;
	}
}

/** A collected chunk is whole: queues it for its egress. @return whether there was room */
static bool send_collected(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at)
{
	struct port *p = &sw->port[port];
	const struct circuit *ct = &sw->circuits[p->circuit];
	struct port *e = &sw->port[ct->dst];
	struct circuit_chunk part = ct->chunk;
	uint64_t *words;

	if (ct->mega)
		part.octets = p->have * 8;
	words = mf_mux_put(e->shell.mux, at + sw->through, tie(TIE_CHUNK, port), p->have,
			   window_cookie(sw, ct, &part));
	if (words == NULL) {
		sw->stats.drop_room++;
		return false;
	}
	memcpy(words, p->shell.rx.word, p->have * sizeof(*words));
	circuit_arrived(sw, &sw->circuits[p->circuit], p->have, now);
	if (!ct->mega || ct->chunk.octets == part.octets) /* the last message of a mega */
		circuit_queued(sw, p->circuit, at + sw->through, now);
	return true;
}

static void end_collected(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at)
{
	const struct port *p = &sw->port[port];

	if (!sw->circuits[p->circuit].mega && p->have != p->want) {
		sw->stats.drop_cut++;
		circuit_kill(sw, p->circuit, now);
	} else if (send_collected(sw, port, now, at)) {
		chunk_through(sw, p->circuit, p->have, now);
	} else {
		circuit_kill(sw, p->circuit, now);
	}
}

/** A response that was let out as evidence: while it came its pair was released, and it has a circuit now. */
static void end_released(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_msg *m,
			 mf_time at)
{
	struct port *p = &sw->port[port];
	bool overtakes;
	uint32_t c = circuit_find(sw, port, m->dst, m->id, m->kind == MF_RRES, &overtakes);

	if (c == NONE) {
		sw->stats.drop_ungranted++;
		return;
	}
	p->circuit = c;
	p->want = sw->circuits[c].blocks;
	circuit_begun(sw, &sw->circuits[c], now);
	end_collected(sw, port, now, at);
}

/** A chunk has come whole that began where its pair was the log's. */
static void end_logged(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at)
{
	const struct port *p = &sw->port[port];
	bool resp = mf_proto_kind(p->shell.rx.word[0]) == MF_RRES;
	struct mf_msg m;

	mf_proto_peek(p->shell.rx.word[0], &m);
	if (standby_logs(sw, resp ? m.dst : (uint16_t)port, resp ? (uint16_t)port : m.dst))
		standby_chunk(sw, port, now, p->shell.rx.word, p->have, at);
	else
		end_released(sw, port, now, &m, at);
}

static void end(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at)
{
	struct port *p = &sw->port[port];

	switch (p->state) {
	case RX_REQUEST:
		intake_request(sw, port, now, p->shell.rx.word, p->have, at);
		break;
	case RX_LOGGED:
		end_logged(sw, port, now, at);
		break;
	case RX_STREAM:
		if (p->have == p->want) {
			if (unlikely(sw->standby != NULL))
				circuit_queued(sw, p->circuit, p->shell.rx.first + sw->through, now);
			chunk_through(sw, p->circuit, p->have, now);
		} else {
			sw->stats.drop_cut++;
			circuit_kill(sw, p->circuit, now);
		}
		break;
	case RX_COLLECT:
		end_collected(sw, port, now, at);
		break;
	default:
		break;
	}
	p->state = RX_IDLE;
	clear_bit(sw->hold_set, port);
}

void forward_abort(struct mf_switch *sw, unsigned int port, mf_time now)
{
	struct port *p = &sw->port[port];

	if (p->state == RX_IDLE || p->state == RX_DROP)
		return;
	sw->stats.drop_cut++;
	if (p->state == RX_REQUEST || p->state == RX_LOGGED)
		p->state = RX_DROP;
	else /* came, but not as granted: the circuit is used up all the same */
		circuit_kill(sw, p->circuit, now);
}

static void append(struct mf_switch *sw, struct port *p, uint32_t n)
{
	uint16_t egress = sw->circuits[p->circuit].dst;

	mf_mux_append(sw->port[egress].shell.mux, p->item, n);
	switch_dirty(sw, egress);
}

/* ---- ends of messages that are told of before they come ---- */

static void has_ended(struct mf_switch *sw, unsigned int port, mf_time now)
{
	struct port *p = &sw->port[port];
	mf_time at = p->ends_at;

	p->ends_at = 0;
	sw->ending--;
	if (p->state == RX_STREAM && p->last_kept)
		append(sw, p, 1);
	if (p->misfit)
		forward_abort(sw, port, now);
	else
		end(sw, port, now, at);
}

mf_time forward_ends(struct mf_switch *sw, mf_time now, unsigned int port)
{
	mf_time next = MF_NEVER;

	for (unsigned int i = 0; i < sw->shell.ports && sw->ending > 0; i++) {
		mf_time at = sw->port[i].ends_at;

		if (at != 0 && (at < now || (at == now && i < port)))
			has_ended(sw, i, now);
		else if (at != 0)
			next = mf_time_min(next, at);
	}
	return next;
}

static bool is_chunk(const struct port *p)
{
	return p->state == RX_STREAM || p->state == RX_COLLECT;
}

/** @param last  its last block is told of: the egress has that when it comes, so the item can be aborted */
static void put(struct mf_switch *sw, struct port *p, mf_time now, const struct mf_rx_item *item, uint32_t n,
		bool last)
{
	memcpy(p->words + p->have, item->word, n * sizeof(*item->word));
	p->have += n;
	p->last = mf_time_max(now, item->at + (mf_time)(item->count - 1) * item->period);
	if (p->state == RX_STREAM && n > last)
		append(sw, p, n - last);
}

/**
 * Takes blocks until one that ends the message is told of, and leaves its end to the time of that block, so
 * that it does not matter in how many parts it is told. A chunk that is longer than granted is cut at the
 * block that should be its last, one that is too short behind its end. Of two switches each does so with what
 * is as it should be, too: there, others wait for its end, or go behind all that has come.
 */
static bool takes_until_end(struct mf_switch *sw, unsigned int port, mf_time now,
			    const struct mf_rx_item *item)
{
	struct port *p = &sw->port[port];
	uint32_t have = p->have + item->count, n = item->count, last = n - 1;
	bool longer = have + !item->ends > p->want;

	if (longer && is_chunk(p))
		n = last = p->want - 1 - p->have;
	else if (longer || !item->ends)
		return false;
	p->misfit = is_chunk(p) && (longer || (have != p->want && !sw->circuits[p->circuit].mega));
	if ((!p->misfit && sw->standby == NULL) || item->at + (mf_time)last * item->period <= now)
		return false;
	p->last_kept = n == item->count;
	put(sw, p, now, item, n, p->last_kept);
	p->ends_at = item->at + (mf_time)last * item->period;
	sw->ending++;
	wake_at(sw, p->ends_at);
	return true;
}

void forward_run(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	struct port *p = &sw->port[port];

	if (unlikely(p->ends_at != 0))
		has_ended(sw, port, now);
	if (item->begins)
		begin(sw, port, now, item);
	if (p->state != RX_DROP && unlikely(takes_until_end(sw, port, now, item)))
		return;
	/* Longer than granted, or than any request: seen at once, while the egress waits for a block. */
	if (p->state != RX_DROP && p->have + item->count + !item->ends > p->want)
		forward_abort(sw, port, now);
	if (p->state != RX_DROP)
		put(sw, p, now, item, item->count, false);
	if (item->ends)
		end(sw, port, now, item->at + (mf_time)(item->count - 1) * item->period);
}
