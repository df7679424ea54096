/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The check of histories against its definition (definition.h): small ones of all kinds, outcomes and flags.
 * It accepts no more and refuses no more.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "definition.h"

#define SEED 20261126
#define HISTORIES 100000

struct draw {
	struct mf_rng rng;
	struct def_history h;
	uint8_t memory[2][8 * DEF_WORDS];
	bool parts, spread; /**< parts of words; both nodes and both words */
	double cuts, doubts, lies; /**< shares */
};

static uint64_t below(struct draw *d, uint64_t n)
{
	return mf_rng_below(&d->rng, n);
}

static bool chance(struct draw *d, double share)
{
	return mf_rng_double(&d->rng) < share;
}

/** Octets that are all alike, so that parts of words have common values, too. */
static uint64_t draw_value(struct draw *d)
{
	return below(d, 4) * UINT64_C(0x0101010101010101);
}

static void draw_place(struct draw *d, struct def_op *o)
{
	o->node = d->spread && chance(d, .2);
	o->addr = d->spread && chance(d, .3) ? 8 : 0;
	o->len = 8;
	if (o->kind >= MF_HISTORY_CAS && o->kind <= MF_HISTORY_AND) {
		o->addr += chance(d, .02) ? 4 : 0;
		return;
	}
	if (d->spread && chance(d, .2)) {
		o->addr = 0;
		o->len = 16;
	}
	if (d->parts && chance(d, .4)) {
		o->addr += (uint8_t)below(d, 3);
		o->len = (uint8_t)(1 + below(d, 8U * DEF_WORDS - o->addr));
	}
	if (o->kind == MF_HISTORY_CUT)
		o->len = 1;
}

static uint8_t draw_kind(struct draw *d)
{
	static const uint8_t often[] = {MF_HISTORY_READ, MF_HISTORY_READ, MF_HISTORY_READ, MF_HISTORY_WRITE,
					MF_HISTORY_WRITE_ACK};

	if (chance(d, d->cuts))
		return MF_HISTORY_CUT;
	if (chance(d, .03))
		return chance(d, .3) ? MF_HISTORY_UNKNOWN : MF_HISTORY_ZEROED;
	return chance(d, .7) ? often[below(d, 5)] : (uint8_t)(MF_HISTORY_CAS + below(d, 5));
}

static uint8_t draw_outcome(struct draw *d)
{
	return chance(d, d->doubts) ? (uint8_t)below(d, MF_HISTORY_OUTCOMES) : MF_HISTORY_OK;
}

static void draw_op(struct draw *d, struct def_op *o, mf_time *now)
{
	*o = (struct def_op){.log = (uint8_t)below(d, DEF_LOGS), .kind = draw_kind(d), .call = *now};
	*now += below(d, 4);
	draw_place(d, o);
	if (o->kind == MF_HISTORY_CUT || o->kind == MF_HISTORY_UNKNOWN) {
		o->call = o->kind == MF_HISTORY_CUT ? o->call + 1 : 0;
		return;
	}
	o->outcome = draw_outcome(d);
	o->ret = o->outcome == MF_HISTORY_UNDER_WAY ? MF_NEVER : o->call + below(d, 10);
	for (unsigned int i = 0; i < 2; i++) {
		o->arg[i] = draw_value(d);
		o->data[i] = draw_value(d);
	}
}

static uint64_t mix(uint8_t kind, const uint64_t arg[2], uint64_t was)
{
	const uint64_t now[] = {was == arg[0] ? arg[1] : was, was + arg[0], arg[0], was | arg[0],
				was & arg[0]};

	return now[kind - MF_HISTORY_CAS];
}

/** It takes effect, or finds what it says it found. */
static void take_effect(struct draw *d, struct def_op *o)
{
	uint8_t *at = &d->memory[o->node][o->addr], octets[8 * DEF_WORDS] = {0};
	uint64_t was;

	if (o->kind == MF_HISTORY_CUT || o->kind == MF_HISTORY_UNKNOWN ||
	    (o->addr % 8 != 0 && o->kind >= MF_HISTORY_CAS && o->kind <= MF_HISTORY_AND))
		return;
	if (o->kind == MF_HISTORY_READ) {
		memcpy(octets + o->addr, at, o->len);
		memcpy(o->data, octets, sizeof(o->data));
	} else if (o->kind == MF_HISTORY_ZEROED) {
		memset(at, 0, o->len);
	} else if (o->kind >= MF_HISTORY_CAS) {
		memcpy(&was, at, 8);
		o->data[0] = was;
		was = mix(o->kind, o->arg, was);
		memcpy(at, &was, 8);
	} else {
		memcpy(at, (const uint8_t *)o->data + o->addr, o->len);
	}
}

/** What is not of the operation is 0. */
static void trim(struct def_op *o)
{
	uint8_t octets[8 * DEF_WORDS] = {0};

	if (o->kind > MF_HISTORY_WRITE_ACK) /* its finds are words, wherever it is */
		return;
	memcpy(octets + o->addr, (const uint8_t *)o->data + o->addr, o->len);
	memcpy(o->data, octets, sizeof(o->data));
}

