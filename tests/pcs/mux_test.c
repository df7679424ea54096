/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mux_test.h"
#include "pcs_test.h"

uint64_t message_word(unsigned int id, unsigned int i, unsigned int n)
{
	static const uint8_t single[] = {MF_BT_N, MF_BT_G, MF_BT_MST};
	uint64_t named = (uint64_t)id << 32 | i << 8;

	if (n == 1)
		return named | single[id % 3];
	if (i == 0)
		return named | MF_BT_MS;
	if (i == n - 1)
		return named | MF_BT_MT;
	return named;
}

static void add(struct script *s, mf_time at, enum event_kind kind, unsigned int id, unsigned int words)
{
	cr_assert_lt(s->events, SCRIPT_EVENTS);
	s->event[s->events] = (struct event){
		.at = at, .order = s->events, .kind = kind, .id = (uint16_t)id, .words = (uint16_t)words};
	s->events++;
}

static unsigned int random_length(unsigned int longest, uint64_t *rng)
{
	switch (test_below(rng, 4)) {
	case 0:
		return 1;
	case 1:
		return 2;
	default:
		return 1 + test_below(rng, longest);
	}
}

static void append(struct script *s, unsigned int id, mf_time at, unsigned int words)
{
	struct message *msg = &s->message[id];

	add(s, at, EVENT_APPEND, id, words);
	while (words--)
		msg->written[msg->appended++] = at;
}

/** Words as they come off a link: in batches, behind each other, with a hole now and then. */
static void append_slowly(struct script *s, unsigned int id, uint64_t *rng)
{
	struct message *msg = &s->message[id];
	mf_time at = msg->pushed + test_below(rng, 3) * PERIOD / 2;

	while (msg->appended < msg->n) {
		unsigned int rest = msg->n - msg->appended, k = 1 + test_below(rng, rest);

		if (test_below(rng, 40) == 0) {
			msg->aborted = true;
			msg->aborted_at = at + test_below(rng, 20) * PERIOD;
			add(s, msg->aborted_at, EVENT_ABORT, id, 0);
			return;
		}
		append(s, id, at, k);
		at += k * PERIOD + test_below(rng, 3) * test_below(rng, 6 * PERIOD);
	}
}

/** Half of the times lie on the grid of blocks, so that many things happen at the same time. */
static mf_time random_time(mf_time span, uint64_t *rng)
{
	mf_time at = test_random(rng) % span;

	return test_below(rng, 2) ? at / PERIOD * PERIOD : at;
}

static void make_message(struct script *s, const struct load *load, uint64_t *rng)
{
	unsigned int id = s->messages++;
	struct message *msg = &s->message[id];

	msg->pushed = random_time(load->span, rng);
	msg->ready = msg->pushed + test_below(rng, 3) * PERIOD + test_below(rng, 2) * test_below(rng, 9000);
	msg->tie = test_below(rng, 3);
	msg->n = random_length(load->longest, rng);
	add(s, msg->pushed, EVENT_PUSH, id, 0);
	if (load->slow && test_below(rng, 2))
		append_slowly(s, id, rng);
	else
		append(s, id, msg->pushed, msg->n);
}

static void make_frame(struct script *s, const struct load *load, uint64_t *rng)
{
	unsigned int id = s->frames++;
	struct frame *f = &s->frame[id];

	f->queued = random_time(load->span, rng);
	f->len = (uint16_t)(MF_FRAME_MIN +
			    test_below(rng, test_below(rng, 8) ? 200 : FRAME_OCTETS - MF_FRAME_MIN));
	test_fill(rng, f->octet, f->len);
	add(s, f->queued, EVENT_FRAME, id, 0);
}

