/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message state table (EDM 3.2.1) and the steps of a message through it (see enum host_phase). An id is
 * free again when nothing that names it can be under way, or when its quarantine has ended (D10). Its entry
 * is found by <destination, id>, and is of a stack: as many as are in use at a time are ever touched, while
 * ids are taken in turn.
 */
#include "systems/edm/host/completions.h"
#include "systems/edm/host/give_up.h"
#include "systems/edm/host/once.h"
#include "systems/edm/host/redundancy.h"
#include "systems/edm/host/state_table.h"

static inline void slot_release(struct mf_host *h, struct host_state *s)
{
	if (!(s->flags & HOST_HOLDS_SLOT))
		return;
	s->flags &= (uint8_t)~HOST_HOLDS_SLOT;
	h->peer[s->node].active[host_is_write(s->kind)]--;
}

static void state_free(struct mf_host *h, struct host_state *s)
{
	s->phase = HOST_FREE;
	s->next = h->state_free;
	h->state_free = host_state_index(h, s);
	h->entry[host_id_index(h, s->node, s->id)] = HOST_NOBODY;
	host_id_free(&h->peer[s->node], s->id);
}

/** The id of s rests no longer. */
static void rest_end(struct mf_host *h, struct host_state *s)
{
	host_timer_stop(h, s);
	if (s->open)
		h->resting[s->node]--;
}

HOST_ASIDE void host_id_wake(struct mf_host *h, uint16_t node)
{
	struct host_state *longest = NULL;

	for (uint32_t id = 0; id < MF_IDS; id++) {
		struct host_state *s = host_state_at(h, node, (uint8_t)id);

		if (s->phase == HOST_QUARANTINE && s->open &&
		    (longest == NULL || s->deadline < longest->deadline))
			longest = s;
	}
	rest_end(h, longest);
	state_free(h, longest);
}

/** A message is over, its operation perhaps, and what waited for it may begin: with this very entry. */
static inline void message_over(struct mf_host *h, struct host_state *s)
{
	mf_time date = s->event_at;
	uint16_t node = s->node;

	slot_release(h, s);
	host_op_part(h, s);
	state_free(h, s);
	if (h->peer[node].head != HOST_NIL)
		host_kick(h, node, date);
}

static inline void state_end(struct mf_host *h, struct host_state *s, enum host_phase phase, uint8_t status)
{
	host_timer_stop(h, s);
	host_event_drop(h, s);
	s->phase = (uint8_t)phase;
	s->status = status;
}

/**
 * The message ends at date, and nothing that names its id comes behind it; unless it was sent again, and each
 * sending may be answered, or something may come for the one before.
 */
void host_state_done(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date)
{
	if (unlikely(s->again > 0 || s->early)) {
		host_state_fail(h, s, status, date);
		return;
	}
	state_end(h, s, HOST_DONE, status);
	s->event_at = date;
	if (h->shell.wall)
		message_over(h, s);
	else
		host_event_list(h, s);
}

/**
 * Whether something may not have been sent yet that was queued by then: a link that is lost, or whose other
 * end has no room, takes nothing, and for how long nobody knows. Where uses of an id are told apart that does
 * not matter.
 */
static bool may_wait(const struct mf_host *h, mf_time by)
{
	return !host_once(h) && mf_mux_oldest(h->shell.mux) <= by;
}

/** The last that a message whose deadline has come may have queued: its request, or a chunk. */
static mf_time queued_by(const struct mf_host *h, const struct host_state *s, mf_time deadline)
{
	return host_is_write(s->kind) ? deadline : host_request_ready(h, s->event_at);
}

static void fail(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date, bool unsent)
{
	state_end(h, s, HOST_FAILED, status);
	s->mark = 0;
	if (unsent)
		s->flags |= HOST_UNSENT;
	host_event_put(h, s, date);
}

/** The message ends at date, but responses or grants may still come: its id is not used for a while. */
void host_state_fail(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date)
{
	fail(h, s, status, date, may_wait(h, date));
}

void host_state_over(struct mf_host *h, struct host_state *s, mf_time date)
{
	bool unsent = may_wait(h, queued_by(h, s, date));

	h->stats.timeouts++;
	host_gives_up(h, s->node, s->id, date);
	fail(h, s, host_expiry_status(s), date, unsent);
}

void host_state_expire(struct mf_host *h, struct host_state *s)
{
	mf_time ends = h->op[s->op].c.done;

	if (s->deadline < ends)
		host_retry(h, s);
	else
		host_state_over(h, s, ends);
}

/** Nothing more will come for a failed message from date on. */
void host_state_late(struct mf_host *h, struct host_state *s, mf_time date)
{
	if (s->phase == HOST_FAILED) {
		s->flags |= HOST_LATE_END;
		s->deadline = date;
	} else if (s->phase == HOST_QUARANTINE) {
		rest_end(h, s);
		s->phase = HOST_LATE;
		host_event_put(h, s, date);
	}
}

