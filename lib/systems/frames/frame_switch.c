/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/frames/feed.h"
#include "systems/frames/mf_frame_switch.h"
#include "systems/frames/mf_stack.h"

struct port {
	struct mf_port_shell shell;
	bool lost; /**< its link is */
} __attribute__((aligned(64)));

struct mf_frame_switch {
	struct mf_ports shell;
	const struct mf_bridge_ops *ops;
	struct mf_bridge *bridge;
	uint64_t wants[MF_NODES_MAX / 64]; /**< of mf_bridge_config.wants */
	struct mf_frame_switch_counts counts;
	struct port port[];
};

static int bridge_init(struct mf_frame_switch *sw, const struct mf_frame_switch_config *c)
{
	struct mf_bridge_config of = c->of;
	bool up[MF_NODES_MAX];
	uint32_t period[MF_NODES_MAX];

	for (unsigned int i = 0; i < of.ports; i++) {
		up[i] = c->port[i].up;
		period[i] = c->port[i].mux.period;
	}
	of.up = up;
	of.period = period;
	of.wants = sw->wants;
	if (of.probe != NULL && of.probe->stamp == NULL)
		of.probe = NULL;
	sw->ops = c->bridge;
	sw->bridge = c->bridge->create(&of);
	return sw->bridge != NULL ? 0 : -errno;
}

static int init(struct mf_frame_switch *sw, const struct mf_frame_switch_config *c)
{
	int err = 0;

	sw->shell.next = MF_NEVER;
	sw->shell.first = (uint8_t *)sw->port;
	sw->shell.stride = sizeof(sw->port[0]);
	sw->shell.ports = c->of.ports;
	for (unsigned int i = 0; i < c->of.ports && err == 0; i++) {
		struct mf_port_config port = c->port[i];

		port.room = MF_STACK_BLOCKS_MAX;
		err = mf_port_init(&sw->port[i].shell, &port);
	}
	return err != 0 ? err : bridge_init(sw, c);
}

struct mf_frame_switch *mf_frame_switch_new(const struct mf_frame_switch_config *c)
{
	struct mf_frame_switch *sw;
	size_t size;
	int err;