static int earlier(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void script_make(struct script *s, const struct load *load, uint64_t *rng)
{
	memset(s, 0, sizeof(*s));
	while (s->messages < load->messages)
		make_message(s, load, rng);
	while (s->frames < load->frames)
		make_frame(s, load, rng);
	qsort(s->event, s->events, sizeof(*s->event), earlier);
}

struct mf_mux_config mux_test_config(enum mf_mux_policy policy, uint32_t period)
{
	return (struct mf_mux_config){.policy = policy,
				      .period = period,
				      .memory_blocks = 32768,
				      .memory_items = 512,
				      .frames = 64,
				      .frame_bytes = 64 * FRAME_OCTETS,
				      .quantum = 16,
				      .memory_enabled = true};
}

static void apply(struct script *s, struct mf_mux *m, const struct event *e)
{
	struct message *msg = e->kind == EVENT_FRAME ? NULL : &s->message[e->id];

	switch ((enum event_kind)e->kind) {
	case EVENT_PUSH:
		msg->item = mf_mux_push(m, msg->ready, msg->tie, msg->n, e->id + 1U, &msg->words);
		cr_assert_not_null(msg->item);
		for (unsigned int i = 0; i < msg->n; i++)
			msg->words[i] = message_word(e->id, i, msg->n);
		break;
	case EVENT_APPEND:
		mf_mux_append(m, msg->item, e->words);
		break;
	case EVENT_ABORT:
		mf_mux_abort(m, msg->item);
		break;
	case EVENT_FRAME:
		cr_assert(mf_mux_frame(m, e->at, s->frame[e->id].octet, s->frame[e->id].len));
		break;
	}
}

/** A span of a frame ends with its /T/ or the gap behind that. */
static void check_frame_span(const struct mf_span *span)
{
	for (unsigned int i = 0; i + 1 < span->count; i++) {
		bool ends = span->sync[i] == MF_SYNC_CTRL &&
			    mf_codec_classify(MF_SYNC_CTRL, span->word[i]) == MF_CODEC_T;

		cr_assert(!ends || (i + 2 == span->count && span->word[i + 1] == MF_IDLE_WORD),
			  "block %u of %u ends a frame", i, span->count);
	}
}

static void write_down(struct outcome *out, const struct mf_span *span)
{
	if (span->flags & MF_SPAN_FRAME)
		check_frame_span(span);
	cr_assert_leq(out->blocks + span->count, LOG_MAX);
	for (unsigned int i = 0; i < span->count; i++)
		out->block[out->blocks++] = (struct logged){
			.at = mf_span_at(span, i), .word = span->word[i], .sync = span->sync[i]};
}

static void take_dones(struct mf_mux *m, struct outcome *out)
{
	struct done *d = &out->done[out->dones];

	for (; (d->cookie = mf_mux_done(m, &d->at)); d++)
		cr_assert_lt(++out->dones, SCRIPT_MESSAGES);
}

/** Pulls until nothing comes. @return blocks */
static unsigned int pull_all(struct mf_mux *m, mf_time now, unsigned int max, uint64_t *rng,
			     struct outcome *out)
{
	unsigned int blocks = out->blocks;
	static struct mf_span span;

	while (mf_mux_pull(m, now, max ? max : 1 + test_below(rng, MF_SPAN_MAX), &span))
		write_down(out, &span);
	take_dones(m, out);
	return out->blocks - blocks;
}

void script_run(struct script *s, const struct mf_mux_config *config, unsigned int max, uint64_t *rng,
		struct outcome *out)
{
	struct mf_mux *m = mf_mux_new(config);
	unsigned int next = 0;
	mf_time now = 0;

	cr_assert_not_null(m);
	memset(out, 0, sizeof(*out));
	for (;;) {
		mf_time pull = mf_mux_next(m, now);
		mf_time event = next < s->events ? s->event[next].at : MF_NEVER;
		unsigned int pulled;

		now = mf_time_min(pull, event);
		if (now == MF_NEVER)
			break;
		for (; next < s->events && s->event[next].at == now; next++) {
			out->backlog = out->backlog * 31 + mf_mux_backlog(m, now);
			apply(s, m, &s->event[next]);
		}
		pulled = pull_all(m, now, max, rng, out);
		cr_assert(pulled || event == now, "nothing to pull at %" PRIu64 ", when next() said so", now);
		cr_assert_gt(mf_mux_next(m, now), now);
	}
	out->stats = *mf_mux_stats(m);
	mf_mux_free(m);
}
