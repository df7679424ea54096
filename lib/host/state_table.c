/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message state table (EDM 3.2.1), indexed by <destination, id>, and the steps of a message
 * through it (see enum host_phase). An id is free again when nothing that names it can be under way,
 * or when its quarantine has ended (D10).
 */
#include "host.h"

static uint8_t id_take(struct host_peer *p)
{
	unsigned int w = 0;
	uint64_t free;

	while (p->ids[w] == 0)
		w++;
	free = p->ids[w];
	p->ids[w] = free & (free - 1);
	p->free_ids--;
	return (uint8_t)(w * 64 + (unsigned int)__builtin_ctzll(free));
}

/** Takes an id (there must be one) and its entry. */
struct host_state *host_state_new(struct mf_host *h, uint16_t node, uint8_t kind)
{
	uint8_t id = id_take(&h->peer[node]);
	struct host_state *s = &h->state[host_index(h, node, id)];
	uint16_t gen = (uint16_t)(s->gen + 1);

	*s = (struct host_state){.deadline = MF_NEVER,
				 .seq = h->seq++,
				 .gen = gen,
				 .node = node,
				 .id = id,
				 .kind = kind,
				 .phase = HOST_ACTIVE,
				 .timer = HOST_NO_TIMER};
	return s;
}

static void state_free(struct mf_host *h, struct host_state *s)
{
	struct host_peer *p = &h->peer[s->node];

	s->phase = HOST_FREE;
	p->ids[s->id / 64] |= UINT64_C(1) << (s->id % 64);
	p->free_ids++;
}

/** The message counts as one of the X of its pair (EDM 3.1.2). */
void host_slot_hold(struct mf_host *h, struct host_state *s)
{
	s->flags |= HOST_HOLDS_SLOT;
	h->peer[s->node].active[host_is_write(s->kind)]++;
}

static void slot_release(struct mf_host *h, struct host_state *s)
{
	if (s->flags & HOST_HOLDS_SLOT)
		h->peer[s->node].active[host_is_write(s->kind)]--;
	s->flags &= (uint8_t)~HOST_HOLDS_SLOT;
}

/** What a timer's end means: a read has zero octets (EDM 3.3), the rest may or may not have happened. */
static uint8_t expiry_status(const struct host_state *s)
{
	return s->kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN;
}

/**
 * The entry as something that arrives at `at` finds it: what expires by then has expired, whether or
 * not the timer was looked at.
 */
struct host_state *host_state_find(struct mf_host *h, uint16_t node, uint8_t id, mf_time at)
{
	struct host_state *s = &h->state[host_index(h, node, id)];

	if (s->phase >= HOST_ACTIVE && s->phase <= HOST_AWAIT_ACK && at >= s->deadline) {
		h->stats.timeouts++;
		host_state_fail(h, s, expiry_status(s), s->deadline);
	}
	return s;
}

/** The message ends at date, and nothing that names its id comes behind it. */
void host_state_done(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date)
{
	host_timer_stop(h, s);
	host_event_drop(h, s);
	s->phase = HOST_DONE;
	s->status = status;
	host_event_put(h, s, date);
}

/** The message ends at date, but responses or grants may still come: its id is not used for a while. */
void host_state_fail(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date)
{
	host_state_done(h, s, status, date);
	s->phase = HOST_FAILED;
}

/** Nothing more will come for a failed message from date on. */
void host_state_late(struct mf_host *h, struct host_state *s, mf_time date)
{
	if (s->phase == HOST_FAILED) {
		s->flags |= HOST_LATE_END;
		s->deadline = date;
	} else if (s->phase == HOST_QUARANTINE) {
		host_timer_stop(h, s);
		s->phase = HOST_LATE;
		host_event_put(h, s, date);
	}
}

static void quarantine(struct mf_host *h, struct host_state *s, mf_time date)
{
	h->stats.quarantined++;
	if (s->flags & HOST_LATE_END) {
		s->phase = HOST_LATE;
		host_event_put(h, s, mf_time_max(s->deadline, date));
	} else {
		s->phase = HOST_QUARANTINE;
		host_timer_start(h, s, HOST_TIMER_QUARANTINE, date);
	}
}

/** Takes the step whose date has come. */
void host_state_step(struct mf_host *h, struct host_state *s)
{
	mf_time date = s->event_at;

	switch (s->phase) {
	case HOST_SENT:
		s->phase = HOST_AWAIT_ACK;
		break;
	case HOST_DONE:
		host_op_part(h, s);
		state_free(h, s);
		break;
	case HOST_FAILED:
		host_op_part(h, s);
		quarantine(h, s, date);
		break;
	case HOST_LATE:
		state_free(h, s);
		break;
	}
	slot_release(h, s);
	host_kick(h, s->node, date);
}

/*
 * What the multiplexer tells when the last block of a chunk is on its way: bits 0..31 entry + 1,
 * 32..47 generation, 48..61 blocks of the chunk, 62 first chunk, 63 last chunk.
 */
uint64_t host_state_cookie(const struct mf_host *h, const struct host_state *s, unsigned int blocks,
			   bool first, bool last)
{
	if (!first && !last)
		return 0;
	return (uint64_t)last << 63 | (uint64_t)first << 62 | (uint64_t)blocks << 48 |
	       (uint64_t)s->gen << 32 | (host_state_index(h, s) + 1);
}

/** A chunk was handed to the link; its last block starts at `at`. */
void host_state_sent(struct mf_host *h, uint64_t cookie, mf_time at)
{
	struct host_state *s = &h->state[(uint32_t)cookie - 1];
	unsigned int blocks = cookie >> 48 & 0x3fff;
	struct host_op *o;

	if (s->gen != (uint16_t)(cookie >> 32) || s->phase < HOST_ACTIVE || s->phase > HOST_SENT)
		return;
	o = &h->op[s->op];
	if (cookie >> 62 & 1)
		o->first = mf_time_min(o->first, at - (mf_time)(blocks - 1) * h->config.mux.period);
	if (!(cookie >> 63))
		return;
	if (s->kind == MF_OP_WRITE)
		host_state_done(h, s, MF_OK, at);
	else
		host_event_put(h, s, at);
}
