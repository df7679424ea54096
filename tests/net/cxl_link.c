/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends of a CXL link over a line that loses and damages: messages come once, whole and in the order of
 * their class; nothing is sent without a credit; credits are neither lost nor made.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "systems/cxl/cxl_link.h"
#include "base/mf_rng.h"

#define DELAY MF_NS(20)
#define PERIOD 640
#define LINE_MAX 4096 /* flits under way */
#define QUEUE 4096

/** An owner: what it has to send is made of numbers, and so can be checked. */
struct owner {
	struct cxl_link link;
	struct cxl_link *peer;
	struct mf_rng rng;
	uint32_t to_send[CXL_CLASSES], sent[CXL_CLASSES], received[CXL_CLASSES];
	uint8_t kept[CXL_CLASSES]; /* received, whose buffers are not free yet */
	bool keeps; /* frees buffers when asked only */
	mf_time line_free;
	unsigned int max_kept;
};

struct flight {
	mf_time at;
	unsigned int n;
	uint64_t word[CXL_FLIT_WORDS];
};

struct line {
	struct flight flight[LINE_MAX];
	unsigned int head, tail;
};

struct rig {
	struct owner end[2];
	struct line line[2];
	struct mf_rng rng;
	double lose, damage;
	mf_time now;
	uint64_t lost, damaged;
};

static struct rig rig;

static const uint8_t op_of[CXL_CLASSES][2] = {{CXL_MEM_RD, CXL_MEM_RD},
					      {CXL_MEM_WR, CXL_MEM_WR_PTL},
					      {CXL_CMP, CXL_ERR},
					      {CXL_MEM_DATA, CXL_RMW_DATA}};

/** The n-th message of a class. */
static struct cxl_message nth(unsigned int class, uint32_t n)
{
	struct cxl_message m = {.op = op_of[class][n % 3 == 0],
				.code = (uint8_t)(n % 5),
				.tag = (uint16_t)(n * 7919),
				.src = (uint16_t)(n % 512),
				.dst = (uint16_t)(n / 3 % 512)};

	if (class <= CXL_RWD)
		m.addr = (n * UINT64_C(0x9e3779b97f4a7c15)) >> 16;
	for (unsigned int i = 0; i < cxl_op_slots[m.op] * CXL_SLOT; i++)
		m.data[i] = (uint8_t)(n * 31 + i * 7 + class);
	return m;
}

static unsigned int has(void *ctx, unsigned int port, mf_time now)
{
	struct owner *o = ctx;
	unsigned int mask = 0;

	(void)port;
	(void)now;
	for (unsigned int c = 0; c < CXL_CLASSES; c++)
		mask |= o->sent[c] < o->to_send[c] ? 1u << c : 0;
	return mask;
}

static void take(void *ctx, unsigned int port, enum cxl_class class, mf_time now, struct cxl_message *m)
{
	struct owner *o = ctx;

	(void)port;
	(void)now;
	cr_assert_gt(o->link.avail[class], 0, "taken without a credit");
	*m = nth(class, o->sent[class]++);
}

static void deliver(void *ctx, unsigned int port, mf_time at, const struct cxl_message *m)
{
	struct owner *o = ctx;
	unsigned int class = cxl_op_class[m->op];
	struct cxl_message e = nth(class, o->received[class]++);

	(void)port;
	cr_assert(m->op == e.op && m->code == e.code && m->tag == e.tag && m->src == e.src &&
		  m->dst == e.dst && m->addr == e.addr);
	cr_assert_arr_eq(m->data, e.data, cxl_op_slots[m->op] * CXL_SLOT);
	cr_assert_leq(o->link.held[class], o->link.config.buffers[class]);
	if (o->keeps)
		o->kept[class]++;
	else
		cxl_link_freed(&o->link, class, at);
}

static const struct cxl_ends ends = {.has = has, .take = take, .deliver = deliver};

static void set_up(const struct cxl_format *format, unsigned int credits, uint64_t seed)
{
	const struct cxl_link_config c = {.format = format,
					  .ends = &ends,
					  .replay = 16,
					  .replay_timeout = MF_US(2),
					  .tell_delay = MF_NS(100),
					  .buffers = {credits, credits, credits, credits}};

	memset(&rig, 0, sizeof(rig));
	mf_rng_init(&rig.rng, seed, "cxl", 0);
	for (int i = 0; i < 2; i++) {
		struct cxl_link_config own = c;

		own.ctx = &rig.end[i];
		cr_assert_eq(cxl_link_init(&rig.end[i].link, &own), 0);
		rig.end[i].peer = &rig.end[1 - i].link;
	}
}

static void tear_down(void)
{
	for (int i = 0; i < 2; i++)
		cxl_link_fini(&rig.end[i].link);
}