/** Each at a time that it could have, in their order; then some of them lie. */
static void draw_finds(struct draw *d)
{
	mf_time at[DEF_OPS];
	uint16_t done = 0;

	for (unsigned int i = 0; i < d->h.n; i++) {
		const struct def_op *o = &d->h.op[i];

		at[i] = o->call + below(d, o->ret == MF_NEVER ? 12 : o->ret - o->call + 1);
		if (o->outcome != MF_HISTORY_OK && chance(d, .5))
			done |= (uint16_t)(1U << i);
	}
	for (mf_time t = 0; t < DEF_TIMES + 12; t++)
		for (unsigned int i = 0; i < d->h.n; i++)
			if (at[i] == t && (done >> i & 1) == 0)
				take_effect(d, &d->h.op[i]);
	for (unsigned int i = 0; i < d->h.n; i++) {
		if (chance(d, d->lies))
			for (unsigned int k = 0; k < DEF_WORDS; k++)
				d->h.op[i].data[k] = draw_value(d);
		trim(&d->h.op[i]);
	}
}

static void draw_history(struct draw *d)
{
	mf_time now = below(d, 3);

	memset(d->memory, 0, sizeof(d->memory));
	d->parts = chance(d, .3);
	d->spread = chance(d, .5);
	d->cuts = chance(d, .3) ? .2 : 0;
	d->doubts = chance(d, .7) ? .4 : 0;
	d->lies = chance(d, .5) ? .3 : 0;
	d->h = (struct def_history){.in_order = chance(d, .7),
				    .lossless = chance(d, .5),
				    .tells = chance(d, .5),
				    .full = MF_NEVER,
				    .n = 2 + (unsigned int)below(d, 6)};
	for (unsigned int i = 0; i < d->h.n; i++)
		draw_op(d, &d->h.op[i], &now);
	draw_finds(d);
}

static struct mf_history *recorded(const struct def_history *h)
{
	const struct mf_history_config config = {
		.fingerprint = 1, .in_order = h->in_order, .lossless = h->lossless, .tells = h->tells};
	struct mf_history *out = mf_history_new(&config, DEF_LOGS, 4096);

	cr_assert_not_null(out);
	for (unsigned int i = 0; i < h->n; i++) {
		const struct def_op *o = &h->op[i];
		const struct mf_history_record r = {.call = o->call,
						    .addr = o->addr,
						    .len = o->len,
						    .client = o->log,
						    .node = o->node,
						    .kind = o->kind};
		struct mf_history_log *l = mf_history_log(out, o->log);
		bool atomic = o->kind >= MF_HISTORY_CAS && o->kind <= MF_HISTORY_AND;
		const void *data = (const uint8_t *)o->data + (atomic ? 0 : o->addr);
		uint64_t place;

		if (o->kind == MF_HISTORY_CUT) {
			mf_history_cut(l, o->log, o->node, o->call);
		} else if (o->kind == MF_HISTORY_UNKNOWN) {
			mf_history_unknown(l, o->node, o->addr, o->len);
		} else {
			place = mf_history_begin(l, &r, atomic ? (const void *)o->arg : data);
			if (o->outcome != MF_HISTORY_UNDER_WAY)
				mf_history_end(l, place, o->ret, o->outcome, 0, data);
		}
	}
	return out;
}

static const char *const answers[] = {"yes", "no", "gave up"};

static void print(const struct def_history *h)
{
	static const char *const kind[] = {"read", "write", "write_ack", "cas",     "fadd",  "swap",
					   "or",   "and",   "cut",       "unknown", "zeroed"};
	static const char *const outcome[] = {"under way", "ok", "failed", "restarted", "refused", "no room"};

	fprintf(stderr, "# in order %d, lossless %d, tells %d\n", h->in_order, h->lossless, h->tells);
	for (unsigned int i = 0; i < h->n; i++) {
		const struct def_op *o = &h->op[i];

		fprintf(stderr,
			"# log %u node %u [%u, +%u) %-9s %3ld..%-3ld %-9s args %016lx %016lx, "
			"words %016lx %016lx\n",
			o->log, o->node, o->addr, o->len, kind[o->kind], (long)o->call,
			o->ret == MF_NEVER ? -1 : (long)o->ret, outcome[o->outcome], (unsigned long)o->arg[0],
			(unsigned long)o->arg[1], (unsigned long)o->data[0], (unsigned long)o->data[1]);
	}
}

static bool fits(enum def_answer expected, enum mf_history_answer is)
{
	if (is == MF_HISTORY_GAVE_UP)
		return expected == DEF_YES_OR_UNKNOWN || expected == DEF_NO_OR_UNKNOWN;
	return (is == MF_HISTORY_YES) == (expected <= DEF_YES_OR_UNKNOWN);
}

Test(history_definition, small_histories_of_all_kinds)
{
	unsigned int histories = getenv("MF_LONG") ? 30 * HISTORIES : HISTORIES, wrong = 0;
	unsigned int said[3] = {0};
	struct draw d;

	mf_rng_init(&d.rng, SEED, "definition", 0);
	for (unsigned int i = 0; i < histories && wrong < 5; i++) {
		enum def_answer expected;
		struct mf_history_verdict v;
		struct mf_history *h;

		draw_history(&d);
		expected = def_judge(&d.h);
		h = recorded(&d.h);
		cr_assert_eq(mf_history_check((const struct mf_history *const *)&h, 1, 64, &v), 0);
		said[v.answer]++;
		if (!fits(expected, v.answer)) {
			cr_expect_fail("history %u of seed %d: %s, and by the definition %s", i, SEED,
				       answers[v.answer], expected <= DEF_YES_OR_UNKNOWN ? "yes" : "no");
			print(&d.h);
			wrong++;
		}
		mf_history_verdict_free(&v);
		mf_history_free(h);
	}
	fprintf(stderr, "# yes %u, no %u, gave up %u\n", said[0], said[1], said[2]);
	cr_expect_gt(said[MF_HISTORY_YES], histories / 5);
	cr_expect_gt(said[MF_HISTORY_NO], histories / 5);
}
