/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes in for the scheduler (EDM 3.1.1 notification, 3.2.2): /N/ is a demand, a request is the
 * implicit demand of its response and is buffered until granted; returned grants and errors cancel.
 */
#include <errno.h>

#include "switch_priv.h"

static bool reachable(const struct mf_switch *sw, unsigned int ingress, uint16_t dst)
{
	return dst < sw->ports && dst != ingress && sw->port[dst].up && sw->port[dst].memory_enabled;
}

static void notification(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at,
			 const struct mf_msg *m)
{
	sw->stats.control_blocks++;
	if (!reachable(sw, port, m->dst)) {
		sw->stats.drop_dst++;
		return;
	}
	sw->stats.notifications++;
	stamp(sw, (uint16_t)port, m->dst, m->id, MF_STAGE_IDENTIFY, at, at + sw->identify);
	switch_tell(sw, &(struct mf_sched_msg){
				.at = mf_time_max(now, at + sw->identify),
				.src = (uint16_t)port,
				.dst = m->dst,
				.kind = MF_SCHED_DEMAND,
				.id = m->id,
				.mega = m->mega,
				.exponent = m->exponent,
				.size = m->size,
				.cookie = NONE,
			});
}

/** The rest of a demand is not wanted; a chunk of it that was granted will not come. */
static void cancel(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp, bool mega,
		   mf_time now, mf_time at)
{
	uint32_t c;

	while ((c = circuit_named(sw, src, dst, id, resp, mega)) != NONE)
		circuit_kill(sw, c, now);
	switch_tell(sw, &(struct mf_sched_msg){
				.at = mf_time_max(now, at + sw->identify),
				.src = src,
				.dst = dst,
				.kind = MF_SCHED_CANCEL,
				.id = id,
				.resp = resp,
				.cookie = NONE,
			});
}

static void reply(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item,
		  const struct mf_msg *m)
{
	if (m->src != port) {
		sw->stats.drop_spoof++;
		return;
	}
	if (!reachable(sw, port, m->dst)) {
		sw->stats.drop_dst++;
		return;
	}
	if (m->kind == MF_ERR) {
		sw->stats.errors++;
		/* It answers a request whose response would have come from here, or a write to here. One that
		 * came in a mega was whole, and the others of the mega are still wanted. */
		if (m->of == MF_RREQ || m->of == MF_RMWREQ)
			cancel(sw, (uint16_t)port, m->dst, m->id, true, false, now, item->at);
		else
			cancel(sw, m->dst, (uint16_t)port, m->id, false, false, now, item->at);
	}
	sw->stats.singles++;
	forward_single(sw, port, m->dst, item->word[0], now, item->at);
}

void intake_single(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item)
{
	struct mf_msg m;
	int err = mf_proto_get_single(item->word[0], &m);

	if (err != 0) {
		if (err == -EBADMSG)
			sw->stats.drop_check++;
		else
			sw->stats.drop_proto++;
		return;
	}
	switch (m.kind) {
	case MF_NOTIFY:
		notification(sw, port, now, item->at, &m);
		break;
	case MF_GRET:
		sw->stats.returns++;
		if (m.dst < sw->ports)
			cancel(sw, (uint16_t)port, m.dst, m.id, m.resp, true, now, item->at);
		else
			sw->stats.drop_dst++;
		break;
	case MF_ACK:
	case MF_ERR:
		reply(sw, port, now, item, &m);
		break;
	default: /* a host has no grants to give */
		sw->stats.drop_proto++;
		break;
	}
}

void request_release(struct mf_switch *sw, uint32_t slot)
{
	uint32_t *list = slot < sw->requests_max ? &sw->request_free : &sw->parked_grant_free;

	sw->requests[slot].next = *list;
	*list = slot;
}

/** A whole request: checks it, binds it to its port, buffers it, and tells the scheduler. */
void intake_request(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word,
		    unsigned int n, mf_time first, mf_time at)
{
	struct mf_msg m;
	const uint8_t *data;
	uint32_t slot = sw->request_free;
	int err = mf_proto_get(&sw->proto, word, n, &m, &data);

	if (err == -EBADMSG) {
		sw->stats.drop_check++;
		return;
	}
	if (err != 0 || n > MF_REQUEST_BLOCKS_MAX || (m.kind != MF_RREQ && m.kind != MF_RMWREQ)) {
		sw->stats.drop_proto++;
		return;
	}
	if (m.src != port) {
		sw->stats.drop_spoof++;
		return;
	}
	if (!reachable(sw, port, m.dst)) {
		sw->stats.drop_dst++;
		return;
	}
	if (slot == NONE) {
		sw->stats.drop_room++;
		return;
	}
	struct request *r = &sw->requests[slot];

	sw->request_free = r->next;
	for (unsigned int i = 0; i < n; i++)
		r->word[i] = word[i];
	r->blocks = (uint8_t)n;
	r->cn = m.src;
	r->mn = m.dst;
	r->id = m.id;
	sw->stats.requests++;
	stamp(sw, m.src, m.dst, m.id, MF_STAGE_CHECK, first, at);
	stamp(sw, m.src, m.dst, m.id, MF_STAGE_IDENTIFY, at, at + sw->identify);
	const struct mf_sched_msg demand = {
		.at = mf_time_max(now, at + sw->identify),
		.src = m.dst,
		.dst = m.src,
		.kind = MF_SCHED_DEMAND,
		.id = m.id,
		.resp = true,
		.request_blocks = (uint8_t)n,
		.size = m.kind == MF_RREQ ? m.size : mf_proto_rmw_size(m.op),
		.cookie = slot,
	};

	if (!switch_tell(sw, &demand))
		request_release(sw, slot);
}
