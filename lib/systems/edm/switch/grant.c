/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What follows from a grant (EDM 3.1.1, step 4): a /G/ to the sender of a write, or the buffered request
 * that is the first grant of its response; behind the earlier writes of its pair (D9).
 */
#include "systems/edm/proto/mf_proto_inline.h"
#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/limits.h"
#include "systems/edm/switch/standby.h"

/** Whether a grant is the request itself. Not that of what is left of a response when a switch takes over. */
static inline bool is_request(const struct mf_sched_grant *g)
{
	return g->first && g->cookie != NONE;
}

/** Sends a message of the switch's own to a memory node, in order with the chunks of cn. */
static inline bool send_words(struct mf_switch *sw, uint16_t mn, uint16_t cn, const uint64_t *word,
			      unsigned int n, mf_time ready, mf_time now)
{
	uint64_t *to = mf_mux_put(sw->port[mn].shell.mux, ready, tie(TIE_CHUNK, cn), n, 0);

	if (unlikely(to == NULL)) {
		sw->stats.drop_room++;
		return false;
	}
	copy_request(to, word, n);
	switch_dirty(sw, mn);
	switch_backlog(sw, mn, now);
	return true;
}

/**
 * Of two switches: what may wait long behind a late write (circuit.c) is answered when it could go, and
 * expires so long after that.
 */
static void renew(const struct mf_switch *sw, struct circuit *ct, mf_time ready)
{
	if (sw->grant_timeout != 0)
		ct->expires = mf_time_max(ct->expires, ready + sw->grant_timeout);
}

static void renew_parked(struct mf_switch *sw, const struct request *r, mf_time ready)
{
	uint32_t c = r->mn;

	while (circuit_is(sw, c = sw->circuits[c].next)) {
		struct circuit *ct = &sw->circuits[c];

		if (ct->dst == r->cn && ct->chunk.resp && ct->chunk.id == r->id)
			renew(sw, ct, ready);
	}
}

