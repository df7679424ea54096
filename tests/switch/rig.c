/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

void rig_config(struct mf_switch_config *c, unsigned int n)
{
	*c = (struct mf_switch_config){.ports = n, .x = 4, .mac_table = 64, .l2_latency = L2_LATENCY};
	c->timing.cost[MF_STAGE_IDENTIFY] = IDENTIFY;
	c->timing.cost[MF_STAGE_MAKE_GRANT] = MAKE_GRANT;
	c->timing.cost[MF_STAGE_FORWARD] = FORWARD;
	for (unsigned int i = 0; i < n; i++)
		c->port[i] = (struct mf_switch_port_config){
			.up = true,
			.memory_enabled = true,
			.ber_window = MF_US(125),
			.mux = {.policy = MF_MUX_FAIR,
				.period = P,
				.memory_blocks = 1 << 15,
				.memory_items = 1 << 12,
				.frames = 64,
				.frame_bytes = 1 << 17,
				.quantum = 16,
				.memory_enabled = true},
		};
}

void rig_start(struct rig *r, const struct mf_switch_config *c, bool by_block)
{
	*r = (struct rig){.config = *c, .by_block = by_block};
	r->sw = mf_switch_new(c);
	cr_assert_not_null(r->sw);
}

void rig_stop(struct rig *r)
{
	mf_switch_free(r->sw);
	for (unsigned int i = 0; i < r->events; i++)
		free(r->event[i].block);
	for (unsigned int i = 0; i < RIG_PORTS; i++)
		free(r->out[i]);
	free(r->event);
	free(r->msg);
}

static struct rig_event *add(struct rig *r)
{
	if (r->events == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->event = realloc(r->event, r->room * sizeof(*r->event));
	}
	r->event[r->events] = (struct rig_event){.number = r->events};
	return &r->event[r->events++];
}

static void arrive(struct rig *r, unsigned int port, const struct rig_block *block, unsigned int n,
		   bool frame)
{
	for (unsigned int i = 0, k; i < n; i += k) {
		unsigned int most = n - i < MF_SPAN_MAX ? n - i : MF_SPAN_MAX;
		struct rig_event *e = add(r);

		k = r->by_block ? 1 : r->cut != NULL ? 1 + (unsigned int)mf_rng_below(r->cut, most) : most;
		e->n = k;
		e->block = malloc(k * sizeof(*block));
		memcpy(e->block, block + i, k * sizeof(*block));
		e->at = frame ? block[i + k - 1].at : block[i].at;
		e->port = port;
		e->order = r->reverse ? RIG_PORTS - 1 - port : port;
		e->frame = frame;
		e->period = r->config.port[port].mux.period;
	}
}

static void message(struct rig *r, mf_time at, unsigned int port, const uint64_t *word, unsigned int n,
		    bool whole)
{
	struct rig_block *b = calloc(n, sizeof(*b));

	for (unsigned int i = 0; i < n; i++) {
		b[i].at = at + (mf_time)i * r->config.port[port].mux.period;
		b[i].word = word[i];
		b[i].sync = i == 0 || (whole && i == n - 1) ? MF_SYNC_CTRL : MF_SYNC_DATA;
	}
	arrive(r, port, b, n, false);
	free(b);
}

void rig_blocks(struct rig *r, mf_time at, unsigned int port, const struct mf_block *block, unsigned int n)
{
	struct rig_block *b = calloc(n, sizeof(*b));

	for (unsigned int i = 0; i < n; i++)
		b[i] = (struct rig_block){at + (mf_time)i * r->config.port[port].mux.period, block[i].word,
					  block[i].sync};
	arrive(r, port, b, n, false);
	free(b);
}

void rig_message(struct rig *r, mf_time at, unsigned int port, const uint64_t *word, unsigned int n)
{
	message(r, at, port, word, n, true);
}

void rig_cut(struct rig *r, mf_time at, unsigned int port, const uint64_t *word, unsigned int n)
{
	message(r, at, port, word, n, false);
}

