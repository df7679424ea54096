/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes link frames and their handshake: two ends, and a wire that the input is the will of. The input is a
 * list of steps, an octet that says what and for which end, then its arguments: blocks are put, frames are
 * sent, kept, delivered in any order, twice, damaged or not at all; time passes; an end begins anew or
 * leaves; and frames come that nobody has sent, as they are or with what passes the first checks.
 *
 * What comes has to be what was sent from the beginning of a connection on; and once the wire is good again,
 * both are up soon, and all comes. That is not asked for where a forged frame had the tag of a connection.
 */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "link/mf_link.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define WIRE 32
#define BODY_MAX 255
#define EPOCH 1000
#define HELLO MF_MS(100)
/* The replay timer may be twice the longest round trip that was seen, which is shorter than `silence`. */
#define PATIENCE MF_SEC(7)

struct wire {
	unsigned int n;
	uint16_t len[WIRE];
	uint8_t frame[WIRE][MF_LINK_FRAME_MAX];
};

struct end {
	struct mf_link *link;
	struct mf_link_status status;
	uint64_t starts, put, got, from;
	struct wire wire; /* to this end */
};

struct run {
	struct input in;
	struct end end[2];
	mf_time now;
	bool forged;
};

static void start(struct run *r, int i)
{
	struct mf_link_config c;
	struct end *e = &r->end[i];

	mf_link_config_default(&c);
	c.switch_end = i;
	c.node = i ? MF_LINK_NODE_SWITCH : 0;
	c.name = i ? "switch" : "node";
	c.epoch = EPOCH + 100000 * e->starts++ + (uint64_t)i;
	c.fabric = c.period = 1;
	c.window = 4;
	c.blocks = (uint16_t)(MF_LINK_BLOCKS_MIN + 5 * i);
	c.first = (uint32_t)-3;
	mf_link_free(e->link);
	e->link = mf_link_new(&c, r->now);
	require(e->link != NULL);
	memset(&e->status, 0, sizeof(e->status));
	e->put = e->got = 0;
}

static void take_blocks(struct run *r, struct end *e)
{
	struct mf_span *s;

	while ((s = mf_link_take(e->link)) != NULL) {
		require(s->count > 0 && s->count <= MF_SPAN_MAX);
		for (unsigned int i = 0; i < s->count && !r->forged; i++, e->got++) {
			uint64_t key = s->word[i] >> 32;

			require((uint32_t)s->word[i] == e->got && s->sync[i] == (e->got & 3));
			require(e->got == 0 ? key > e->from : key == e->from);
			e->from = key;
		}
	}
}

/** What every call may have brought about. */
static void look(struct run *r, struct end *e)
{
	uint32_t before = e->status.connections;

	if (mf_link_changed(e->link))
		mf_link_status(e->link, &e->status);
	require(e->status.up == mf_link_up(e->link));
	if (e->status.connections != before)
		e->put = e->got = 0;
	take_blocks(r, e);
}

static void put(struct end *e, unsigned int n)
{
	static struct mf_span span;

	if (!e->status.up || !mf_link_can_put(e->link))
		return;
	for (span.count = 0; span.count < n; e->put++)
		mf_span_put(&span, e->put & 3, (e->starts << 16 | e->status.connections) << 32 | e->put);
	mf_link_put(e->link, &span);
}

/** @return false: there was nothing to send */
static bool transmit(struct run *r, int from)
{
	struct wire *w = &r->end[!from].wire;
	uint16_t len;
	const uint8_t *frame = mf_link_tx(r->end[from].link, r->now, &len);

	if (frame == NULL)
		return false;
	require(mf_link_frame_check(frame, len, MF_LINK_ETHERTYPE) == MF_LINK_GOOD &&
		mf_link_frame_good(frame));
	if (w->n == WIRE) /* is lost */
		return true;
	memcpy(w->frame[w->n], frame, len);
	w->len[w->n++] = len;
	return true;
}

