/* SPDX-License-Identifier: BSD-3-Clause */
/* A host of frames: what it gives to its stack, and takes of it, and when; and one without a stack. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "systems/frames/mf_frame_host.h"

#define LEN 100
#define PERIOD 2560 /* ps a block */

struct mf_stack {
	mf_time ready, next;
	unsigned int to_pull, pulled; /* frames, or messages */
	unsigned int runs;
	struct mf_completion done[4];
	unsigned int dones;
	bool busy, takes; /* takes nothing more; frames are its */
	unsigned int frames, messages, blocks;
	unsigned int losses; /* of the link */
	mf_time at;
	uint64_t word[MF_STACK_BLOCKS_MAX];
};

static struct mf_stack stack;
static struct mf_frame_host *host;
static unsigned int others; /* frames that are not the stack's */

static struct mf_stack *create(const struct mf_stack_config *config)
{
	cr_expect_eq(config->node, 0);
	cr_expect_eq(config->nodes, 3);
	cr_expect_eq(config->queue, 16);
	cr_expect_eq(config->period, PERIOD, "that of the multiplexer");
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

static uint32_t outstanding(const struct mf_stack *s)
{
	return s->dones;
}

static unsigned int counters(const struct mf_stack *s, struct mf_counter *out)
{
	out[0] = (struct mf_counter){.name = "runs", .value = s->runs};
	return 1;
}

static void link_lost(struct mf_stack *s)
{
	s->losses++;
}

static struct mf_stack_ops ops = {.create = create,
				  .destroy = destroy,
				  .submit = submit,
				  .completions = completions,
				  .outstanding = outstanding,
				  .counters = counters,
				  .frame = frame,
				  .message = message,
				  .pull = pull,
				  .pull_message = pull_message,
				  .link_lost = link_lost,
				  .ready = ready,
				  .run = run,
				  .next = next};

static void take_other(void *ctx, mf_time at, const uint8_t *octets, uint16_t len)
{
	(void)ctx, (void)at, (void)octets;
	cr_expect_eq(len, LEN);
	others++;
}

static struct mf_frame_host_config config(bool messages)
{
	stack = (struct mf_stack){.next = MF_NEVER, .takes = true};
	ops.messages = messages;
	return (struct mf_frame_host_config){
		.stack = &ops,
		.of = {.node = 0, .nodes = 3, .compute = true, .queue = 16},
		.mux = {.policy = MF_MUX_FAIR,
			.period = PERIOD,
			.memory_blocks = 1 << 14,
			.memory_items = 1 << 10,
			.frames = 16,
			.frame_bytes = 1 << 16,
			.quantum = 16},
		.blocks = messages,
		.ber_window = MF_US(125),
	};
}

static void start_with(const struct mf_frame_host_config *c)
{
	host = mf_frame_host_new(c);
	cr_assert_not_null(host);
	mf_frame_host_on_frame(host, take_other, NULL);
}

static void start(bool messages)
{
	const struct mf_frame_host_config c = config(messages);

	start_with(&c);
}

static struct mf_frame_host_counts counts(void)
{
	struct mf_frame_host_counts c;

	mf_frame_host_counts(host, &c);
	return c;
}

Test(stack_frame_host, operations_are_the_stacks)
{
	const struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 8};
	struct mf_completion out[4];
	struct mf_frame_host_counts c;
	struct mf_counter counter[MF_COUNTERS_MAX];

	start(false);
	cr_expect_eq(mf_frame_host_submit(host, 0, &op), 0);
	stack.busy = true;
	cr_expect_eq(mf_frame_host_submit(host, 0, &op), -EAGAIN);
	stack.done[0] = (struct mf_completion){.kind = MF_OP_WRITE, .status = MF_OK};
	stack.done[1] = (struct mf_completion){.kind = MF_OP_READ, .status = MF_OK};
	stack.done[2] = (struct mf_completion){.kind = MF_OP_WRITE, .status = MF_ERR_TIMEOUT};
	stack.dones = 3;
	cr_expect_eq(mf_frame_host_outstanding(host), 3);
	cr_expect_eq(mf_frame_host_completions(host, 0, out, 4), 3);
	cr_expect_eq(out[2].status, MF_ERR_TIMEOUT);
	c = counts();
	cr_expect_eq(c.op.submitted[MF_OP_WRITE], 1);
	cr_expect_eq(c.op.completed[MF_OP_WRITE], 1);
	cr_expect_eq(c.op.completed[MF_OP_READ], 1);
	cr_expect_eq(c.op.failed[MF_OP_WRITE], 1);
	cr_expect_eq(c.op.failed[MF_OP_READ], 0);
	cr_expect_eq(mf_frame_host_counters(host, counter), 1);
	mf_frame_host_free(host);
}

/** Takes what the line has now. */
static void sends(mf_time now, struct mf_span *s)
{
	while (mf_frame_host_tx(host, now, MF_SPAN_MAX, s) > 0)
		;
}