static void transmit(int i)
{
	struct owner *o = &rig.end[i];
	struct line *l = &rig.line[i];
	struct flight *f = &l->flight[l->tail % LINE_MAX];

	if (o->line_free > rig.now)
		return;
	f->n = cxl_link_pull(&o->link, rig.now, f->word);
	if (f->n == 0)
		return;
	o->line_free = rig.now + f->n * PERIOD;
	f->at = o->line_free + DELAY;
	if (mf_rng_double(&rig.rng) < rig.lose) {
		rig.lost++;
		return;
	}
	if (mf_rng_double(&rig.rng) < rig.damage) {
		rig.damaged++;
		/* not the octets of the FEC, which are nobody's */
		f->word[1 + mf_rng_below(&rig.rng, f->n - 3)] ^= UINT64_C(1) << mf_rng_below(&rig.rng, 64);
	}
	l->tail++;
}

static void arrive(int i)
{
	struct line *l = &rig.line[1 - i];

	while (l->head != l->tail && l->flight[l->head % LINE_MAX].at <= rig.now) {
		struct flight *f = &l->flight[l->head++ % LINE_MAX];

		cxl_link_hold(&rig.end[i].link, f->at, f->word, f->n);
		cxl_link_arrive(&rig.end[i].link);
	}
}

static void run_until(mf_time end)
{
	for (; rig.now < end; rig.now += PERIOD)
		for (int i = 0; i < 2; i++) {
			arrive(i);
			if (cxl_link_next(&rig.end[i].link) <= rig.now)
				cxl_link_run(&rig.end[i].link, rig.now);
			transmit(i);
		}
}

static bool all_received(void)
{
	for (int i = 0; i < 2; i++)
		for (unsigned int c = 0; c < CXL_CLASSES; c++)
			if (rig.end[1 - i].received[c] != rig.end[i].to_send[c])
				return false;
	return true;
}

/** Of a class, when all is quiet: credits at the sender, and what is held, make up the buffers. */
static void check_credits(void)
{
	for (int i = 0; i < 2; i++)
		for (unsigned int c = 0; c < CXL_CLASSES; c++) {
			const struct cxl_link *from = &rig.end[i].link, *to = rig.end[i].peer;

			cr_assert_eq(from->avail[c] + to->held[c], to->config.buffers[c],
				     "class %u: %u, %u held", c, from->avail[c], to->held[c]);
			cr_assert_eq(to->stats.drop_credit, 0);
			cr_assert_eq(to->stats.drop_message, 0);
		}
}

static void carry(const struct cxl_format *format, unsigned int credits, uint32_t messages, double lose,
		  double damage, uint64_t seed)
{
	set_up(format, credits, seed);
	rig.lose = lose;
	rig.damage = damage;
	for (int i = 0; i < 2; i++)
		for (unsigned int c = 0; c < CXL_CLASSES; c++)
			rig.end[i].to_send[c] = mf_rng_below(&rig.rng, messages) + 1;
	for (int n = 0; n < 2000 && !all_received(); n++)
		run_until(rig.now + MF_US(2));
	cr_assert(all_received(), "seed %llu, %u credits", (unsigned long long)seed, credits);
	rig.lose = rig.damage = 0;
	run_until(rig.now + MF_US(10));
	check_credits();
}

Test(cxl_link, all_comes_once_and_in_order)
{
	static const unsigned int credits[] = {1, 2, 7, 64, CXL_CREDITS_MAX};

	for (unsigned int i = 0; i < 5; i++) {
		carry(&cxl_format_68, credits[i], 2000, 0, 0, i);
		cr_assert_eq(rig.end[0].link.stats.replayed + rig.end[1].link.stats.replayed, 0);
		tear_down();
		carry(&cxl_format_256, credits[i], 2000, 0, 0, i);
		cr_assert_eq(rig.end[0].link.stats.replayed + rig.end[1].link.stats.replayed, 0);
		tear_down();
	}
}

Test(cxl_link, losses_and_damage_are_repaired)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		carry(seed % 2 ? &cxl_format_256 : &cxl_format_68, 1 + (unsigned int)seed * 6, 1000,
		      0.02 * (double)(seed % 4), 0.02 * (double)(seed % 5), seed);
		cr_assert(rig.lost + rig.damaged == 0 || rig.end[0].link.stats.replays != 0 ||
			  rig.end[1].link.stats.replays != 0);
		cr_assert_eq(rig.end[0].link.stats.drop_crc + rig.end[1].link.stats.drop_crc, rig.damaged);
		tear_down();
	}
}

/** An end that frees nothing gets no more than it has buffers for; as many more as it frees. */
Test(cxl_link, nothing_goes_without_a_credit)
{
	for (unsigned int credits = 1; credits <= 9; credits += 4) {
		set_up(&cxl_format_68, credits, credits);
		rig.end[1].keeps = true;
		for (unsigned int c = 0; c < CXL_CLASSES; c++)
			rig.end[0].to_send[c] = 100;
		run_until(MF_US(30));
		for (unsigned int c = 0; c < CXL_CLASSES; c++) {
			cr_assert_eq(rig.end[1].received[c], credits);
			cr_assert_eq(rig.end[0].link.avail[c], 0);
		}
		check_credits();
		for (unsigned int n = 1; n <= 50; n++) {
			cxl_link_freed(&rig.end[1].link, CXL_RWD, rig.now);
			run_until(rig.now + MF_US(1));
			cr_assert_eq(rig.end[1].received[CXL_RWD], credits + n);
		}
		cr_assert_eq(rig.end[1].received[CXL_REQ], credits);
		check_credits();
		tear_down();
	}
}

