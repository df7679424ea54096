/* SPDX-License-Identifier: BSD-3-Clause */
/* pFabric, receiving: a packet is used when it comes, in any order; each is acknowledged by itself. */
#include "systems/pfabric/pfabric.h"

/** @param octets  behind the IPv4 header @return the sum of what is there; 0xffff if its checksum is right */
uint16_t pfabric_checksum(const uint8_t *frame, uint16_t octets)
{
	uint32_t sum = rte_raw_cksum(frame + MF_PACKET_L4, octets);

	sum += rte_ipv4_phdr_cksum((const void *)(frame + MF_PACKET_IP), 0);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static void answer(struct pfabric *p, uint16_t peer, mf_time at, const struct mf_pfabric_header *h,
		   uint8_t kind)
{
	if (p->answer_tail - p->answer_head > p->answer_mask) {
		p->drop_answer++;
		return;
	}
	p->answer[p->answer_tail++ & p->answer_mask] = (struct pfabric_answer){.due = at + p->turn,
									       .flow = h->flow,
									       .slot = h->slot,
									       .segment = h->segment,
									       .segments = h->segments,
									       .peer = peer,
									       .kind = kind};
}

/** A number that is newer than all before it: those in between are missing yet. */
static void advance(struct pfabric_peer *peer, uint32_t number)
{
	uint32_t steps = number + 1 - peer->newest;

	if (steps >= PFABRIC_FLOWS)
		peer->complete = (struct pfabric_bits){0};
	else
		while (peer->newest != number + 1)
			pfabric_set_bit(&peer->complete, peer->newest++, false);
	peer->newest = number + 1;
}

/** @return whether the message is complete already; one that is too old is, or was given up */
static bool is_complete(struct pfabric_peer *peer, uint32_t number)
{
	int32_t behind = (int32_t)(peer->newest - number);

	if (behind <= 0) {
		advance(peer, number);
		return false;
	}
	return behind > PFABRIC_FLOWS || pfabric_bit(&peer->complete, number);
}

/** @return whether the segment is new */
static bool note(struct pfabric *p, uint16_t from, const struct mf_pfabric_header *h)
{
	struct pfabric_peer *peer = &p->peer[from];
	struct pfabric_coming *c;

	if (is_complete(peer, h->flow))
		return false;
	if (h->segments == 1) {
		pfabric_set_bit(&peer->complete, h->flow, true);
		return true;
	}
	c = &p->coming[(size_t)(h->flow % PFABRIC_FLOWS) * p->remote.config.nodes + from];
	if (!c->live || c->number != h->flow)
		*c = (struct pfabric_coming){.number = h->flow, .live = true};
	if (h->segment < c->base || h->segment - c->base >= PFABRIC_SPAN || pfabric_bit(&c->have, h->segment))
		return false;
	pfabric_set_bit(&c->have, h->segment, true);
	while (pfabric_bit(&c->have, c->base))
		pfabric_set_bit(&c->have, c->base++, false);
	if (c->base == h->segments) {
		c->live = false;
		pfabric_set_bit(&peer->complete, h->flow, true);
	}
	return true;
}

static void data(struct pfabric *p, uint16_t peer, mf_time at, const struct mf_pfabric_header *h,
		 const uint8_t *segment, uint32_t octets)
{
	if (h->segments == 0 || h->segment >= h->segments || octets < REMOTE_HEADER) {
		p->drop_header++;
		return;
	}
	answer(p, peer, at, h, MF_PFABRIC_ACK);
	if (note(p, peer, h))
		remote_segment(&p->remote, at, peer, segment, octets);
	else
		p->duplicates++;
}

static void packet(struct pfabric *p, mf_time at, const struct mf_packet *packet)
{
	struct mf_pfabric_header h;

	memcpy(&h, packet->l4, sizeof(h));
	h.flow = rte_be_to_cpu_32(h.flow);
	h.slot = rte_be_to_cpu_32(h.slot);
	h.segment = rte_be_to_cpu_32(h.segment);
	h.segments = rte_be_to_cpu_32(h.segments);
	p->received++;
	switch (h.kind) {
	case MF_PFABRIC_DATA:
		data(p, packet->src, at, &h, packet->l4 + MF_PFABRIC_HEADER, packet->len - MF_PFABRIC_HEADER);
		break;
	case MF_PFABRIC_PROBE:
		answer(p, packet->src, at, &h, MF_PFABRIC_PROBE_ACK);
		break;
	case MF_PFABRIC_ACK:
	case MF_PFABRIC_PROBE_ACK:
		pfabric_acked(p, packet->src, &h, at);
		break;
	default:
		p->drop_header++;
	}
}

bool pfabric_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct pfabric *p = pfabric_of(s);
	struct mf_packet k;

	if (len < MF_PACKET_L4 || frame[12] != RTE_ETHER_TYPE_IPV4 >> 8 ||
	    frame[13] != (RTE_ETHER_TYPE_IPV4 & 0xff))
		return false;
	if (!mf_packet_parse(frame, len, &k))
		p->drop_header++;
	else if (k.protocol != MF_PFABRIC_PROTOCOL)
		return false;
	else if (k.dst != p->remote.config.node || k.src >= p->remote.config.nodes || k.src == k.dst)
		p->drop_foreign++;
	else if (k.len < MF_PFABRIC_HEADER)
		p->drop_header++;
	else if (pfabric_checksum(frame, k.len) != 0xffff)
		p->drop_checksum++;
	else
		packet(p, at, &k);
	return true;
}
