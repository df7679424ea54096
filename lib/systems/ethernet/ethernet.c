/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw Ethernet (Table 1: "standard Ethernet MAC + PHY only"): segments of messages in frames of their own
 * EtherType, first in, first out. Nothing is acknowledged and nothing sent again: what the switch drops is
 * lost, and its operation times out. Frames of a pair stay in order, and so do its operations, but for the
 * data of a read, which leave the memory when they are sent.
 */
#include <errno.h>
#include <stdlib.h>

#include "net/mf_packet.h"
#include "systems/ethernet/mf_ethernet.h"
#include "systems/frames/mf_remote.h"
#include "systems/frames/mf_wire_blocks.h"

#define ETHER_TYPE 0x88b7 /* OUI extended */

enum { ETHERNET_MTU, ETHERNET_PARAMS };

static const struct mf_param params[] = {
	{"mtu", MF_PARAM_SIZE, 1500, 64, 8986, "longest payload of a frame (IEEE 802.3: 1,500)"}, {0}};

struct ethernet {
	struct remote remote;
	uint32_t mtu;
	uint32_t head, tail; /**< messages that wait */
};

static void ethernet_send(struct remote *r, uint32_t m, mf_time now)
{
	struct ethernet *e = (struct ethernet *)r;

	(void)now;
	r->message[m].next = REMOTE_NIL;
	if (e->head == REMOTE_NIL)
		e->head = m;
	else
		r->message[e->tail].next = m;
	e->tail = m;
}

/** What of it waits is forgotten when its turn comes. */
static void ethernet_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct ethernet *e = (struct ethernet *)r;

	(void)now;
	for (uint32_t m = e->head; m != REMOTE_NIL; m = r->message[m].next)
		if (r->message[m].op == op) {
			r->message[m].op = OPERATION_NIL;
			r->message[m].len = r->message[m].sent;
			r->message[m].data = NULL;
		}
}

static const struct remote_transport transport = {.send = ethernet_send, .give_up = ethernet_give_up};

static struct mf_stack *ethernet_create(const struct mf_stack_config *c)
{
	struct ethernet *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->mtu = (uint32_t)c->param[ETHERNET_MTU];
	e->head = REMOTE_NIL;
	if (remote_init(&e->remote, c, ETHERNET_PARAMS, &transport) == 0)
		return (struct mf_stack *)e;
	remote_fini(&e->remote);
	free(e);
	errno = ENOMEM;
	return NULL;
}

static void ethernet_destroy(struct mf_stack *s)
{
	remote_fini(remote_of(s));
	free(s);
}

static bool ethernet_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct remote *r = remote_of(s);
	int src, dst;

	if (len < RTE_ETHER_HDR_LEN || frame[12] != ETHER_TYPE >> 8 || frame[13] != (ETHER_TYPE & 0xff))
		return false;
	dst = mf_packet_node(frame);
	src = mf_packet_node(frame + 6);
	if (dst != r->config.node || src < 0)
		r->drop_bad++;
	else
		remote_segment(r, at, (uint16_t)src, frame + RTE_ETHER_HDR_LEN, len - RTE_ETHER_HDR_LEN);
	return true;
}

static uint16_t ethernet_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct ethernet *e = (struct ethernet *)s;
	struct remote *r = &e->remote;
	uint32_t i = e->head, octets;
	struct remote_message *m;

	if (i == REMOTE_NIL || r->message[i].ready > now)
		return 0;
	m = &r->message[i];
	octets = remote_segment_size(m, m->sent, e->mtu) - REMOTE_HEADER;
	if (!m->begun)
		remote_begun(r, m, now);
	m->begun = true;
	mf_packet_ether(frame, r->config.node, m->peer, ETHER_TYPE);
	remote_put_segment(r, m, m->sent, octets, frame + RTE_ETHER_HDR_LEN);
	m->sent += octets;
	if (m->sent == m->len) {
		e->head = m->next;
		remote_sent(r, m, now);
		remote_free_message(r, i);
	}
	return (uint16_t)(RTE_ETHER_HDR_LEN + REMOTE_HEADER + octets);
}

static mf_time ethernet_ready(const struct mf_stack *s)
{
	const struct ethernet *e = (const struct ethernet *)s;

	return e->head != REMOTE_NIL ? e->remote.message[e->head].ready : MF_NEVER;
}

static void ethernet_run(struct mf_stack *s, mf_time now)
{
	remote_expire(remote_of(s), now);
}

static mf_time ethernet_next(const struct mf_stack *s)
{
	return operations_next(&remote_const(s)->operations);
}

static unsigned int ethernet_counters(const struct mf_stack *s, struct mf_counter *out)
{
	return remote_counters(remote_const(s), out);
}

static double frames_blocks(const double *param, uint64_t octets)
{
	uint32_t mtu = (uint32_t)param[ETHERNET_MTU];

	return wire_blocks_of(octets, mtu - REMOTE_HEADER, RTE_ETHER_HDR_LEN + REMOTE_HEADER);
}

static struct mf_op_blocks ethernet_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	struct remote_load l = remote_load(kind, octets);
	double there = frames_blocks(param, l.there), back = l.answers ? frames_blocks(param, l.back) : 0;

	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}

const struct mf_stack_ops stack_ethernet = {.name = "ethernet",
					    .timing = "ethernet",
					    .stages = true,
					    .bridge = "fifo",
					    .params = params,
					    .writes_ordered = true,
					    .loses = true,
					    .wall = true,
					    .create = ethernet_create,
					    .destroy = ethernet_destroy,
					    .submit = remote_submit,
					    .completions = remote_completions,
					    .outstanding = remote_outstanding,
					    .frame = ethernet_frame,
					    .pull = ethernet_pull,
					    .ready = ethernet_ready,
					    .run = ethernet_run,
					    .next = ethernet_next,
					    .counters = ethernet_counters,
					    .blocks = ethernet_blocks};