/** A class without credits stops no other one. */
Test(cxl_link, classes_do_not_stop_each_other)
{
	set_up(&cxl_format_68, 4, 1);
	rig.end[1].keeps = true;
	rig.end[0].to_send[CXL_REQ] = 100;
	run_until(MF_US(5));
	rig.end[1].keeps = false;
	rig.end[0].to_send[CXL_NDR] = rig.end[0].to_send[CXL_DRS] = 500;
	run_until(MF_US(40));
	cr_assert_eq(rig.end[1].received[CXL_REQ], 4);
	cr_assert_eq(rig.end[1].received[CXL_NDR], 500);
	cr_assert_eq(rig.end[1].received[CXL_DRS], 500);
	tear_down();
}

/** An end that ignores the credits it has: what comes without one is dropped and counted. */
Test(cxl_link, a_cheat_is_found)
{
	set_up(&cxl_format_68, 4, 1);
	rig.end[1].keeps = true;
	rig.end[0].to_send[CXL_NDR] = 7;
	run_until(MF_US(1));
	rig.end[0].link.avail[CXL_NDR] = 2;
	rig.end[0].link.may |= 1 << CXL_NDR;
	run_until(MF_US(2));
	cr_assert_eq(rig.end[1].received[CXL_NDR], 4);
	cr_assert_eq(rig.end[1].link.stats.drop_credit, 2);
	tear_down();
}

/** How many flits a stream of one class takes: the packing rules. */
static void packs(const struct cxl_format *format, unsigned int class, uint32_t n, double slots)
{
	double flits;

	set_up(format, CXL_CREDITS_MAX, 1);
	run_until(MF_US(1)); /* credits are there */
	rig.end[0].to_send[class] = n;
	for (int k = 0; k < 1000 && !all_received(); k++)
		run_until(rig.now + MF_US(1));
	cr_assert(all_received());
	flits = (double)rig.end[0].link.stats.flits;
	cr_assert_float_eq(flits * format->slots / n, slots, 0.02 * slots, "class %u: %f slots", class,
			   flits * format->slots / n);
	tear_down();
}

Test(cxl_link, slots_are_filled)
{
	packs(&cxl_format_68, CXL_REQ, 3000, 1);
	packs(&cxl_format_256, CXL_REQ, 3000, 1);
	packs(&cxl_format_68, CXL_NDR, 3000, 0.5);
	/* A third has one slot of data (RMW's), the others four, and half a slot of header. */
	packs(&cxl_format_68, CXL_DRS, 3000, 0.5 + 3);
	packs(&cxl_format_256, CXL_DRS, 3000, 0.5 + 3);
	packs(&cxl_format_68, CXL_RWD, 3000, 1 + 4 + 1 / 3.);
}

/** Flits of chance, and good ones changed anywhere: nothing comes of it but counters. */
Test(cxl_link, garbage)
{
	struct mf_rng rng;
	uint64_t word[CXL_FLIT_WORDS + 8];
	union cxl_flit f;

	mf_rng_init(&rng, 7, "garbage", 0);
	for (unsigned int n = 0; n < 20000; n++) {
		const struct cxl_format *format = n % 2 ? &cxl_format_256 : &cxl_format_68;

		if (n % 1000 < 2) {
			set_up(format, 8, n);
			rig.end[0].keeps = true;
			rig.end[0].link.config.ends =
				&(const struct cxl_ends){.has = has, .take = take, .deliver = NULL};
			rig.end[0].link.config.buffers[0] = rig.end[0].link.config.buffers[1] = 0;
			rig.end[0].link.config.buffers[2] = rig.end[0].link.config.buffers[3] = 0;
		} else if (format != rig.end[0].link.config.format) {
			continue;
		}
		for (unsigned int i = 0; i < CXL_FLIT_WORDS; i++)
			f.word[i] = mf_rng_next(&rng);
		if (n % 3 != 0) { /* a right CRC, and the expected number */
			cxl_put_id(&f, 1 + mf_rng_below(&rng, 4), rig.end[0].link.expected);
			cxl_seal(format, &f);
		}
		cxl_to_blocks(format, &f, word);
		cxl_link_hold(&rig.end[0].link, n, word,
			      n % 7 == 0 ? (unsigned int)mf_rng_below(&rng, CXL_FLIT_WORDS + 1)
					 : format->blocks);
		cxl_link_arrive(&rig.end[0].link);
	}
	cr_assert_gt(rig.end[0].link.stats.drop_crc, 0);
	cr_assert_gt(rig.end[0].link.stats.drop_message, 0);
	cr_assert_gt(rig.end[0].link.stats.drop_credit, 0);
}
