/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch whose forwarding is a bridge's (mf_bridge.h): its ports, and what goes in and out at them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/edm/switch/switch_priv.h"
#include "systems/frames/feed.h"
#include "systems/frames/mf_stack.h"

int bridge_init(struct mf_switch *sw, const struct mf_switch_config *c)
{
	bool up[MF_PORTS_MAX];
	uint32_t period[MF_PORTS_MAX];
	const struct mf_bridge_config b = {.ports = c->ports,
					   .up = up,
					   .period = period,
					   .delay = c->link_delay,
					   .l2_latency = c->l2_latency,
					   .timing = c->timing,
					   .param = c->bridge_param,
					   .obeyed = c->obeyed,
					   .seed = c->seed,
					   .probe = sw->probe,
					   .wants = sw->bridge_wants};

	for (unsigned int i = 0; i < c->ports; i++) {
		up[i] = c->port[i].up;
		period[i] = c->port[i].mux.period;
	}
	sw->bridge_ops = c->bridge;
	sw->bridge = c->bridge->create(&b);
	return sw->bridge != NULL ? 0 : -errno;
}

void bridge_fini(struct mf_switch *sw)
{
	if (sw->bridge != NULL)
		sw->bridge_ops->destroy(sw->bridge);
}

/** A message of blocks, of which a span may have had a part only. */
static void rx_message(struct mf_switch *sw, unsigned int port, const struct mf_rx_item *it, mf_time last)
{
	struct mf_receiver *r = &sw->port[port].rx;
	enum mf_part part;

	if (it->begins && it->ends) {
		sw->bridge_ops->message(sw->bridge, port, last, it->word, it->count);
		return;
	}
	part = mf_receiver_part(r, it, last);
	if (part == MF_PART_WHOLE)
		sw->bridge_ops->message(sw->bridge, port, last, r->word, r->count);
	else if (part != MF_PART_MORE)
		sw->stats.drop_proto++;
}

void bridge_rx(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_rx_item *it)
{
	switch (it->kind) {
	case MF_RX_FRAME:
		sw->stats.frames++;
		sw->bridge_ops->frame(sw->bridge, port, mf_time_max(now, it->at), it->frame, it->count);
		break;
	case MF_RX_ABORT:
		sw->port[port].rx.collecting = false;
		break;
	default:
		if (sw->bridge_ops->messages)
			rx_message(sw, port, it,
				   mf_time_max(now, it->at + (mf_time)(it->count - 1) * it->period));
		else
			sw->stats.drop_proto++;
	}
}

static bool wants(const struct mf_switch *sw, const struct port *p)
{
	return feed_wants(p->mux, sw->bridge_ops->messages, p->period != 0 ? FEED_COMMIT : FEED_COMMIT_WALL);
}

static bool feed_frame(struct mf_switch *sw, unsigned int port, mf_time now)
{
	const uint8_t *frame;
	uint16_t len = sw->bridge_ops->pull(sw->bridge, port, now, &frame);

	if (len == 0)
		return false;
	if (!mf_mux_frame(sw->port[port].mux, now, frame, len))
		sw->stats.drop_frame_room++;
	return true;
}

static bool feed_message(struct mf_switch *sw, unsigned int port, mf_time now)
{
	uint64_t word[MF_STACK_BLOCKS_MAX];
	unsigned int n = sw->bridge_ops->pull_message(sw->bridge, port, now, word);

	if (n == 0)
		return false;
	if (!feed_words(sw->port[port].mux, now, word, n))
		sw->stats.drop_room++;
	return true;
}

void bridge_feed(struct mf_switch *sw, unsigned int port, mf_time now)
{
	bool messages = sw->bridge_ops->messages, fed = false;

	feed_sent(sw->port[port].mux);
	while (wants(sw, &sw->port[port]) &&
	       (messages ? feed_message(sw, port, now) : feed_frame(sw, port, now)))
		fed = true;
	if (fed)
		switch_dirty(sw, port);
}

mf_time bridge_run(struct mf_switch *sw, mf_time now)
{
	if (sw->bridge_ops->next(sw->bridge) <= now)
		sw->bridge_ops->run(sw->bridge, now);
	for (unsigned int w = 0; w <= (sw->ports - 1) / 64; w++) {
		uint64_t set = sw->bridge_wants[w];

		sw->bridge_wants[w] = 0;
		for (; set != 0; set &= set - 1)
			bridge_feed(sw, w * 64 + (unsigned int)__builtin_ctzll(set), now);
	}
	return sw->bridge_ops->next(sw->bridge);
}

unsigned int mf_switch_bridge_counters(const struct mf_switch *sw, struct mf_counter *out)
{
	return sw->bridge != NULL ? sw->bridge_ops->counters(sw->bridge, out) : 0;
}
