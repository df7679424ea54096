/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory, the memory node: does what messages ask for, and answers. */
#include <string.h>

#include "systems/frames/remote_priv.h"

static void answer(struct remote *r, mf_time now, mf_time ready, uint16_t peer, uint16_t id,
		   enum remote_kind kind, const struct remote_message *with)
{
	struct remote_message m = *with; /* and what it holds */

	m.peer = peer;
	m.id = id;
	m.kind = (uint8_t)kind;
	m.op = OPERATION_NIL;
	m.ready = ready + r->cost_tx;
	m.told = m.len;
	stack_stamp_tx(&r->config, ready);
	remote_send(r, now, &m);
}

static void refuse(struct remote *r, mf_time now, mf_time known, uint16_t peer, uint16_t id,
		   enum mf_status status)
{
	answer(r, now, known, peer, id, REMOTE_ERROR, &(struct remote_message){.code = (uint8_t)status});
}

/** What a header asks of the memory, from a place of its message on. */
static struct mf_access asked(const struct remote *r, uint16_t peer, const struct remote_header *h,
			      enum mf_right right, uint32_t offset, uint32_t len, mf_time at)
{
	return (struct mf_access){.addr = h->addr + offset,
				  .at = at,
				  .len = len,
				  .node = peer,
				  .end = r->config.end,
				  .right = (uint8_t)right};
}

static uint8_t access_memory(const struct remote *r, const struct mf_access *a, struct mf_answer *out)
{
	if (r->config.memory_ops == NULL)
		return MF_ERR_RANGE;
	return r->config.memory_ops->access(r->config.memory, a, out);
}

void remote_read(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h)
{
	struct mf_access a = asked(r, peer, h, MF_RIGHT_READ, 0, h->len, known);
	struct mf_answer got;
	uint8_t status;

	a.hold = true;
	status = access_memory(r, &a, &got);
	if (status != MF_OK)
		refuse(r, now, known, peer, h->id, status);
	else
		answer(r, now, stack_stamp_access(&r->config, known, &got), peer, h->id, REMOTE_RESPONSE,
		       &(struct remote_message){.data = got.places, .len = h->len, .held = true});
}

static struct remote_write *write_of(const struct remote *r, uint16_t peer, uint16_t id)
{
	return &r->write[id % r->write_ids * r->config.nodes + peer];
}

/**
 * It was sent before, and has taken effect. What an entry speaks of is the last of its number: the way from a
 * node to another keeps the order.
 */
static bool is_done(const struct remote_write *w, const struct remote_header *h)
{
	return h->retransmit != 0 && w->done && w->id == h->id && w->addr == h->addr;
}

void remote_rmw(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h,
		const uint8_t *data)
{
	struct mf_access a = asked(r, peer, h, MF_RIGHT_RMW, 0, mf_rmw_size(h->code), known);
	struct remote_message m = {.len = mf_rmw_size(h->code)};
	struct remote_write *w = write_of(r, peer, h->id);
	struct mf_answer got;
	uint64_t arg[2];
	uint8_t status;

	if (is_done(w, h)) {
		m.word[0] = w->result;
		answer(r, now, known, peer, h->id, REMOTE_RESPONSE, &m);
		return;
	}
	memcpy(arg, data, sizeof(arg));
	a.data = arg;
	a.op = h->code;
	status = access_memory(r, &a, &got);
	if (status != MF_OK) {
		refuse(r, now, known, peer, h->id, status);
	} else {
		m.word[0] = got.old;
		answer(r, now, stack_stamp_access(&r->config, known, &got), peer, h->id, REMOTE_RESPONSE, &m);
	}
	if (r->transport->repeats)
		*w = (struct remote_write){
			.addr = h->addr, .result = m.word[0], .id = h->id, .done = status == MF_OK};
}

static void tell_effect(const struct remote *r, uint16_t peer, const struct remote_header *h, bool last,
			mf_time known, mf_time done)
{
	const struct mf_probe *p = r->config.probe;

	if (p != NULL && p->effect != NULL)
		p->effect(p->ctx, peer, r->config.node, h->id, h->offset, h->octets, last, known, done);
}

/** Whether the memory would take a write as a whole, of which the first part has come. */
static uint8_t check_whole(const struct remote *r, uint16_t peer, const struct remote_header *h,
			   mf_time known)
{
	struct mf_access a = asked(r, peer, h, MF_RIGHT_WRITE, 0, h->len, known);
	struct mf_answer would;

	a.dry = true;
	return h->octets < h->len ? access_memory(r, &a, &would) : MF_OK;
}

/** The part of a write that has come. @param done  when the memory has taken it */
static uint8_t write_part(const struct remote *r, uint16_t peer, const struct remote_header *h,
			  const uint8_t *data, mf_time known, mf_time *done)
{
	struct mf_access a = asked(r, peer, h, MF_RIGHT_WRITE, h->offset, h->octets, known);
	struct mf_answer got;
	uint8_t status;

	a.data = data;
	status = access_memory(r, &a, &got);
	*done = status == MF_OK ? known + got.time : known;
	if (status == MF_OK && got.time != 0)
		stack_stamp_access(&r->config, known, &got);
	return status;
}

/** A write begins: nothing of it is written if not all of it may be. */
static void write_begin(struct remote *r, struct remote_write *w, mf_time now, mf_time known, uint16_t peer,
			const struct remote_header *h)
{
	uint8_t status = check_whole(r, peer, h, known);

	*w = (struct remote_write){.addr = h->addr, .id = h->id, .busy = true, .refused = status != MF_OK};
	if (w->refused)
		refuse(r, now, known, peer, h->id, status);
}

void remote_write(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h,
		  const uint8_t *data)
{
	struct remote_write *w = write_of(r, peer, h->id);
	bool answers = h->kind == REMOTE_WRITE_ACK || r->transport->repeats;
	uint8_t status;
	mf_time done;

	if (is_done(w, h)) {
		if (h->offset + h->octets == h->len)
			answer(r, now, known, peer, h->id, REMOTE_ACK, &(struct remote_message){0});
		return;
	}
	if (!w->busy || w->id != h->id || w->addr != h->addr || (h->offset == 0 && !r->transport->unordered))
		write_begin(r, w, now, known, peer, h);
	if (w->refused)
		return;
	if ((r->transport->repeats || !r->transport->unordered) && h->offset != w->received) {
		r->drop_order++; /* twice; or behind a gap: it comes again with the rest, or never */
		return;
	}
	status = write_part(r, peer, h, data, known, &done);
	if (status != MF_OK) {
		refuse(r, now, known, peer, h->id, status);
		w->refused = true;
		return;
	}
	w->received += h->octets;
	tell_effect(r, peer, h, w->received == h->len, known, done);
	if (w->received < h->len)
		return;
	w->busy = false;
	w->done = true;
	if (answers)
		answer(r, now, done, peer, h->id, REMOTE_ACK, &(struct remote_message){0});
}
