/* SPDX-License-Identifier: BSD-3-Clause */
/* A host whose stack is above the MAC: what it gives to the stack, and takes of it, and when. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "alone.h"

TestSuite(host_stack, .timeout = 30);

#define LEN 100

struct mf_stack {
	mf_time ready, next;
	unsigned int to_pull, pulled; /* frames, or messages */
	unsigned int runs;
	struct mf_completion done[4];
	unsigned int dones;
	bool busy, takes; /* takes nothing more; frames are its */
	unsigned int frames, messages, blocks;
	mf_time at;
	uint64_t word[MF_BLOCKS_MAX];
};

static struct mf_stack stack;
static struct mf_host *host;
static unsigned int others; /* frames that are not the stack's */

static struct mf_stack *create(const struct mf_stack_config *config)
{
	cr_expect_eq(config->node, 0);
	cr_expect_eq(config->nodes, 3);
	cr_expect_eq(config->queue, 16);
	cr_expect_eq(config->period, ALONE_PERIOD);
	return &stack;
}

static void destroy(struct mf_stack *s)
{
	cr_expect_eq(s, &stack);
}

static int submit(struct mf_stack *s, mf_time now, const struct mf_op *op)
{
	(void)now, (void)op;
	return s->busy ? -EAGAIN : 0;
}

static unsigned int completions(struct mf_stack *s, mf_time now, struct mf_completion *out, unsigned int max)
{
	unsigned int n = s->dones < max ? s->dones : max;

	(void)now;
	memcpy(out, s->done, n * sizeof(*out));
	s->dones = 0;
	return n;
}

static bool frame(struct mf_stack *s, mf_time at, const uint8_t *octets, uint16_t len)
{
	(void)octets;
	cr_expect_eq(len, LEN);
	s->frames++;
	s->at = at;
	return s->takes;
}

static void message(struct mf_stack *s, mf_time at, const uint64_t *word, unsigned int n)
{
	s->messages++;
	s->blocks = n;
	s->at = at;
	memcpy(s->word, word, n * sizeof(*word));
}

static uint16_t pull(struct mf_stack *s, mf_time now, uint8_t *octets)
{
	cr_expect_geq(now, s->ready);
	if (s->pulled == s->to_pull)
		return 0;
	memset(octets, 0xab, LEN);
	s->pulled++;
	return LEN;
}

/** /MS/, data, /MT/ of 5 blocks, whose words are counted. */
static unsigned int pull_message(struct mf_stack *s, mf_time now, uint64_t *word)
{
	cr_expect_geq(now, s->ready);
	if (s->pulled == s->to_pull)
		return 0;
	s->pulled++;
	for (unsigned int i = 0; i < 5; i++)
		word[i] = (uint64_t)s->pulled << 32 | i << 8 | (i == 0 ? MF_BT_MS : i == 4 ? MF_BT_MT : 0);
	return 5;
}

static mf_time ready(const struct mf_stack *s)
{
	return s->pulled < s->to_pull ? s->ready : MF_NEVER;
}

static void run(struct mf_stack *s, mf_time now)
{
	cr_expect_geq(now, s->next);
	s->runs++;
	s->next = MF_NEVER;
}

static mf_time next(const struct mf_stack *s)
{
	return s->next;
}

static struct mf_stack_ops ops = {.create = create,
				  .destroy = destroy,
				  .submit = submit,
				  .completions = completions,
				  .frame = frame,
				  .message = message,
				  .pull = pull,
				  .pull_message = pull_message,
				  .ready = ready,
				  .run = run,
				  .next = next};

static void take_other(void *ctx, mf_time at, const uint8_t *octets, uint16_t len)
{
	(void)ctx, (void)at, (void)octets;
	cr_expect_eq(len, LEN);
	others++;
}

static void start(bool messages)
{
	struct mf_host_config c = alone_config(0, 64);

	stack = (struct mf_stack){.next = MF_NEVER, .takes = true};
	ops.messages = messages;
	c.compute = true;
	c.memory_enabled = messages;
	c.stack = &ops;
	host = mf_host_new(&c);
	cr_assert_not_null(host);
	mf_host_on_frame(host, take_other, NULL);
}

Test(host_stack, operations_are_the_stacks)
{
	const struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 8};
	struct mf_completion out[4];
	const struct mf_host_stats *st;

	start(false);
	cr_expect_eq(mf_host_submit(host, 0, &op), 0);
	stack.busy = true;
	cr_expect_eq(mf_host_submit(host, 0, &op), -EAGAIN);
	stack.done[0] = (struct mf_completion){.kind = MF_OP_WRITE, .status = MF_OK};
	stack.done[1] = (struct mf_completion){.kind = MF_OP_READ, .status = MF_OK};
	stack.done[2] = (struct mf_completion){.kind = MF_OP_WRITE, .status = MF_ERR_TIMEOUT};
	stack.dones = 3;
	cr_expect_eq(mf_host_completions(host, 0, out, 4), 3);
	cr_expect_eq(out[2].status, MF_ERR_TIMEOUT);
	st = mf_host_stats(host);
	cr_expect_eq(st->submitted[MF_OP_WRITE], 1);
	cr_expect_eq(st->completed[MF_OP_WRITE], 1);
	cr_expect_eq(st->completed[MF_OP_READ], 1);
	cr_expect_eq(st->failed[MF_OP_WRITE], 1);
	cr_expect_eq(st->failed[MF_OP_READ], 0);
	mf_host_free(host);
}

