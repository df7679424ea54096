/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory, the memory node: does what messages ask for, and answers. */
#include <string.h>

#include "systems/frames/remote_priv.h"

static void answer(struct remote *r, mf_time now, mf_time ready, uint16_t peer, uint16_t id,
		   enum remote_kind kind, const struct remote_message *with)
{
	struct remote_message m = *with;

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

static uint8_t check(const struct remote *r, const struct remote_header *h)
{
	if (r->config.memory_ops == NULL)
		return MF_ERR_RANGE;
	return r->config.memory_ops->check(r->config.memory, h->addr, h->len);
}

/** @return when the memory has answered */
static mf_time access_memory(const struct remote *r, mf_time known, uint64_t addr, uint32_t len)
{
	return stack_stamp(&r->config, MF_STAGE_DRAM, known,
			   r->config.memory_ops->delay(r->config.memory, addr, len));
}

/** The same of an atomic, which reads and then writes. */
static mf_time access_twice(const struct remote *r, mf_time known, uint64_t addr, uint32_t len)
{
	return access_memory(r, access_memory(r, known, addr, len), addr, len);
}

void remote_read(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h)
{
	const struct mf_memory_ops *ops = r->config.memory_ops;
	uint8_t status = check(r, h);
	const void *data = status == MF_OK ? ops->at(r->config.memory, h->addr, h->len) : NULL;

	if (status == MF_OK && data == NULL)
		status = MF_ERR_RESOURCE;
	if (status != MF_OK)
		refuse(r, now, known, peer, h->id, status);
	else
		answer(r, now, access_memory(r, known, h->addr, h->len), peer, h->id, REMOTE_RESPONSE,
		       &(struct remote_message){.data = data, .len = h->len});
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
	return h->again != 0 && w->done && w->id == h->id && w->addr == h->addr;
}

void remote_rmw(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h,
		const uint8_t *data)
{
	const struct mf_memory_ops *ops = r->config.memory_ops;
	struct remote_message m = {.len = mf_rmw_size(h->code)};
	struct remote_write *w = write_of(r, peer, h->id);
	uint64_t arg[2];
	uint8_t status;

	if (is_done(w, h)) {
		m.word[0] = w->result;
		answer(r, now, known, peer, h->id, REMOTE_RESPONSE, &m);
		return;
	}
	memcpy(arg, data, sizeof(arg));
	status = ops != NULL ? ops->rmw(r->config.memory, h->code, h->addr, arg, &m.word[0]) : MF_ERR_RANGE;
	if (status != MF_OK)
		refuse(r, now, known, peer, h->id, status);
	else
		answer(r, now, access_twice(r, known, h->addr, m.len), peer, h->id, REMOTE_RESPONSE, &m);
	if (r->transport->repeats)
		*w = (struct remote_write){
			.addr = h->addr, .result = m.word[0], .id = h->id, .done = status == MF_OK};
}

static void tell_effect(const struct remote *r, uint16_t peer, const struct remote_header *h, bool last,
			mf_time known)
{
	const struct mf_probe *p = r->config.probe;

	if (p != NULL && p->effect != NULL)
		p->effect(p->ctx, peer, r->config.node, h->id, h->offset, h->octets, last, known, known);
}

void remote_write(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h,
		  const uint8_t *data)
{
	struct remote_write *w = write_of(r, peer, h->id);
	bool answers = h->kind == REMOTE_WRITE_ACK || r->transport->repeats;
	uint8_t status;

	if (is_done(w, h)) {
		if (h->offset + h->octets == h->len)
			answer(r, now, known, peer, h->id, REMOTE_ACK, &(struct remote_message){0});
		return;
	}
	if (!w->busy || w->id != h->id || w->addr != h->addr || (h->offset == 0 && !r->transport->unordered))
		*w = (struct remote_write){.addr = h->addr, .id = h->id, .busy = true};
	status = check(r, h);
	if (status != MF_OK) {
		if (!w->refused)
			refuse(r, now, known, peer, h->id, status);
		w->refused = true;
		return;
	}
	if (r->transport->repeats && h->offset != w->received) {
		r->drop_order++; /* behind a gap: it comes again with the rest */
		return;
	}
	r->config.memory_ops->write(r->config.memory, h->addr + h->offset, h->octets, data);
	w->received += h->octets;
	tell_effect(r, peer, h, w->received == h->len, known);
	if (w->received < h->len)
		return;
	w->busy = false;
	w->done = true;
	if (answers)
		answer(r, now, known, peer, h->id, REMOTE_ACK, &(struct remote_message){0});
}
