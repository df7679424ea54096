/* SPDX-License-Identifier: BSD-3-Clause */
/* IRD, receiving: credits to the message with the least octets left, at the pace of the own link. */
#include "systems/frames/mf_wire_blocks.h"
#include "systems/ird/ird.h"

uint16_t ird_pull_credit(struct ird *d, mf_time now, uint8_t *frame)
{
	uint32_t i = d->own->waiting;
	const struct ird_demand *demand = &d->board->demand[i];
	uint32_t rest = demand->len - demand->credited, octets = rest < d->mtu ? rest : d->mtu;
	const struct ird_header h = {.kind = IRD_CREDIT,
				     .generation = demand->generation,
				     .number = i - demand->from * d->board->messages,
				     .offset = demand->credited,
				     .octets = octets};
	double blocks = wire_blocks_frame(IRD_HEADERS + REMOTE_HEADER + octets);

	d->own->next = mf_time_max(d->own->next, now) + (mf_time)(blocks * d->period);
	ird_board_credit(d->board, i, octets, d->window, now);
	d->credits_sent++;
	return ird_put_headers(frame, d->remote.config.node, demand->from, IRD_CLASS_CONTROL, &h, 0);
}

uint16_t ird_pull_ack(struct ird *d, uint8_t *frame)
{
	const struct ird_ack *a = &d->ack[d->ack_head++ % d->acks];

	return ird_put_headers(
		frame, d->remote.config.node, a->to, IRD_CLASS_CONTROL,
		&(struct ird_header){.kind = IRD_ACK, .number = a->number, .generation = a->generation}, 0);
}

static void acknowledge(struct ird *d, mf_time at, const struct ird_frame *f)
{
	if (d->ack_tail - d->ack_head == d->acks) {
		d->drop_ack++;
		return;
	}
	d->ack[d->ack_tail++ % d->acks] = (struct ird_ack){
		.ready = at + 2 * d->mac, .number = f->h.number, .generation = f->h.generation, .to = f->src};
}

/** The next part of a message; of a write that is whole its sender is told, of others he knows. */
static void take(struct ird *d, mf_time at, const struct ird_frame *f, uint32_t i)
{
	bool write = f->segment[0] == REMOTE_WRITE;

	if (!remote_segment(&d->remote, at, f->src, f->segment, f->len))
		d->drop_frame++;
	else if (!ird_board_came(d->board, i, f->h.octets, at))
		return;
	else if (write)
		acknowledge(d, at, f);
	else
		ird_board_over(d->board, i, at);
}

void ird_data(struct ird *d, mf_time at, const struct ird_frame *f)
{
	const struct ird_demand *demand;
	uint32_t i;

	if (f->h.octets == 0) {
		remote_segment(&d->remote, at, f->src, f->segment, f->len);
		return;
	}
	i = ird_board_find(d->board, f->src, f->h.number, f->h.generation, d->remote.config.node);
	demand = i != IRD_NIL ? &d->board->demand[i] : NULL;
	if (demand == NULL || f->h.offset < demand->received)
		d->drop_duplicate++;
	else if (f->h.offset > demand->received)
		d->drop_gap++;
	else if (f->h.octets > demand->credited - demand->received || f->len < REMOTE_HEADER + f->h.octets)
		d->drop_frame++;
	else
		take(d, at, f, i);
}
