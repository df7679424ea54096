/* SPDX-License-Identifier: BSD-3-Clause */
/* Fastpass, frames to and from the arbiter: requests, allocations, and their acknowledgements. */
#include "systems/fastpass/fastpass.h"

/** @return how many records */
static unsigned int put_demands(struct fastpass *f, mf_time now, uint8_t *out)
{
	struct fastpass_request *q = &f->request[f->sequence % FASTPASS_REQUESTS];
	unsigned int n = 0;

	if (!fastpass_may_ask(f))
		return 0;
	for (; n < f->batch && f->asks != 0; n++) {
		struct fastpass_peer *p = &f->peer[f->ask];
		struct fastpass_demand d = {.node = rte_cpu_to_be_16(f->ask),
					    .slots = rte_cpu_to_be_32(p->asked)};

		memcpy(out + n * sizeof(d), &d, sizeof(d));
		q->node[n] = f->ask;
		p->asks = false;
		f->ask = p->next;
		f->asks--;
	}
	q->n = (uint8_t)n;
	if (f->retransmit_at == MF_NEVER)
		f->retransmit_at = now + f->timeout;
	f->requests_sent++;
	return n;
}

uint16_t fastpass_put_control(struct fastpass *f, mf_time now, uint8_t *frame)
{
	struct fastpass_control c = {.kind = FASTPASS_REQUEST,
				     .sequence = rte_cpu_to_be_16(f->sequence),
				     .ack = rte_cpu_to_be_16((uint16_t)(f->any ? f->latest : -1)),
				     .word = rte_cpu_to_be_32(f->before)};
	unsigned int n = put_demands(f, now, frame + FASTPASS_HEADERS + sizeof(c));

	c.records = (uint8_t)n;
	f->sequence += n != 0;
	f->acks_sent += n == 0;
	f->ack_at = MF_NEVER;
	f->unacked = 0;
	memcpy(frame + FASTPASS_HEADERS, &c, sizeof(c));
	return fastpass_seal(frame, f->remote.config.node, f->server, FASTPASS_CLASS_CONTROL,
			     FASTPASS_CONTROL, (uint16_t)(sizeof(c) + n * sizeof(struct fastpass_demand)));
}

void fastpass_retransmit(struct fastpass *f, mf_time now)
{
	if (f->acked == f->sequence) {
		f->retransmit_at = MF_NEVER;
		return;
	}
	for (; f->sequence != f->acked; f->sequence--) {
		const struct fastpass_request *q =
			&f->request[(uint16_t)(f->sequence - 1) % FASTPASS_REQUESTS];

		for (unsigned int i = 0; i < q->n; i++)
			fastpass_must_ask(f, q->node[i]);
		f->retransmitted++;
	}
	f->retransmit_at = now + f->timeout;
}

static void take_ack(struct fastpass *f, uint16_t ack, mf_time at)
{
	uint16_t gone = (uint16_t)(ack - f->acked);

	if (gone == 0 || gone > (uint16_t)(f->sequence - f->acked))
		return;
	f->acked = ack;
	f->retransmit_at = f->acked == f->sequence ? MF_NEVER : at + f->timeout;
}

/** @return false: it came before */
static bool is_new(struct fastpass *f, uint16_t sequence)
{
	int16_t ahead = (int16_t)(sequence - f->latest);

	if (!f->any) {
		f->before = 0;
	} else if (ahead > 0) {
		f->before = ahead < 32 ? f->before << ahead : 0;
		f->before |= ahead <= 32 ? UINT32_C(1) << (ahead - 1) : 0;
	} else if (ahead == 0 || ahead < -32 || (f->before >> (-ahead - 1) & 1)) {
		return false;
	} else {
		f->before |= UINT32_C(1) << (-ahead - 1);
		return true;
	}
	f->any = true;
	f->latest = sequence;
	return true;
}

/** Numbers of slots have 32 bits there: the one next to now's is meant. */
static uint64_t whole_slot(const struct fastpass *f, uint32_t slot, mf_time at)
{
	uint64_t now = at / f->slot;

	return now + (uint64_t)(int64_t)(int32_t)(slot - (uint32_t)now);
}

bool fastpass_take_allocation(struct fastpass *f, mf_time at, const struct fastpass_frame *frame)
{
	struct fastpass_control c;
	struct fastpass_slot s;

	if (frame->len < sizeof(c) || frame->src != f->server)
		return false;
	memcpy(&c, frame->payload, sizeof(c));
	if (c.kind != FASTPASS_ALLOCATION || c.records > FASTPASS_BATCH_MAX ||
	    frame->len < sizeof(c) + c.records * sizeof(s))
		return false;
	take_ack(f, rte_be_to_cpu_16(c.ack), at);
	if (c.records == 0 || !is_new(f, rte_be_to_cpu_16(c.sequence)))
		return true;
	fastpass_move_low(f, at);
	f->ack_at = ++f->unacked >= FASTPASS_ACK_FRAMES ? at : mf_time_min(f->ack_at, at + f->ack_delay);
	for (unsigned int i = 0; i < c.records; i++) {
		uint64_t slot, least = f->low;

		memcpy(&s, frame->payload + sizeof(c) + i * sizeof(s), sizeof(s));
		slot = whole_slot(f, rte_be_to_cpu_32(c.word), at) + rte_be_to_cpu_16(s.offset);
		f->slots_come++;
		if (rte_be_to_cpu_16(s.node) >= f->remote.config.nodes)
			return false;
		fastpass_add_slot(f, slot > least && slot < UINT64_MAX / 2 ? slot : least,
				  rte_be_to_cpu_16(s.node));
	}
	return true;
}
