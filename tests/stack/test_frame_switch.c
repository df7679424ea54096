/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch of frames: what it gives to its bridge, and takes of it, and when. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "systems/frames/mf_frame_switch.h"
#include "systems/frames/mf_stack.h"

#define LEN 100
#define PERIOD 2560 /* ps a block */
#define PORTS 70 /* more than a word of a set */
#define IN 3
#define OUT 69

struct mf_bridge {
	uint64_t *wants;
	unsigned int to_pull[PORTS], pulled[PORTS]; /* frames, or messages */
	mf_time next;
	unsigned int runs, frames, messages, blocks;
	unsigned int port; /* by which the last came */
	mf_time at;
	uint64_t word[MF_STACK_BLOCKS_MAX];
	unsigned int lost, found; /* links */
	bool busy, destroyed;
	const struct mf_probe *probe;
};

static struct mf_bridge bridge;
static struct mf_frame_switch *sw;

static struct mf_bridge *create(const struct mf_bridge_config *config)
{
	cr_expect_eq(config->ports, PORTS);
	cr_expect(config->up[IN] && !config->up[0]);
	cr_expect_eq(config->period[OUT], PERIOD);
	cr_expect_eq(config->l2_latency, MF_NS(400));
	bridge.wants = config->wants;
	bridge.probe = config->probe;
	return &bridge;
}

static void destroy(struct mf_bridge *b)
{
	b->destroyed = true;
}

static void frame(struct mf_bridge *b, unsigned int port, mf_time at, const uint8_t *octets, uint16_t len)
{
	cr_expect_eq(len, LEN);
	cr_expect_eq(octets[LEN - 1], 0xab);
	b->frames++;
	b->port = port;
	b->at = at;
}

static void message(struct mf_bridge *b, unsigned int port, mf_time at, const uint64_t *word, unsigned int n)
{
	b->messages++;
	b->blocks = n;
	b->port = port;
	b->at = at;
	memcpy(b->word, word, n * sizeof(*word));
}

static uint16_t pull(struct mf_bridge *b, unsigned int port, mf_time now, const uint8_t **octets)
{
	static uint8_t out[LEN];

	(void)now;
	if (b->pulled[port] == b->to_pull[port])
		return 0;
	b->pulled[port]++;
	memset(out, 0xab, LEN);
	*octets = out;
	return LEN;
}

/** /MS/, data, /MT/ of 5 blocks. */
static unsigned int pull_message(struct mf_bridge *b, unsigned int port, mf_time now, uint64_t *word)
{
	(void)now;
	if (b->pulled[port] == b->to_pull[port])
		return 0;
	b->pulled[port]++;
	for (unsigned int i = 0; i < 5; i++)
		word[i] = i == 0 ? MF_BT_MS : i == 4 ? 7 << 8 | MF_BT_MT : i << 8;
	return 5;
}

static void link_of(struct mf_bridge *b, unsigned int port, mf_time now, bool up)
{
	(void)now;
	cr_expect(port == IN || port == 1);
	if (up)
		b->found++;
	else
		b->lost++;
}

static void run(struct mf_bridge *b, mf_time now)
{
	cr_expect_geq(now, b->next);
	b->runs++;
	b->next = MF_NEVER;
}

static mf_time next(const struct mf_bridge *b)
{
	return b->next;
}

static bool busy(const struct mf_bridge *b)
{
	return b->busy;
}

static unsigned int counters(const struct mf_bridge *b, struct mf_counter *out)
{
	out[0] = (struct mf_counter){.name = "runs", .value = b->runs};
	return 1;
}

static struct mf_bridge_ops ops = {.create = create,
				   .destroy = destroy,
				   .frame = frame,
				   .message = message,
				   .pull = pull,
				   .pull_message = pull_message,
				   .link = link_of,
				   .run = run,
				   .next = next,
				   .busy = busy,
				   .counters = counters};

