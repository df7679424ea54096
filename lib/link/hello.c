/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake: HELLO and REFUSE that come. */
#include <string.h>

#include "link/link.h"

void link_note_refusal(struct mf_link *l, const struct link_refusal *r)
{
	if (l->refusal.reason == r->reason)
		return;
	l->refusal = *r;
	l->changed = true;
}

/** Says so here, and to the partner, but not more often than it has to be. */
static void refuse(struct mf_link *l, mf_time now, const uint8_t *frame, const struct link_refusal *r)
{
	struct mf_link_refuse body = {.reason = r->reason, .have = r->have, .got = r->got};
	struct mf_link_head h = link_head(l, link_mac(mf_link_frame_head(frame)->src), MF_LINK_REFUSE);

	link_note_refusal(l, r);
	/* One that is stale may be a stranger, or late: the true partner must not wait for it. */
	if (r->reason != MF_LINK_REASON_STALE)
		l->slow = true;
	if (now < l->refuse_from)
		return;
	l->refuse_from = now + l->config.refused_period;
	memcpy(&body.epoch, mf_link_frame_body(frame), sizeof(body.epoch));
	l->refuse.len = mf_link_frame_put_control(l->refuse.frame, &h, &body, sizeof(body));
	l->greet_at = 0;
}

/** What does not match, in the order of the checks. @return true: something does not */
static bool mismatch(const struct mf_link *l, const struct mf_link_hello *b, struct link_refusal *r)
{
	if (b->fabric != l->config.fabric)
		*r = (struct link_refusal){MF_LINK_REASON_FABRIC, false, l->config.fabric, b->fabric};
	else if (b->period != l->config.period)
		*r = (struct link_refusal){MF_LINK_REASON_RATE, false, l->config.period, b->period};
	else if (b->features != link_features(l))
		*r = (struct link_refusal){MF_LINK_REASON_FEATURES, false, link_features(l), b->features};
	else if (b->epoch < l->known)
		*r = (struct link_refusal){MF_LINK_REASON_STALE, false, l->known, b->epoch};
	else
		return false;
	return true;
}

static void count_refused(struct mf_link_stats *s, unsigned int reason)
{
	switch (reason) {
	case MF_LINK_REASON_VERSION:
		s->refused_version_hellos++;
		break;
	case MF_LINK_REASON_FABRIC:
		s->refused_fabric_hellos++;
		break;
	case MF_LINK_REASON_RATE:
		s->refused_rate_hellos++;
		break;
	case MF_LINK_REASON_FEATURES:
		s->refused_features_hellos++;
		break;
	default:
		s->refused_stale_hellos++;
	}
}

void link_rx_version(struct mf_link *l, mf_time now, const uint8_t *frame)
{
	const struct mf_link_head *h = mf_link_frame_head(frame);
	const struct link_refusal r = {MF_LINK_REASON_VERSION, false, MF_LINK_VERSION, h->version};

	l->stats.rx_version_frames++;
	if (h->type != MF_LINK_HELLO || h->length < sizeof(uint64_t))
		return;
	count_refused(&l->stats, r.reason);
	refuse(l, now, frame, &r);
}

/** Takes what a HELLO tells of its end. */
static void note(struct mf_link *l, const struct mf_link_hello *b)
{
	if (l->partner != b->epoch) {
		l->changed = true;
		link_probe_reset(l);
	}
	l->hello = *b;
	if (b->partner != l->own)
		l->hello.took = 0; /* of another epoch of ours */
	l->partner = b->epoch;
}

static void hello_down(struct mf_link *l, mf_time now, const struct mf_link_hello *b, const uint8_t *mac)
{
	if (b->epoch != l->partner || b->partner != l->own)
		link_greet_now(l);
	memcpy(l->mac, mac, MF_LINK_MAC);
	l->slow = false;
	note(l, b);
	if (b->partner != l->own)
		return;
	if (link_proven(l))
		link_up(l, now);
	else
		link_unproven(l, now);
}

/** Another thread polls the partner's end. One that is late is wrong until the next comes. */
static void note_place(struct mf_link *l, const struct mf_link_hello *b)
{
	if (l->hello.host == b->host && l->hello.thread == b->thread)
		return;
	l->hello.host = b->host;
	l->hello.thread = b->thread;
	l->changed = true;
}

/** A HELLO may be late, and takes back nothing that a later one has told. */
static void hello_same(struct mf_link *l, mf_time now, const struct mf_link_hello *b)
{
	uint16_t state = l->told_state | b->state, echo = l->told_echo | b->echo;

	if (b->partner != l->own) {
		link_greet_now(l);
		return;
	}
	l->heard = now;
	if (link_unproven_at(l, b))
		l->llr.ack = true; /* its tag is the proof, and an end that is up sends no PROBE */
	note_place(l, b);
	if (l->told_state == state && l->told_echo == echo)
		return;
	if (l->told_state != state)
		link_greet_now(l); /* echoes it */
	l->told_state = state;
	l->told_echo = echo;
	l->changed = true;
}

/** One frame ends nothing: that a newer end is there is believed when it knows our epoch. */
static void hello_newer(struct mf_link *l, mf_time now, const struct mf_link_hello *b, const uint8_t *mac)
{
	if (b->partner != l->own) {
		l->answer = b->epoch;
		l->greet_at = 0;
		return;
	}
	link_down(l, MF_LINK_DOWN_RESTARTED, 0);
	hello_down(l, now, b, mac);
}

void link_rx_hello(struct mf_link *l, mf_time now, const uint8_t *frame)
{
	const struct mf_link_hello *b = mf_link_frame_body(frame);
	const uint8_t *mac = link_mac(mf_link_frame_head(frame)->src);
	struct link_refusal r;

	l->stats.rx_hello_frames++;
	if (mismatch(l, b, &r)) {
		count_refused(&l->stats, r.reason);
		refuse(l, now, frame, &r);
	} else if (!l->up) {
		hello_down(l, now, b, mac);
	} else if (b->epoch == l->partner) {
		hello_same(l, now, b);
	} else {
		hello_newer(l, now, b, mac);
	}
}

void link_rx_refuse(struct mf_link *l, const uint8_t *frame)
{
	const struct mf_link_refuse *b = mf_link_frame_body(frame);
	const struct link_refusal r = {b->reason, true, b->have, b->got};

	l->stats.rx_refuse_frames++;
	/* One for another epoch, or while up, answers something that the network has kept. */
	if (l->up || b->epoch != l->own || b->reason == 0)
		return;
	/* The clock may have gone back since the last start: then another epoch is as good. */
	if (b->reason == MF_LINK_REASON_STALE && !l->ever && b->have >= l->own && b->have != UINT64_MAX) {
		l->own = b->have + 1;
		link_probe_reset(l);
		l->stats.epoch_retries++;
		l->changed = true;
		link_greet_now(l);
		return;
	}
	l->slow = true;
	link_note_refusal(l, &r);
}
