/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#define SEED ((unsigned long long)r->seed)
#define EPOCH UINT64_C(1700000000000000000)

struct rig *rig_new(uint64_t seed)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->seed = seed;
	r->delay = MF_US(5);
	mf_rng_init(&r->rng, seed, "rig", 0);
	for (int i = 0; i < 2; i++) {
		struct rig_end *e = &r->end[i];
		struct mf_link_config *c = &e->config;

		mf_link_config_default(c);
		c->id = 7;
		c->switch_end = i == RIG_SWITCH;
		c->node = i == RIG_SWITCH ? MF_LINK_NODE_SWITCH : 7;
		c->name = i == RIG_SWITCH ? "tor" : "n7";
		c->epoch = EPOCH + 1000 * (uint64_t)i;
		c->fabric = 0xfab;
		c->period = 2560;
		c->mac[0] = 2;
		c->mac[5] = (uint8_t)(i + 1);
		e->queue = calloc(RIG_QUEUE, sizeof(*e->queue));
		e->burst = 10;
	}
	return r;
}

void rig_start(struct rig *r, int end)
{
	struct rig_end *e = &r->end[end];

	if (e->process++ > 0)
		e->config.epoch = EPOCH + 2000 + r->now / 1000 + e->process;
	e->link = mf_link_new(&e->config, r->now);
	rig_hold(e->link != NULL, "%s", mf_link_config_fault(&e->config));
	e->paused = e->away = 0;
	memset(&e->status, 0, sizeof(e->status));
	e->put = 0;
}

void rig_kill(struct rig *r, int end)
{
	struct rig_end *e = &r->end[end];

	mf_link_free(e->link);
	e->link = NULL;
	e->taken = NULL;
	/* What comes to a process that is not there is lost. */
	while (e->queued > 0)
		free(e->queue[--e->queued].octets);
}

void rig_free(struct rig *r)
{
	for (int i = 0; i < 2; i++) {
		struct mf_impair_step step[MF_IMPAIR_OUT];

		rig_kill(r, i);
		for (unsigned int n = mf_impair_flush(&r->end[i].impair, step); n > 0; n--)
			free(step[n - 1].frame.frame);
		free(r->end[i].queue);
	}
	free(r);
}

/* The wire. */

static void arrive(struct rig *r, int to, uint8_t *octets, uint32_t len)
{
	struct rig_end *e = &r->end[to];
	mf_time at = r->now + r->delay + (r->jitter ? mf_rng_below(&r->rng, r->jitter) : 0);
	unsigned int i = e->queued;

	if (e->link == NULL || e->queued == RIG_QUEUE) {
		free(octets);
		return;
	}
	for (; i > 0 && e->queue[i - 1].at > at; i--)
		e->queue[i] = e->queue[i - 1];
	e->queue[i] = (struct rig_frame){at, r->order++, len, octets};
	e->queued++;
}

static uint8_t *copy_of(const uint8_t *frame, uint32_t len)
{
	uint8_t *copy = malloc(len);

	memcpy(copy, frame, len);
	return copy;
}

static void transmit(struct rig *r, int from, const uint8_t *frame, uint32_t len)
{
	struct rig_end *e = &r->end[from];
	uint8_t *octets = copy_of(frame, len);
	struct mf_impair_step step[MF_IMPAIR_OUT];
	const struct mf_impair_frame in = {octets, octets, len};

	if (r->filter != NULL && !r->filter(r, from, (struct mf_link_head *)octets)) {
		free(octets);
		return;
	}
	if (!e->impaired) {
		arrive(r, !from, octets, len);
		return;
	}
	for (unsigned int i = 0, n = mf_impair(&e->impair, &in, step); i < n; i++) {
		struct mf_impair_frame *f = &step[i].frame;

		switch (step[i].what) {
		case MF_IMPAIR_SEND:
			arrive(r, !from, f->frame, f->len);
			break;
		case MF_IMPAIR_SEND_COPY:
			arrive(r, !from, copy_of(f->data, f->len), f->len);
			break;
		case MF_IMPAIR_DROP:
			free(f->frame);
			break;
		}
	}
}

