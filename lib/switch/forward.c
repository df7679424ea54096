/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding of memory messages (EDM 3.2.2): requests are collected for the scheduler, chunks go along
 * the circuit that their grant has set, block by block and without being processed.
 *
 * A chunk cuts through: its length is known from the grant, so the egress reserves it when the /MS/
 * arrives and is held by it until the /MT/ (D14). It is collected first where the egress is faster than
 * the ingress, or where the length of each message is not known beforehand (a mega-message).
 */
#include "circuit.h"

/** Cookie of an item whose leaving is told to the scheduler: source, octets. */
static uint64_t window_cookie(const struct circuit *ct)
{
	return UINT64_C(1) << 63 | (uint64_t)ct->id << 41 | (uint64_t)ct->resp << 40 |
	       (uint64_t)ct->src << 24 | ct->octets;
}

void forward_done(struct mf_switch *sw, unsigned int egress, mf_time now)
{
	struct mf_mux *mux = sw->port[egress].mux;
	struct mf_sched_msg *msg;
	uint64_t cookie;
	mf_time at;

	while ((cookie = mf_mux_done(mux, &at)) != 0) {
		msg = switch_descriptor(sw);
		if (msg == NULL)
			continue;
		*msg = (struct mf_sched_msg){
			.at = now,
			.src = (uint16_t)(cookie >> 24),
			.dst = (uint16_t)egress,
			.kind = MF_SCHED_FORWARDED,
			.id = (uint8_t)(cookie >> 41),
			.resp = cookie >> 40 & 1,
			.size = cookie & 0xffffff,
		};
	}
}

void forward_single(struct mf_switch *sw, unsigned int ingress, uint16_t egress, uint64_t word, mf_time now,
		    mf_time at)
{
	uint64_t *to = mf_mux_put(sw->port[egress].mux, at + sw->through, tie(TIE_SINGLE, ingress), 1, 0);

	if (to == NULL) {
		sw->stats.drop_room++;
		return;
	}
	*to = word;
	switch_dirty(sw, egress);
	switch_backlog(sw, egress, now);
}

static void collect(struct port *p, enum rx_state state, uint32_t want)
{
	p->state = state;
	p->words = p->buf;
	p->want = want;
}

/** Whether a chunk goes through as it comes: its length is known, and the egress does not outrun it. */
static inline bool cuts_through(const struct mf_switch *sw, const struct port *p, const struct circuit *ct)
{
	return !ct->mega && p->period <= sw->port[ct->dst].period;
}

static void stamp_chunk(const struct mf_switch *sw, const struct circuit *ct, mf_time at)
{
	uint16_t cn = ct->resp ? ct->dst : ct->src, mn = ct->resp ? ct->src : ct->dst;

	stamp(sw, cn, mn, ct->id, MF_STAGE_IDENTIFY, at, at + sw->identify);
	stamp(sw, cn, mn, ct->id, MF_STAGE_FORWARD, at + sw->identify, at + sw->through);
}

/**
 * A chunk that cuts through begins at time at: makes room for all of it at the egress.
 * @param item  where its blocks will come one after the other; NULL: they are all there
 * @return where they go; NULL: there is no room, and the circuit is closed
 */
static inline uint64_t *enter(struct mf_switch *sw, unsigned int port, uint32_t c, mf_time now, mf_time at,
			      struct mf_mux_item **item)
{
	struct circuit *ct = &sw->circuits[c];
	struct mf_mux *mux = sw->port[ct->dst].mux;
	uint64_t *words = NULL, cookie = sw->window ? window_cookie(ct) : 0;

	circuit_begun(sw, ct, now);
	if (item == NULL)
		words = mf_mux_put(mux, at + sw->through, tie(TIE_CHUNK, port), ct->blocks, cookie);
	else
		*item = mf_mux_push(mux, at + sw->through, tie(TIE_CHUNK, port), ct->blocks, cookie, &words);
	if (unlikely(words == NULL)) {
		sw->stats.drop_room++;
		circuit_kill(sw, c, now);
		return NULL;
	}
	circuit_arrived(sw, ct, ct->blocks, now);
	circuit_queued(sw, c, at + sw->through, now);
	if (unlikely(sw->probe != NULL))
		stamp_chunk(sw, ct, at);
	return words;
}

/** The circuit has had its chunk, or a message of so many blocks of its mega. */
static inline void chunk_through(struct mf_switch *sw, uint32_t c, uint32_t blocks, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];

	sw->stats.chunks++;
	sw->stats.chunk_blocks += blocks;
	switch_dirty(sw, ct->dst);
	if (unlikely(ct->mega && ct->octets > blocks * 8))
		ct->octets -= blocks * 8;
	else
		circuit_close(sw, c, now);
}

