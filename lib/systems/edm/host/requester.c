/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes back to a compute node: chunks of responses, acknowledgements, errors. */
#include "base/mf_cycles.h"
#include "systems/edm/host/keys.h"
#include "systems/edm/host/once.h"
#include "systems/edm/host/rx.h"
#include "systems/edm/host/redundancy.h"

/** What the head of an answer says (mf_op.h). A memory node may say anything. */
static void call_head(struct host_op *o, const uint8_t *data)
{
	uint64_t head[2];

	memcpy(head, data, sizeof(head));
	head[0] = le64toh(head[0]);
	o->c.result = le64toh(head[1]);
	if (head[0] == MF_ERR_PENDING || head[0] == MF_ERR_BUSY)
		o->c.status = (uint8_t)head[0];
	else if (head[0] != MF_OK || o->c.result > o->c.len - MF_CALL_HEAD)
		o->c.status = MF_ERR_UNKNOWN;
	else if (o->c.result > o->room) /* it is longer than what was asked for */
		o->c.status = MF_ERR_RANGE;
}

/** A chunk of an answer: the first one has its head, and more. The last one is as long as units are. */
static HOST_ASIDE void call_store(struct host_op *o, struct mf_msg m, const uint8_t *data)
{
	uint32_t skip = m.offset == 0 ? MF_CALL_HEAD : 0, at = m.offset + skip - MF_CALL_HEAD;

	if (skip != 0)
		call_head(o, data);
	if (at < o->room)
		memcpy(o->buf + at, data + skip, m.size - skip < o->room - at ? m.size - skip : o->room - at);
}

static inline void response_store(struct mf_host *h, struct host_op *o, struct host_state *s,
				  const struct mf_msg *m, const uint8_t *data)
{
	if (unlikely(s->kind == MF_OP_CALL)) {
		call_store(o, mf_msg_copy(m), data);
	} else if (unlikely(s->kind == MF_OP_RMW)) {
		uint64_t old;

		memcpy(&old, data, sizeof(old));
		o->c.result = le64toh(old);
		if (unlikely(o->rmw == MF_RMW_SPACE))
			memcpy(o->buf, data, MF_SPACE_ANSWER);
		if (unlikely(o->rmw > MF_RMW_ATTACH) && h->keys)
			host_key_epoch(h, s);
	} else {
		memcpy(o->buf + (uint64_t)s->piece * MF_MESSAGE_MAX + m->offset, data, m->size);
	}
	s->moved += m->size;
	h->stats.rx_octets += m->size;
}

/** What a message has failed to wait for has come. Of one that was sent again, there may be more. */
static void answered_late(struct mf_host *h, struct host_state *s, mf_time date)
{
	if (s->again == 0)
		host_state_late(h, s, date);
}

/** Nothing is written for a request that has timed out; only the end of what comes is of interest. */
static HOST_ASIDE void response_unwanted(struct mf_host *h, struct host_state *s, bool ends, mf_time last)
{
	if (host_once(h) && (s->again > 0 || s->phase == HOST_FREE || s->phase == HOST_DONE))
		h->stats.copies++;
	else
		h->stats.drop_unknown++;
	if (ends && !host_is_write(s->kind))
		answered_late(h, s, last);
}

#define RESPONSE_DROP UINT32_MAX

/**
 * A chunk of a response that is of the use that is under way, or was last, and has something that did not
 * come before: a response that is asked for again may be granted in other pieces.
 * @return octets of it that came before, or RESPONSE_DROP
 */
static HOST_ASIDE uint32_t response_once(struct mf_host *h, const struct host_state *s,
					 const struct mf_msg *m)
{
	uint32_t skip;

	if (!host_use_is(h, m, 16)) {
		h->stats.old++;
		return RESPONSE_DROP;
	}
	if (s->phase != HOST_ACTIVE || host_is_write(s->kind) || m->offset >= s->moved)
		return 0;
	skip = s->moved - m->offset;
	if (m->size > skip)
		return skip;
	h->stats.copies++;
	return RESPONSE_DROP;
}

static HOST_ASIDE void response_probe(const struct mf_host *h, uint8_t kind, struct mf_msg m, mf_time first,
				      mf_time last)
{
	const struct mf_probe *p = h->config.probe;

	if (m.last && p->stamp)
		host_stamp_data(h, h->shell.node, m.src, &m, first, last);
	if (p->response && kind == MF_OP_READ)
		p->response(p->ctx, h->shell.node, m.src, m.id, m.offset, m.size, m.last,
			    first + h->cost_data, last + h->cost_data);
}