mf_time rig_frame(struct rig *r, mf_time at, unsigned int port, const uint8_t *frame, uint16_t len)
{
	static struct rig_block b[MF_FRAME_BLOCKS_MAX + 4];
	struct mf_frame_enc e;
	struct mf_block block;
	enum mf_frame_part part;
	unsigned int n = 0;
	mf_time end = 0;

	mf_frame_enc_init(&e, true);
	mf_frame_enc_start(&e, frame, len);
	while ((part = mf_frame_enc_next(&e, &block)) != MF_FRAME_NONE) {
		b[n] = (struct rig_block){at + (mf_time)n * r->config.port[port].mux.period, block.word,
					  block.sync};
		if (part == MF_FRAME_END)
			end = b[n].at;
		n++;
	}
	arrive(r, port, b, n, true);
	return end;
}

void rig_grant(struct rig *r, mf_time at, const struct mf_sched_grant *g)
{
	struct rig_event *e = add(r);

	e->at = at;
	e->order = RIG_PORTS;
	e->grant = true;
	e->g = *g;
}

static int by_time(const void *a, const void *b)
{
	const struct rig_event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void take_out(struct rig *r)
{
	struct mf_sched_msg msg[64];
	unsigned int n;

	while ((n = mf_switch_to_sched(r->sw, msg, 64)) > 0) {
		r->msg = realloc(r->msg, (r->msgs + n) * sizeof(*msg));
		memcpy(r->msg + r->msgs, msg, n * sizeof(*msg));
		r->msgs += n;
	}
}

static void transmit(struct rig *r, unsigned int port)
{
	struct mf_span s;

	while (mf_switch_tx_next(r->sw, port, r->now) <= r->now &&
	       mf_switch_tx(r->sw, port, r->now, r->by_block ? 1 : MF_SPAN_MAX, &s) > 0) {
		r->out[port] = realloc(r->out[port], (r->outs[port] + s.count) * sizeof(*r->out[port]));
		for (unsigned int i = 0; i < s.count; i++)
			if (s.word[i] != MF_IDLE_WORD || s.sync[i] != MF_SYNC_CTRL)
				r->out[port][r->outs[port]++] =
					(struct rig_block){mf_span_at(&s, i), s.word[i], s.sync[i]};
	}
}

static void take(struct rig *r, const struct rig_event *e)
{
	struct mf_span s = {.start = e->n ? e->block[0].at : 0, .period = e->period};

	if (e->grant) {
		mf_switch_grant(r->sw, r->now, &e->g);
		return;
	}
	for (unsigned int i = 0; i < e->n; i++)
		mf_span_put(&s, e->block[i].sync, e->block[i].word);
	s.flags = e->frame ? MF_SPAN_FRAME : 0;
	mf_switch_rx(r->sw, e->port, r->now, &s);
}

static mf_time next(const struct rig *r)
{
	mf_time at = mf_switch_next(r->sw);

	if (r->done < r->events)
		at = mf_time_min(at, r->event[r->done].at);
	for (unsigned int i = 0; i < r->config.ports; i++)
		at = mf_time_min(at, mf_switch_tx_next(r->sw, i, r->now));
	return mf_time_max(at, r->now);
}

void rig_run(struct rig *r, mf_time until)
{
	if (r->events > r->done)
		qsort(r->event + r->done, r->events - r->done, sizeof(*r->event), by_time);
	for (mf_time at; (at = next(r)) <= until;) {
		r->now = at;
		while (r->done < r->events && r->event[r->done].at <= at) {
			take(r, &r->event[r->done++]);
			take_out(r);
		}
		mf_switch_run(r->sw, at);
		take_out(r);
		for (unsigned int i = 0; i < r->config.ports; i++)
			transmit(r, i);
		take_out(r);
	}
	r->now = until;
}

unsigned int rig_single(const struct mf_msg *m, uint64_t *word)
{
	*word = mf_proto_put_single(m);
	return 1;
}

unsigned int rig_request(const struct rig *r, uint16_t cn, uint16_t mn, uint8_t id, uint32_t size,
			 uint64_t *word)
{
	const struct mf_msg m = {
		.kind = MF_RREQ, .src = cn, .dst = mn, .id = id, .size = size, .addr = 64 * (uint64_t)id};

	return mf_proto_put_request(&r->config.proto, &m, word);
}

unsigned int rig_chunk(const struct rig *r, uint8_t kind, uint16_t src, uint16_t dst, uint8_t id,
		       uint32_t size, uint64_t *word)
{
	static uint8_t data[MF_MESSAGE_MAX];
	const struct mf_msg m = {
		.kind = kind, .src = src, .dst = dst, .id = id, .size = size, .last = true, .addr = 4096};

	for (uint32_t i = 0; i < size; i++)
		data[i] = (uint8_t)(mf_hash64(id + ((uint64_t)src << 8)) >> i % 8 * 8) + (uint8_t)i;
	return mf_proto_put_chunk(&r->config.proto, &m, data, word);
}

struct mf_sched_grant rig_grant_of(mf_time at, uint16_t src, uint16_t dst, uint8_t id, bool resp, bool first,
				   uint32_t size, uint32_t cookie)
{
	return (struct mf_sched_grant){.at = at,
				       .since = at,
				       .src = src,
				       .dst = dst,
				       .id = id,
				       .resp = resp,
				       .first = first,
				       .last = true,
				       .size = size,
				       .cookie = cookie};
}

bool rig_sent(const struct rig *r, unsigned int port, unsigned int first, mf_time at, const uint64_t *word,
	      unsigned int n)
{
	if (r->outs[port] < first + n)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		const struct rig_block *b = &r->out[port][first + i];
		uint8_t sync = i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA;

		if (b->word != word[i] || b->sync != sync ||
		    b->at != at + (mf_time)i * r->config.port[port].mux.period)
			return false;
	}
	return true;
}

