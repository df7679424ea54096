/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake: HELLO, REFUSE, BYE and PROBE that go. */
#include <string.h>

#include "link/link.h"

const uint8_t link_broadcast[MF_LINK_MAC] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

const uint8_t *link_mac(const uint8_t *src)
{
	static const uint8_t none[MF_LINK_MAC];

	return (src[0] & 1) || memcmp(src, none, MF_LINK_MAC) == 0 ? link_broadcast : src;
}

struct mf_link_head link_head(const struct mf_link *l, const uint8_t *dst, uint8_t type)
{
	struct mf_link_head h = {.version = MF_LINK_VERSION,
				 .type = type,
				 .link = l->config.id,
				 .flags = l->config.switch_end ? MF_LINK_FROM_SWITCH : 0};

	memcpy(h.dst, dst, MF_LINK_MAC);
	memcpy(h.src, l->config.mac, MF_LINK_MAC);
	mf_link_head_ethertype(&h, l->config.ethertype);
	return h;
}

uint64_t link_features(const struct mf_link *l)
{
	return (l->config.retransmit ? MF_LINK_RETRANSMITS : 0) | MF_LINK_PROVES;
}

void link_greet_now(struct mf_link *l)
{
	l->hello_now = true;
	l->greet_at = 0;
}

static uint16_t partner_state(const struct mf_link *l)
{
	return l->up ? l->told_state : l->hello.state;
}

/** What a version that does not know it takes for damage: a partner that is known has said which it is. */
static void put_place(const struct mf_link *l, struct mf_link_hello *body)
{
	body->thread = l->place.thread;
	body->host = l->place.host;
}

static const uint8_t *put_hello(struct mf_link *l, const uint8_t *dst, uint64_t partner, uint16_t *len)
{
	struct mf_link_hello body = {
		.epoch = l->own,
		.partner = partner,
		.fabric = l->config.fabric,
		.features = link_features(l),
		.period = l->config.period,
		.window = l->config.window,
		.blocks = l->config.blocks,
		.state = l->state,
		.echo = partner != 0 && partner == l->partner ? partner_state(l) : 0,
		.first = l->config.first,
		.node = l->config.node,
		.took = partner != 0 && partner == l->partner ? l->took : 0,
	};
	struct mf_link_head h = link_head(l, dst, MF_LINK_HELLO);

	if (partner != 0 && partner == l->partner)
		put_place(l, &body);
	memcpy(body.name, l->name, sizeof(body.name));
	l->stats.tx_hello_frames++;
	*len = mf_link_frame_put_control(l->control, &h, &body, sizeof(body));
	return l->control;
}

static const uint8_t *put_parting(struct link_parting *p, uint64_t *count, uint16_t *len)
{
	*len = p->len;
	p->len = 0;
	++*count;
	return p->frame;
}

static const uint8_t *greet(struct mf_link *l, mf_time now, uint16_t *len)
{
	uint64_t answer = l->answer;

	if (l->bye.len != 0)
		return put_parting(&l->bye, &l->stats.tx_bye_frames, len);
	if (l->refuse.len != 0)
		return put_parting(&l->refuse, &l->stats.tx_refuse_frames, len);
	if (answer != 0) {
		l->answer = 0;
		return put_hello(l, link_broadcast, answer, len);
	}
	if (l->probe != LINK_PROBE_NONE)
		return link_put_probe(l, len);
	if (!l->hello_now && now < l->hello_at)
		return NULL;
	l->hello_now = false;
	/* A stranger does not keep the partner of a link that is up waiting. */
	l->hello_at = now + (l->slow && !l->up ? l->config.refused_period : l->config.hello_period);
	link_probe_due(l, now);
	return put_hello(l, l->up ? l->mac : link_broadcast, l->partner, len);
}

const uint8_t *link_greet(struct mf_link *l, mf_time now, uint16_t *len)
{
	const uint8_t *frame = greet(l, now, len);
	bool more = l->bye.len != 0 || l->refuse.len != 0 || l->answer != 0 || l->hello_now ||
		    l->probe != LINK_PROBE_NONE;

	l->greet_at = more ? 0 : l->hello_at;
	return frame;
}

uint16_t mf_link_refuse_unknown(const uint8_t *frame, const uint8_t mac[MF_LINK_MAC], uint8_t *out)
{
	const struct mf_link_head *got = mf_link_frame_head(frame);
	struct mf_link_refuse body = {.reason = MF_LINK_REASON_LINK, .got = got->link};
	struct mf_link_head h = *got;

	if (got->type != MF_LINK_HELLO || got->length < sizeof(body.epoch) ||
	    (got->flags & MF_LINK_FROM_SWITCH))
		return 0;
	memcpy(&body.epoch, mf_link_frame_body(frame), sizeof(body.epoch));
	memcpy(h.dst, link_mac(got->src), MF_LINK_MAC);
	memcpy(h.src, mac, MF_LINK_MAC);
	h.version = MF_LINK_VERSION;
	h.type = MF_LINK_REFUSE;
	h.flags = MF_LINK_FROM_SWITCH;
	h.epoch = h.seq = h.ack = h.limit = 0;
	return mf_link_frame_put_control(out, &h, &body, sizeof(body));
}
