/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole messages, queued and taken as such: mf_mux_put() among messages that come in pieces and frames,
 * mf_demux_message() beside mf_demux_span().
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "mux_test.h"
#include "pcs/mf_demux.h"
#include "pcs_test.h"

#define MESSAGES 16384
#define PIECES 8 /**< messages in pieces that are under way */

/** What a message was queued with, by its number. */
struct queued {
	uint16_t blocks;
	bool whole; /**< by mf_mux_put() */
	bool arrived;
	bool cookie; /**< and it has not been told */
};

struct piecewise {
	struct mf_mux_item *item;
	uint64_t *words;
	unsigned int number, n, have;
};

struct run {
	uint64_t rng;
	struct mf_mux *mux;
	struct mf_demux demux;
	struct queued queued[MESSAGES];
	unsigned int count, arrived;
	struct piecewise piece[PIECES];
	uint64_t blocks, cookies;
	mf_time waited, now;
	unsigned int last_whole, last_cookie; /**< numbers */
	unsigned int number, have; /**< the message that is arriving */
	unsigned int frames, frames_arrived;
	bool small; /**< spans of any length are asked for */
};

static struct run r;

static unsigned int random_length(void)
{
	unsigned int kind = test_below(&r.rng, 8);

	return kind < 2 ? 1 : kind < 4 ? 2 : kind < 7 ? 10 : 2 + test_below(&r.rng, MF_SPAN_MAX + 30);
}

static void write_words(uint64_t *words, unsigned int number, unsigned int from, unsigned int to,
			unsigned int n)
{
	for (unsigned int i = from; i < to; i++)
		words[i] = message_word(number, i, n);
}

/** Number of a message: those of messages from 1 on, as a cookie, too. */
static unsigned int enter(unsigned int n, bool whole)
{
	r.queued[++r.count] = (struct queued){.blocks = (uint16_t)n, .whole = whole};
	r.blocks += n;
	r.waited -= r.now;
	return r.count;
}

static void put_whole(void)
{
	unsigned int n = random_length(), number = r.count + 1;
	uint64_t cookie = test_below(&r.rng, 3) ? 0 : number;
	/* A message may be older than those queued before it: it stays behind them. */
	mf_time ready = r.now - test_below(&r.rng, 3);
	uint64_t *words = mf_mux_put(r.mux, ready, test_below(&r.rng, 5), n, cookie);

	if (words == NULL)
		return;
	r.queued[enter(n, true)].cookie = cookie != 0;
	r.waited += r.now - ready;
	r.cookies += cookie != 0;
	write_words(words, number, 0, n, n);
}

static void push_pieces(void)
{
	struct piecewise *p = &r.piece[test_below(&r.rng, PIECES)];
	unsigned int n = 2 + test_below(&r.rng, 60);

	if (p->item != NULL)
		return;
	/* It stays behind those that were queued before its first word, however old it is. */
	p->item = mf_mux_push(r.mux, r.now - test_below(&r.rng, 3), test_below(&r.rng, 5), n, 0, &p->words);
	if (p->item == NULL)
		return;
	p->number = enter(n, false);
	p->n = n;
	p->have = 0;
}

static void append_pieces(bool all)
{
	for (unsigned int i = 0; i < PIECES; i++) {
		struct piecewise *p = &r.piece[i];
		unsigned int k;

		if (p->item == NULL)
			continue;
		k = all ? p->n - p->have : test_below(&r.rng, p->n - p->have + 1);
		write_words(p->words, p->number, p->have, p->have + k, p->n);
		mf_mux_append(r.mux, p->item, k);
		p->have += k;
		if (p->have == p->n)
			p->item = NULL;
	}
}

static void arrives(unsigned int number)
{
	struct queued *q = &r.queued[number];
	cr_assert(!q->arrived);
	q->arrived = true;
	/* Whoever hears of it can answer at once: its sender must know that it is out. */
	cr_assert(r.small || !q->cookie, "message %u is there, its cookie was not told", number);
	r.arrived++;
	if (!q->whole)
		return;
	cr_assert_gt(number, r.last_whole, "message %u behind %u", number, r.last_whole);
	r.last_whole = number;
}

static void take_words(const uint64_t *word, unsigned int n, bool begins, bool ends)
{
	if (begins) {
		cr_assert_eq(r.have, 0);
		r.number = (unsigned int)(word[0] >> 32);
		cr_assert(r.number > 0 && r.number <= r.count);
	}
	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(word[i], message_word(r.number, r.have++, r.queued[r.number].blocks));
	if (!ends)
		return;
	cr_assert_eq(r.have, r.queued[r.number].blocks);
	r.have = 0;
	arrives(r.number);
}

