/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circuits (EDM 3.1.1, property 2; 3.2.2): a grant sets the way of one chunk from its ingress to its
 * egress. They also know which requests wait for an earlier write of their pair (D9).
 */
#include <errno.h>
#include <stdlib.h>

#include "switch_priv.h"

int circuit_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	uint64_t n = sw->ports, all = 2 * (uint64_t)config->x * n * n;

	sw->requests_max =
		config->requests != 0 ? config->requests : (uint32_t)(all < 1u << 20 ? all : 1u << 20);
	sw->circuits_max = (uint32_t)(all < 1u << 20 ? all : 1u << 20);
	if (sw->circuits_max < 4096)
		sw->circuits_max = 4096; /* several chunks of one demand may be under way */
	sw->circuits = calloc(sw->circuits_max, sizeof(*sw->circuits));
	/* Those behind requests_max are for /G/ that are parked: one a circuit at most. They do not take from
	 * the requests, or a long response in small chunks would; they are untouched until used. */
	sw->requests = calloc((size_t)sw->requests_max + sw->circuits_max, sizeof(*sw->requests));
	sw->parked_grant_free = NONE;
	sw->last_write = malloc(n * n * sizeof(*sw->last_write));
	sw->write_ready = calloc(n * n, sizeof(*sw->write_ready));
	if (sw->circuits == NULL || sw->requests == NULL || sw->last_write == NULL || sw->write_ready == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < n * n; i++)
		sw->last_write[i] = NONE;
	for (uint32_t i = 0; i < sw->circuits_max; i++)
		sw->circuits[i].next = i + 1 < sw->circuits_max ? i + 1 : NONE;
	for (uint32_t i = 0; i < sw->requests_max; i++)
		sw->requests[i].next = i + 1 < sw->requests_max ? i + 1 : NONE;
	sw->oldest = sw->youngest = NONE;
	return 0;
}

uint32_t circuit_find(const struct mf_switch *sw, unsigned int ingress, uint16_t dst, uint8_t id, bool resp)
{
	uint32_t c = sw->port[ingress].head;

	/* Hosts use their grants nearly in order: the head, or one close to it. The messages of a mega
	 * have ids of their own; within a pair they come in order. */
	while (c != NONE) {
		const struct circuit *ct = &sw->circuits[c];

		if (ct->dst == dst && ct->resp == resp && (ct->id == id || ct->mega))
			break;
		c = ct->next;
	}
	return c;
}

uint32_t circuit_named(const struct mf_switch *sw, unsigned int ingress, uint16_t dst, uint8_t id, bool resp,
		       bool mega)
{
	uint32_t c = sw->port[ingress].head;

	while (c != NONE) {
		const struct circuit *ct = &sw->circuits[c];

		if (ct->dst == dst && ct->resp == resp && ct->id == id && (mega || !ct->mega))
			break;
		c = ct->next;
	}
	return c;
}

uint32_t circuit_open(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g)
{
	uint32_t c = sw->circuit_free;
	struct port *p = &sw->port[g->src];

	if (c == NONE)
		return NONE;
	struct circuit *ct = &sw->circuits[c];

	sw->circuit_free = ct->next;
	*ct = (struct circuit){
		.next = NONE,
		.prev = p->tail,
		.older = sw->youngest,
		.younger = NONE,
		.octets = g->size,
		.inbound = g->mega ? (g->size + 7) / 8 : mf_proto_chunk_blocks(&sw->proto, g->size),
		.parked = NONE,
		.parked_last = NONE,
		.expires = sw->grant_timeout != 0 ? mf_time_max(now, g->at) + sw->grant_timeout : MF_NEVER,
		.src = g->src,
		.dst = g->dst,
		.id = g->id,
		.resp = g->resp,
		.mega = g->mega,
	};
	if (p->tail != NONE)
		sw->circuits[p->tail].next = c;
	else
		p->head = c;
	p->tail = c;
	if (sw->youngest != NONE)
		sw->circuits[sw->youngest].younger = c;
	else
		sw->oldest = c;
	sw->youngest = c;
	due(sw, ct->expires);
	if (!g->resp)
		sw->last_write[circuit_pair(sw, g->src, g->dst)] = c;
	ct->granted = ct->inbound;
	p->granted += ct->granted;
	sw->port[g->dst].inbound += ct->inbound;
	switch_backlog(sw, g->dst, mf_time_max(now, g->at));
	return c;
}

static void unlink_circuit(struct mf_switch *sw, uint32_t c)
{
	struct circuit *ct = &sw->circuits[c];
	struct port *p = &sw->port[ct->src];

	if (ct->prev != NONE)
		sw->circuits[ct->prev].next = ct->next;
	else
		p->head = ct->next;
	if (ct->next != NONE)
		sw->circuits[ct->next].prev = ct->prev;
	else
		p->tail = ct->prev;
	if (ct->older != NONE)
		sw->circuits[ct->older].younger = ct->younger;
	else
		sw->oldest = ct->younger;
	if (ct->younger != NONE)
		sw->circuits[ct->younger].older = ct->older;
	else
		sw->youngest = ct->older;
	ct->next = sw->circuit_free;
	sw->circuit_free = c;
}