static void start(bool messages)
{
	static struct mf_port_config port[PORTS];
	static const struct mf_probe without_stamps;
	struct mf_frame_switch_config c = {
		.bridge = &ops,
		.of = {.ports = PORTS, .l2_latency = MF_NS(400), .probe = &without_stamps},
		.port = port,
	};

	for (unsigned int i = 0; i < PORTS; i++)
		port[i] = (struct mf_port_config){.up = i != 0,
						  .memory_enabled = messages,
						  .mux = {.policy = MF_MUX_FAIR,
							  .period = PERIOD,
							  .memory_blocks = 1 << 14,
							  .memory_items = 1 << 10,
							  .frames = 16,
							  .frame_bytes = 1 << 16,
							  .quantum = 16},
						  .ber_window = MF_US(125)};
	bridge = (struct mf_bridge){.next = MF_NEVER};
	ops.messages = messages;
	sw = mf_frame_switch_new(&c);
	cr_assert_not_null(sw);
	cr_expect_null(bridge.probe, "nobody wants stamps");
}

static void stop(void)
{
	mf_frame_switch_free(sw);
	cr_expect(bridge.destroyed);
}

static struct mf_frame_switch_counts counts(void)
{
	struct mf_frame_switch_counts c;

	mf_frame_switch_counts(sw, &c);
	return c;
}

static bool is_sending(unsigned int port)
{
	return ((const struct mf_ports *)sw)->sending[port / 64] >> port % 64 & 1;
}

/** The bridge has so many more for a port. */
static void has(unsigned int port, unsigned int n)
{
	bridge.to_pull[port] += n;
	bridge.wants[port / 64] |= UINT64_C(1) << port % 64;
}

/** What OUT sends comes in at IN, block by block or in whole spans. */
static void around(mf_time from, mf_time until, unsigned int max)
{
	struct mf_span s;

	for (mf_time now = from; now < until; now += PERIOD)
		while (mf_frame_switch_tx(sw, OUT, now, max, &s) > 0)
			mf_frame_switch_rx(sw, IN, mf_span_at(&s, s.count - 1U), &s);
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
	mf_frame_switch_rx(sw, IN, at, &s);
}

/** A line is given the frame that it sends and the next one, and asks again when it has sent. */
Test(stack_frame_switch, frames_go_when_the_line_wants_them)
{
	struct mf_span s;

	start(false);
	cr_expect_eq(mf_frame_switch_run(sw, 0), MF_NEVER);
	has(OUT, 5);
	cr_expect_eq(bridge.pulled[OUT], 0);
	bridge.next = MF_US(1);
	/* Nothing wakes the switch but what comes, what is sent, and its own time. */
	mf_frame_switch_link_down(sw, 1, 0);
	cr_expect(mf_frame_switch_link_up(sw, 1, 0));
	cr_expect_eq(mf_frame_switch_run(sw, 0), MF_US(1));
	cr_expect_eq(bridge.pulled[OUT], 2);
	cr_expect(is_sending(OUT) && !is_sending(IN));
	cr_expect_eq(bridge.runs, 0);
	mf_frame_switch_run(sw, MF_US(1));
	cr_expect_eq(bridge.runs, 1);
	cr_expect_eq(bridge.pulled[OUT], 2);
	for (mf_time now = MF_US(1); now < MF_US(2); now += PERIOD)
		while (mf_frame_switch_tx(sw, OUT, now, MF_SPAN_MAX, &s) > 0)
			;
	cr_expect_eq(bridge.pulled[OUT], 5);
	stop();
}

Test(stack_frame_switch, frames_come_whole)
{
	static const unsigned int max[] = {1, MF_SPAN_MAX};

	for (unsigned int i = 0; i < 2; i++) {
		start(false);
		has(OUT, 2);
		mf_frame_switch_link_down(sw, 1, 0); /* wakes it */
		mf_frame_switch_run(sw, 0);
		around(0, MF_US(1), max[i]);
		mf_frame_switch_run(sw, MF_US(1));
		cr_expect_eq(bridge.frames, 2);
		cr_expect_eq(bridge.port, IN);
		cr_expect_eq(counts().frames, 2);
		cr_expect_not(mf_frame_switch_has_frames(sw));
		bridge.busy = true;
		cr_expect(mf_frame_switch_has_frames(sw));
		stop();
	}
}

