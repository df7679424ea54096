/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What follows from a grant (EDM 3.1.1, step 4): a /G/ to the sender of a write, or the buffered request
 * that is the first grant of its response; behind the earlier writes of its pair (D9).
 */
#include "circuit.h"

/** Sends a message of the switch's own to a memory node, in order with the chunks of cn. */
static bool send_words(struct mf_switch *sw, uint16_t mn, uint16_t cn, const uint64_t *word, unsigned int n,
		       mf_time ready, mf_time now)
{
	uint64_t *words = mf_mux_put(sw->port[mn].mux, ready, tie(TIE_CHUNK, cn), n, 0);

	if (words == NULL) {
		sw->stats.drop_room++;
		return false;
	}
	switch_copy(words, word, n);
	switch_dirty(sw, mn);
	switch_backlog(sw, mn, now);
	return true;
}

/** Lets a granted request, or a /G/ that stayed behind one, out to its memory node, behind the writes. */
void grant_let_out(struct mf_switch *sw, uint32_t slot, mf_time write_ready, mf_time now)
{
	const struct request *r = &sw->requests[slot];

	if (send_words(sw, r->mn, r->cn, r->word, r->blocks, mf_time_max(r->ready, write_ready), now)) {
		sw->stats.requests_forwarded += r->blocks > 1;
		sw->stats.parked += r->blocks > 1 && write_ready > r->ready;
	} else {
		uint32_t c = circuit_named(sw, r->mn, r->cn, r->id, true, false);

		if (c != NONE)
			circuit_give_up(sw, c, now);
	}
	request_release(sw, slot);
}

static uint64_t grant_word(const struct mf_sched_grant *g)
{
	const struct mf_msg m = {
		.kind = MF_GRANT,
		.dst = g->dst,
		.id = g->id,
		.size = g->size,
		.resp = g->resp,
	};

	return mf_proto_put_single(&m);
}

/** Tells the sender of a write to send: /G/ to s, naming the destination of its chunk. */
static void grant_write(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g, uint32_t c)
{
	struct port *p = &sw->port[g->src];
	mf_time ready = g->at + sw->grant_out + sw->align[g->src];
	uint64_t *word = mf_mux_put(p->mux, ready, tie(TIE_GRANT, g->dst), 1, 0);

	if (word == NULL) {
		sw->stats.drop_room++;
		circuit_give_up(sw, c, now);
		return;
	}
	*word = grant_word(g);
	switch_dirty(sw, g->src);
	switch_backlog(sw, g->src, now);
}

static uint32_t parked_grant_new(struct mf_switch *sw)
{
	uint32_t slot = sw->parked_grant_free;

	if (slot != NONE)
		sw->parked_grant_free = sw->requests[slot].next;
	else if (sw->parked_grants_used < sw->parked_grants_end)
		slot = sw->parked_grants_used++;
	return slot;
}

/** A slot with what a grant sends to the memory node: the request, or the /G/ of a later chunk. */
static uint32_t response_slot(struct mf_switch *sw, const struct mf_sched_grant *g)
{
	uint32_t slot;

	if (g->first)
		return g->cookie;
	slot = parked_grant_new(sw);
	if (slot != NONE)
		sw->requests[slot] = (struct request){
			.word = {grant_word(g)},
			.cn = g->dst,
			.mn = g->src,
			.blocks = 1,
			.id = g->id,
		};
	return slot;
}

static void park(struct mf_switch *sw, uint32_t slot, struct circuit *behind, mf_time now)
{
	sw->requests[slot].next = NONE;
	if (behind->parked == NONE)
		behind->parked = slot;
	else
		sw->requests[behind->parked_last].next = slot;
	behind->parked_last = slot;
	/* It counts for K as what is under way, so that nothing changes when its write lets it go. */
	sw->port[sw->requests[slot].mn].inbound += sw->requests[slot].blocks;
	switch_backlog(sw, sw->requests[slot].mn, now);
}

/**
 * The first grant of a response is its request. A write of the pair that was granted before it is
 * delivered before it (D9): it waits for a chunk that has not begun to arrive, and stands behind one
 * that has. So does the /G/ of a later chunk: it must not overtake the request.
 */
static void grant_response(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g, uint32_t c)
{
	const struct pair *pair = circuit_pair(sw, g->dst, g->src);
	uint32_t write = pair->last_write, slot;
	mf_time ready = g->at + sw->grant_out;

	if (write == NONE && !g->first) { /* needs no slot */
		const uint64_t word = grant_word(g);

		if (!send_words(sw, g->src, g->dst, &word, 1, mf_time_max(ready, pair->write_ready), now))
			circuit_give_up(sw, c, now);
		return;
	}
	slot = response_slot(sw, g);
	if (slot == NONE) {
		sw->stats.drop_room++;
		circuit_give_up(sw, c, now);
		return;
	}
	sw->requests[slot].ready = ready;
	if (write == NONE)
		grant_let_out(sw, slot, pair->write_ready, now);
	else
		park(sw, slot, &sw->circuits[write], now);
}

/** No room for a circuit: what was granted would be dropped when it comes, so nobody is told to send. */
static void refuse_grant(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g)
{
	struct mf_sched_msg m = {.at = now,
				 .src = g->src,
				 .dst = g->dst,
				 .kind = MF_SCHED_FORWARDED,
				 .id = g->id,
				 .resp = g->resp,
				 .size = g->size,
				 .cookie = NONE};

	sw->stats.drop_room++;
	if (g->resp && g->first)
		request_release(sw, g->cookie);
	if (sw->window)
		switch_tell(sw, &m);
	m.kind = MF_SCHED_CANCEL;
	m.size = 0;
	switch_tell(sw, &m);
}

static void stamp_grant(const struct mf_switch *sw, const struct mf_sched_grant *g)
{
	uint16_t cn = g->resp ? g->dst : g->src, mn = g->resp ? g->src : g->dst;
	mf_time made = g->at + sw->timing.cost[MF_STAGE_MAKE_GRANT];

	stamp(sw, cn, mn, g->id, MF_STAGE_SCHEDULER, g->since, g->at);
	stamp(sw, cn, mn, g->id, MF_STAGE_MAKE_GRANT, g->at, made);
	stamp(sw, cn, mn, g->id, MF_STAGE_FORWARD, made, g->at + sw->grant_out);
}

/** Holds a source with more than W granted (D3). */
static void hold_source(struct mf_switch *sw, uint16_t src, mf_time at)
{
	struct port *p = &sw->port[src];

	if (p->source_w == 0 || p->granted <= p->source_w || p->held_src)
		return;
	p->held_src = true;
	switch_tell(sw, &(struct mf_sched_msg){.at = at, .src = src, .kind = MF_SCHED_HOLD_SRC});
}

void mf_switch_grant(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g)
{
	uint32_t c;

	if (unlikely(g->size == 0)) { /* the demand was dropped or cancelled before its first grant */
		if (g->resp && g->cookie != NONE)
			request_release(sw, g->cookie);
		return;
	}
	sw->stats.grants++;
	if (unlikely(sw->probe != NULL))
		stamp_grant(sw, g);
	c = circuit_open(sw, now, g);
	if (unlikely(c == NONE)) {
		refuse_grant(sw, now, g);
		return;
	}
	sw->stats.control_blocks += !g->resp || !g->first;
	if (g->resp)
		grant_response(sw, now, g, c);
	else
		grant_write(sw, now, g, c);
	if (unlikely(sw->limits))
		hold_source(sw, g->src, mf_time_max(now, g->at));
}