	if (c->of.ports < 1 || c->of.ports > MF_NODES_MAX) {
		errno = EINVAL;
		return NULL;
	}
	size = (sizeof(*sw) + c->of.ports * sizeof(sw->port[0]) + 63) & ~(size_t)63;
	sw = aligned_alloc(64, size);
	if (sw == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	memset(sw, 0, size);
	err = init(sw, c);
	if (err != 0) {
		mf_frame_switch_free(sw);
		errno = -err;
		return NULL;
	}
	return sw;
}

void mf_frame_switch_free(struct mf_frame_switch *sw)
{
	if (sw == NULL)
		return;
	if (sw->bridge != NULL)
		sw->ops->destroy(sw->bridge);
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		mf_port_fini(&sw->port[i].shell);
	free(sw);
}

/* ---- what arrives ---- */

/** A message of blocks, of which a span may have had a part only. */
static void take_message(struct mf_frame_switch *sw, unsigned int port, const struct mf_rx_item *it,
			 mf_time last)
{
	struct mf_receiver *r = &sw->port[port].shell.rx;
	enum mf_assembly part;

	if (it->begins && it->ends) {
		sw->ops->message(sw->bridge, port, last, it->word, it->count);
		return;
	}
	part = mf_receiver_part(r, it, last);
	if (part == MF_PART_WHOLE)
		sw->ops->message(sw->bridge, port, last, r->word, r->count);
	else if (part != MF_PART_MORE)
		sw->counts.drop_proto++;
}

static void take(struct mf_ports *s, unsigned int port, mf_time now, const struct mf_rx_item *it)
{
	struct mf_frame_switch *sw = (struct mf_frame_switch *)s;

	switch (it->kind) {
	case MF_RX_FRAME:
		sw->counts.frames++;
		sw->ops->frame(sw->bridge, port, mf_time_max(now, it->at), it->frame, it->count);
		break;
	case MF_RX_ABORT:
		sw->port[port].shell.rx.collecting = false;
		break;
	default:
		if (sw->ops->messages)
			take_message(sw, port, it,
				     mf_time_max(now, it->at + (mf_time)(it->count - 1) * it->period));
		else
			sw->counts.drop_proto++;
	}
}

/* The bridge runs when all of this instant has come. */
void mf_frame_switch_rx(struct mf_frame_switch *sw, unsigned int port, mf_time now,
			const struct mf_span *span)
{
	struct mf_demux *d = &sw->port[port].shell.rx.demux;
	struct mf_rx_item item;
	unsigned int pos = 0;

	while (pos < span->count)
		if (mf_demux_span(d, span, &pos, &item, 1) != 0)
			take(&sw->shell, port, now, &item);
	mf_ports_watch(&sw->shell, port);
	mf_ports_wake(&sw->shell, sw->ops->next(sw->bridge));
}

/* ---- what is sent, links, and time ---- */

static bool wants(const struct mf_frame_switch *sw, const struct mf_port_shell *p)
{
	return feed_wants(p->mux, sw->ops->messages, p->paced ? FEED_COMMIT : FEED_COMMIT_WALL);
}

static bool feed_frame(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	const uint8_t *frame;
	uint16_t len = sw->ops->pull(sw->bridge, port, now, &frame);

	if (len == 0)
		return false;
	if (!mf_mux_frame(sw->port[port].shell.mux, now, frame, len))
		sw->counts.drop_frame_room++;
	return true;
}

static bool feed_message(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	uint64_t word[MF_STACK_BLOCKS_MAX];
	unsigned int n = sw->ops->pull_message(sw->bridge, port, now, word);

	if (n == 0)
		return false;
	if (!feed_words(sw->port[port].shell.mux, now, word, n))
		sw->counts.drop_room++;
	return true;
}

/** What a port without a link would send. */
static void throw_away(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	uint64_t word[MF_STACK_BLOCKS_MAX];
	const uint8_t *frame;

	while (sw->ops->messages ? sw->ops->pull_message(sw->bridge, port, now, word) != 0
				 : sw->ops->pull(sw->bridge, port, now, &frame) != 0)
		sw->counts.drop_link++;
}

/** What a port may send next. */
static void feed(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	bool messages = sw->ops->messages, fed = false;

	if (sw->port[port].lost) {
		throw_away(sw, port, now);
		return;
	}
	feed_sent(sw->port[port].shell.mux);
	while (wants(sw, &sw->port[port].shell) &&
	       (messages ? feed_message(sw, port, now) : feed_frame(sw, port, now)))
		fed = true;
	if (fed)
		mf_ports_send(&sw->shell, port);
}

/** Does what is due, and feeds the ports that want it. @return the next time */
static mf_time bridge_run(struct mf_frame_switch *sw, mf_time now)
{
	if (sw->ops->next(sw->bridge) <= now)
		sw->ops->run(sw->bridge, now);
	for (unsigned int w = 0; w <= (sw->shell.ports - 1) / 64; w++) {
		uint64_t set = sw->wants[w];

		sw->wants[w] = 0;
		for (; set != 0; set &= set - 1)
			feed(sw, w * 64 + (unsigned int)__builtin_ctzll(set), now);
	}
	return sw->ops->next(sw->bridge);
}

mf_time mf_frame_switch_run(struct mf_frame_switch *sw, mf_time now)
{
	if (now < sw->shell.next)
		return sw->shell.next;
	sw->shell.next = MF_NEVER;
	mf_ports_wake(&sw->shell, mf_ports_accept(&sw->shell, now, take));
	mf_ports_wake(&sw->shell, bridge_run(sw, now));
	return sw->shell.next;
}

void mf_frame_switch_link_down(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	struct mf_span s;

	if (sw->port[port].lost)
		return;
	sw->port[port].lost = true;
	sw->shell.links_lost++;
	mf_span_no_signal(&s, now);
	mf_frame_switch_rx(sw, port, now, &s);
	mf_mux_flush(sw->port[port].shell.mux, now);
	if (sw->ops->link != NULL)
		sw->ops->link(sw->bridge, port, now, false);
	throw_away(sw, port, now);
	mf_ports_wake(&sw->shell, now);
}

bool mf_frame_switch_link_up(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	struct port *p = &sw->port[port];

	if (!p->lost)
		return true;
	p->lost = false;
	sw->shell.links_lost--;
	if (sw->ops->link != NULL)
		sw->ops->link(sw->bridge, port, now, true);
	mf_ports_wake(&sw->shell, now);
	return true;
}

/** The room that this made may be news for other ports. */
static inline void sent(struct mf_frame_switch *sw, unsigned int port, mf_time now)
{
	feed(sw, port, now);
	mf_ports_wake(&sw->shell, sw->ops->next(sw->bridge));
}

unsigned int mf_frame_switch_tx(struct mf_frame_switch *sw, unsigned int port, mf_time now, unsigned int max,
				struct mf_span *out)
{
	unsigned int n = mf_mux_pull(sw->port[port].shell.mux, now, max, out);

	if (n > 0)
		sent(sw, port, now);
	return n;
}

struct mf_span *mf_frame_switch_tx_in_place(struct mf_frame_switch *sw, unsigned int port, mf_time now,
					    struct mf_span *room)
{
	struct mf_span *s = mf_mux_pull_in_place(sw->port[port].shell.mux, now, room);

	if (s != NULL)
		sent(sw, port, now);
	return s;
}

const struct mf_pool_desc *mf_frame_switch_pools(const struct mf_frame_switch *sw)
{
	return sw->ops->pools;
}

void mf_frame_switch_exhaust(struct mf_frame_switch *sw, unsigned int pool, unsigned int port, bool on)
{
	sw->ops->exhaust(sw->bridge, pool, port, on);
}

/* ---- what is there, and what is counted ---- */

bool mf_frame_switch_has_frames(const struct mf_frame_switch *sw)
{
	return sw->ops->busy(sw->bridge) || mf_ports_accepting(&sw->shell);
}

void mf_frame_switch_counts(const struct mf_frame_switch *sw, struct mf_frame_switch_counts *out)
{
	*out = sw->counts;
}

void mf_frame_switch_depth(struct mf_frame_switch *sw, unsigned int port, bool anew,
			   struct mf_queue_depth *out)
{
	*out = (struct mf_queue_depth){0};
	if (sw->ops->depth != NULL)
		sw->ops->depth(sw->bridge, port, anew, out);
}

unsigned int mf_frame_switch_counters(const struct mf_frame_switch *sw, struct mf_counter *out)
{
	return sw->ops->counters(sw->bridge, out);
}