/** The chunks of a message come in order over a link; behind a gap the timer decides. */
static inline bool in_order(const struct host_state *s, const struct mf_msg *m)
{
	uint32_t left = s->size - s->moved;

	return m->offset == s->moved && m->size <= left && m->last == (m->size == left);
}

/** A chunk of a response. */
void host_rx_response(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last)
{
	MF_CYCLES(MF_CYCLES_HOST_RX_RESPONSE);
	const uint8_t *data;
	struct host_state *s;
	struct host_op *o;
	struct mf_msg m;

	if (!host_rx_accepts(h, mf_proto_get_chunk(&h->config.proto, word, n, MF_RRES, &m, &data), &m))
		return;
	s = host_state_find(h, m.src, m.id, last);
	if (host_once(h)) {
		uint32_t skip = response_once(h, s, &m);

		if (skip == RESPONSE_DROP)
			return;
		m.offset += skip;
		m.size -= skip;
		data += skip;
	}
	if (unlikely(s->phase != HOST_ACTIVE || host_is_write(s->kind))) {
		response_unwanted(h, s, m.last, last);
		return;
	}
	if (unlikely(!in_order(s, &m))) {
		if (host_once(h) && m.offset > s->moved)
			h->stats.gaps++;
		else
			h->stats.drop_proto++;
		return;
	}
	if (unlikely(h->config.probe != NULL))
		response_probe(h, s->kind, mf_msg_copy(&m), first, last);
	o = &h->op[s->op];
	o->c.first = mf_time_min(o->c.first, first + h->cost_data);
	response_store(h, o, s, &m, data);
	if (m.last)
		host_state_done(h, s, MF_OK, last + h->cost_data);
}

/** What was sent again may be acknowledged for what was sent before. */
static bool ack_awaited(const struct host_state *s)
{
	return s->phase == HOST_AWAIT_ACK ||
	       (s->again > 0 && (s->phase == HOST_ACTIVE || s->phase == HOST_SENT));
}

void host_rx_ack(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	struct host_state *s = host_state_find(h, m->src, m->id, at);

	if (host_once(h) && !host_use_is(h, m, MF_ACK_USE_BITS)) {
		h->stats.old++;
		return;
	}
	if (s->kind != MF_OP_WRITE_ACK || !ack_awaited(s)) {
		h->stats.drop_unknown++;
		if (s->kind == MF_OP_WRITE_ACK)
			answered_late(h, s, at);
		return;
	}
	if (host_stamps(h))
		host_stamp(h, h->shell.node, m->src, m->id, MF_STAGE_DATA_PARSE, MF_STAGE_DATA_PARSE, at);
	host_state_done(h, s, MF_OK, at + h->cost_single);
}

/** Grants of a refused request may still be under way: only then its id must rest. */
static bool more_grants(const struct mf_host *h, const struct host_state *s)
{
	if (host_is_write(s->kind))
		return s->moved < s->size;
	return s->size > h->config.chunk;
}

static bool error_names(const struct host_state *s, const struct mf_msg *m)
{
	static const uint8_t request[MF_OPS] = {MF_RREQ, MF_WREQ, MF_WREQ_ACK, MF_RMWREQ, MF_RMWREQ};

	return m->of == MF_KIND_NONE || m->of == request[s->kind];
}

/**
 * There was no room for it, or it was one beyond X, as what was sent again before may still count: the next
 * timer asks again. What is done in a space is begun again by who asked, and earlier: a page may be there.
 */
static bool comes_again(const struct mf_host *h, const struct host_state *s, const struct mf_msg *m)
{
	return m->status == MF_ERR_RESOURCE && s->again < h->config.retries && h->op[s->op].c.space == 0;
}

/**
 * What a refusal says. One with few bits of the use, or none, may be of an earlier use of an id that had not
 * rested: then whether the message was executed is not known.
 */
static uint8_t refusal(const struct host_state *s, uint8_t status)
{
	return likely(!s->early) ? status : host_expiry_status(s);
}

