/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is not answered in time is sent again, with the same id and the same use (once.h), host.retries
 * times at most, until the timer of its operation ends (op_timer.c). A read asks for what has not come. Of a
 * write the demand is sent again, and its chunks as they are granted: those that had not been sent, or, if
 * all had, those that the memory node is not known to have. So an unacknowledged write, which is over when
 * its last block is sent (D11), sends none twice.
 *
 * A request that finds no room is not kept for later: the next timer will do. So is one whose demand is still
 * known to the scheduler, which drops it there.
 */
#include "systems/edm/host/once.h"
#include "systems/edm/proto/mf_proto_inline.h"

/** Room for what is sent again. NULL: there is none. */
static uint64_t *room(struct mf_host *h, const struct host_state *s, unsigned int n, mf_time at)
{
	return mf_mux_put(h->shell.mux, host_request_ready(h, at), host_tie(h, HOST_TIE_REQUEST, s->node), n,
			  0);
}

/** Octets of an operation before the message of s, and how many it has from there on. */
static uint64_t before(const struct host_state *s)
{
	return (uint64_t)s->piece * MF_MESSAGE_MAX;
}

static uint64_t from_here(const struct mf_host *h, const struct host_state *s)
{
	return h->op[s->op].c.len - before(s);
}

static void request_again(struct mf_host *h, struct host_state *s, mf_time at)
{
	const struct host_op *o = &h->op[s->op];
	struct mf_msg m = {.kind = MF_RREQ,
			   .src = h->shell.node,
			   .dst = s->node,
			   .id = s->id,
			   .behind = s->moved > 0 ? 0 : host_behind(from_here(h, s)),
			   .size = s->size - s->moved,
			   .offset = s->moved,
			   .addr = o->addr + before(s) + s->moved};
	uint64_t *word;

	if (s->kind >= MF_OP_RMW) {
		m.kind = MF_RMWREQ;
		m.op = o->rmw;
		m.addr = o->addr;
		m.arg[0] = o->arg[0];
		m.arg[1] = o->arg[1];
	}
	host_once_sign(h, s, &m);
	word = room(h, s, mf_proto_blocks(&h->config.proto, &m), at);
	if (!word)
		return;
	s->event_at = at;
	mf_proto_make_request(&h->config.proto, &m, word);
	h->stats.tx[m.kind]++;
}

static void notify_again(struct mf_host *h, const struct host_state *s, uint32_t size, mf_time at)
{
	bool mega = s->flags & HOST_MEGA_HEAD;
	struct mf_msg m = {.kind = MF_NOTIFY,
			   .src = h->shell.node,
			   .dst = s->node,
			   .id = s->id,
			   .mega = mega,
			   .ext = true,
			   .behind = size == MF_MESSAGE_MAX && !mega ? host_behind(from_here(h, s)) : 0,
			   .size = size};
	uint64_t *word = room(h, s, 1, at);

	if (word)
		host_notify_put(h, word, &m, at);
}

/**
 * Where a write begins that is sent again, all of which had been sent: where its memory node has said that it
 * is (MF_ERR_GAP). What it said may be of another use of the id, and too much; then it says so again.
 */
static uint32_t begin_again(const struct host_state *s)
{
	uint32_t applied = s->applied * MF_GAP_UNIT;

	return applied < s->size ? applied : 0;
}

/**
 * All of it was sent, and nothing came back. It is one of the X of its pair again, if there are not X others,
 * and a message of its own if it was in a mega-message.
 */
static void write_whole_again(struct mf_host *h, struct host_state *s, mf_time at)
{
	if (h->peer[s->node].active[1] >= h->config.x)
		return;
	host_slot_hold(h, s);
	s->flags &= (uint8_t) ~(HOST_MEGA_HEAD | HOST_MEGA_MEMBER | HOST_MEGA_MORE);
	s->phase = HOST_ACTIVE;
	s->moved = begin_again(s);
	s->mark = (uint8_t)(s->moved >> 8);
	notify_again(h, s, s->size - s->moved, at);
}

static void write_again(struct mf_host *h, struct host_state *s, mf_time at)
{
	if (s->phase == HOST_AWAIT_ACK)
		write_whole_again(h, s, at);
	else if (s->phase == HOST_SENT || s->flags & HOST_MEGA_MEMBER)
		return; /* waits for the own link; for what its head is granted */
	else if (s->flags & HOST_MEGA_HEAD)
		notify_again(h, s, host_mega_octets(h, s), at);
	else
		notify_again(h, s, s->size - s->moved, at);
}

/** A long one, of which something has moved since its timer began, is not sent again yet. */
static bool moves(struct host_state *s)
{
	uint8_t mark = (uint8_t)(s->moved >> 8);

	if (s->phase != HOST_ACTIVE || mark == s->mark)
		return false;
	s->mark = mark;
	return true;
}

void host_retry(struct mf_host *h, struct host_state *s)
{
	mf_time at = s->deadline;

	host_timer_stop(h, s);
	if (moves(s)) {
		host_timer_start(h, s, HOST_TIMER_RETRY, at);
		return;
	}
	s->again++;
	h->stats.retried++;
	if (s->again < h->config.retries)
		host_timer_start(h, s, HOST_TIMER_RETRY, at);
	if (host_is_write(s->kind))
		write_again(h, s, at);
	else
		request_again(h, s, at);
}