/** Lets a granted request, or a /G/ that stayed behind one, out to its memory node, behind the writes. */
void grant_let_out(struct mf_switch *sw, uint32_t slot, mf_time write_ready, mf_time now)
{
	const struct request *r = &sw->requests[slot];
	mf_time ready = mf_time_max(r->ready, write_ready);

	/* Of two switches: the write that it waited for goes by the other one, and so will this. */
	if (unlikely(sw->standby != NULL) && (link_lost(sw, r->cn) || standby_is_demoted(sw))) {
		request_release(sw, slot);
		return;
	}
	if (send_words(sw, r->mn, r->cn, r->word, r->blocks, ready, now)) {
		sw->stats.requests_forwarded += r->blocks > 1;
		sw->stats.parked += r->blocks > 1 && write_ready > r->ready;
		if (unlikely(sw->standby != NULL))
			renew_parked(sw, r, ready);
	} else {
		uint32_t c = circuit_named(sw, r->mn, r->cn, r->id, true, false, true);

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

	return mf_proto_make_grant(&m);
}

/** Tells the sender of a write to send: /G/ to s, naming the destination of its chunk. */
static void grant_write(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g, uint32_t c)
{
	mf_time ready = g->at + sw->grant_out + sw->align[g->src];
	uint64_t *to = mf_mux_put(sw->port[g->src].shell.mux, ready, tie(TIE_GRANT, g->dst), 1, 0);

	if (unlikely(to == NULL)) {
		sw->stats.drop_room++;
		circuit_give_up(sw, c, now);
		return;
	}
	*to = grant_word(g);
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

	if (is_request(g))
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

/** A write of the pair was granted before and is not at its egress: what the grant sends waits for it. */
static void wait_for_write(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g, uint32_t c,
			   struct circuit *write)
{
	uint32_t slot = response_slot(sw, g);

	if (slot == NONE) {
		sw->stats.drop_room++;
		circuit_give_up(sw, c, now);
		return;
	}
	sw->requests[slot].ready = g->at + sw->grant_out;
	park(sw, slot, write, now);
}

/** The request itself. @return false: no room, counted */
static inline bool send_request(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g,
				mf_time ready)
{
	const struct request *r = &sw->requests[g->cookie];
	bool sent = send_words(sw, g->src, g->dst, r->word, r->blocks, ready, now);

	sw->stats.requests_forwarded += sent;
	sw->stats.parked += sent && ready > g->at + sw->grant_out;
	request_release(sw, g->cookie);
	return sent;
}

static bool send_grant(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g, mf_time ready)
{
	const uint64_t word = grant_word(g);

	return send_words(sw, g->src, g->dst, &word, 1, ready, now);
}

/**
 * The first grant of a response is its request. A write of the pair that was granted before it is
 * delivered before it (D9): it waits for a chunk that is not at its egress yet (of two switches: whole), and
 * stands behind one that is. So does the /G/ of a later chunk: it must not overtake the request.
 */
static inline void grant_response(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g,
				  uint32_t c)
{
	const struct pair *pair = circuit_pair(sw, g->dst, g->src);
	mf_time ready = mf_time_max(g->at + sw->grant_out, pair->write_ready);
	bool sent;

	if (unlikely(pair->last_write != NONE) && !MF_SEEDED_BUG(order_swapped)) {
		wait_for_write(sw, now, g, c, &sw->circuits[pair->last_write]);
		return;
	}
	if (unlikely(sw->standby != NULL))
		renew(sw, &sw->circuits[c], ready);
	sent = is_request(g) ? send_request(sw, now, g, ready) : send_grant(sw, now, g, ready);
	if (unlikely(!sent))
		circuit_give_up(sw, c, now);
}

/** No circuit: what was granted would be dropped when it comes, so nobody is told to send. */
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

	if (g->resp && is_request(g))
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

/** A demand beyond X of its pair: who asked hears of it, and has no timer to wait for. */
static void tell_refused(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g)
{
	uint16_t cn = g->resp ? g->dst : g->src;
	struct mf_msg m = {.kind = MF_ERR,
			   .src = g->resp ? g->src : g->dst,
			   .dst = cn,
			   .id = g->id,
			   .status = MF_ERR_RESOURCE,
			   .of = MF_NOTIFY};

	if (g->resp && g->cookie == NONE)
		return; /* the rest of a response, at a take-over: its requester's timer ends it */
	if (g->resp && sw->standby == NULL) {
		const uint64_t *word = sw->requests[g->cookie].word;

		m.of = mf_proto_kind(word[0]);
		m.epoch = sw->proto.ext ? mf_proto_use(word) : 0;
	}
	sw->stats.refused_x++;
	forward_single(sw, m.src, cn, mf_proto_put_single(&m), now, now);
}

/** A demand ended before its first grant; or a port was flushed. */
static __attribute__((noinline)) void grant_of_nothing(struct mf_switch *sw, mf_time now,
						       const struct mf_sched_grant *g)
{
	if (g->src == g->dst) {
		link_flushed(sw, g->src, now);
		return;
	}
	if (g->refused && !link_lost(sw, g->resp ? g->dst : g->src))
		tell_refused(sw, now, g);
	if (g->resp && g->cookie != NONE && !MF_SEEDED_BUG(request_leaked))
		request_release(sw, g->cookie);
}

bool mf_switch_possible(const struct mf_switch *sw, const struct mf_sched_grant *g)
{
	const struct request *r;

	if (g->src == g->dst) /* the answer to a flush */
		return g->size == 0;
	if (sw->circuits == NULL)
		return false;
	if (!g->resp || g->cookie == NONE || (g->size != 0 && !g->first)) /* it names no request */
		return true;
	if (g->cookie >= sw->requests_used)
		return false;
	r = &sw->requests[g->cookie];
	return r->next == REQUEST_ASKED && r->cn == g->dst && r->mn == g->src && r->id == g->id;
}

void mf_switch_grant(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g)
{
	uint32_t c;

	if (g->first)
		sw->stats.waited += g->at - g->since;
	if (unlikely(sw->limited))
		limits_granted(sw, g);
	if (unlikely(g->size == 0)) {
		grant_of_nothing(sw, now, g);
		return;
	}
	if (link_lost(sw, g->src) || link_lost(sw, g->dst) || standby_is_demoted(sw)) {
		sw->stats.drop_link++;
		refuse_grant(sw, now, g);
		return;
	}
	sw->stats.grants++;
	if (unlikely(sw->probe != NULL))
		stamp_grant(sw, g);
	c = circuit_open(sw, now, g);
	if (unlikely(c == NONE)) {
		sw->stats.drop_room++;
		refuse_grant(sw, now, g);
		return;
	}
	sw->stats.control_blocks += !g->resp || !is_request(g);
	if (g->resp)
		grant_response(sw, now, g, c);
	else
		grant_write(sw, now, g, c);
	if (unlikely(sw->limits))
		hold_source(sw, g->src, mf_time_max(now, g->at));
}