/** A message of a demand that was refused. @param rests  whether its id must */
static void message_refused(struct mf_host *h, struct host_state *s, const struct mf_msg *m, bool rests,
			    mf_time date)
{
	if (s->phase != HOST_ACTIVE || (s->moved != 0 && !comes_again(h, s, m)))
		h->stats.drop_unknown++;
	else if (comes_again(h, s, m))
		return;
	else if (rests)
		host_state_fail(h, s, refusal(s, m->status), date);
	else
		host_state_done(h, s, refusal(s, m->status), date);
}

/**
 * The switch refuses a demand as it comes: nothing was granted, and nothing will be. Of two switches this is
 * the active one, and the other one is told. A request is refused like this by one of two alone.
 */
static HOST_ASIDE void demand_refused(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	struct host_state *s = host_state_find(h, m->src, m->id, at);
	bool more = s->phase != HOST_FREE && (host_is_write(s->kind) || h->redundancy != NULL) &&
		    !(s->flags & HOST_MEGA_MEMBER);
	bool rests = false;

	if (h->deaf) {
		h->stats.drop_fenced++;
		return;
	}
	if (!more)
		h->stats.drop_unknown++;
	else if (h->redundancy != NULL && s->phase == HOST_ACTIVE && s->moved == 0 && !comes_again(h, s, m))
		rests = !host_redundancy_passes_on(h, m, at);
	while (more) {
		uint8_t next = s->mega_next;

		more = s->flags & HOST_MEGA_MORE;
		message_refused(h, s, m, rests, at + h->cost_single);
		s = host_state_at(h, m->src, next);
	}
}

/**
 * With two switches a refusal comes by both, and two bits of it are few to say of which use it is: the id is
 * not used again before the second has come (D10). That a link is lost says nothing: it may be there again
 * when the copy comes.
 * @param by  the switches by which it has come, a bit each
 */
static bool refused_again(const struct mf_host *h, uint8_t by)
{
	return h->redundancy && h->timer[HOST_TIMER_QUARANTINE].timeout != 0 && by != 3;
}

/** The switch by which something comes, as a bit. */
static uint8_t by_switch(const struct mf_host *h)
{
	return h->redundancy ? (uint8_t)(1u << h->redundancy->served) : 1;
}

static void refused(struct mf_host *h, struct host_state *s, uint8_t told, mf_time date)
{
	uint8_t status = refusal(s, told);

	if (!more_grants(h, s) && !refused_again(h, by_switch(h))) {
		host_state_done(h, s, status, date);
		return;
	}
	host_state_fail(h, s, status, date);
	s->mark = by_switch(h);
}

/** The same of one that is over. */
static void refused_late(struct mf_host *h, struct host_state *s, mf_time at)
{
	h->stats.drop_unknown++;
	s->mark |= by_switch(h);
	if (!more_grants(h, s) && !refused_again(h, s->mark))
		answered_late(h, s, at);
}

/** The memory node misses a chunk of a long write, or has it: where the next sending begins. */
static void gap_told(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	struct host_state *s = host_state_find(h, m->src, m->id, at);

	if (!host_once(h) || s->kind != MF_OP_WRITE_ACK || !host_state_waits(s))
		h->stats.drop_unknown++;
	else if (!host_use_is(h, m, MF_ERR_USE_BITS))
		h->stats.old++;
	else
		s->applied = m->of;
}

/** A request was refused. Unacknowledged writes are over by then: nobody refuses them. Or a node is back. */
void host_rx_error(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	if (mf_proto_of_incarnation(m->status)) {
		host_link_restarted(h, m, at);
		return;
	}
	if (m->status == MF_ERR_GAP) {
		gap_told(h, m, at);
		return;
	}
	if (m->of == MF_NOTIFY) {
		demand_refused(h, m, at);
		return;
	}

	struct host_state *s = host_state_find(h, m->src, m->id, at);
	bool waits = s->phase >= HOST_ACTIVE && s->phase <= HOST_AWAIT_ACK;

	if (unlikely(h->keys != NULL) && waits && m->status == MF_ERR_KEY)
		host_key_epoch(h, s);
	if (host_once(h) && !host_use_is(h, m, MF_ERR_USE_BITS))
		h->stats.old++;
	else if (s->phase == HOST_FREE || s->kind == MF_OP_WRITE || !error_names(s, m)) {
		h->stats.drop_unknown++;
	} else if (!waits) {
		refused_late(h, s, at);
	} else if (!comes_again(h, s, m)) {
		refused(h, s, m->status, at + h->cost_single);
	}
}
