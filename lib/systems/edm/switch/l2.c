/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ordinary layer-2 path: learning table, flooding of unknown destinations, a pipeline of constant
 * latency (Table 1: parse, match-action, packet manager, crossbar), queues per egress (the
 * multiplexer's) that are bounded. Frames come in whole: a frame is known only behind its /T/ (D15).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/edm/switch/switch_priv.h"

#define MAC_VALID (UINT64_C(1) << 48)
#define MAC_GROUP 1 /* of the first octet: multicast and broadcast */
#define WAYS 4 /* entries that are looked at for one address */

static uint32_t entry_size(uint16_t len)
{
	return (uint32_t)(sizeof(struct l2_frame) + len + 7) & ~UINT32_C(7);
}

int l2_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	struct l2 *l = &sw->l2;
	uint32_t order = 64;

	/* In the pipeline stands at most what all ports take in within its latency, and one frame a port
	 * that has just come; short frames are what needs the most entries. */
	for (unsigned int i = 0; i < sw->shell.ports; i++) {
		uint32_t period = config->port[i].mux.period;
		uint64_t octets = period != 0 ? sw->l2_latency / period * 8 : 0;

		l->ring_size += entry_size(MF_FRAME_MAX) + (uint32_t)(octets * 3 / 2);
		order += 2 + (uint32_t)(octets / 64);
	}
	l->ring_size = (2 * l->ring_size + 7) & ~UINT32_C(7);
	while ((order & (order - 1)) != 0)
		order += order & -order;
	l->order_mask = order - 1;
	l->mask = config->mac_table - 1;
	l->table = calloc(config->mac_table, sizeof(*l->table));
	l->ring = malloc(l->ring_size);
	l->order = malloc(order * sizeof(*l->order));
	return l->table != NULL && l->ring != NULL && l->order != NULL ? 0 : -ENOMEM;
}

void l2_fini(struct mf_switch *sw)
{
	free(sw->l2.table);
	free(sw->l2.ring);
	free(sw->l2.order);
}

void l2_forget(struct mf_switch *sw)
{
	struct l2 *l = &sw->l2;

	memset(l->table, 0, ((size_t)l->mask + 1) * sizeof(*l->table));
	l->ring_head = l->ring_tail = l->ring_used = 0;
	l->order_head = l->order_tail = 0;
}

static uint64_t mac_at(const uint8_t *p)
{
	uint64_t mac = 0;

	memcpy(&mac, p, 6);
	return mac;
}

static struct l2_entry *way(struct l2 *l, uint64_t mac, unsigned int i)
{
	return &l->table[((mac * UINT64_C(0x9e3779b97f4a7c15) >> 32) + i) & l->mask];
}

static void learn(struct mf_switch *sw, uint64_t mac, unsigned int port)
{
	struct l2_entry *e = NULL;

	if (mac & MAC_GROUP)
		return;
	for (unsigned int i = 0; i < WAYS; i++) {
		e = way(&sw->l2, mac, i);
		if (e->mac == (mac | MAC_VALID) || e->mac == 0)
			break;
	}
	/* A full bucket loses its last entry: that address is flooded until it speaks again. */
	if (e->mac != (mac | MAC_VALID))
		sw->stats.learned++;
	e->mac = mac | MAC_VALID;
	e->port = (uint16_t)port;
}

static int lookup(struct mf_switch *sw, uint64_t mac)
{
	if (mac & MAC_GROUP)
		return -1;
	for (unsigned int i = 0; i < WAYS; i++) {
		const struct l2_entry *e = way(&sw->l2, mac, i);

		if (e->mac == (mac | MAC_VALID))
			return e->port;
	}
	return -1;
}

/** Room for an entry of size octets in the ring, contiguous; NULL: the pipeline is full. */
static struct l2_frame *ring_room(struct l2 *l, uint32_t size, uint32_t *offset)
{
	uint32_t skip = l->ring_head + size > l->ring_size ? l->ring_size - l->ring_head : 0;

