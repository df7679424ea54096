/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes in for the scheduler (EDM 3.1.1 notification, 3.2.2): /N/ is a demand, a request is the
 * implicit demand of its response and is buffered until granted; returned grants and errors cancel.
 */
#include <errno.h>

#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/incarnation.h"
#include "systems/edm/switch/limits.h"
#include "systems/edm/proto/mf_proto_inline.h"
#include "systems/edm/switch/standby.h"

/** Whether a message may go from port to port; else the cause was counted. */
static inline bool reachable(struct mf_switch *sw, unsigned int ingress, uint16_t dst)
{
	if (likely(test_bit(sw->reach_set, dst) && dst != ingress)) /* a destination has 9 bits */
		return true;
	if (dst < sw->shell.ports && link_lost(sw, dst))
		sw->stats.drop_link++;
	else
		sw->stats.drop_dst++;
	return false;
}

/** Whether one port may ask something of another; else the cause was counted. */
static inline bool may_ask(struct mf_switch *sw, unsigned int port, uint16_t dst)
{
	if (standby_awaits(sw, dst) && dst != port)
		return true;
	if (!reachable(sw, port, dst))
		return false;
	if (likely(!incarnation_bar_request(sw, (uint16_t)port, dst)))
		return true;
	sw->stats.drop_link++;
	return false;
}

/** Whether a demand for so many octets may be asked, by a message of n blocks; else it was answered. */
static __attribute__((noinline)) bool within_limits(struct mf_switch *sw, unsigned int port, mf_time now,
						    mf_time at, struct mf_msg m, unsigned int n,
						    uint32_t size, bool *excess)
{
	uint32_t blocks = m.mega ? size / 8 : mf_proto_chunk_blocks(&sw->proto, size);

	if (standby_logs(sw, (uint16_t)port, m.dst))
		return true; /* the active switch judges */
	return limits_demand(sw, &m, (uint16_t)port, blocks + n, now, at, excess);
}

/** What was within the limits finds no room. */
static __attribute__((noinline)) void dropped(struct mf_switch *sw, unsigned int port, struct mf_msg m)
{
	if (sw->limited)
		limits_dropped(sw, &m, (uint16_t)port);
}

static void log_notification(struct mf_switch *sw, unsigned int port, mf_time at, const struct mf_msg *m)
{
	const struct mf_sched_msg demand = {.at = at,
					    .src = (uint16_t)port,
					    .dst = m->dst,
					    .id = m->id,
					    .mega = m->mega,
					    .behind = m->behind,
					    .size = m->size,
					    .cookie = NONE};

	standby_demand(sw, &demand, 0);
}

static void notification(struct mf_switch *sw, unsigned int port, mf_time now, mf_time at,
			 const struct mf_msg *m)
{
	struct mf_sched_msg *demand;
	bool excess = false;

	sw->stats.control_blocks++;
	if (!may_ask(sw, port, m->dst))
		return;
	if (unlikely(sw->limited) && !within_limits(sw, port, now, at, mf_msg_copy(m), 1, m->size, &excess))
		return;
	sw->stats.notifications++;
	if (unlikely(sw->probe != NULL))
		stamp(sw, (uint16_t)port, m->dst, m->id, MF_STAGE_IDENTIFY, at, at + sw->identify);
	if (standby_logs(sw, (uint16_t)port, m->dst)) {
		log_notification(sw, port, mf_time_max(now, at + sw->identify), m);
		return;
	}
	demand = switch_descriptor(sw);
	if (unlikely(demand == NULL))
		dropped(sw, port, mf_msg_copy(m));
	else
		*demand = (struct mf_sched_msg){
			.at = mf_time_max(now, at + sw->identify),
			.src = (uint16_t)port,
			.dst = m->dst,
			.kind = MF_SCHED_DEMAND,
			.id = m->id,
			.mega = m->mega,
			.excess = excess,
			.behind = m->behind,
			.size = m->size,
			.cookie = NONE,
		};
}

