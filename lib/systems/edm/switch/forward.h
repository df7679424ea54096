/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chunk that comes whole and one that comes in parts have in common on their way to the egress. */
#ifndef FORWARD_H
#define FORWARD_H

#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/limits.h"
#include "systems/edm/proto/mf_proto_inline.h"

/* forward.c */
/** Some blocks of a message: it begins, or ends, or neither; whatever is the matter with it. */
void forward_run(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item);
void forward_abort(struct mf_switch *sw, unsigned int port, mf_time now);
/**
 * Ends messages whose end was told of before it came, and has come by now: at `now` itself at ports before
 * this one, since that is when their blocks arrive.
 * @return the next such time
 */
mf_time forward_ends(struct mf_switch *sw, mf_time now, unsigned int port);
/** Tells the scheduler what of the windows has left at a port. */
void forward_done(struct mf_switch *sw, unsigned int egress, mf_time now);
void forward_stamp(const struct mf_switch *sw, const struct circuit *ct, mf_time at);

/** Whether a chunk goes through as it comes: its length is known, and the egress does not outrun it. */
static inline bool cuts_through(const struct mf_switch *sw, unsigned int port, const struct circuit *ct)
{
	return !ct->mega && (sw->one_rate || sw->port[port].shell.period <= sw->port[ct->dst].shell.period);
}

/** Cookie of an item whose leaving is told to the scheduler: never 0, as no chunk is empty. */
static inline uint64_t window_cookie(const struct mf_switch *sw, const struct circuit *ct,
				     const struct circuit_chunk *chunk)
{
	uint64_t cookie;

	memcpy(&cookie, chunk, sizeof(cookie));
	return sw->window && !ct->late ? cookie : 0;
}

/** A chunk that begins has, or has not, found room for all of it at the egress. */
static inline bool enters(struct mf_switch *sw, uint32_t c, mf_time now, mf_time at, bool room)
{
	struct circuit *ct = &sw->circuits[c];

	if (unlikely(!room)) {
		sw->stats.drop_room++;
		circuit_kill(sw, c, now);
		return false;
	}
	circuit_arrived(sw, ct, ct->blocks, now);
	if (unlikely(sw->probe != NULL))
		forward_stamp(sw, ct, at);
	return true;
}

/** The circuit has had its chunk, or a message of so many blocks of its mega. */
static inline void chunk_through(struct mf_switch *sw, uint32_t c, uint32_t blocks, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];

	sw->stats.chunks++;
	sw->stats.chunk_blocks += blocks;
	if (unlikely(sw->limited) && !ct->chunk.resp)
		limits_kept(sw, ct->chunk.src);
	switch_dirty(sw, ct->dst);
	if (unlikely(ct->mega && ct->chunk.octets > blocks * 8))
		ct->chunk.octets -= blocks * 8;
	else
		circuit_close(sw, c, now);
}

#endif
