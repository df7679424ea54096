/* SPDX-License-Identifier: BSD-3-Clause */
/* A CXL link end, receiving: what a flit tells, and the messages that it brings. */
#include <string.h>

#include "systems/cxl/cxl_link_priv.h"

static void take_acknowledgement(struct cxl_link *l, unsigned int ack, mf_time at)
{
	uint16_t gone = cxl_sequence(ack - l->acked);

	if (gone == 0 || gone > cxl_sequence(l->next - l->acked))
		return;
	if (cxl_sequence(l->resend - l->acked) < gone)
		l->resend = (uint16_t)ack;
	l->acked = (uint16_t)ack;
	l->replay_at = l->acked == l->next ? MF_NEVER : at + l->config.replay_timeout;
}

static void take_credits(struct cxl_link *l, unsigned int class, uint8_t count)
{
	uint8_t more = (uint8_t)(count - l->seen[class]);

	if (more == 0 || more > CXL_CREDITS_MAX - l->avail[class])
		return;
	l->seen[class] = count;
	l->avail[class] = (uint8_t)(l->avail[class] + more);
	l->may |= (uint8_t)(1 << class);
	if (l->may == CXL_CLASS_MASK)
		l->ask_at = MF_NEVER;
}

static void take_header(struct cxl_link *l, const union cxl_flit *f, mf_time at)
{
	uint32_t header;

	memcpy(&header, f->octet + 2, CXL_LINK_HEADER);
	take_acknowledgement(l, header & (CXL_SEQUENCES - 1), at);
	take_credits(l, header >> 12 & 3, (uint8_t)(header >> 14));
	take_credits(l, header >> 22 & 3, (uint8_t)(header >> 24));
}

static void take_control(struct cxl_link *l, const union cxl_flit *f, mf_time at)
{
	take_acknowledgement(l, (unsigned int)(f->octet[2] | f->octet[3] << 8) & (CXL_SEQUENCES - 1), at);
	for (unsigned int c = 0; c < CXL_CLASSES; c++)
		take_credits(l, c, f->octet[5 + c]);
	if (f->octet[4] & CXL_NAK)
		cxl_link_replay(l, at);
	if (f->octet[4] != 0)
		cxl_tell(l, at); /* what was damaged may have been a CONTROL flit */
}

static void deliver(struct cxl_link *l, mf_time at, const struct cxl_message *m)
{
	const struct cxl_link_config *c = &l->config;
	unsigned int class = cxl_op_class[m->op];

	if (l->held[class] == c->buffers[class]) {
		l->stats.drop_credit++;
		return;
	}
	l->held[class]++;
	c->ends->deliver(c->ctx, c->port, at, m);
}

static void take_messages(struct cxl_link *l, mf_time at, const uint8_t *slot)
{
	unsigned int octet = 0, n;

	while (octet < CXL_LONG && slot[octet] != CXL_NONE) {
		struct cxl_message *m = &l->expects[(l->coming_head + l->coming) % CXL_PENDING];

		n = cxl_get_message(slot + octet, m);
		if (n == 0 || octet + n > CXL_LONG || l->coming == CXL_PENDING - 1) {
			l->stats.drop_message++;
			return;
		}
		octet += n;
		if (cxl_op_slots[m->op] != 0)
			l->coming++;
		else
			deliver(l, at, m);
	}
}

static void take_data(struct cxl_link *l, mf_time at, const uint8_t *slot)
{
	struct cxl_message *m = &l->expects[l->coming_head % CXL_PENDING];

	if (l->coming == 0) {
		l->stats.drop_message++;
		return;
	}
	memcpy(m->data + l->have * CXL_SLOT, slot, CXL_SLOT);
	if (++l->have < cxl_op_slots[m->op])
		return;
	l->have = 0;
	l->coming_head = --l->coming != 0 ? l->coming_head + 1 : 0; /* what is cached, where it may be */
	deliver(l, at, m);
}

static void take_slots(struct cxl_link *l, union cxl_flit *f, mf_time at)
{
	unsigned int i = 0;

	if (cxl_get_kind(f) == CXL_PROTOCOL) {
		take_messages(l, at, cxl_slot(f, 0) + CXL_LINK_HEADER);
		i = 1;
	}
	for (; i < l->config.format->slots; i++)
		if (l->coming != 0 || cxl_get_kind(f) == CXL_DATA)
			take_data(l, at, cxl_slot(f, i));
		else
			take_messages(l, at, cxl_slot(f, i));
}

/** What is missing is asked for once. */
static void missed(struct cxl_link *l)
{
	l->nak |= !l->nak_sent;
	l->nak_sent = true;
}

static void take_numbered(struct cxl_link *l, union cxl_flit *f, mf_time at)
{
	uint16_t ahead = cxl_sequence(cxl_get_sequence(f) - l->expected);

	if (cxl_get_kind(f) == CXL_PROTOCOL)
		take_header(l, f, at);
	l->untold_flits = true;
	if (ahead == 0) {
		l->expected = cxl_sequence(l->expected + 1u);
		l->nak_sent = false;
		cxl_tell(l, ++l->unacked >= l->config.replay / 4 ? at : at + l->config.tell_delay);
		take_slots(l, f, at);
	} else if (ahead < CXL_SEQUENCES / 2) {
		l->stats.drop_sequence++;
		missed(l);
	} else {
		l->stats.duplicates++;
		cxl_tell(l, at);
	}
}

void cxl_link_hold(struct cxl_link *l, mf_time at, const uint64_t *word, unsigned int n)
{
	const struct cxl_format *format = l->config.format;

	l->sound = cxl_from_blocks(format, word, n, &l->held_flit) && cxl_sound(format, &l->held_flit);
	l->arrival = at;
}

void cxl_link_arrive(struct cxl_link *l)
{
	union cxl_flit *f = &l->held_flit;
	unsigned int kind = cxl_get_kind(f);
	mf_time at = l->arrival;

	l->arrival = MF_NEVER;
	l->stats.received++;
	if (!l->sound) {
		l->stats.drop_crc++;
		missed(l);
	} else if (kind == CXL_CONTROL) {
		take_control(l, f, at);
	} else if (kind == CXL_PROTOCOL || kind == CXL_DATA) {
		take_numbered(l, f, at);
	} else {
		l->stats.drop_message++;
	}
}