/** What was not granted of a demand is not wanted. */
static void cancel_rest(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp, mf_time now,
			mf_time at)
{
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

/**
 * The rest of a demand is not wanted; a chunk of it that was granted will not come.
 * @param own  its sender says so: see circuit_named()
 */
static void cancel(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp, bool mega,
		   bool own, mf_time now, mf_time at)
{
	uint32_t c;

	if (standby_logs(sw, resp ? dst : src, resp ? src : dst)) {
		standby_cancel(sw, src, dst, id, resp);
		return;
	}
	while ((c = circuit_named(sw, src, dst, id, resp, mega, own)) != NONE && circuit_may_end(sw, c, now))
		circuit_kill(sw, c, now);
	cancel_rest(sw, src, dst, id, resp, now, at);
}

/** Of two switches, the active one: an answer passes, so the write came by the other one, if it was late. */
static void has_passed(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id, mf_time now)
{
	uint32_t c = circuit_named(sw, cn, mn, id, false, false, false); /* of a mega others are to come */

	if (unlikely(c != NONE) && sw->circuits[c].late)
		circuit_kill(sw, c, now);
}

/**
 * A demand of a node is over: it has given it up, or passes on that the active switch has refused it, of
 * which the log does not know. A chunk that is granted may be on its way, or is returned; with two switches
 * this is said behind it.
 */
static void over(struct mf_switch *sw, uint16_t port, const struct mf_msg *m, mf_time now, mf_time at)
{
	if (m->dst >= sw->shell.ports || m->dst == port) {
		sw->stats.drop_dst++;
	} else if (standby_logs(sw, port, m->dst)) {
		standby_cancel(sw, port, m->dst, m->id, false);
		standby_cancel(sw, m->dst, port, m->id, true);
	} else {
		if (sw->standby != NULL)
			cancel(sw, port, m->dst, m->id, false, false, true, now, at);
		else
			cancel_rest(sw, port, m->dst, m->id, false, now, at);
		cancel_rest(sw, m->dst, port, m->id, true, now, at);
	}
}

static void reply(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *item,
		  const struct mf_msg *m)
{
	bool gap = m->kind == MF_ERR && m->status == MF_ERR_GAP; /* of a write that goes on */

	if (m->src == port && m->of == MF_NOTIFY && m->kind == MF_ERR && !gap) {
		over(sw, (uint16_t)port, m, now, item->at);
		return;
	}
	if (m->src == port && m->status == MF_ERR_INCARNATION) {
		if (incarnation_heard(sw, (uint16_t)port, m->dst, mf_proto_incarnation(m)))
			standby_was_former(sw, (uint16_t)port, m->dst);
		return;
	}
	/* A restart is what the switch says of a node, not a node of itself; and it refuses demands. */
	if (m->src != port || (!gap && (m->status >= MF_ERR_RESTARTED || m->of == MF_NOTIFY))) {
		sw->stats.drop_spoof++;
		return;
	}
	if (!reachable(sw, port, m->dst))
		return;
	if (standby_bars(sw, port, m->dst)) {
		sw->stats.drop_link++;
		return;
	}
	if (m->kind == MF_ERR && !gap) {
		sw->stats.errors++;
		/* It answers a request whose response would have come from here, or a write to here. One that
		 * came in a mega was whole, and the others of the mega are still wanted. */
		if (m->of == MF_RREQ || m->of == MF_RMWREQ)
			cancel(sw, (uint16_t)port, m->dst, m->id, true, false, true, now, item->at);
		else
			cancel(sw, m->dst, (uint16_t)port, m->id, false, false, false, now, item->at);
	}
	if (unlikely(sw->standby != NULL) && !gap) {
		standby_answered(sw, m->dst, (uint16_t)port, m->id);
		has_passed(sw, m->dst, (uint16_t)port, m->id, now);
	}
	if (standby_hushes(sw, port, m->dst))
		return;
	sw->stats.singles++;
	forward_single(sw, port, m->dst, item->word[0], now, item->at);
}

/** A node answers that a chunk is not to come: the one that it was asked for. The standby has not asked. */
static void asked_back(struct mf_switch *sw, uint16_t port, const struct mf_msg *m, mf_time now)
{
	uint32_t c = port;

	if (sw->standby == NULL) {
		sw->stats.drop_proto++;
		return;
	}
	while (circuit_is(sw, c = sw->circuits[c].next)) {
		const struct circuit *ct = &sw->circuits[c];

		if (!ct->late || ct->chunk.resp || m->resp || ct->dst != m->dst || ct->chunk.id != m->id ||
		    circuit_number(c) != m->size)
			continue;
		if (circuit_may_end(sw, c, now)) /* else it is asked again */
			circuit_kill(sw, c, now);
		return;
	}
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
		if (err == -EBADMSG)
			mf_demux_refused(&sw->port[port].shell.rx.demux, item->at);
		return;
	}
	switch (m.kind) {
	case MF_NOTIFY:
		notification(sw, port, now, item->at, &m);
		break;
	case MF_GRET:
		sw->stats.returns++;
		if (m.op == MF_GRET_ASKED)
			asked_back(sw, (uint16_t)port, &m, now);
		else if (m.resp && m.dst < sw->shell.ports && standby_bars(sw, port, m.dst))
			sw->stats.drop_link++;
		else if (m.dst < sw->shell.ports)
			cancel(sw, (uint16_t)port, m.dst, m.id, m.resp, true, true, now, item->at);
		else
			sw->stats.drop_dst++;
		break;
	case MF_ACK:
	case MF_ERR:
		reply(sw, port, now, item, &m);
		break;
	case MF_TAKE:
		if (sw->standby != NULL)
			standby_take(sw, port, &m, now);
		else
			sw->stats.drop_proto++;
		break;
	default: /* a host has no grants to give */
		sw->stats.drop_proto++;
		break;
	}
}