static void take_item(const struct mf_rx_item *it)
{
	if (it->kind == MF_RX_FRAME) {
		r.frames_arrived++;
	} else if (it->kind == MF_RX_SINGLE) {
		unsigned int number = (unsigned int)(it->word[0] >> 32);

		cr_assert_eq(it->word[0], message_word(number, 0, 1));
		arrives(number);
	} else {
		cr_assert_eq(it->kind, MF_RX_RUN);
		take_words(it->word, it->count, it->begins, it->ends);
	}
}

static void take_span(const struct mf_span *s)
{
	unsigned int pos = 0, n;
	struct mf_rx_item item;

	while (pos < s->count) {
		if ((n = mf_demux_message(&r.demux, s, pos)) > 0) {
			take_words(&s->word[pos], n, true, true);
			pos += n;
		} else if (mf_demux_span(&r.demux, s, &pos, &item, 1) > 0) {
			take_item(&item);
		}
	}
}

static void take_cookies(void)
{
	uint64_t cookie;
	mf_time at;

	while ((cookie = mf_mux_done(r.mux, &at)) != 0) {
		r.cookies--;
		r.queued[cookie].cookie = false;
		cr_assert_eq(at, r.now);
		if (r.queued[cookie].blocks > 1) {
			cr_assert_gt(cookie, r.last_cookie);
			r.last_cookie = (unsigned int)cookie;
		}
	}
}

/** @return the next span, by either way; NULL: there is none */
static const struct mf_span *pull(struct mf_span *room)
{
	unsigned int max = r.small ? 1 + test_below(&r.rng, MF_SPAN_MAX) : MF_SPAN_MAX;

	bool waits = mf_mux_waits(r.mux);
	const struct mf_span *s;

	if (test_below(&r.rng, 2))
		s = mf_mux_pull_in_place(r.mux, r.now, room);
	else
		s = mf_mux_pull(r.mux, r.now, max, room) > 0 ? room : NULL;
	cr_assert(waits || s == NULL, "it said that nothing waits");
	return s;
}

static void pull_all(void)
{
	const struct mf_span *s;
	struct mf_span room;

	while ((s = pull(&room)) != NULL) {
		take_cookies();
		/* Its sender may go on while the span is read, as far as the next pull. */
		for (unsigned int n = test_below(&r.rng, 4) ? 0 : test_below(&r.rng, 60); n > 0; n--)
			if (r.count + 1 < MESSAGES)
				put_whole();
		take_span(s);
	}
}

static void turn(bool frames)
{
	static const uint8_t octets[FRAME_OCTETS];
	unsigned int n = test_below(&r.rng, 24);

	for (unsigned int i = 0; i < n && r.count + 1 < MESSAGES; i++) {
		unsigned int what = test_below(&r.rng, 16);

		if (what == 0)
			push_pieces();
		else if (what == 1 && frames)
			r.frames += mf_mux_frame(r.mux, r.now, octets,
						 (uint16_t)(60 + test_below(&r.rng, FRAME_OCTETS - 60)));
		else
			put_whole();
	}
	append_pieces(false);
	r.now += 1000;
	if (test_below(&r.rng, 4) > 0)
		pull_all();
}

/** @param items  so few that pushes are refused now and then */
static void run_all(uint64_t seed, enum mf_mux_policy policy, bool frames, uint32_t blocks, uint32_t items)
{
	struct mf_mux_config config = mux_test_config(policy, 0);
	const struct mf_mux_stats *stats;

	config.memory_blocks = blocks;
	config.memory_items = items;
	memset(&r, 0, sizeof(r));
	r.rng = seed;
	r.small = seed % 8 < 4;
	r.now = 1000000;
	r.mux = mf_mux_new(&config);
	cr_assert_not_null(r.mux);
	if (seed % 3 == 0)
		mf_mux_short_spans(r.mux);
	cr_assert_eq(mf_demux_init(&r.demux, true, 0, MF_US(125)), 0);
	for (unsigned int i = 0; i < 400; i++)
		turn(frames);
	append_pieces(true);
	pull_all();
	stats = mf_mux_stats(r.mux);
	cr_assert_eq(r.arrived, r.count, "%u of %u", r.arrived, r.count);
	cr_assert_eq(stats->messages, r.count);
	cr_assert_eq(stats->memory_blocks, r.blocks);
	cr_assert_eq(r.cookies, 0);
	cr_assert_eq(stats->frames, r.frames);
	cr_assert_eq(r.demux.stats.memory_blocks, r.blocks);
	cr_assert_eq(mf_mux_backlog(r.mux, r.now), 0);
	cr_assert_eq(mf_mux_waiting(r.mux), 0);
	cr_assert(mf_mux_room(r.mux, blocks), "all room is given back");
	cr_assert_gt(r.count, 300);
	mf_mux_free(r.mux);
	mf_demux_fini(&r.demux);
}

