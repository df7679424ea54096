/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC in the switch, frame by frame: pauses before a drop, headroom, resumes; pauses of the nodes. */
#include <criterion/criterion.h>
#include <errno.h>

#include "mf_bridge.h"
#include "mf_frame.h"
#include "mf_pause.h"

TestSuite(pfc, .timeout = 60);

#define PORTS 17
#define TO (PORTS - 1)
#define CLASS 3
#define LEN 1514
#define PERIOD 640
#define DELAY MF_NS(78)
#define MAC 7680
#define FRAME_TIME ((8 + LEN + 4 + 12) / 8 * (mf_time)PERIOD)

static const struct mf_bridge_ops *ops;
static struct mf_bridge *bridge;
static uint64_t wants;
static double param[MF_PARAMS_MAX];

static void set(const char *key, double value)
{
	unsigned int i = 0;

	while (ops->params[i].key != NULL && strcmp(ops->params[i].key, key) != 0)
		i++;
	cr_assert_not_null(ops->params[i].key, "%s", key);
	param[i] = value;
}

static struct mf_bridge *create(void)
{
	bool up[PORTS];
	uint32_t period[PORTS];
	mf_time delay[PORTS];
	struct mf_bridge_config c = {.ports = PORTS,
				     .up = up,
				     .period = period,
				     .delay = delay,
				     .l2_latency = MF_NS(400),
				     .param = param,
				     .wants = &wants};

	c.timing.cost[MF_STAGE_MAC] = MAC;
	for (unsigned int p = 0; p < PORTS; p++) {
		up[p] = true;
		period[p] = PERIOD;
		delay[p] = DELAY;
	}
	return ops->create(&c);
}