/** A slot for a request that came by a port, or NONE. Who floods the switch leaves the others theirs. */
static uint32_t request_new(struct mf_switch *sw, unsigned int port)
{
	uint32_t slot = sw->request_free;

	if (unlikely(sw->no_requests || sw->port[port].requests >= sw->requests_port))
		return NONE;
	if (slot != NONE)
		sw->request_free = sw->requests[slot].next;
	else if (sw->requests_used < sw->requests_max)
		slot = sw->requests_used++;
	sw->port[port].requests += slot != NONE;
	return slot;
}

/** Whether a request may be asked; else the cause was counted. */
static inline bool good_request(struct mf_switch *sw, unsigned int port, int err, const struct mf_msg *m)
{
	if (unlikely(err == -EBADMSG))
		sw->stats.drop_check++;
	else if (unlikely(err != 0))
		sw->stats.drop_proto++;
	else if (unlikely(m->src != port))
		sw->stats.drop_spoof++;
	else
		return may_ask(sw, port, m->dst);
	return false;
}

static __attribute__((noinline)) void log_request(struct mf_switch *sw, mf_time at, unsigned int n,
						  struct mf_msg m, uint32_t slot)
{
	const struct mf_sched_msg demand = {
		.at = at,
		.src = m.dst,
		.dst = m.src,
		.id = m.id,
		.resp = true,
		.request_blocks = (uint8_t)n,
		.behind = m.behind,
		.size = mf_proto_response_size(&m),
		.cookie = slot,
	};

	standby_demand(sw, &demand, m.epoch);
}

/** Buffers a request and tells the scheduler. */
static inline void demand_response(struct mf_switch *sw, mf_time now, mf_time at, const uint64_t *word,
				   unsigned int n, const struct mf_msg *m)
{
	uint32_t size = mf_proto_response_size(m), slot;
	struct mf_sched_msg *demand;
	bool excess = false;
	struct request *r;

	if (unlikely(sw->limited) && !within_limits(sw, m->src, now, at, mf_msg_copy(m), n, size, &excess))
		return;
	slot = request_new(sw, m->src);
	if (unlikely(slot == NONE)) {
		sw->stats.drop_room++;
		dropped(sw, m->src, mf_msg_copy(m));
		return;
	}
	sw->stats.requests++;
	r = &sw->requests[slot];
	r->cn = m->src;
	r->mn = m->dst;
	r->blocks = (uint8_t)n;
	r->id = m->id;
	copy_request(r->word, word, n);
	if (standby_logs(sw, m->src, m->dst)) {
		log_request(sw, mf_time_max(now, at + sw->identify), n, mf_msg_copy(m), slot);
		return;
	}
	if (unlikely(sw->standby != NULL) && m->again == 0)
		circuit_asked_again(sw, m->src, m->dst, m->id);
	demand = switch_descriptor(sw);
	if (unlikely(demand == NULL)) {
		request_release(sw, slot);
		dropped(sw, m->src, mf_msg_copy(m));
		return;
	}
	*demand = (struct mf_sched_msg){
		.at = mf_time_max(now, at + sw->identify),
		.src = m->dst,
		.dst = m->src,
		.kind = MF_SCHED_DEMAND,
		.id = m->id,
		.resp = true,
		.request_blocks = (uint8_t)n,
		.excess = excess,
		.behind = m->behind,
		.size = size,
		.cookie = slot,
	};
	r->next = REQUEST_ASKED;
}

/** The answer to a call may be so long that it would keep the others from its node's link. */
static int get_rmwreq(const struct mf_switch *sw, const uint64_t *word, unsigned int n, struct mf_msg *m)
{
	int err = mf_proto_get_rmwreq(&sw->proto, word, n, m);
	uint32_t whole;

	if (likely(err != 0 || m->op != MF_RMW_CALL))
		return err;
	whole = m->offset + m->size; /* one that is sent again asks for the rest of it */
	return sw->answer > 0 && whole > MF_CALL_HEAD && whole <= mf_call_size(sw->answer) ? 0 : -EPROTO;
}

/** A whole request: checks it, binds it to its port, buffers it, and tells the scheduler. */
void intake_request(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word,
		    unsigned int n, mf_time at)
{
	struct mf_msg m;
	int err = likely(mf_proto_kind(word[0]) == MF_RREQ) ? mf_proto_get_rreq(&sw->proto, word, n, &m)
							    : get_rmwreq(sw, word, n, &m);

	if (unlikely(!good_request(sw, port, err, &m))) {
		if (err == -EBADMSG)
			mf_demux_refused(&sw->port[port].shell.rx.demux, at);
		return;
	}
	if (unlikely(sw->probe != NULL)) {
		stamp(sw, m.src, m.dst, m.id, MF_STAGE_CHECK, sw->port[port].shell.rx.first, at);
		stamp(sw, m.src, m.dst, m.id, MF_STAGE_IDENTIFY, at, at + sw->identify);
	}
	demand_response(sw, now, at, word, n, &m);
}
