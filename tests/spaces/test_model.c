/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on the regions of the layer against flat memory, over many seeds. MF_LONG: thousands.
 *
 * The model does each operation when it is submitted: what overlaps keeps its order. Where one fails nobody
 * knows what its bytes are, until they are written again. A read that differs while an older write is under
 * way is judged when that has ended.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define SEED 0x5eed0052
#define SEEDS 150
#define STEPS 1200
#define OPS 32
#define TARGETS 2
#define REGION_MAX (UINT64_C(64) * RIG_PAGE)
#define PIECES_MAX 150 /* of an operation: more than the layer has for the least depth */
#define LEN_MAX (5 * RIG_PAGE)

struct byte {
	uint8_t value;
	bool known;
	bool of_rmw; /* what it is depends on what was before */
	uint64_t writer; /* order of the operation */
};

enum op_state { FREE, BUSY, SUSPECT /* differs, and older writes of these bytes are under way */ };

struct op {
	enum op_state state;
	bool check; /* what it returns can be judged */
	bool late; /* submitted after the last loss: it may not fail */
	uint64_t order, offset, len, expect_word;
	struct mf_op op;
	uint8_t data[LEN_MAX], expect[LEN_MAX];
	bool known[LEN_MAX];
};

static struct rig r;
static struct mf_rng rng;
static struct byte byte[TARGETS + 1][REGION_MAX];
static struct op op[OPS];
static uint64_t orders, region, taken;
static bool lossy, restarts;
static char wrong[200];
static struct seen {
	uint64_t done, failed, judged, crashes, losses, waited, refused, lost, starved, calls_most;
} seen;

static uint64_t draw(uint64_t n)
{
	return mf_rng_below(&rng, n);
}