static void all_policies(bool frames, uint32_t blocks, uint32_t items)
{
	static const enum mf_mux_policy policies[] = {MF_MUX_FAIR, MF_MUX_MEMORY_FIRST, MF_MUX_NO_PREEMPT,
						      MF_MUX_FIFO};
	uint64_t seed = test_seed();

	for (unsigned int i = 0; i < 20; i++)
		run_all(seed + i, policies[i % 4], frames, blocks, items);
}

Test(mux_put, order_and_content, .init = test_widest)
{
	all_policies(false, 32768, 512);
}

Test(mux_put, among_frames, .init = test_widest)
{
	all_policies(true, 32768, 512);
}

Test(mux_put, tiny_room, .init = test_widest)
{
	all_policies(true, 256, 8);
}

/* How long messages waited, one by one and together: each counts from its own ready time. */
Test(mux_put, waits)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, 0);
	struct mf_mux *m = mf_mux_new(&config);
	struct mf_span s;

	for (unsigned int i = 0; i < 5; i++)
		write_words(mf_mux_put(m, 1000 + i, 0, 2, 0), i, 0, 2, 2);
	cr_assert_eq(mf_mux_pull(m, 2000, MF_SPAN_MAX, &s), 10);
	cr_assert_eq(mf_mux_stats(m)->waited, 5 * 1000 - (1 + 2 + 3 + 4));
	mf_mux_free(m);
}

/* One that comes in pieces passes nobody who was queued before its first word, however old or light it is. */
Test(mux_put, pieces_stay_behind)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, 0);
	struct mf_mux *m = mf_mux_new(&config);
	uint64_t *held, *behind;
	struct mf_mux_item *first = mf_mux_push(m, 1000, 9, 4, 0, &held), *piece;
	struct mf_span s;

	write_words(held, 1, 0, 2, 4);
	mf_mux_append(m, first, 2); /* the link waits for the rest of it */
	cr_assert_eq(mf_mux_pull(m, 1000, MF_SPAN_MAX, &s), 2);
	write_words(mf_mux_put(m, 1500, 9, 2, 0), 2, 0, 2, 2);
	piece = mf_mux_push(m, 1200, 0, 4, 0, &behind);
	write_words(behind, 3, 0, 2, 4);
	mf_mux_append(m, piece, 2);
	write_words(held, 1, 2, 4, 4);
	mf_mux_append(m, first, 2);
	cr_assert_eq(mf_mux_pull(m, 2000, MF_SPAN_MAX, &s), 6);
	cr_assert_eq(s.word[2], message_word(2, 0, 2));
	cr_assert_eq(s.word[4], message_word(3, 0, 4));
	mf_mux_free(m);
}

/* Messages share short spans, whole; a longer one has a span for itself. */
Test(mux_put, short_spans)
{
	const unsigned int length[] = {10, 10, 300, 10, 128, 2};
	const unsigned int messages = 10 * sizeof(length) / sizeof(length[0]);
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, 0);
	struct mf_mux *m = mf_mux_new(&config);
	unsigned int put = 0, got = 0, spans = 0;
	struct mf_span room, *s;

	mf_mux_short_spans(m);
	cr_assert_not(mf_mux_waits(m));
	while (put < messages) {
		for (unsigned int i = 0; i < 6; i++, put++)
			write_words(mf_mux_put(m, 0, 0, length[i], 0), put + 1, 0, length[i], length[i]);
		cr_assert(mf_mux_waits(m));
		while ((s = mf_mux_pull_in_place(m, 1, &room)) != NULL) {
			unsigned int at = 0, first = got;

			for (; at < s->count; at += length[got++ % 6])
				cr_assert_eq(s->word[at], message_word(got + 1, 0, length[got % 6]));
			cr_assert_eq(at, s->count, "the last one is whole");
			cr_assert(s->count <= 128 || got == first + 1, "%u blocks", s->count);
			spans++;
		}
		cr_assert_not(mf_mux_waits(m));
	}
	cr_assert_eq(got, messages);
	cr_assert_eq(spans, 5 * messages / 6, "10 + 10, 300, 10, 128, 2");
	mf_mux_free(m);
}

