/* SPDX-License-Identifier: BSD-3-Clause */
/* The output-queued switch: which frames come to which port, in which order, and which to none. */
#include <criterion/criterion.h>
#include <string.h>

#include "net/mf_packet.h"
#include "systems/frames/mf_bridge.h"
#include "systems/mf_systems.h"

#define PORTS 4
#define DOWN 3 /* nothing is connected */
#define LEN 100
#define FCS 4

static const struct mf_bridge_ops *ops;
static struct mf_bridge *bridge;
static double param[MF_PARAMS_MAX];

static void set(const char *key, double value)
{
	unsigned int i = 0;

	while (ops->params[i].key != NULL && strcmp(ops->params[i].key, key) != 0)
		i++;
	cr_assert_not_null(ops->params[i].key, "%s", key);
	param[i] = value;
}

static void create(mf_time latency, const struct mf_probe *probe)
{
	static const bool up[PORTS] = {true, true, true, false};
	static const uint32_t period[PORTS];
	static const mf_time delay[PORTS];
	static uint64_t wants;
	struct mf_bridge_config c = {.ports = PORTS,
				     .up = up,
				     .period = period,
				     .delay = delay,
				     .l2_latency = latency,
				     .param = param,
				     .probe = probe,
				     .wants = &wants};

	c.timing.cost[MF_STAGE_MAC] = latency / 4;
	bridge = ops->create(&c);
	cr_assert_not_null(bridge);
}

static void choose(void)
{
	ops = mf_bridge_find("fifo");
	for (unsigned int i = 0; ops->params[i].key != NULL; i++)
		param[i] = ops->params[i].value;
}

static void start(void)
{
	choose();
	create(0, NULL);
}

static uint64_t counter(const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];
	unsigned int n = ops->counters(bridge, c);

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	cr_assert_fail("no counter %s", name);
	return 0;
}

static void give_long(mf_time at, unsigned int from, unsigned int to, uint8_t mark, uint16_t len)
{
	uint8_t frame[2048] = {0};

	mf_packet_ipv4(frame, (uint16_t)from, (uint16_t)to, IPPROTO_UDP, 0, MF_ECN_NOT,
		       (uint16_t)(len - MF_PACKET_L4));
	frame[len - 1] = mark;
	ops->frame(bridge, from, at, frame, len);
}

static void give(mf_time at, unsigned int from, unsigned int to, uint8_t mark)
{
	give_long(at, from, to, mark, LEN);
}

/** Marks of all that a port sends now, one character each. */
static void sends(unsigned int port, mf_time now, const char *expected)
{
	char got[32] = {0};
	const uint8_t *frame;
	uint16_t len;

	ops->run(bridge, now);
	for (unsigned int n = 0; n < sizeof(got) - 1 && (len = ops->pull(bridge, port, now, &frame)) != 0;
	     n++)
		got[n] = (char)frame[len - 1];
	cr_expect_str_eq(got, expected, "port %u: %s", port, got);
}

/* However they are handed in: by time, at one time by port, and those of a port as they came. */
Test(oq, frames_leave_in_order)
{
	start();
	give(MF_NS(5), 2, 1, 'e');
	give(MF_NS(5), 0, 1, 'c');
	give(MF_NS(5), 0, 1, 'd');
	give(MF_NS(5), 2, 1, 'f');
	give(MF_NS(3), 2, 1, 'b');
	give(MF_NS(2), 2, 1, 'a');
	give(MF_NS(9), 0, 1, 'g');
	cr_expect_eq(ops->next(bridge), MF_NS(2));
	cr_expect(ops->busy(bridge));
	sends(1, MF_NS(1), "");
	sends(1, MF_NS(5), "abcdef");
	sends(1, MF_NS(8), "");
	sends(1, MF_NS(9), "g");
	cr_expect_eq(ops->next(bridge), MF_NEVER);
	cr_expect_not(ops->busy(bridge));
	ops->destroy(bridge);
}

Test(oq, frames_go_where_they_are_for_or_to_all)
{
	start();
	give(0, 1, 0, 'a');
	give(0, 0, 2, 'b');
	cr_expect_eq(counter("flooded"), 0);
	give(0, 2, DOWN, 'c');
	give(0, 2, PORTS, 'd');
	sends(0, 0, "acd");
	sends(1, 0, "cd");
	sends(2, 0, "b");
	sends(DOWN, 0, "");
	cr_expect_eq(counter("flooded"), 2);
	cr_expect_eq(counter("frames"), 4);
	cr_expect_eq(counter("octets"), 4 * (LEN + FCS));
	ops->destroy(bridge);
}

Test(oq, frames_that_nobody_is_to_have)
{
	uint8_t pause[60] = {[12] = 0x88, [13] = 0x08};

	choose();
	set("mtu", 1500);
	create(0, NULL);
	give(0, 1, 1, 'a');
	cr_expect_eq(counter("drop_self"), 1);
	give_long(0, 1, 0, 'b', 1500 + MF_PACKET_IP);
	give_long(0, 1, 0, 'c', 1501 + MF_PACKET_IP);
	cr_expect_eq(counter("drop_long"), 1);
	ops->frame(bridge, 1, 0, pause, sizeof(pause));
	cr_expect_eq(counter("drop_control"), 1);
	sends(0, 0, "b");
	sends(1, 0, "");
	sends(2, 0, "");
	ops->destroy(bridge);
}

/* The buffer is for all ports, and counts what is in it until it is sent. */
Test(oq, what_the_buffer_has_no_room_for_is_dropped)
{
	choose();
	set("buffer", 100 * (LEN + FCS));
	create(0, NULL);
	for (unsigned int i = 0; i < 100; i++)
		give(i, i % 2, 2, 'a');
	ops->run(bridge, 100);
	cr_expect_eq(counter("drop_buffer"), 0);
	cr_expect_eq(counter("buffer_max_octets"), 100 * (LEN + FCS));
	give(100, 0, 1, 'b');
	ops->run(bridge, 100);
	cr_expect_eq(counter("drop_buffer"), 1);
	sends(1, 100, "");
	sends(2, 100, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	give(101, 0, 1, 'c');
	sends(1, 101, "c");
	cr_expect_eq(counter("drop_buffer"), 1);
	ops->destroy(bridge);
}

/** The stages of a frame that came at 0, one behind the other. */
static void stamp(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage, mf_time from,
		  mf_time to)
{
	mf_time *at = ctx;

	(void)cn, (void)mn, (void)id;
	cr_expect_eq(from, *at);
	cr_expect_eq(to - from, stage == MF_STAGE_MAC ? MF_NS(100) : MF_NS(400));
	*at = to;
}

Test(oq, the_stages_of_a_frame_follow_each_other)
{
	mf_time at = 0;
	const struct mf_probe probe = {.ctx = &at, .stamp = stamp};

	choose();
	create(MF_NS(400), &probe);
	give(0, 0, 1, 'a');
	ops->run(bridge, 0);
	cr_expect_eq(at, MF_NS(600));
	cr_expect_eq(ops->next(bridge), MF_NS(600));
	sends(1, MF_NS(600) - 1, "");
	sends(1, MF_NS(600), "a");
	ops->destroy(bridge);
}
