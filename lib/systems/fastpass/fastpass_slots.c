/* SPDX-License-Identifier: BSD-3-Clause */
/* Fastpass, slots that are ours: in each, frames to its node, as many as fit. */
#include "systems/fastpass/fastpass.h"

void fastpass_add_slot(struct fastpass *f, uint64_t slot, uint16_t node)
{
	uint64_t end = f->low + FASTPASS_SLOTS;

	while (slot < end && (f->set[slot % FASTPASS_SLOTS / 64] >> slot % 64 & 1))
		slot++;
	if (slot >= end || slot < f->low) {
		f->drop_slot++;
		return;
	}
	f->set[slot % FASTPASS_SLOTS / 64] |= UINT64_C(1) << slot % 64;
	f->node[slot % FASTPASS_SLOTS] = node;
	f->slots++;
}

uint64_t fastpass_first_slot(const struct fastpass *f)
{
	uint64_t slot = f->low;

	while (true) {
		uint64_t bits = f->set[slot % FASTPASS_SLOTS / 64] >> slot % 64;

		if (bits != 0)
			return slot + (unsigned int)__builtin_ctzll(bits);
		slot += 64 - slot % 64;
	}
}

void fastpass_move_low(struct fastpass *f, mf_time now)
{
	uint64_t slot = now / f->slot;

	if (f->slots != 0) {
		uint64_t first = fastpass_first_slot(f);

		slot = slot < first ? slot : first;
	}
	if (slot > f->low)
		f->low = slot;
}

bool fastpass_activate(struct fastpass *f, mf_time now)
{
	struct fastpass_peer *p;
	uint64_t slot;

	if (f->slots == 0)
		return false;
	slot = fastpass_first_slot(f);
	if (slot * f->slot > now)
		return false;
	f->low = slot;
	f->set[slot % FASTPASS_SLOTS / 64] &= ~(UINT64_C(1) << slot % 64);
	f->slots--;
	f->late += slot < now / f->slot;
	f->active = f->node[slot % FASTPASS_SLOTS];
	f->room = f->slot_octets;
	p = &f->peer[f->active];
	p->owed -= p->owed != 0;
	f->wasted += p->head == REMOTE_NIL;
	return true;
}

static uint32_t next_segment(const struct fastpass *f, const struct fastpass_peer *p)
{
	const struct remote_message *m = &f->remote.message[p->head];

	return remote_segment_size(m, m->sent, f->payload);
}

void fastpass_end_slot(struct fastpass *f)
{
	uint16_t node = f->active;
	const struct fastpass_peer *p = &f->peer[node];

	if (p->head != REMOTE_NIL && fastpass_frame_octets(next_segment(f, p)) <= f->room)
		return;
	f->active = FASTPASS_NIL;
	fastpass_need(f, node);
}

uint16_t fastpass_put_data(struct fastpass *f, mf_time now, uint8_t *frame)
{
	struct remote *r = &f->remote;
	struct fastpass_peer *p = &f->peer[f->active];
	uint32_t i = p->head, segment = next_segment(f, p), octets = segment - REMOTE_HEADER;
	struct remote_message *m = &r->message[i];
	uint16_t len;

	if (!m->begun)
		remote_begun(r, m, now);
	m->begun = true;
	remote_put_segment(r, m, m->sent, octets, frame + FASTPASS_HEADERS);
	len = fastpass_seal(frame, r->config.node, m->peer, FASTPASS_CLASS_DATA, FASTPASS_DATA,
			    (uint16_t)segment);
	m->sent += octets;
	p->queued -= fastpass_frame_octets(segment);
	f->room -= fastpass_frame_octets(segment);
	if (m->sent == m->len) {
		fastpass_leave_line(f, i);
		if (m->op != OPERATION_NIL)
			retransmit_sent(&f->retransmit, m->op, now);
		remote_free_message(r, i);
	}
	fastpass_end_slot(f);
	return len;
}