/** What is decided late is decided well: the frame that is being sent, and the next one, are committed. */
Test(stack_frame_host, frames_are_pulled_when_they_may_go)
{
	struct mf_span s;

	start(false);
	stack.to_pull = 10;
	stack.ready = MF_US(1);
	stack.next = MF_US(2);
	cr_expect_eq(mf_frame_host_run(host, 0), MF_US(1));
	cr_expect_eq(stack.pulled, 0);
	mf_frame_host_run(host, MF_US(1));
	cr_expect_eq(stack.pulled, 2);
	cr_expect_eq(stack.runs, 0);
	sends(MF_US(1), &s);
	mf_frame_host_run(host, MF_US(2));
	cr_expect_eq(stack.runs, 1);
	for (mf_time now = MF_US(2); now < MF_US(4); now += PERIOD) {
		sends(now, &s);
		mf_frame_host_run(host, now);
		cr_assert_leq(stack.pulled, 4 + (now - MF_US(1)) / (LEN / 8 * PERIOD));
	}
	cr_expect_eq(stack.pulled, 10);
	mf_frame_host_free(host);
}

Test(stack_frame_host, frames_come_to_the_stack_or_to_others)
{
	struct mf_span s;

	start(false);
	stack.to_pull = 1;
	mf_frame_host_run(host, 0);
	/* Its own, given back: it does not care. */
	for (mf_time now = 0; now < MF_US(1); now += PERIOD)
		while (mf_frame_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_frame_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_frame_host_run(host, MF_US(2));
	cr_expect_eq(stack.frames, 1);
	cr_expect_eq(others, 0);
	stack.takes = false;
	stack.to_pull = 2;
	mf_frame_host_run(host, MF_US(3));
	for (mf_time now = MF_US(3); now < MF_US(4); now += PERIOD)
		while (mf_frame_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_frame_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_frame_host_run(host, MF_US(5));
	cr_expect_eq(stack.frames, 2);
	cr_expect_eq(others, 1);
	mf_frame_host_free(host);
}

/** Gives blocks of a message, from..to of n. */
static void give(mf_time at, unsigned int from, unsigned int to, unsigned int n)
{
	struct mf_span s = {.start = at, .period = PERIOD};

	for (unsigned int i = from; i < to; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA,
			    i == 0       ? MF_BT_MS
			    : i == n - 1 ? 7 << 8 | MF_BT_MT
					 : i << 8);
	mf_frame_host_rx(host, at, &s);
}

Test(stack_frame_host, messages_come_whole)
{
	start(true);
	give(MF_US(1), 0, 9, 9);
	cr_expect(stack.messages == 1 && stack.blocks == 9);
	cr_expect_eq(stack.at, MF_US(1) + 8 * PERIOD, "dated at its last block");
	give(MF_US(2), 0, 4, 9);
	give(MF_US(2) + 4 * PERIOD, 4, 5, 9);
	cr_expect_eq(stack.messages, 1);
	give(MF_US(3), 5, 9, 9);
	cr_expect(stack.messages == 2 && stack.blocks == 9);
	cr_expect_eq(stack.at, MF_US(3) + 3 * PERIOD);
	for (unsigned int i = 1; i < 8; i++)
		cr_expect_eq(stack.word[i], i << 8);
	/* One that is cut by the next one is lost, that one is not. */
	give(MF_US(4), 0, 4, 9);
	give(MF_US(5), 0, 6, 6);
	cr_expect(stack.messages == 3 && stack.blocks == 6);
	mf_frame_host_free(host);
}

Test(stack_frame_host, messages_go_one_at_a_time)
{
	struct mf_span s;

	start(true);
	stack.to_pull = 3;
	mf_frame_host_run(host, 0);
	cr_expect_eq(stack.pulled, 1);
	cr_assert_eq(mf_frame_host_tx(host, 0, MF_SPAN_MAX, &s), 5);
	cr_expect_eq(s.word[4], UINT64_C(1) << 32 | 4 << 8 | MF_BT_MT);
	mf_frame_host_run(host, PERIOD);
	cr_expect_eq(stack.pulled, 2, "the next one waits for the line");
	mf_frame_host_run(host, 2 * PERIOD);
	cr_expect_eq(stack.pulled, 2);
	mf_frame_host_free(host);
}

/** A lost link cuts the message that was arriving, and throws away what waited. Later messages are taken. */
Test(stack_frame_host, link_is_lost)
{
	struct mf_span s;

	start(true);
	stack.to_pull = 2;
	mf_frame_host_run(host, 0);
	cr_assert_eq(mf_frame_host_tx(host, 0, MF_SPAN_MAX, &s), 5);
	mf_frame_host_run(host, PERIOD);
	cr_expect_eq(stack.pulled, 2);
	give(MF_US(1), 0, 4, 9);
	mf_frame_host_link_lost(host, MF_US(2));
	cr_expect_eq(mf_frame_host_demux(host)->stats.aborts, 1);
	cr_expect_eq(stack.losses, 1);
	cr_expect_eq(mf_frame_host_tx(host, MF_US(2), MF_SPAN_MAX, &s), 0, "it was thrown away");
	stack.to_pull++;
	cr_expect_gt(mf_frame_host_run(host, MF_US(2)), MF_US(2), "nothing is to be done");
	cr_expect_eq(stack.pulled, 2, "nothing is given to a line that is lost");
	mf_frame_host_link_back(host, MF_US(3));
	mf_frame_host_run(host, MF_US(3));
	cr_expect_eq(stack.pulled, 3);
	cr_assert_eq(mf_frame_host_tx(host, MF_US(3), MF_SPAN_MAX, &s), 5);
	cr_expect_eq(s.start, MF_US(3));
	give(MF_US(3), 4, 9, 9);
	cr_expect_eq(stack.messages, 0, "its rest is of nothing");
	give(MF_US(4), 0, 9, 9);
	cr_expect(stack.messages == 1 && stack.blocks == 9);
	mf_frame_host_free(host);
}

/** The first blocks of a frame that the host itself has sent come back to it. */
static void give_half_a_frame(mf_time now)
{
	struct mf_span s;

	stack.to_pull++;
	mf_frame_host_run(host, now);
	for (mf_time at = now; at < now + LEN / 8 / 2 * PERIOD; at += PERIOD)
		if (mf_frame_host_tx(host, at, 1, &s) > 0)
			mf_frame_host_rx(host, at, &s);
}

Test(stack_frame_host, link_is_lost_in_a_frame)
{
	struct mf_span s;

	start(false);
	give_half_a_frame(MF_US(1));
	mf_frame_host_link_lost(host, MF_US(2));
	for (mf_time now = MF_US(2); now < MF_US(3); now += PERIOD)
		while (mf_frame_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_frame_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_frame_host_run(host, MF_US(3));
	cr_expect_eq(stack.frames, 0);
	stack.to_pull++;
	mf_frame_host_link_back(host, MF_US(4));
	mf_frame_host_run(host, MF_US(4));
	for (mf_time now = MF_US(4); now < MF_US(5); now += PERIOD)
		while (mf_frame_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_frame_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_frame_host_run(host, MF_US(5));
	cr_expect_eq(stack.frames, 1, "the next one comes whole");
	mf_frame_host_free(host);
}

/** Parts that no message is made of are counted, and so are messages where the stack takes frames. */
Test(stack_frame_host, drops_are_counted)
{
	struct mf_frame_host_config c;

	start(true);
	for (unsigned int from = 0; from < MF_STACK_BLOCKS_MAX + 8; from += 256)
		give(MF_US(1) + from * PERIOD, from, from + 256, 2 * MF_STACK_BLOCKS_MAX);
	cr_expect_geq(counts().drop_proto, 1, "too long");
	cr_expect_eq(stack.messages, 0);
	mf_frame_host_free(host);
	c = config(false);
	c.blocks = true;
	start_with(&c);
	give(MF_US(1), 0, 9, 9);
	cr_expect_eq(counts().drop_unknown, 1);
	mf_frame_host_free(host);
}

Test(stack_frame_host, plain_node)
{
	const struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 8};
	struct mf_frame_host_config c = config(false);
	struct mf_counter counter[MF_COUNTERS_MAX];
	struct mf_completion out[4];
	uint8_t octets[LEN] = {0};
	struct mf_span s;

	c.stack = NULL;
	start_with(&c);
	cr_expect_eq(mf_frame_host_submit(host, 0, &op), -EPERM);
	cr_expect_eq(mf_frame_host_completions(host, 0, out, 4), 0);
	cr_expect_eq(mf_frame_host_outstanding(host), 0);
	cr_expect_eq(mf_frame_host_counters(host, counter), 0);
	cr_expect_eq(mf_frame_host_run(host, 0), MF_NEVER);
	cr_expect_eq(mf_frame_host_tx(host, 0, MF_SPAN_MAX, &s), 0);
	/* Frames that others send by its multiplexer come to others. */
	cr_assert(mf_mux_frame(((struct mf_node_shell *)host)->mux, 0, octets, LEN));
	for (mf_time now = 0; now < MF_US(1); now += PERIOD)
		while (mf_frame_host_tx(host, now, MF_SPAN_MAX, &s) > 0)
			mf_frame_host_rx(host, mf_span_at(&s, s.count - 1U), &s);
	mf_frame_host_run(host, MF_US(2));
	cr_expect_eq(others, 1);
	cr_expect_eq(mf_frame_host_next(host), MF_NEVER);
	mf_frame_host_free(host);
}

Test(stack_frame_host, bad_configurations)
{
	struct mf_frame_host_config c = config(false);

	c.of.node = 3;
	errno = 0;
	cr_expect(mf_frame_host_new(&c) == NULL && errno == EINVAL, "there is no such node");
	c = config(false);
	c.of.queue = 0;
	cr_expect(mf_frame_host_new(&c) == NULL && errno == EINVAL, "no room for an operation");
	c = config(false);
	c.ber_window = 0;
	cr_expect(mf_frame_host_new(&c) == NULL && errno == EINVAL, "no window");
	mf_frame_host_free(NULL);
}