static void receive(struct run *r, int to, const uint8_t *octets, size_t len)
{
	uint8_t *frame = malloc(len > 0 ? len : 1); /* ends where it ends */

	require(frame != NULL);
	memcpy(frame, octets, len);
	switch (mf_link_frame_check(frame, len, MF_LINK_ETHERTYPE)) {
	case MF_LINK_GOOD:
	case MF_LINK_FAULT_VERSION:
		mf_link_rx(r->end[to].link, r->now, frame);
		break;
	case MF_LINK_FAULT_CRC:
		mf_link_damaged(r->end[to].link, r->now);
		break;
	default:
		break;
	}
	free(frame);
	look(r, &r->end[to]);
}

static void lose(struct wire *w, unsigned int i)
{
	w->n--;
	memmove(w->frame[i], w->frame[i + 1], (w->n - i) * sizeof(w->frame[0]));
	memmove(w->len + i, w->len + i + 1, (w->n - i) * sizeof(w->len[0]));
}

enum wire_step { WIRE_DELIVER, WIRE_TWICE, WIRE_DAMAGE, WIRE_LOSE };

static void wire_step(struct run *r, int to, enum wire_step what)
{
	struct wire *w = &r->end[to].wire;
	unsigned int i;

	if (w->n == 0)
		return;
	i = (unsigned int)take(&r->in, 1) % w->n;
	if (what == WIRE_DAMAGE) {
		unsigned int bit = (unsigned int)take(&r->in, 2) % (8u * w->len[i]);

		w->frame[i][bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	if (what != WIRE_LOSE)
		receive(r, to, w->frame[i], w->len[i]);
	if (what != WIRE_TWICE && i < w->n)
		lose(w, i);
}

/** Any octets behind the addresses; the EtherType as it should be, in half of the cases. */
static void come_raw(struct run *r, int to)
{
	uint8_t frame[14 + BODY_MAX] = {0};
	size_t len = take(&r->in, 1);

	if (len % 2)
		mf_link_head_ethertype((struct mf_link_head *)frame, MF_LINK_ETHERTYPE);
	take_octets(&r->in, frame + 14, len);
	receive(r, to, frame, 14 + len);
}

/** A frame of the other end's with anything in it, sealed. */
static void come_forged(struct run *r, int to)
{
	static struct {
		struct mf_link_head h;
		uint8_t body[BODY_MAX];
	} __attribute__((packed)) f;
	const struct mf_link_status *s = &r->end[to].status;
	uint8_t how = (uint8_t)take(&r->in, 1);

	memset(&f, 0, sizeof(f));
	mf_link_head_ethertype(&f.h, MF_LINK_ETHERTYPE);
	f.h.version = how & 1 ? (uint8_t)take(&r->in, 1) : MF_LINK_VERSION;
	f.h.type = (uint8_t)take(&r->in, 1) % 8;
	f.h.flags = (uint16_t)((how & 2 ? take(&r->in, 1) : 0) & ~(uint64_t)MF_LINK_FROM_SWITCH) |
		    (to == 0 ? MF_LINK_FROM_SWITCH : 0);
	f.h.epoch = how & 4 ? (uint32_t)take(&r->in, 1)
		    : to    ? mf_link_tag(s->partner_epoch, s->epoch)
			    : mf_link_tag(s->epoch, s->partner_epoch);
	f.h.seq = (uint32_t)take(&r->in, 1) - 5;
	f.h.ack = (uint32_t)take(&r->in, 1) - 5;
	f.h.limit = (uint32_t)take(&r->in, 1) - 5;
	f.h.blocks = (uint16_t)take(&r->in, how & 8 ? 2 : 1);
	f.h.length = (uint16_t)take(&r->in, 1);
	take_octets(&r->in, f.body, f.h.length);
	mf_link_frame_seal((uint8_t *)&f);
	r->forged = true;
	receive(r, to, (uint8_t *)&f, sizeof(f.h) + f.h.length);
}

static void pass(struct run *r, mf_time by)
{
	r->now += by;
	for (int i = 0; i < 2; i++) {
		if (mf_link_next(r->end[i].link) <= r->now)
			mf_link_run(r->end[i].link, r->now);
		look(r, &r->end[i]);
	}
}

/** What an owner knows that frames do not say. */
static void owner_says(struct run *r, struct end *e)
{
	uint8_t what = (uint8_t)take(&r->in, 1);
	mf_time by = MF_US(100) << what / 4 % 16;
	const struct mf_link_place place = {.host = what, .thread = what / 2U};

	switch (what % 4) {
	case 0:
		mf_link_excuse(e->link, mf_time_min(by, mf_link_unheard(e->link, r->now)));
		break;
	case 1:
		mf_link_away(e->link, r->now, mf_time_min(by, r->now));
		break;
	case 2:
		mf_link_set_place(e->link, &place);
		break;
	default:
		mf_link_gone(e->link);
		look(r, e);
	}
}

static void one_step(struct run *r)
{
	uint8_t op = (uint8_t)take(&r->in, 1);
	int i = op >> 7;
	struct end *e = &r->end[i];

	switch (op % 16) {
	case 0 ... 2:
		put(e, 1 + (unsigned int)take(&r->in, 1));
		break;
	case 3 ... 5:
		for (unsigned int n = 1 + op / 16 % 4; n > 0 && transmit(r, i); n--)
			;
		break;
	case 6 ... 7:
		wire_step(r, i, WIRE_DELIVER);
		break;
	case 8:
		wire_step(r, i, WIRE_TWICE);
		break;
	case 9:
		wire_step(r, i, WIRE_DAMAGE);
		break;
	case 10:
		wire_step(r, i, WIRE_LOSE);
		break;
	case 11:
		pass(r, MF_NS(100) << take(&r->in, 1) % 26);
		break;
	case 12:
		if (op & 64)
			start(r, i);
		else
			mf_link_leave(e->link, r->now);
		look(r, e);
		break;
	case 13:
		if (op & 64)
			owner_says(r, e);
		else
			mf_link_set_state(e->link, (uint16_t)take(&r->in, 1));
		break;
	case 14:
		come_raw(r, i);
		break;
	default:
		come_forged(r, i);
	}
}

/** All that waits, once: both have sent before either receives. */
static void good_turn(struct run *r)
{
	pass(r, MF_US(50));
	for (int i = 0; i < 2; i++)
		while (r->end[!i].wire.n < WIRE && transmit(r, i))
			;
	for (int i = 0; i < 2; i++)
		for (struct wire *w = &r->end[i].wire; w->n > 0; lose(w, 0))
			receive(r, i, w->frame[0], w->len[0]);
}

static bool together(const struct run *r)
{
	const struct mf_link_status *a = &r->end[0].status, *b = &r->end[1].status;

	return a->up && b->up && a->epoch == b->partner_epoch && b->epoch == a->partner_epoch;
}

static void mend(struct run *r)
{
	mf_time end = r->now + 3 * HELLO;

	while (!together(r) && r->now < end)
		good_turn(r);
	require(together(r));
	for (int i = 0; i < 2; i++)
		put(&r->end[i], 300);
	end = r->now + PATIENCE;
	while ((r->end[0].got != r->end[1].put || r->end[1].got != r->end[0].put) && r->now < end)
		good_turn(r);
	require(together(r) && r->end[0].got == r->end[1].put && r->end[1].got == r->end[0].put);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct run *r = calloc(1, sizeof(*r));

	require(r != NULL);
	r->in = (struct input){input, size};
	start(r, 0);
	start(r, 1);
	if (take(&r->in, 1) & 1) /* else the handshake is the input's, too */
		for (int i = 0; i < 4; i++)
			good_turn(r);
	while (r->in.left > 0)
		one_step(r);
	if (!r->forged)
		mend(r);
	for (int i = 0; i < 2; i++)
		mf_link_free(r->end[i].link);
	free(r);
	return 0;
}