/** Takes what the line has now. */
static void sends(mf_time now, struct mf_span *s)
{
	while (mf_host_tx(host, now, MF_SPAN_MAX, s) > 0)
		;
}

/** What is decided late is decided well: the frame that is being sent, and the next one, are committed. */
Test(host_stack, frames_are_pulled_when_they_may_go)
{
	struct mf_span s;

	start(false);
	stack.to_pull = 10;
	stack.ready = MF_US(1);
	stack.next = MF_US(2);
	cr_expect_eq(mf_host_run(host, 0), MF_US(1));
	cr_expect_eq(stack.pulled, 0);
	mf_host_run(host, MF_US(1));
	cr_expect_eq(stack.pulled, 2);
	cr_expect_eq(stack.runs, 0);
	sends(MF_US(1), &s);
	mf_host_run(host, MF_US(2));
	cr_expect_eq(stack.runs, 1);
	for (mf_time now = MF_US(2); now < MF_US(4); now += ALONE_PERIOD) {
		sends(now, &s);
		mf_host_run(host, now);
		cr_assert_leq(stack.pulled, 4 + (now - MF_US(1)) / (LEN / 8 * ALONE_PERIOD));
	}
	cr_expect_eq(stack.pulled, 10);
	mf_host_free(host);
}

Test(host_stack, frames_come_to_the_stack_or_to_others)
{
	struct mf_span s;

	start(false);
	stack.to_pull = 1;
	mf_host_run(host, 0);
	/* Its own, given back: it does not care. */
	for (mf_time now = 0; now < MF_US(1); now += ALONE_PERIOD)
		while (mf_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_host_run(host, MF_US(2));
	cr_expect_eq(stack.frames, 1);
	cr_expect_eq(others, 0);
	stack.takes = false;
	stack.to_pull = 2;
	mf_host_run(host, MF_US(3));
	for (mf_time now = MF_US(3); now < MF_US(4); now += ALONE_PERIOD)
		while (mf_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_host_run(host, MF_US(5));
	cr_expect_eq(stack.frames, 2);
	cr_expect_eq(others, 1);
	mf_host_free(host);
}

/** Gives blocks of a message, from..to of n. */
static void give(mf_time at, unsigned int from, unsigned int to, unsigned int n)
{
	struct mf_span s = {.start = at, .period = ALONE_PERIOD};

	for (unsigned int i = from; i < to; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA,
			    i == 0       ? MF_BT_MS
			    : i == n - 1 ? 7 << 8 | MF_BT_MT
					 : i << 8);
	mf_host_rx(host, at, &s);
}

Test(host_stack, messages_come_whole)
{
	start(true);
	give(MF_US(1), 0, 9, 9);
	cr_expect(stack.messages == 1 && stack.blocks == 9);
	cr_expect_eq(stack.at, MF_US(1) + 8 * ALONE_PERIOD, "dated at its last block");
	give(MF_US(2), 0, 4, 9);
	give(MF_US(2) + 4 * ALONE_PERIOD, 4, 5, 9);
	cr_expect_eq(stack.messages, 1);
	give(MF_US(3), 5, 9, 9);
	cr_expect(stack.messages == 2 && stack.blocks == 9);
	cr_expect_eq(stack.at, MF_US(3) + 3 * ALONE_PERIOD);
	for (unsigned int i = 1; i < 8; i++)
		cr_expect_eq(stack.word[i], i << 8);
	/* One that is cut by the next one is lost, that one is not. */
	give(MF_US(4), 0, 4, 9);
	give(MF_US(5), 0, 6, 6);
	cr_expect(stack.messages == 3 && stack.blocks == 6);
	mf_host_free(host);
}

Test(host_stack, messages_go_one_at_a_time)
{
	struct mf_span s;

	start(true);
	stack.to_pull = 3;
	mf_host_run(host, 0);
	cr_expect_eq(stack.pulled, 1);
	cr_assert_eq(mf_host_tx(host, 0, MF_SPAN_MAX, &s), 5);
	cr_expect_eq(s.word[4], UINT64_C(1) << 32 | 4 << 8 | MF_BT_MT);
	mf_host_run(host, ALONE_PERIOD);
	cr_expect_eq(stack.pulled, 2, "the next one waits for the line");
	mf_host_run(host, 2 * ALONE_PERIOD);
	cr_expect_eq(stack.pulled, 2);
	mf_host_free(host);
}