/* No room, though nothing waits, and though the last span would have some; what waits goes out. */
Test(mux_put, closed)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, 0);
	struct mf_mux *m = mf_mux_new(&config);
	struct mf_span s;

	for (unsigned int round = 0; round < 2; round++) {
		mf_mux_close(m, true);
		cr_expect_null(mf_mux_put(m, 0, 0, 2, 0));
		cr_expect_null(mf_mux_put(m, 0, 0, 1, 0));
		mf_mux_close(m, false);
		write_words(mf_mux_put(m, 0, 0, 2, 0), 1, 0, 2, 2);
		mf_mux_close(m, true);
		mf_mux_short_spans(m);
		cr_expect_null(mf_mux_put(m, 0, 0, 2, 0));
		cr_expect_eq(mf_mux_pull(m, 1, MF_SPAN_MAX, &s), 2);
		cr_expect_null(mf_mux_put(m, 1, 0, 300, 0), "a span that is empty");
		mf_mux_close(m, false);
		write_words(mf_mux_put(m, 1, 0, 300, 0), 2, 0, 300, 300);
		cr_expect_eq(mf_mux_pull(m, 2, MF_SPAN_MAX, &s), 300);
	}
	mf_mux_free(m);
}

/** A block of any kind, mostly of messages. */
static void random_block(uint64_t *rng, struct mf_span *s)
{
	static const uint8_t type[] = {MF_BT_MS, MF_BT_MT, MF_BT_MT,  MF_BT_MS, MF_BT_N,
				       MF_BT_G,  MF_BT_C,  MF_BT_MST, MF_BT_S,  MF_BT_T3};
	uint64_t word = test_random(rng);
	uint8_t sync = (uint8_t)(test_below(rng, 4096) ? MF_SYNC_DATA : test_below(rng, 4));

	if (test_below(rng, 5) == 0) {
		word = (word & ~UINT64_C(0xff)) | type[test_below(rng, sizeof(type))];
		if ((word & 0xff) == MF_BT_C)
			word = MF_IDLE_WORD;
		sync = MF_SYNC_CTRL;
	}
	mf_span_put(s, sync, word);
}

/** What a demultiplexer said, as a hash. */
static uint64_t said(uint64_t hash, const struct mf_rx_item *it)
{
	uint64_t h = hash * UINT64_C(0x100000001b3) + it->kind * 4U + it->begins * 2U + it->ends;

	h = h * 31 + it->count;
	for (unsigned int i = 0; it->word != NULL && i < it->count; i++)
		h = (h ^ it->word[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return h;
}

Test(mux_put, message_is_what_span_says, .init = test_widest)
{
	uint64_t rng = test_seed(), hash[2] = {0, 0};
	unsigned int messages = 0;
	struct mf_demux d[2];

	for (unsigned int k = 0; k < 2; k++)
		cr_assert_eq(mf_demux_init(&d[k], true, PERIOD, MF_US(125)), 0);
	for (unsigned int round = 0; round < 20000; round++) {
		struct mf_span s = {.start = round * MF_US(10), .period = PERIOD};
		unsigned int n = 1 + test_below(&rng, MF_SPAN_MAX);

		while (s.count < n)
			random_block(&rng, &s);
		for (unsigned int k = 0; k < 2; k++) {
			unsigned int pos = 0, blocks;

			while (pos < s.count) {
				struct mf_rx_item item = {0};

				if (k == 0 && (blocks = mf_demux_message(&d[k], &s, pos)) > 0) {
					item = (struct mf_rx_item){.kind = MF_RX_RUN,
								   .begins = true,
								   .ends = true,
								   .count = (uint16_t)blocks,
								   .word = &s.word[pos]};
					pos += blocks;
					messages++;
				} else if (mf_demux_span(&d[k], &s, &pos, &item, 1) == 0) {
					continue;
				}
				hash[k] = said(hash[k], &item);
			}
		}
		cr_assert_eq(hash[0], hash[1], "seed %" PRIu64 " round %u", test_seed(), round);
		cr_assert_eq(memcmp(&d[0].stats, &d[1].stats, sizeof(d[0].stats)), 0);
	}
	cr_assert_gt(messages, 1000, "%u", messages);
	for (unsigned int k = 0; k < 2; k++)
		mf_demux_fini(&d[k]);
}