unsigned int rig_told(const struct rig *r, enum mf_sched_msg_kind kind, struct mf_sched_msg *last)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->msgs; i++)
		if (r->msg[i].kind == kind) {
			n++;
			if (last != NULL)
				*last = r->msg[i];
		}
	return n;
}

unsigned int rig_frames(const struct rig *r, unsigned int port, uint8_t *frame, unsigned int *len)
{
	struct mf_frame_dec d;
	unsigned int n = 0, got;
	const uint8_t *octets;

	cr_assert_eq(mf_frame_dec_init(&d), 0);
	for (unsigned int i = 0; i <= 2 * r->outs[port]; i++) {
		const struct rig_block *b = &r->out[port][i / 2];
		/* Idles were left out: the block behind a /T/ is there again, the others mean nothing. */
		bool idle = i % 2 || i == 2 * r->outs[port];

		if (idle && !mf_frame_dec_waiting(&d))
			continue;
		got = mf_frame_dec_block(&d, idle ? MF_SYNC_CTRL : b->sync, idle ? MF_IDLE_WORD : b->word,
					 &octets);
		if (got == 0)
			continue;
		n++;
		*len = got;
		memcpy(frame, octets, got);
	}
	mf_frame_dec_fini(&d);
	return n;
}

uint64_t rig_drops(const struct rig *r)
{
	const struct mf_switch_stats *s = mf_switch_stats(r->sw);

	return s->drop_check + s->drop_proto + s->drop_spoof + s->drop_dst + s->drop_ungranted +
	       s->drop_room + s->drop_cut + s->drop_descriptor + s->expired;
}

bool rig_same(const struct rig *a, const struct rig *b)
{
	for (unsigned int p = 0; p < a->config.ports; p++) {
		if (a->outs[p] != b->outs[p])
			return false;
		for (unsigned int i = 0; i < a->outs[p]; i++)
			if (a->out[p][i].at != b->out[p][i].at || a->out[p][i].word != b->out[p][i].word ||
			    a->out[p][i].sync != b->out[p][i].sync)
				return false;
	}
	if (a->msgs != b->msgs)
		return false;
	for (unsigned int i = 0; i < a->msgs; i++)
		if (a->msg[i].at != b->msg[i].at || a->msg[i].kind != b->msg[i].kind ||
		    a->msg[i].src != b->msg[i].src || a->msg[i].dst != b->msg[i].dst ||
		    a->msg[i].id != b->msg[i].id || a->msg[i].size != b->msg[i].size)
			return false;
	return true;
}