	if (l->ring_used + skip + size > l->ring_size || l->order_head - l->order_tail > l->order_mask)
		return NULL;
	if (skip != 0 && skip >= sizeof(struct l2_frame)) /* a filler, so that the tail can step over it */
		*(struct l2_frame *)(void *)(l->ring + l->ring_head) = (struct l2_frame){.size = skip};
	*offset = skip != 0 ? 0 : l->ring_head;
	l->ring_used += skip + size;
	l->ring_head = *offset + size == l->ring_size ? 0 : *offset + size;
	return (struct l2_frame *)(void *)(l->ring + *offset);
}

static const struct l2_frame *ordered(const struct l2 *l, uint32_t i)
{
	return (const struct l2_frame *)(const void *)(l->ring + l->order[i & l->order_mask]);
}

void l2_frame(struct mf_switch *sw, unsigned int ingress, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct l2 *l = &sw->l2;
	uint32_t size = entry_size(len), offset;
	struct l2_frame *f = ring_room(l, size, &offset);

	sw->stats.frames++;
	/* The wall clock's pipeline has no latency: what is in it only waits for its turn. */
	if (f == NULL && sw->window) {
		l2_run(sw, at);
		f = ring_room(l, size, &offset);
	}
	if (f == NULL) {
		sw->stats.drop_frame_room++;
		return;
	}
	*f = (struct l2_frame){
		.at = at + sw->l2_latency, .size = size, .len = len, .ingress = (uint16_t)ingress};
	memcpy(f + 1, frame, len);
	wake_at(sw, f->at);

	uint32_t i = l->order_head++;

	for (; i != l->order_tail; i--) {
		const struct l2_frame *o = ordered(l, i - 1);

		if (o->at < f->at || (o->at == f->at && o->ingress <= ingress))
			break;
		l->order[i & l->order_mask] = l->order[(i - 1) & l->order_mask];
	}
	l->order[i & l->order_mask] = offset;
}

static void to_egress(struct mf_switch *sw, unsigned int egress, const struct l2_frame *f, mf_time now)
{
	if (!mf_mux_frame(sw->port[egress].shell.mux, mf_time_max(now, f->at), (const uint8_t *)(f + 1),
			  f->len))
		sw->stats.drop_frame_room++;
	else
		switch_dirty(sw, egress);
}

static void let_out(struct mf_switch *sw, const struct l2_frame *f, mf_time now)
{
	const uint8_t *octets = (const uint8_t *)(f + 1);
	int egress;

	learn(sw, mac_at(octets + 6), f->ingress);
	egress = lookup(sw, mac_at(octets));
	if (egress == f->ingress) {
		sw->stats.drop_frame_self++;
	} else if (egress >= 0) {
		to_egress(sw, (unsigned int)egress, f, now);
	} else {
		sw->stats.flooded++;
		for (unsigned int i = 0; i < sw->shell.ports; i++)
			if (i != f->ingress && sw->port[i].shell.up)
				to_egress(sw, i, f, now);
	}
}

/** Frees what is at the tail of the ring and has been let out. */
static void reclaim(struct l2 *l)
{
	while (l->ring_used != 0) {
		uint32_t rest = l->ring_size - l->ring_tail;
		struct l2_frame *f = (struct l2_frame *)(void *)(l->ring + l->ring_tail);
		uint32_t size = rest < sizeof(*f) ? rest : f->size;

		if (rest >= sizeof(*f) && f->len != 0)
			break;
		l->ring_used -= size;
		l->ring_tail = size == rest ? 0 : l->ring_tail + size;
	}
}

mf_time l2_run(struct mf_switch *sw, mf_time now)
{
	struct l2 *l = &sw->l2;

	if (l->order_tail == l->order_head)
		return MF_NEVER;
	while (l->order_tail != l->order_head) {
		uint32_t offset = l->order[l->order_tail & l->order_mask];
		struct l2_frame *f = (struct l2_frame *)(void *)(l->ring + offset);

		if (f->at > now)
			break;
		let_out(sw, f, now);
		f->len = 0; /* done */
		l->order_tail++;
	}
	reclaim(l);
	return l->order_tail != l->order_head ? ordered(l, l->order_tail)->at : MF_NEVER;
}
