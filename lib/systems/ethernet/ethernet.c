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

#define ETHER_TYPE 0x88b7 /* OUI extended */

enum { ETHERNET_MTU, ETHERNET_PARAMS };

static const struct mf_param params[] = {
	{"mtu", MF_PARAM_SIZE, 1500, 64, 8986, "longest payload of a frame (IEEE 802.3: 1,500)"}, {0}};

struct ethernet {
	struct remote remote;
	uint32_t mtu;
};

static struct mf_stack *ethernet_create(const struct mf_stack_config *c)
{
	struct ethernet *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->mtu = (uint32_t)c->param[ETHERNET_MTU];
	if (remote_init(&e->remote, c, ETHERNET_PARAMS, &remote_fifo) == 0)
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
	uint16_t peer;
	uint32_t octets = remote_fifo_pull(&e->remote, now, e->mtu, &peer, frame + RTE_ETHER_HDR_LEN);

	if (octets == 0)
		return 0;
	mf_packet_ether(frame, e->remote.config.node, peer, ETHER_TYPE);
	return (uint16_t)(RTE_ETHER_HDR_LEN + octets);
}

static unsigned int ethernet_counters(const struct mf_stack *s, struct mf_counter *out)
{
	return remote_counters(remote_const(s), out);
}

static struct mf_op_blocks ethernet_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	return remote_blocks(kind, octets, (uint32_t)param[ETHERNET_MTU] - REMOTE_HEADER,
			     RTE_ETHER_HDR_LEN + REMOTE_HEADER);
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
					    .ready = remote_fifo_ready,
					    .run = remote_run,
					    .next = remote_next,
					    .counters = ethernet_counters,
					    .blocks = ethernet_blocks};