struct mf_link_head rig_head(struct rig *r, int from, uint8_t type)
{
	struct mf_link_status s;
	struct mf_link_head h = {.version = MF_LINK_VERSION, .type = type, .link = 7};

	mf_link_status(r->end[from].link, &s);
	memset(h.dst, 0xff, sizeof(h.dst));
	memcpy(h.src, r->end[from].config.mac, sizeof(h.src));
	h.flags = from == RIG_SWITCH ? MF_LINK_FROM_SWITCH : 0;
	mf_link_head_ethertype(&h, MF_LINK_ETHERTYPE);
	if (type != MF_LINK_HELLO && type != MF_LINK_REFUSE)
		h.epoch = from == RIG_SWITCH ? mf_link_tag(s.partner_epoch, s.epoch)
					     : mf_link_tag(s.epoch, s.partner_epoch);
	return h;
}

void rig_inject(struct rig *r, int to, const struct mf_link_head *h, const void *body, uint16_t length)
{
	uint8_t frame[512];
	uint16_t len = mf_link_frame_put_control(frame, h, body, length);

	arrive(r, to, copy_of(frame, len), len);
}

/* The ends. */

static uint64_t key_of(const struct rig_end *e)
{
	return (uint64_t)e->process << 16 | e->status.connections;
}

static void put_some(struct rig *r, struct rig_end *e)
{
	static struct mf_span span;
	unsigned int n;

	while (e->to_put > 0 && mf_link_can_put(e->link)) {
		n = e->burst != 0 ? e->burst : 1 + (unsigned int)mf_rng_below(&r->rng, MF_SPAN_MAX);
		n = n < e->to_put ? n : (unsigned int)e->to_put;
		span.count = 0;
		for (unsigned int i = 0; i < n; i++, e->put++)
			mf_span_put(&span, (uint8_t)(e->put * 7 >> 2 & 3), key_of(e) << 32 | e->put);
		if (e->to_put != UINT64_MAX)
			e->to_put -= n;
		/* Behind what goes while the link is down nothing comes. */
		if (!e->status.up) {
			e->put -= n;
			for (unsigned int i = 0; i < n; i++)
				span.word[i] = UINT64_MAX;
		}
		mf_link_put(e->link, &span);
		if (!e->status.up)
			break;
	}
}

/** The next span; the last one must not have changed until now. */
static struct mf_span *next_span(struct rig *r, struct rig_end *e)
{
	struct mf_span *s;

	if (e->taken != NULL)
		rig_hold(e->taken->word[0] == e->taken_word && e->taken->count == e->taken_count,
			 "seed %llu: a span in the owner's hands has changed", SEED);
	s = e->holds ? NULL : mf_link_take(e->link);
	if (s == NULL)
		return NULL;
	e->taken = s;
	e->taken_word = s->word[0];
	e->taken_count = s->count;
	return s;
}

static void take_all(struct rig *r, struct rig_end *e)
{
	struct mf_span *s;

	while ((s = next_span(r, e)) != NULL) {
		rig_hold(s->count > 0 && s->start == 0 && s->period == 0 && s->flags == 0,
			 "seed %llu: a span that says what no link knows", SEED);
		for (unsigned int i = 0; i < s->count; i++) {
			uint64_t key = s->word[i] >> 32, n = s->word[i] & UINT32_MAX;

			if (e->got == 0) {
				rig_hold(key > e->from, "seed %llu: a connection that was there before",
					 SEED);
				e->from = key;
			}
			rig_hold(s->word[i] != UINT64_MAX && key == e->from && n == e->got,
				 "seed %llu: block %llu of %llx for %llu of %llx", SEED,
				 (unsigned long long)n, (unsigned long long)key, (unsigned long long)e->got,
				 (unsigned long long)e->from);
			rig_hold(s->sync[i] == (n * 7 >> 2 & 3), "seed %llu: a sync header", SEED);
			e->got++;
			e->delivered++;
		}
	}
}