__attribute__((format(printf, 2, 3))) static void expect(bool good, const char *format, ...)
{
	va_list args;

	if (good || wrong[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(wrong, sizeof(wrong), format, args);
	va_end(args);
}

/* ---- the model ---- */

static bool writes(const struct op *o)
{
	return o->op.kind != MF_OP_READ;
}

/** The words that it has a part of: what comes of an atomic there depends on it. */
static uint64_t from_of(const struct op *o)
{
	return o->offset / 8 * 8;
}

static uint64_t end_of(const struct op *o)
{
	return (o->offset + o->len + 7) / 8 * 8;
}

static bool overlap(const struct op *a, const struct op *b)
{
	return a->op.node == b->op.node && from_of(a) < end_of(b) && from_of(b) < end_of(a);
}

static void model_write(struct op *o)
{
	for (uint64_t i = 0; i < o->len; i++)
		byte[o->op.node][o->offset + i] =
			(struct byte){.value = o->data[i],
				      .known = o->op.kind == MF_OP_WRITE_ACK || !lossy,
				      .writer = o->order};
}

static void model_modify(struct op *o)
{
	struct byte *b = &byte[o->op.node][o->offset];
	uint64_t word;

	for (unsigned int i = 0; i < 8; i++) {
		o->expect[i] = b[i].value;
		o->known[i] = b[i].known;
	}
	memcpy(&o->expect_word, o->expect, 8);
	word = mf_memory_modified(o->op.rmw, o->expect_word, o->op.arg);
	for (unsigned int i = 0; i < 8; i++)
		o->check = o->check && o->known[i];
	for (unsigned int i = 0; i < 8; i++)
		b[i] = (struct byte){.value = (uint8_t)(word >> 8 * i),
				     .known = o->check,
				     .of_rmw = true,
				     .writer = o->order};
}

static void model_read(struct op *o)
{
	for (uint64_t i = 0; i < o->len; i++) {
		o->expect[i] = byte[o->op.node][o->offset + i].value;
		o->known[i] = byte[o->op.node][o->offset + i].known;
	}
}

/** It may have had an effect, or none. */
static void doubt(const struct op *o)
{
	for (uint64_t i = from_of(o); i < end_of(o) && i < region; i++) {
		struct byte *b = &byte[o->op.node][i];

		if (b->writer == o->order || (b->of_rmw && b->writer > o->order))
			b->known = false;
	}
	for (unsigned int i = 0; i < OPS; i++)
		if (op[i].state != FREE && op[i].order > o->order && overlap(&op[i], o))
			op[i].check = false;
}

/* ---- what completes ---- */

static bool equal(const struct op *o, uint64_t result)
{
	if (o->op.kind == MF_OP_RMW)
		return o->expect_word == result;
	for (uint64_t i = 0; o->op.kind == MF_OP_READ && i < o->len; i++)
		if (o->known[i] && o->expect[i] != o->data[i])
			return false;
	return true;
}

static bool older_write_is_busy(const struct op *o)
{
	for (unsigned int i = 0; i < OPS; i++)
		if (op[i].state == BUSY && op[i].order < o->order && writes(&op[i]) && overlap(&op[i], o))
			return true;
	return false;
}

static void judge_suspects(void)
{
	for (unsigned int i = 0; i < OPS; i++) {
		if (op[i].state != SUSPECT || (op[i].check && older_write_is_busy(&op[i])))
			continue;
		expect(!op[i].check, "operation %lu of kind %u at %lx: differs", op[i].order, op[i].op.kind,
		       op[i].offset);
		op[i].state = FREE;
	}
}

static void complete(const struct mf_completion *c)
{
	struct op *o = &op[c->user % OPS];

	expect(c->user < OPS && o->state == BUSY, "a completion of nothing");
	o->state = FREE;
	seen.done++;
	if (c->status != MF_OK) {
		seen.failed++;
		expect(lossy || (restarts && !o->late), "operation %lu failed: %u, %s", o->order, c->status,
		       o->late ? "after all losses" : "");
		if (writes(o))
			doubt(o);
	} else if (o->check) {
		expect(c->len == o->len, "%lu bytes of %lu", c->len, o->len);
		seen.judged++;
		if (!equal(o, c->result))
			o->state = SUSPECT;
	}
	judge_suspects();
}

static void take(void)
{
	for (; taken < r.dones; taken++)
		complete(&r.done[taken % RIG_DONE]);
}

static void go_on(mf_time until)
{
	expect(rig_drive(&r, until), "run() is called again and again at %lu", r.now);
	take();
}

/* ---- what happens ---- */

static void choose(struct op *o, uint64_t user)
{
	static const uint8_t kinds[] = {MF_OP_READ, MF_OP_READ, MF_OP_WRITE, MF_OP_WRITE_ACK, MF_OP_RMW};
	uint64_t most = draw(8) == 0 ? LEN_MAX : draw(3) == 0 ? 600 : 64;

	o->op = (struct mf_op){.kind = kinds[draw(5)],
			       .node = (uint16_t)(1 + draw(r.config.targets)),
			       .buf = o->data,
			       .rmw = (uint8_t)draw(MF_RMW_OPS),
			       .arg = {draw(4), draw(4)},
			       .user = user};
	if (most > PIECES_MAX * r.config.interleave)
		most = PIECES_MAX * r.config.interleave;
	o->len = 1 + draw(most < region ? most : region);
	o->offset = draw(2) == 0 ? draw(region - o->len + 1) : draw(region / 32) * 32;
	if (o->op.kind == MF_OP_RMW) {
		o->len = 8;
		o->offset = o->offset / 8 * 8;
	}
	if (o->offset + o->len > region)
		o->offset = 0;
	o->op.len = o->op.kind == MF_OP_RMW ? draw(9) : o->len;
	o->op.addr = RIG_BASE + o->offset;
	for (uint64_t i = 0; i < o->len; i++)
		o->data[i] = (uint8_t)(o->op.kind == MF_OP_READ ? 0xee : orders + i);
	o->check = o->late = true;
}

static void submit(void)
{
	unsigned int user = 0;
	struct op *o;
	int err;

	while (user < OPS && op[user].state != FREE)
		user++;
	if (user == OPS)
		return;
	o = &op[user];
	choose(o, user);
	err = rig_submit(&r, &o->op);
	expect(err == 0 || err == -EAGAIN, "submit: %d", err);
	if (err != 0)
		return;
	o->state = BUSY;
	o->order = ++orders;
	if (o->op.kind == MF_OP_READ)
		model_read(o);
	else if (o->op.kind == MF_OP_RMW)
		model_modify(o);
	else
		model_write(o);
}

/** What a node had is gone. Operations under way may be of before or of after. */
static void forget(unsigned int node, bool empty)
{
	for (uint64_t i = 0; i < region && empty; i++)
		byte[node][i] = (struct byte){.known = true, .writer = byte[node][i].writer};
	for (unsigned int i = 0; i < OPS; i++) {
		struct op *o = &op[i];

		if (o->state == FREE || o->op.node != node)
			continue;
		o->check = o->late = false;
		for (uint64_t k = from_of(o); writes(o) && k < end_of(o) && k < region; k++)
			byte[node][k].known = false;
	}
}

/** Writes that nobody acknowledges may be lost with the link, and nobody knows which. */
static void lose(void)
{
	unsigned int node = 1 + (unsigned int)draw(r.config.targets);
	bool empty = draw(2) == 0;

	seen.losses++;
	far_lose(r.host, r.now, (uint16_t)node, empty);
	forget(node, empty);
	for (uint64_t i = 0; i < region && !empty; i++)
		byte[node][i].known = false;
}

static void crash(void)
{
	seen.crashes++;
	rig_crash(&r);
	memset(op, 0, sizeof(op));
	for (unsigned int node = 1; node <= r.config.targets; node++)
		forget(node, true);
}

static void step(void)
{
	uint64_t what = draw(1000);

	if (what < 500)
		submit();
	else if (what < 990 || !restarts)
		go_on(r.now + draw(draw(10) == 0 ? MF_US(20) : MF_NS(700)));
	else if (what < 997)
		lose();
	else
		crash();
}

static void set_up(uint64_t seed)
{
	struct rig_config c = {.seed = seed,
			       .targets = 1 + (unsigned int)draw(TARGETS),
			       .spaces = 1 + (uint32_t)draw(5),
			       .pages = 1 + draw(12),
			       .interleave = UINT64_C(1) << (6 + draw(7)),
			       .depth = 1 + (unsigned int)draw(OPS),
			       .populate = draw(4) == 0,
			       .give_up = MF_MS(100),
			       .physical = 80,
			       .ring = 1 + (uint32_t)draw(draw(2) == 0 ? 2 : 40),
			       .tasks = (uint8_t)(1 + draw(4)),
			       .step = draw(2) == 0 ? MF_NS(5) : MF_NS(200),
			       .crossing = draw(3) == 0 ? MF_US(5) : draw(MF_NS(500))};

	if (draw(8) == 0) {
		c.interleave = 8;
		c.spaces = 1;
		c.pages = 1 + draw(2);
	}
	region = c.spaces * c.pages * RIG_PAGE;
	lossy = draw(4) == 0;
	restarts = draw(3) == 0;
	rig_make(&r, &c);
	r.host->room = 1 + (unsigned int)draw(draw(2) == 0 ? 4 : FAR_QUEUE);
	r.host->refuses = draw(3) == 0 ? (unsigned int)draw(220) : 0;
	r.host->loses = lossy ? 1 + (unsigned int)draw(60) : 0;
	r.host->latency = draw(4) == 0 ? MF_US(20) : MF_NS(100) + draw(MF_US(2));
	r.host->jitter = draw(2) * MF_NS(300);
	for (unsigned int node = 0; node <= TARGETS; node++)
		for (uint64_t i = 0; i < region; i++)
			byte[node][i] = (struct byte){.known = true};
	memset(op, 0, sizeof(op));
	orders = taken = 0;
	wrong[0] = '\0';
}

/** In the end each byte is read. */
static void finish(void)
{
	expect(rig_settle(&r, MF_MS(500)), "%u are outstanding", r.layer->ops->outstanding(r.layer));
	take();
	r.host->loses = 0;
	for (unsigned int node = 1; node <= r.config.targets; node++)
		for (uint64_t at = 0; at < region && wrong[0] == '\0'; at += RIG_PAGE) {
			struct op *o = &op[0];

			expect(o->state == FREE, "operation %lu is never judged", o->order);
			choose(o, 0);
			o->offset = at;
			o->len = RIG_PAGE;
			o->op = (struct mf_op){.kind = MF_OP_READ,
					       .node = (uint16_t)node,
					       .addr = RIG_BASE + at,
					       .len = RIG_PAGE,
					       .buf = o->data};
			expect(rig_submit(&r, &o->op) == 0, "submit");
			o->state = BUSY;
			o->order = ++orders;
			model_read(o);
			expect(rig_settle(&r, MF_MS(500)), "a read is outstanding");
			take();
		}
	for (unsigned int node = 1; node <= r.config.targets && wrong[0] == '\0'; node++) {
		const char *bad = rig_audit(&r, node);

		expect(bad == NULL, "node %u: %s", node, bad);
	}
	expect(!r.bad_order, "completions are not in the order of their time");
	expect(rig_stats(&r).ready == (uint64_t)r.config.targets * r.config.spaces &&
		       rig_stats(&r).failed == 0,
	       "%lu ready, %lu failed", rig_stats(&r).ready, rig_stats(&r).failed);
}

static void count(void)
{
	seen.waited += rig_stats(&r).waited;
	seen.refused += r.host->refused;
	seen.lost += r.host->lost;
	if (r.calls_most > seen.calls_most)
		seen.calls_most = r.calls_most;
}

Test(spaces_model, random_operations)
{
	unsigned int seeds = getenv("MF_LONG") != NULL ? 40 * SEEDS : SEEDS;
	const char *only = getenv("SPACES_SEED");

	for (unsigned int i = 0; i < seeds; i++) {
		uint64_t seed = only != NULL ? strtoull(only, NULL, 0) : SEED + i;

		mf_rng_init(&rng, seed, "spaces model", 0);
		set_up(seed);
		for (unsigned int k = 0; k < STEPS && wrong[0] == '\0'; k++)
			step();
		if (wrong[0] == '\0')
			finish();
		cr_assert_eq(wrong[0], '\0', "seed %lu: %s", seed, wrong);
		count();
		rig_free(&r);
		if (only != NULL)
			return;
	}
	cr_expect(seen.done > 100 * seeds && seen.judged > 30 * seeds, "%lu done, %lu judged", seen.done,
		  seen.judged);
	cr_expect(seen.waited > seeds && seen.refused > 10 * seeds && seen.lost > seeds &&
			  seen.losses > seeds && seen.crashes > seeds / 4,
		  "%lu waited, %lu refused, %lu lost, %lu losses, %lu crashes", seen.waited, seen.refused,
		  seen.lost, seen.losses, seen.crashes);
	cr_expect(seen.failed > seeds && seen.calls_most < 50, "%lu failed, %lu calls at one time",
		  seen.failed, seen.calls_most);
}