/** A chunk begins: finds its circuit and makes room at the egress. */
static void begin_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_msg *m,
			mf_time at)
{
	struct port *p = &sw->port[port];
	uint32_t c = circuit_find(sw, port, m->dst, m->id, m->kind == MF_RRES);

	if (c == NONE) {
		sw->stats.drop_ungranted++;
		return;
	}
	struct circuit *ct = &sw->circuits[c];

	p->circuit = c;
	set_bit(sw->hold_set, port);
	if (sw->hold_timeout != 0)
		due(sw, now + sw->hold_timeout);
	if (!cuts_through(sw, p, ct)) {
		circuit_begun(sw, ct, now);
		collect(p, RX_COLLECT, ct->mega ? ct->octets / 8 : ct->blocks);
		return;
	}
	p->want = ct->blocks;
	p->words = enter(sw, port, c, now, at, &p->item);
	if (p->words != NULL)
		p->state = RX_STREAM;
}

static void begin(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	struct port *p = &sw->port[port];
	struct mf_msg m;

	p->state = RX_DROP;
	p->have = 0;
	p->first = item->at;
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
	struct circuit part = *ct;
	uint64_t *words;

	if (ct->mega)
		part.octets = p->have * 8;
	words = mf_mux_put(e->mux, at + sw->through, tie(TIE_CHUNK, port), p->have,
			   sw->window ? window_cookie(&part) : 0);
	if (words == NULL) {
		sw->stats.drop_room++;
		return false;
	}
	memcpy(words, p->buf, p->have * sizeof(*words));
	circuit_arrived(sw, &sw->circuits[p->circuit], p->have, now);
	if (!ct->mega || ct->octets == part.octets) /* the last message of a mega */
		circuit_queued(sw, p->circuit, at + sw->through, now);
	return true;
}

static void end(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at)
{
	struct port *p = &sw->port[port];

	switch (p->state) {
	case RX_REQUEST:
		intake_request(sw, port, now, p->buf, p->have, p->first, at);
		break;
	case RX_STREAM:
		if (p->have == p->want) {
			chunk_through(sw, p->circuit, p->have, now);
		} else {
			sw->stats.drop_cut++;
			circuit_kill(sw, p->circuit, now);
		}
		break;
	case RX_COLLECT:
		if (!sw->circuits[p->circuit].mega && p->have != p->want) {
			sw->stats.drop_cut++;
			circuit_kill(sw, p->circuit, now);
		} else if (send_collected(sw, port, now, at)) {
			chunk_through(sw, p->circuit, p->have, now);
		} else {
			circuit_kill(sw, p->circuit, now);
		}
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
	if (p->state == RX_REQUEST)
		p->state = RX_DROP;
	else /* came, but not as granted: the circuit is used up all the same */
		circuit_kill(sw, p->circuit, now);
}

/** Some blocks of a message; it begins, or ends, or neither. */
static void take_part(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	struct port *p = &sw->port[port];

	if (item->begins)
		begin(sw, port, now, item);
	/* Longer than granted, or than any request: seen at once, while the egress waits for a block. */
	if (p->state != RX_DROP && p->have + item->count + !item->ends > p->want)
		forward_abort(sw, port, now);
	if (p->state != RX_DROP) {
		memcpy(p->words + p->have, item->word, item->count * sizeof(*item->word));
		p->have += item->count;
		p->last = now;
	}
	if (p->state == RX_STREAM) {
		uint16_t egress = sw->circuits[p->circuit].dst;

		mf_mux_append(sw->port[egress].mux, p->item, item->count);
		switch_dirty(sw, egress);
	}
	if (item->ends)
		end(sw, port, now, item->at + (mf_time)(item->count - 1) * item->period);
}

/** A chunk that has come whole, as granted, goes to its egress in one go. @return false: nothing was done */
static bool take_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item,
		       const struct mf_msg *m)
{
	uint32_t c = circuit_find(sw, port, m->dst, m->id, m->kind == MF_RRES);
	uint64_t *words;

	if (c == NONE)
		return false;
	const struct circuit *ct = &sw->circuits[c];

	if (!cuts_through(sw, &sw->port[port], ct) || item->count != ct->blocks)
		return false;
	words = enter(sw, port, c, now, item->at, NULL);
	if (unlikely(words == NULL))
		return true;
	switch_copy(words, item->word, item->count);
	chunk_through(sw, c, item->count, now);
	return true;
}

/**
 * A message that is all in one span needs no state, no buffer and no timer. What is out of the ordinary is
 * left to take_part(), which gives the same for the others, too.
 * @return false: nothing was done
 */
static bool take_whole(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	struct mf_msg m;

	mf_proto_peek(item->word[0], &m);
	switch (m.kind) {
	case MF_RREQ:
	case MF_RMWREQ:
		if (item->count > MF_REQUEST_BLOCKS_MAX)
			return false;
		intake_request(sw, port, now, item->word, item->count, item->at,
			       item->at + (mf_time)(item->count - 1) * item->period);
		return true;
	case MF_WREQ:
	case MF_WREQ_ACK:
	case MF_RRES:
		return m.src == port && take_chunk(sw, port, now, item, &m);
	default:
		return false;
	}
}

void forward_run(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	if (!item->begins || !item->ends || !take_whole(sw, port, now, item))
		take_part(sw, port, now, item);
}