static void look(struct rig_end *e)
{
	uint32_t before = e->status.connections;

	if (!mf_link_changed(e->link))
		return;
	mf_link_status(e->link, &e->status);
	rig_hold(!mf_link_changed(e->link), "its status has changed while it was read");
	if (e->status.connections == before)
		return;
	e->ups += e->status.connections - before;
	e->put = 0;
	e->got = 0;
}

static void receive(struct rig *r, struct rig_end *e)
{
	unsigned int n = 0;

	for (; n < e->queued && e->queue[n].at <= r->now; n++) {
		struct rig_frame *f = &e->queue[n];

		switch (mf_link_frame_check(f->octets, f->len, MF_LINK_ETHERTYPE)) {
		case MF_LINK_GOOD:
		case MF_LINK_FAULT_VERSION:
			mf_link_rx(e->link, r->now, f->octets);
			break;
		case MF_LINK_FAULT_CRC:
			mf_link_damaged(e->link, r->now);
			break;
		default:
			break;
		}
		free(f->octets);
		look(e);
		take_all(r, e);
	}
	e->queued -= n;
	memmove(e->queue, e->queue + n, e->queued * sizeof(*e->queue));
}

static void turn(struct rig *r, int end)
{
	struct rig_end *e = &r->end[end];
	const uint8_t *frame = NULL;
	uint16_t len;

	if (e->link == NULL)
		return;
	if (e->paused > r->now) {
		e->away = e->away != 0 ? e->away : r->now;
		return;
	}
	if (e->away != 0)
		mf_link_away(e->link, r->now, r->now - e->away);
	e->away = 0;
	receive(r, e);
	if (mf_link_next(e->link) <= r->now)
		mf_link_run(e->link, r->now);
	look(e);
	take_all(r, e);
	do {
		put_some(r, e);
		if (e->line_free > r->now)
			return;
		frame = mf_link_tx(e->link, r->now, &len);
		if (frame == NULL)
			return;
		e->line_free = r->now + r->octet * (len + 24u);
		transmit(r, end, frame, len);
	} while (true);
}

static mf_time next_of(const struct rig *r, const struct rig_end *e)
{
	mf_time t = e->queued > 0 ? e->queue[0].at : MF_NEVER;

	if (e->link == NULL)
		return MF_NEVER;
	t = mf_time_min(t, mf_time_max(mf_link_next(e->link), e->line_free));
	if (r->octet != 0 && e->line_free > r->now)
		t = mf_time_min(t, e->line_free);
	return mf_time_max(t, e->paused);
}

static void step(struct rig *r, mf_time until)
{
	mf_time t = mf_time_min(next_of(r, &r->end[0]), next_of(r, &r->end[1]));

	r->now = mf_time_min(mf_time_max(t, r->now + MF_NS(10)), until);
	turn(r, 0);
	turn(r, 1);
}

void rig_run(struct rig *r, mf_time until)
{
	turn(r, 0);
	turn(r, 1);
	while (r->now < until)
		step(r, until);
}

mf_time rig_until_up(struct rig *r, mf_time within)
{
	mf_time start = r->now;

	while (!rig_is_up(r) && r->now < start + within)
		step(r, start + within);
	rig_hold(rig_is_up(r), "seed %llu: not up", SEED);
	return r->now - start;
}

static bool delivered(const struct rig *r)
{
	for (int i = 0; i < 2; i++)
		if (r->end[i].to_put != 0 || r->end[!i].got != r->end[i].put)
			return false;
	return true;
}

void rig_until_delivered(struct rig *r, mf_time within)
{
	mf_time end = r->now + within;

	turn(r, 0);
	turn(r, 1);
	while (!delivered(r) && r->now < end)
		step(r, end);
	for (int i = 0; i < 2; i++)
		rig_hold(r->end[i].to_put == 0 && r->end[!i].got == r->end[i].put,
			 "seed %llu, end %d: %llu of %llu blocks have come", SEED, !i,
			 (unsigned long long)r->end[!i].got, (unsigned long long)r->end[i].put);
}

struct rig *rig_up(uint64_t seed)
{
	struct rig *r = rig_new(seed);

	rig_start(r, 0);
	rig_start(r, 1);
	rig_until_up(r, MF_MS(1));
	return r;
}