static void start(double buffer)
{
	ops = mf_bridge_find("pfc");
	for (unsigned int i = 0; ops->params[i].key != NULL; i++)
		param[i] = ops->params[i].value;
	set("buffer", buffer);
	set("kmin", 0);
	bridge = create();
	cr_assert_not_null(bridge);
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

static void give(unsigned int from, mf_time at, uint8_t class, uint16_t len)
{
	uint8_t frame[LEN] = {0};

	mf_packet_ipv4(frame, (uint16_t)from, TO, IPPROTO_UDP, class, MF_ECN_NOT,
		       (uint16_t)(len - MF_PACKET_L4));
	ops->frame(bridge, from, at, frame, len);
}

/** A node that sends as fast as it can, and hears pauses as late as it may. */
struct node {
	mf_time line; /**< when its next frame has come to the switch */
	mf_time hears; /**< when a pause that is on its way takes effect at the switch */
	bool pauses, paused, coming;
	unsigned int pulled;
};

/** Takes what the switch has for a node now. @return whether it was a pause frame */
static bool take(unsigned int port, mf_time now, struct node *n)
{
	const uint8_t *frame;
	uint16_t len = ops->pull(bridge, port, now, &frame);

	if (len == 0 || !mf_pause_is_control(frame, len))
		return false;
	cr_assert_eq(len, 60);
	cr_assert_eq(frame[17], 1 << CLASS);
	n->pauses = (frame[18 + 2 * CLASS] | frame[19 + 2 * CLASS]) != 0;
	n->coming = true;
	/* Two frames of ours before it, two of the node's behind it, both ways, MACs. */
	n->hears = now + 2 * FRAME_TIME + (8 + 64 + 12) / 8 * PERIOD + 2 * DELAY + 2 * MAC + 2 * FRAME_TIME;
	return true;
}

/**
 * Sixteen nodes send at line rate to one port, which sends at line rate: fifteen sixteenths have to wait.
 * No buffer lasts for that; and nothing is lost.
 */
Test(pfc, pauses_before_it_drops)
{
	struct node node[PORTS] = {0};
	mf_time drain = 0;
	uint64_t sent = 0, came = 0;

	start(256 << 10);
	for (mf_time now = 0; now < MF_US(500); now += PERIOD) {
		for (unsigned int p = 0; p < TO; p++) {
			struct node *n = &node[p];

			if (n->coming && n->hears <= now) {
				n->coming = false;
				n->paused = n->pauses;
			}
			if (!n->paused && n->line <= now) {
				give(p, now, CLASS, LEN);
				n->line = now + FRAME_TIME;
				sent++;
			}
		}
		if (ops->next(bridge) <= now)
			ops->run(bridge, now);
		for (unsigned int p = 0; p < TO; p++)
			if (!node[p].coming)
				take(p, now, &node[p]);
		if (drain <= now) {
			const uint8_t *frame;
			uint16_t len = ops->pull(bridge, TO, now, &frame);

			came += len != 0;
			drain = len != 0 ? now + FRAME_TIME : now;
		}
	}
	cr_expect_eq(counter("drop_buffer"), 0);
	cr_expect_eq(counter("drop_tail"), 0);
	cr_expect_gt(counter("pauses"), TO);
	cr_expect_gt(counter("resumes"), TO);
	cr_expect_gt(counter("headroom_max_octets"), 2 * LEN, "nodes hear late");
	cr_expect_gt(came, MF_US(500) / FRAME_TIME - 10, "and the port never rests");
	cr_expect_gt(sent, came);
	ops->destroy(bridge);
}

/** XOFF = alpha x what is free; above it the pause, for one frame alone here, as fixed. */
Test(pfc, tells_of_pause_and_resume)
{
	struct node n = {0};
	const uint8_t *frame;
	mf_time now = 0;

	start(256 << 10);
	ops->destroy(bridge);
	set("xoff", 10 * (LEN + 4));
	bridge = create();
	for (unsigned int i = 0; i < 10; i++) {
		give(0, now, CLASS, LEN);
		ops->run(bridge, now);
		cr_assert_not(take(0, now, &n), "frame %u", i);
		now += FRAME_TIME;
	}
	give(0, now, CLASS, LEN);
	ops->run(bridge, now);
	cr_assert(take(0, now, &n));
	cr_expect(n.pauses);
	cr_expect_not(take(0, now, &n), "once");
	now += MF_US(1);
	ops->run(bridge, now);
	/* 3,000 octets below XOFF: the eleventh, which is beyond, and two more. */
	for (unsigned int i = 0; i < 3; i++) {
		cr_assert_not(take(0, now, &n), "%u have left", i);
		cr_assert_eq(ops->pull(bridge, TO, now, &frame), LEN);
		ops->run(bridge, now);
	}
	cr_assert(take(0, now, &n));
	cr_expect_not(n.pauses);
	ops->destroy(bridge);
}

/** A pause that lasts is told again when half its time is over. */
Test(pfc, renews_a_pause)
{
	struct node n = {0};
	mf_time half = 65535ul * 8 * PERIOD / 2;

	start(256 << 10);
	ops->destroy(bridge);
	set("xoff", 1000);
	bridge = create();
	give(0, 0, CLASS, LEN);
	ops->run(bridge, 0);
	cr_assert(take(0, 0, &n));
	ops->run(bridge, half - 1);
	cr_expect_not(take(0, half - 1, &n));
	cr_expect_leq(ops->next(bridge), half);
	ops->run(bridge, half);
	cr_expect(take(0, half, &n));
	cr_expect(n.pauses);
	ops->destroy(bridge);
}

static void control(unsigned int port, mf_time at, uint8_t classes, uint16_t quanta, uint8_t opcode)
{
	uint8_t frame[MF_PAUSE_LEN];
	const uint16_t all[MF_CLASSES] = {quanta, quanta, quanta, quanta, quanta, quanta, quanta, quanta};

	mf_pause_put(frame, (uint16_t)port, classes, all);
	frame[15] = opcode;
	ops->frame(bridge, port, at, frame, sizeof(frame));
}

Test(pfc, obeys_the_pauses_of_a_node)
{
	const uint8_t *frame;
	mf_time now = MF_US(1), end;

	start(1 << 20);
	give(0, 0, CLASS, LEN);
	give(1, 0, 5, 200);
	give(2, 0, CLASS, 300);
	ops->run(bridge, now);
	control(TO, now, 1 << CLASS, 100, 1);
	end = now + MAC + 100 * 8 * PERIOD;
	cr_expect_eq(ops->pull(bridge, TO, now, &frame), 200, "another class goes on");
	cr_expect_eq(ops->pull(bridge, TO, now, &frame), 0);
	cr_expect_eq(ops->next(bridge), end);
	ops->run(bridge, end - 1);
	cr_expect_eq(ops->pull(bridge, TO, end - 1, &frame), 0);
	wants = 0;
	ops->run(bridge, end);
	cr_expect(wants >> TO & 1);
	cr_expect_eq(ops->pull(bridge, TO, end, &frame), LEN);
	control(TO, end, 0xff, 65535, 1);
	cr_expect_eq(ops->pull(bridge, TO, end, &frame), 0);
	control(TO, end, 0xff, 0, 1);
	cr_expect_eq(ops->pull(bridge, TO, end, &frame), 300);
	control(TO, end, 0xff, 0, 7);
	cr_expect_eq(counter("drop_control"), 1, "an opcode of something else");
	cr_expect_eq(counter("pauses_received"), 3);
	ops->destroy(bridge);
}

/** What may be lost does not take what has been kept for the others. */
Test(pfc, other_classes_leave_the_headroom_alone)
{
	uint64_t given = 0;

	start(256 << 10);
	for (unsigned int i = 0; i < 40; i++)
		for (unsigned int p = 0; p < TO; p++) {
			give(p, i * FRAME_TIME, 1, LEN);
			ops->run(bridge, i * FRAME_TIME);
			given++;
		}
	cr_expect_gt(counter("drop_lossy"), given / 2);
	cr_expect_eq(counter("drop_buffer"), 0);
	for (unsigned int i = 0; i < 5; i++)
		for (unsigned int p = 0; p < TO; p++) {
			give(p, MF_US(10) + i * FRAME_TIME, CLASS, LEN);
			ops->run(bridge, MF_US(10) + i * FRAME_TIME);
		}
	cr_expect_eq(counter("drop_buffer"), 0);
	cr_expect_eq(counter("pauses"), TO, "at the first frame");
	ops->destroy(bridge);
}

/** A buffer that does not hold the headroom of its ports is refused, as nothing could be promised. */
Test(pfc, refuses_too_small_a_buffer)
{
	start(256 << 10);
	ops->destroy(bridge);
	set("buffer", 64 << 10);
	errno = 0;
	cr_expect_null(create());
	cr_expect_eq(errno, EINVAL);
}