/** A frame is good one block behind its /T/, or when it is known that nothing comes there. */
Test(stack_frame_switch, nothing_comes_behind_a_frame)
{
	struct mf_span s;
	mf_time now;

	start(false);
	has(OUT, 1);
	mf_frame_switch_link_down(sw, 1, 0); /* wakes it */
	mf_frame_switch_run(sw, 0);
	for (now = 0; now < MF_US(1) && !mf_frame_switch_has_frames(sw); now += PERIOD)
		if (mf_frame_switch_tx(sw, OUT, now, 1, &s) > 0)
			mf_frame_switch_rx(sw, IN, now, &s);
	cr_assert_lt(now, MF_US(1));
	mf_frame_switch_run(sw, s.start);
	cr_expect_eq(bridge.frames, 0);
	cr_expect_eq(((const struct mf_ports *)sw)->next, s.start + PERIOD);
	cr_expect_eq(mf_frame_switch_run(sw, s.start + PERIOD), MF_NEVER);
	cr_expect_eq(bridge.frames, 1);
	cr_expect_eq(bridge.at, s.start + PERIOD);
	cr_expect_not(mf_frame_switch_has_frames(sw));
	stop();
}

Test(stack_frame_switch, messages_come_whole)
{
	start(true);
	give(MF_US(1), 0, 9, 9);
	cr_expect(bridge.messages == 1 && bridge.blocks == 9);
	cr_expect_eq(bridge.at, MF_US(1) + 8 * PERIOD, "dated at its last block");
	give(MF_US(2), 0, 4, 9);
	give(MF_US(2) + 4 * PERIOD, 4, 5, 9);
	cr_expect_eq(bridge.messages, 1);
	give(MF_US(3), 5, 9, 9);
	cr_expect(bridge.messages == 2 && bridge.blocks == 9);
	for (unsigned int i = 1; i < 8; i++)
		cr_expect_eq(bridge.word[i], i << 8);
	cr_expect_eq(bridge.port, IN);
	/* The beginning of the last one is missing. */
	give(MF_US(4), 0, 4, 9);
	give(MF_US(5), 0, 6, 6);
	cr_expect(bridge.messages == 3 && bridge.blocks == 6);
	for (unsigned int from = 0; from < MF_STACK_BLOCKS_MAX + 8; from += 256)
		give(MF_US(6) + from * PERIOD, from, from + 256, 2 * MF_STACK_BLOCKS_MAX);
	cr_expect_geq(counts().drop_proto, 1, "too long");
	cr_expect_eq(bridge.messages, 3);
	stop();
}

/** What came may give the bridge something to do: the switch is due then. */
Test(stack_frame_switch, what_comes_wakes_it)
{
	start(true);
	cr_expect_eq(mf_frame_switch_run(sw, 0), MF_NEVER);
	bridge.next = MF_US(2);
	give(MF_US(1), 0, 9, 9);
	cr_expect_eq(((const struct mf_ports *)sw)->next, MF_US(2));
	mf_frame_switch_run(sw, MF_US(2));
	cr_expect_eq(bridge.runs, 1);
	stop();
}

/**
 * A link is lost: what is arriving does not go on. What waits for it, and what comes for it meanwhile, is
 * thrown away.
 */