void circuit_arrived(struct mf_switch *sw, struct circuit *ct, uint32_t blocks, mf_time now)
{
	if (blocks > ct->inbound)
		blocks = ct->inbound;
	ct->inbound -= blocks;
	sw->port[ct->dst].inbound -= blocks;
	switch_backlog(sw, ct->dst, now);
}

void circuit_begun(struct mf_switch *sw, struct circuit *ct, mf_time now)
{
	struct port *p = &sw->port[ct->src];

	p->granted -= ct->granted;
	ct->granted = 0;
	if (p->held_src && p->granted <= p->source_w) {
		p->held_src = false;
		switch_tell(sw,
			    &(struct mf_sched_msg){.at = now, .src = ct->src, .kind = MF_SCHED_UNHOLD_SRC});
	}
}

/** Gives the scheduler the window of a chunk back that will not be forwarded. */
static void forfeit(struct mf_switch *sw, uint32_t c, mf_time now)
{
	const struct circuit *ct = &sw->circuits[c];

	if (sw->window)
		switch_tell(sw, &(struct mf_sched_msg){
					.at = now,
					.src = ct->src,
					.dst = ct->dst,
					.kind = MF_SCHED_FORWARDED,
					.id = ct->id,
					.resp = ct->resp,
					.size = ct->octets,
				});
}

/** The youngest chunk of the same writer and reader that was granted before c and is still to come. */
static uint32_t write_before(const struct mf_switch *sw, uint32_t c)
{
	uint32_t w = sw->circuits[c].prev;

	while (w != NONE &&
	       (sw->circuits[w].resp || sw->circuits[w].queued || sw->circuits[w].dst != sw->circuits[c].dst))
		w = sw->circuits[w].prev;
	return w;
}

/** Adds the requests that wait for chunk `from` to those that wait for `to`. */
static void hand_parked(struct mf_switch *sw, struct circuit *from, struct circuit *to)
{
	if (from->parked == NONE)
		return;
	if (to->parked == NONE)
		to->parked = from->parked;
	else
		sw->requests[to->parked_last].next = from->parked;
	to->parked_last = from->parked_last;
	from->parked = from->parked_last = NONE;
}

/**
 * A chunk of a write is through, or will not come. Where one that was granted before it is still to
 * come (a younger one was returned), whatever waits goes on waiting for that.
 */
static void write_through(struct mf_switch *sw, uint32_t c, mf_time ready)
{
	struct circuit *ct = &sw->circuits[c];
	unsigned int i = circuit_pair(sw, ct->src, ct->dst);
	uint32_t before;

	if (ct->resp || ct->queued)
		return;
	ct->queued = true;
	before = write_before(sw, c);
	if (before != NONE)
		hand_parked(sw, ct, &sw->circuits[before]);
	if (sw->last_write[i] == c)
		sw->last_write[i] = before;
	sw->write_ready[i] = mf_time_max(sw->write_ready[i], ready);
}

void circuit_queued(struct mf_switch *sw, uint32_t c, mf_time ready, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];
	uint32_t slot;

	write_through(sw, c, ready);
	slot = ct->parked;
	ct->parked = ct->parked_last = NONE;
	for (uint32_t next; slot != NONE; slot = next) {
		next = sw->requests[slot].next;
		sw->port[sw->requests[slot].mn].inbound -= sw->requests[slot].blocks;
		grant_let_out(sw, slot, ready, now);
	}
}

void circuit_close(struct mf_switch *sw, uint32_t c, mf_time now)
{
	circuit_begun(sw, &sw->circuits[c], now);
	circuit_arrived(sw, &sw->circuits[c], sw->circuits[c].inbound, now);
	unlink_circuit(sw, c);
}

void circuit_kill(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct port *p = &sw->port[sw->circuits[c].src];

	if ((p->state == RX_STREAM || p->state == RX_COLLECT) && p->circuit == c) {
		if (p->state == RX_STREAM) {
			switch_dirty(sw, sw->circuits[c].dst);
			mf_mux_abort(sw->port[sw->circuits[c].dst].mux, p->item);
		}
		clear_bit(sw->hold_set, sw->circuits[c].src);
		p->state = RX_DROP;
	}
	forfeit(sw, c, now);
	circuit_queued(sw, c, now, now);
	circuit_close(sw, c, now);
}

void circuit_give_up(struct mf_switch *sw, uint32_t c, mf_time now)
{
	const struct circuit ct = sw->circuits[c];

	circuit_kill(sw, c, now);
	switch_tell(sw, &(struct mf_sched_msg){
				.at = now,
				.src = ct.src,
				.dst = ct.dst,
				.kind = MF_SCHED_CANCEL,
				.id = ct.id,
				.resp = ct.resp,
				.cookie = NONE,
			});
}

void circuit_expire(struct mf_switch *sw, mf_time now)
{
	/* A descriptor that finds no room would leak what it gives back; the rest is due at the next call. */
	while (sw->oldest != NONE && sw->circuits[sw->oldest].expires <= now &&
	       sw->out_head - sw->out_tail <= sw->out_mask / 2) {
		sw->stats.expired++;
		/* The sender does not answer: what is left of the demand would expire chunk by chunk. */
		circuit_give_up(sw, sw->oldest, now);
	}
}
