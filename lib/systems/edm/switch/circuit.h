/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circuits (EDM 3.1.1, property 2; 3.2.2): a grant sets the way of one chunk from its ingress to its
 * egress. They also know which requests wait for an earlier write of their pair (D9).
 */
#ifndef CIRCUIT_H
#define CIRCUIT_H

#include "base/mf_seeded_bug.h"
#include "systems/edm/switch/switch_priv.h"

/* circuit.c */
int circuit_init(struct mf_switch *sw, const struct mf_switch_config *config);
/**
 * The circuit of a demand, or NONE.
 * @param mega  whether it may be that of a mega, which bears its first id
 * @param own   it is the sender of the chunk who speaks of it. If not, one that has begun to arrive goes
 * through, whatever is told of its demand meanwhile: a message is indivisible
 */
uint32_t circuit_named(const struct mf_switch *sw, unsigned int ingress, uint16_t dst, uint8_t id, bool resp,
		       bool mega, bool own);
/**
 * The chunk stands in the queue of its egress, to be sent from `ready` on: the requests that wait
 * for it follow right behind.
 */
void circuit_write_queued(struct mf_switch *sw, uint32_t c, mf_time ready, mf_time now);
/** The chunk will not come, or not as granted: ends it at the egress, gives its window back, closes it. */
void circuit_kill(struct mf_switch *sw, uint32_t c, mf_time now);
/** The same, and the rest of its demand is cancelled. */
void circuit_give_up(struct mf_switch *sw, uint32_t c, mf_time now);
/**
 * A chunk of a write comes along circuit c, and others of its pair were granted before it. Hosts send those
 * of a pair in order, so they, or their grants, are lost: they are given up at once, and what waits for them
 * goes before this chunk. It would be overtaken otherwise, until they expire (3.1.1, property 5).
 */
void circuit_overtaken(struct mf_switch *sw, uint32_t c, mf_time now);
/**
 * Of two switches: a request comes. Who asks has had the answer to the use of the id before, by the other
 * switch, or has given it up; what of that answer does not come here says nothing of this demand.
 */
void circuit_asked_again(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id);
/** Before a write's chunk is given up: its client hears of it. @return false: there is no room, ask again */
bool circuit_tell_lost(struct mf_switch *sw, uint32_t c, mf_time now);

/** What the question for a late chunk bears, and its answer: which of several with an id it is. */
uint32_t circuit_number(uint32_t c);
/** A late chunk will not come: its client hears of it. @return false: there is no room, it is asked again */
bool circuit_may_end(struct mf_switch *sw, uint32_t c, mf_time now);

/** Those of an ingress port expire so much later. */
void circuit_bear(struct mf_switch *sw, unsigned int port, mf_time by);
/** @return the next time at which one expires */
mf_time circuit_expire(struct mf_switch *sw, mf_time now);

/* For K and W, where there are such: see below. */
void circuit_count_granted(struct mf_switch *sw, struct circuit *ct, mf_time now);
void circuit_count_begun(struct mf_switch *sw, struct circuit *ct, mf_time now);
void circuit_count_arrived(struct mf_switch *sw, struct circuit *ct, uint32_t blocks, mf_time now);

/** The pair of a compute and a memory node. */
static inline struct pair *circuit_pair(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return &sw->pair[cn * sw->shell.ports + mn];
}

/** Whether an entry of the table is a circuit, not the end of a list. */
static inline bool circuit_is(const struct mf_switch *sw, uint32_t c)
{
	return c >= sw->shell.ports;
}

static inline void circuit_link(struct mf_switch *sw, uint32_t port, uint32_t c)
{
	uint32_t last = sw->circuits[port].prev;

	sw->circuits[c].prev = last;
	sw->circuits[c].next = port;
	sw->circuits[last].next = c;
	sw->circuits[port].prev = c;
}

static inline void circuit_unlink(struct mf_switch *sw, uint32_t c)
{
	uint32_t next = sw->circuits[c].next, prev = sw->circuits[c].prev;

	sw->circuits[prev].next = next;
	sw->circuits[next].prev = prev;
}