Test(stack_frame_switch, link_is_lost)
{
	struct mf_span s;

	start(true);
	has(IN, 1);
	mf_frame_switch_link_down(sw, 1, 0); /* wakes it */
	mf_frame_switch_run(sw, 0);
	give(MF_US(1), 0, 4, 9);
	mf_frame_switch_link_down(sw, IN, MF_US(2));
	mf_frame_switch_link_down(sw, IN, MF_US(2));
	cr_expect_eq(((const struct mf_ports *)sw)->links_lost, 2);
	cr_expect_eq(((const struct mf_ports *)sw)->next, MF_US(2));
	cr_expect_eq(bridge.pulled[IN], 1);
	cr_expect_eq(counts().drop_link, 0, "it was given to the line before");
	has(IN, 2);
	mf_frame_switch_run(sw, MF_US(3));
	cr_expect_eq(bridge.pulled[IN], 3);
	cr_expect_eq(counts().drop_link, 2);
	cr_assert_eq(mf_frame_switch_tx(sw, IN, MF_US(3), MF_SPAN_MAX, &s), 0);
	cr_expect(bridge.lost == 2 && bridge.found == 0, "port 1 lost its own");
	cr_expect(mf_frame_switch_link_up(sw, IN, MF_US(4)));
	cr_expect(mf_frame_switch_link_up(sw, IN, MF_US(4)));
	cr_expect_eq(((const struct mf_ports *)sw)->links_lost, 1);
	cr_expect(bridge.lost == 2 && bridge.found == 1);
	has(IN, 1);
	mf_frame_switch_run(sw, MF_US(4));
	cr_assert_eq(mf_frame_switch_tx(sw, IN, MF_US(4), MF_SPAN_MAX, &s), 5, "it goes on");
	cr_expect_eq(counts().drop_link, 2);
	give(MF_US(5), 4, 9, 9);
	cr_expect_eq(bridge.messages, 0, "its rest is of nothing");
	give(MF_US(6), 0, 9, 9);
	cr_expect(bridge.messages == 1 && bridge.blocks == 9);
	stop();
}

/** What waits in the bridge when a link is lost is thrown away then. A bridge need not know of links. */
Test(stack_frame_switch, link_is_lost_with_frames)
{
	struct mf_span s;

	start(false);
	ops.link = NULL;
	has(IN, 5);
	mf_frame_switch_link_down(sw, 1, 0); /* wakes it */
	mf_frame_switch_run(sw, 0);
	cr_expect_eq(bridge.pulled[IN], 2);
	cr_assert_gt(mf_frame_switch_tx(sw, IN, PERIOD, 3, &s), 0, "the first has begun");
	mf_frame_switch_link_down(sw, IN, MF_NS(100));
	cr_expect_eq(bridge.pulled[IN], 5);
	cr_expect_eq(counts().drop_link, 3);
	cr_expect(mf_frame_switch_link_up(sw, IN, MF_US(1)));
	has(IN, 1);
	mf_frame_switch_run(sw, MF_US(1));
	cr_assert_gt(mf_frame_switch_tx(sw, IN, MF_US(1) + PERIOD, 1, &s), 0);
	cr_expect_eq(s.word[0] & 0xff, MF_BT_S, "no rest of a frame is before it");
	ops.link = link_of;
	stop();
}

/** Room that a line has may be news for other ports: PFC lets a partner go on. */
Test(stack_frame_switch, what_is_sent_wakes_it)
{
	struct mf_counter counter[MF_COUNTERS_MAX];
	struct mf_span s;

	start(false);
	has(OUT, 1);
	mf_frame_switch_link_down(sw, 1, 0);
	mf_frame_switch_run(sw, 0);
	bridge.next = MF_US(3);
	cr_assert_gt(mf_frame_switch_tx(sw, OUT, PERIOD, MF_SPAN_MAX, &s), 0);
	cr_expect_eq(((const struct mf_ports *)sw)->next, MF_US(3));
	mf_frame_switch_run(sw, MF_US(3));
	cr_assert_eq(mf_frame_switch_counters(sw, counter), 1);
	cr_expect_eq(counter[0].value, 1);
	stop();
}

Test(stack_frame_switch, bad_configs)
{
	static struct mf_port_config port[MF_NODES_MAX + 1];
	struct mf_frame_switch_config c = {.bridge = &ops, .port = port};

	mf_frame_switch_free(NULL);
	for (unsigned int i = 0; i < 2; i++) {
		c.of.ports = i == 0 ? 0 : MF_NODES_MAX + 1;
		errno = 0;
		cr_expect_null(mf_frame_switch_new(&c));
		cr_expect_eq(errno, EINVAL);
	}
}