/**
 * What is given up before it was sent is asked for all the same, and answered: its id rests until that is
 * out, and then as any other.
 */
void host_state_rested(struct mf_host *h, struct host_state *s, mf_time date)
{
	mf_time since = date - h->timer[HOST_TIMER_QUARANTINE].timeout;

	if (!(s->flags & HOST_UNSENT)) {
		host_state_late(h, s, date);
		return;
	}
	if (!may_wait(h, since) || host_make_room(h, date))
		s->flags &= (uint8_t)~HOST_UNSENT;
	host_timer_stop(h, s);
	host_timer_start(h, s, HOST_TIMER_QUARANTINE, date);
}

static void rest_open(struct mf_host *h, struct host_state *s, mf_time date)
{
	s->open = h->resting != NULL;
	if (s->open)
		h->resting[s->node]++;
	host_timer_start(h, s, HOST_TIMER_QUARANTINE, date);
}

void host_state_opens(struct mf_host *h, struct host_state *s, mf_time date)
{
	host_timer_stop(h, s);
	rest_open(h, s, date);
	if (h->peer[s->node].head != HOST_NIL)
		host_kick(h, s->node, date);
}

/**
 * An id rests. Where uses are told apart another message may take it before it has rested, if no id is free:
 * all that may come for a read or an atomic says of which use it is, or is not believed. A /G/ does not: what
 * is granted to a write that has failed, or was asked for again, comes within the time that a write may take.
 */
static void quarantine(struct mf_host *h, struct host_state *s, mf_time date)
{
	h->stats.quarantined++;
	if (s->flags & HOST_LATE_END) {
		s->phase = HOST_LATE;
		host_event_put(h, s, mf_time_max(s->deadline, date));
		return;
	}
	s->phase = HOST_QUARANTINE;
	s->open = false;
	if (h->resting != NULL && host_is_write(s->kind) && (s->status != MF_OK || s->again > 0))
		host_timer_start(h, s, HOST_TIMER_GRANTS, date);
	else
		rest_open(h, s, date);
}

/** Takes the step whose date has come. */
void host_state_step(struct mf_host *h, struct host_state *s)
{
	mf_time date = s->event_at;
	uint16_t node = s->node;

	if (s->phase == HOST_SENT &&
	    s->kind == MF_OP_WRITE) { /* what came until now may have ended it (D11) */
		host_state_done(h, s, MF_OK, date);
		return;
	}
	if (s->phase == HOST_DONE) {
		message_over(h, s);
		return;
	}
	slot_release(h, s);
	switch (s->phase) {
	case HOST_SENT:
		s->phase = HOST_AWAIT_ACK;
		break;
	case HOST_FAILED:
		host_op_part(h, s);
		quarantine(h, s, date);
		break;
	case HOST_LATE:
		state_free(h, s);
		break;
	}
	if (h->peer[node].head != HOST_NIL)
		host_kick(h, node, date);
}

/*
 * What the multiplexer tells when the last block of a chunk is on its way: bits 0..17 entry, 18..47 of
 * the message's number, 48..61 blocks of the chunk, 62 first chunk, 63 last chunk.
 */
#define COOKIE_ENTRY 18
#define COOKIE_SEQ ((UINT32_C(1) << 30) - 1)
static_assert(HOST_ENTRIES_FIRST + MF_PORTS_MAX * MF_IDS <= 1u << COOKIE_ENTRY, "every entry has a number");

uint64_t host_state_cookie(const struct mf_host *h, const struct host_state *s, unsigned int blocks,
			   bool first, bool last)
{
	if (!first && !last)
		return 0;
	return (uint64_t)last << 63 | (uint64_t)first << 62 | (uint64_t)blocks << 48 |
	       (uint64_t)(s->seq & COOKIE_SEQ) << COOKIE_ENTRY | host_state_index(h, s);
}

/** A chunk was handed to the link; its last block starts at `at`. */
void host_state_sent(struct mf_host *h, uint64_t cookie, mf_time at)
{
	struct host_state *s = &h->state[cookie & ((1u << COOKIE_ENTRY) - 1)];
	unsigned int blocks = cookie >> 48 & 0x3fff;
	struct host_op *o;

	if ((s->seq & COOKIE_SEQ) != (cookie >> COOKIE_ENTRY & COOKIE_SEQ) || s->phase < HOST_ACTIVE ||
	    s->phase > HOST_SENT)
		return;
	o = &h->op[s->op];
	if (cookie >> 62 & 1)
		o->c.first = mf_time_min(o->c.first, at - (mf_time)(blocks - 1) * h->config.mux.period);
	if (!(cookie >> 63))
		return;
	host_event_put(h, s, at);
}