/**
 * The circuit that a chunk goes along, or NONE. Hosts use their grants nearly in order: it is the first, or
 * close to it. The messages of a mega have ids of their own; within a pair they come in order. One that was
 * granted by itself is none of them, though some of the mega, which was lost, has not come.
 * @param overtakes  whether other chunks of the pair and direction were granted before it
 */
static inline uint32_t circuit_find(const struct mf_switch *sw, unsigned int ingress, uint16_t dst,
				    uint8_t id, bool resp, bool *overtakes)
{
	uint32_t c = ingress, mega = NONE;
	bool before_mega = false;

	*overtakes = false;
	while (circuit_is(sw, c = sw->circuits[c].next)) {
		const struct circuit *ct = &sw->circuits[c];

		if (ct->dst != dst || ct->chunk.resp != resp)
			continue;
		if (ct->chunk.id == id)
			return c;
		if (unlikely(ct->mega) && mega == NONE) {
			mega = c;
			before_mega = *overtakes;
		}
		*overtakes = true;
	}
	*overtakes = before_mega;
	return mega;
}

/** @return NONE: there is no room */
static inline uint32_t circuit_new(struct mf_switch *sw)
{
	uint32_t c = sw->circuit_free;

	if (c != NONE)
		sw->circuit_free = sw->circuits[c].next;
	else if (sw->circuits_used < sw->circuits_end)
		c = sw->circuits_used++;
	return c;
}

/** Sets the circuit of a grant. @return NONE: there is no room */
static inline uint32_t circuit_open(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *g)
{
	uint32_t c = circuit_new(sw);
	struct circuit *ct;

	if (unlikely(c == NONE))
		return NONE;
	ct = &sw->circuits[c];
	if (sw->grant_timeout != 0) {
		ct->expires = mf_time_max(now, g->at) + sw->grant_timeout;
		if (unlikely(ct->expires < sw->expire_at))
			wake_at(sw, sw->expire_at = ct->expires);
	}
	ct->chunk = (struct circuit_chunk){.src = g->src, .id = g->id, .resp = g->resp, .octets = g->size};
	ct->dst = g->dst;
	ct->mega = g->mega;
	ct->queued = ct->late = ct->asked_again = false;
	ct->blocks = g->mega ? (g->size + 7) / 8 : mf_proto_chunk_blocks(&sw->proto, g->size);
	ct->parked = NONE;
	circuit_link(sw, g->src, c);
	if (!g->resp)
		circuit_pair(sw, g->src, g->dst)->last_write = c;
	if (unlikely(sw->limits))
		circuit_count_granted(sw, ct, mf_time_max(now, g->at));
	return c;
}

/**
 * Its chunk, or its mega, has begun to arrive: for W, whose descriptors must not hang on when the end of
 * what is collected becomes known (D18).
 */
static inline void circuit_begun(struct mf_switch *sw, struct circuit *ct, mf_time now)
{
	if (unlikely(sw->limits))
		circuit_count_begun(sw, ct, now);
}

/** So many blocks of the circuit stand at its egress, or will not come: for K. */
static inline void circuit_arrived(struct mf_switch *sw, struct circuit *ct, uint32_t blocks, mf_time now)
{
	if (unlikely(sw->limits))
		circuit_count_arrived(sw, ct, blocks, now);
}

/** The chunk stands in the queue of its egress, or will not come. */
static inline void circuit_queued(struct mf_switch *sw, uint32_t c, mf_time ready, mf_time now)
{
	if (!sw->circuits[c].chunk.resp) /* nothing waits for a response */
		circuit_write_queued(sw, c, ready, now);
}

/** Takes the circuit out. */
static inline void circuit_close(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];

	if (unlikely(sw->limits)) {
		circuit_count_begun(sw, ct, now);
		if (!MF_SEEDED_BUG(grant_leaked))
			circuit_count_arrived(sw, ct, ct->inbound, now);
	}
	circuit_unlink(sw, c);
	if (MF_SEEDED_BUG(circuit_leaked))
		return;
	ct->next = sw->circuit_free;
	sw->circuit_free = c;
}

#endif
