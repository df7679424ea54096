/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC in the switch, frame by frame: pauses before a drop, headroom, resumes; pauses of the nodes. */
#include <criterion/criterion.h>
#include <errno.h>

#include "base/mf_rng.h"
#include "net/mf_pause.h"
#include "pcs/mf_frame.h"
#include "systems/frames/mf_bridge.h"
#include "systems/mf_systems.h"

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
				     .obeyed = 0xff,
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
	end = now + 100 * 8 * PERIOD;
	ops->run(bridge, now);
	cr_expect_eq(ops->pull(bridge, TO, now, &frame), 200, "another class goes on");
	cr_expect_eq(ops->pull(bridge, TO, now, &frame), 0);
	cr_expect_eq(ops->next(bridge), end);
	ops->run(bridge, end - 1);
	cr_expect_eq(ops->pull(bridge, TO, end - 1, &frame), 0);
	wants = 0;
	ops->run(bridge, end);
	cr_expect(wants >> TO & 1);
	cr_expect_eq(ops->pull(bridge, TO, end, &frame), LEN);
	control(TO, end + 1, 0xff, 65535, 1);
	ops->run(bridge, end + 1);
	cr_expect_eq(ops->pull(bridge, TO, end + 1, &frame), 0);
	control(TO, end + 2, 0xff, 0, 1);
	ops->run(bridge, end + 2);
	cr_expect_eq(ops->pull(bridge, TO, end + 2, &frame), 300);
	control(TO, end + 3, 0xff, 0, 7);
	ops->run(bridge, end + 3);
	cr_expect_eq(counter("drop_control"), 1, "an opcode of something else");
	cr_expect_eq(counter("pauses_received"), 3);
	ops->destroy(bridge);
}

/** The link of a port is lost: what was told by it is over. What is told to its other end is told anew. */
Test(pfc, pauses_are_of_a_link)
{
	struct node n = {0};
	const uint8_t *frame;
	mf_time now = MF_US(1);

	start(1 << 20);
	ops->destroy(bridge);
	set("xoff", 1000);
	bridge = create();
	give(0, 0, CLASS, LEN);
	ops->run(bridge, now);
	control(TO, now, 1 << CLASS, 65535, 1);
	ops->run(bridge, now);
	cr_expect_eq(ops->pull(bridge, TO, now, &frame), 0, "paused");
	wants = 0;
	ops->link(bridge, TO, now + 1, false);
	cr_expect(wants >> TO & 1);
	ops->link(bridge, TO, now + 2, true);
	cr_expect_eq(ops->pull(bridge, TO, now + 2, &frame), LEN, "the pause was of the link before");
	give(0, now + 3, CLASS, LEN);
	give(0, now + 3, CLASS, LEN);
	ops->run(bridge, now + 3);
	while (take(0, now + 3, &n))
		;
	cr_expect(n.pauses);
	ops->link(bridge, 0, now + 4, false);
	ops->run(bridge, now + 4);
	n = (struct node){0};
	ops->link(bridge, 0, now + 5, true);
	cr_expect(wants & 1);
	ops->run(bridge, now + 5);
	cr_expect(take(0, now + 5, &n) && n.pauses, "it is still to pause, and is told so");
	cr_expect_not(take(0, now + 5, &n), "once");
	ops->link(bridge, 2, now + 6, false);
	ops->link(bridge, 2, now + 7, true);
	cr_expect_not(take(2, now + 7, &n), "nothing is to be told");
	ops->destroy(bridge);
}

/**
 * A pause and what the port sends at one instant: a frame that follows another without a gap goes, whether
 * the pause was told before or behind it; what a port that rests would begin then is held; and a resume that
 * comes then lets it begin.
 */
Test(pfc, a_pause_of_the_instant_of_a_frame)
{
	const uint8_t *frame;
	mf_time t = MF_US(1);

	for (unsigned int told_first = 0; told_first < 2; told_first++) {
		start(1 << 20);
		give(0, 0, CLASS, LEN);
		give(0, FRAME_TIME, CLASS, LEN);
		ops->run(bridge, 0);
		ops->run(bridge, FRAME_TIME);
		ops->run(bridge, t - 1);
		if (told_first)
			control(TO, t, 1 << CLASS, 65535, 1);
		cr_expect_eq(ops->pull(bridge, TO, t, &frame), LEN, "told %u", told_first);
		if (!told_first)
			control(TO, t, 1 << CLASS, 65535, 1);
		cr_expect_eq(ops->next(bridge), t);
		ops->run(bridge, t);
		cr_expect_eq(ops->pull(bridge, TO, t, &frame), 0, "told %u", told_first);
		control(TO, t + 9, 1 << CLASS, 0, 1);
		ops->run(bridge, t + 8);
		cr_expect_eq(ops->pull(bridge, TO, t + 9, &frame), 0);
		wants = 0;
		ops->run(bridge, t + 9);
		cr_expect(wants >> TO & 1);
		cr_expect_eq(ops->pull(bridge, TO, t + 9, &frame), LEN);
		ops->destroy(bridge);
	}
}

/** Of whichever class: a port with something that was held is asked when the pause is over. */
Test(pfc, a_pause_of_any_class_ends)
{
	const uint8_t *frame;
	mf_time t = MF_US(2);

	for (unsigned int c = 0; c < MF_CLASSES; c++) {
		start(1 << 20);
		control(TO, 0, (uint8_t)(1 << c), 65535, 1);
		ops->run(bridge, 0);
		give(0, 1, (uint8_t)c, LEN);
		ops->run(bridge, 1);
		ops->run(bridge, t - 1);
		cr_expect_eq(ops->pull(bridge, TO, t - 1, &frame), 0, "class %u is paused", c);
		control(TO, t, (uint8_t)(1 << c), 0, 1);
		wants = 0;
		ops->run(bridge, t);
		cr_expect(wants >> TO & 1, "class %u", c);
		cr_expect_eq(ops->pull(bridge, TO, t, &frame), LEN);
		ops->destroy(bridge);
	}
}

/** What a node is told may be dated a little ahead: by dates alone it is paused or not. */
Test(pfc, a_node_is_paused_by_date)
{
	const uint16_t ten[MF_CLASSES] = {[CLASS] = 10}, none[MF_CLASSES] = {0};
	mf_time end = 1000 + mf_pause_time(10, PERIOD);
	uint8_t frame[MF_PAUSE_LEN];
	struct mf_pause p;

	mf_pause_init(&p);
	mf_pause_put(frame, 1, 1 << CLASS, ten);
	cr_assert(mf_pause_take(&p, 1000, PERIOD, frame, sizeof(frame)));
	mf_pause_run(&p, 999);
	cr_expect_not(mf_pause_paused(&p, CLASS, 999));
	cr_expect_eq(p.at, 1000);
	mf_pause_run(&p, 1000);
	cr_expect(mf_pause_paused(&p, CLASS, 1000), "it holds what would start then");
	cr_expect_eq(p.at, MF_NEVER);
	cr_expect(mf_pause_paused(&p, CLASS, end - 1));
	cr_expect_not(mf_pause_paused(&p, CLASS, end));
	mf_pause_put(frame, 1, 1 << CLASS, none);
	cr_assert(mf_pause_take(&p, 3000, PERIOD, frame, sizeof(frame)));
	mf_pause_run(&p, 2999);
	cr_expect(mf_pause_paused(&p, CLASS, 2999));
	mf_pause_run(&p, 3000);
	cr_expect_not(mf_pause_paused(&p, CLASS, 3000));
	mf_pause_put(frame, 1, 1 << CLASS, ten);
	cr_assert(mf_pause_take(&p, 4000, PERIOD, frame, sizeof(frame)));
	cr_assert(mf_pause_take(&p, 5000, PERIOD, frame, sizeof(frame)));
	cr_expect(mf_pause_paused(&p, CLASS, 5000 - 1), "the one before is in force when the next is told");
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

static struct mf_bridge_config links(bool *up, uint32_t *period, mf_time *delay)
{
	struct mf_bridge_config c = {
		.ports = PORTS, .up = up, .period = period, .delay = delay, .param = param, .obeyed = 0xff};

	c.timing.cost[MF_STAGE_MAC] = MAC;
	for (unsigned int p = 0; p < PORTS; p++) {
		up[p] = true;
		period[p] = PERIOD;
		delay[p] = DELAY;
	}
	return c;
}

/** Where the promise would not hold the parameter is named, and nothing is created. */
static void refused(const char *key, const char *set_key, double value)
{
	bool up[PORTS];
	uint32_t period[PORTS];
	mf_time delay[PORTS];
	struct mf_bridge_config c = links(up, period, delay);
	struct mf_bridge_fault f = {.key = ""};

	start(1 << 20);
	cr_expect(ops->check(&c, &f));
	ops->destroy(bridge);
	set(set_key, value);
	cr_expect_not(ops->check(&c, &f), "%s", set_key);
	cr_expect_str_eq(f.key, key);
	cr_expect_neq(f.why[0], 0);
	errno = 0;
	cr_expect_null(create());
	cr_expect_eq(errno, EINVAL);
}

Test(pfc, refuses_what_would_lose)
{
	bool up[PORTS];
	uint32_t period[PORTS];
	mf_time delay[PORTS];
	struct mf_bridge_config c = links(up, period, delay);
	struct mf_bridge_fault f = {.key = ""};

	refused("buffer", "buffer", 64 << 10);
	refused("headroom", "headroom", 5000);
	refused("quanta", "quanta", 16);
	start(1 << 20);
	ops->destroy(bridge);
	c.obeyed = 0xff & ~(1 << CLASS);
	cr_expect_not(ops->check(&c, &f));
	cr_expect_str_eq(f.key, "classes");
	c.obeyed = 1 << CLASS;
	cr_expect(ops->check(&c, &f));
	period[3] = 0;
	cr_expect_not(ops->check(&c, &f), "no times of links, no headroom");
}

/*
 * The promise: whatever parameters are accepted, and however the nodes and the lines behave within what the
 * headroom reckons with, no frame of a lossless class is lost.
 */

#define TOLD 64

/** A node that sends without a gap whatever it may, and hears as late as it may. */
struct sender {
	mf_time line; /**< when its next frame has come to the switch, whole */
	uint16_t len; /**< of that frame */
	uint8_t class;
	mf_time until[MF_CLASSES]; /**< paused */
	struct {
		mf_time heard; /**< what begins then gets to the switch from now on */
		mf_time at; /**< its last frame that does not know of it has come by then */
		uint8_t named;
		uint16_t quanta[MF_CLASSES];
	} told[TOLD];
	unsigned int first, last;
};

struct promise {
	struct mf_rng rng;
	struct mf_bridge_config c;
	bool up[PORTS];
	uint32_t period[PORTS];
	mf_time delay[PORTS];
	struct sender node[PORTS];
	mf_time drain[PORTS];
	uint8_t lossless;
	uint16_t longest;
	uint64_t given, taken;
};

static uint64_t wire(uint64_t len)
{
	return len + 24; /* preamble, FCS, gap */
}

static mf_time lasts(const struct promise *p, unsigned int port, uint64_t octets)
{
	return (octets * p->period[port] + 7) / 8;
}

/** Up to two frames, mostly. */
static mf_time frames(struct promise *p, unsigned int port)
{
	mf_time two = lasts(p, port, 2 * wire(p->longest));

	return mf_rng_below(&p->rng, 4) == 0 ? mf_rng_below(&p->rng, two) : two;
}

/** What the port tells its node now. */
static void told(struct promise *p, unsigned int port, mf_time now)
{
	struct sender *n = &p->node[port];
	const uint8_t *frame;
	uint16_t len = ops->pull(bridge, port, now, &frame);
	mf_time before = n->first != n->last ? n->told[(n->last - 1) % TOLD].at : 0, heard;

	if (len == 0)
		return;
	cr_assert(mf_pause_is_control(frame, len), "nothing is for a node that sends");
	cr_assert_lt(n->last - n->first, TOLD);
	/* Behind frames of ours; and frames of the node are on their way when it hears. */
	heard = now + frames(p, port) + lasts(p, port, wire(len)) + 2 * p->delay[port] + 2 * MAC;
	n->told[n->last % TOLD].heard = heard;
	n->told[n->last % TOLD].at = mf_time_max(before, heard + frames(p, port));
	n->told[n->last % TOLD].named = frame[17];
	for (unsigned int c = 0; c < MF_CLASSES; c++)
		n->told[n->last % TOLD].quanta[c] = (uint16_t)(frame[18 + 2 * c] << 8 | frame[19 + 2 * c]);
	n->last++;
}

/** @param lasts_only  of what is paused already: nothing of it is on its way */
static void hear(struct promise *p, unsigned int port, unsigned int i, mf_time now, bool lasts_only)
{
	struct sender *n = &p->node[port];

	for (unsigned int c = 0; c < MF_CLASSES; c++)
		if ((n->told[i].named >> c & 1) &&
		    (!lasts_only || (n->told[i].quanta[c] != 0 && n->until[c] > now)))
			n->until[c] = n->told[i].heard + mf_pause_time(n->told[i].quanta[c], p->period[port]);
}

/** The next frame of a node, if it may send any. */
static void next_frame(struct promise *p, unsigned int port, mf_time now)
{
	struct sender *n = &p->node[port];
	uint8_t may = 0;

	for (unsigned int c = 0; c < MF_CLASSES; c++)
		may |= (uint8_t)((p->lossless >> c & (n->until[c] <= now)) << c);
	n->len = 0;
	if (may == 0)
		return;
	do
		n->class = (uint8_t)mf_rng_below(&p->rng, MF_CLASSES);
	while ((may >> n->class & 1) == 0);
	n->len = mf_rng_below(&p->rng, 3) == 0 ? (uint16_t)(60 + mf_rng_below(&p->rng, p->longest - 59))
					       : p->longest;
	n->line = mf_time_max(n->line, now) + lasts(p, port, wire(n->len));
}

static void send_frame(struct promise *p, unsigned int port, mf_time now)
{
	static uint8_t frame[9018];
	struct sender *n = &p->node[port];
	unsigned int to = TO - (unsigned int)mf_rng_below(&p->rng, 2);

	for (unsigned int i = n->first; i != n->last && n->told[i % TOLD].heard <= now; i++)
		hear(p, port, i % TOLD, now, true);
	while (n->first != n->last && n->told[n->first % TOLD].at <= now)
		hear(p, port, n->first++ % TOLD, now, false);
	if (n->len != 0 && n->line <= now) {
		mf_packet_ipv4(frame, (uint16_t)port, (uint16_t)to, IPPROTO_UDP, n->class, MF_ECN_NOT,
			       (uint16_t)(n->len - MF_PACKET_L4));
		ops->frame(bridge, port, now, frame, n->len);
		p->given++;
		n->len = 0;
	}
	if (n->len == 0)
		next_frame(p, port, now);
}

/** Parameters at random, many of them near the edge of what is accepted. @return false: refused */
static bool choose(struct promise *p)
{
	struct mf_bridge_fault f;
	double mtu = mf_rng_below(&p->rng, 2) ? 1500 : 256 + (double)mf_rng_below(&p->rng, 8700);

	for (unsigned int i = 0; ops->params[i].key != NULL; i++)
		param[i] = ops->params[i].value;
	p->c = links(p->up, p->period, p->delay);
	p->lossless = (uint8_t)(mf_rng_below(&p->rng, 4) ? 1 << CLASS : 1 + mf_rng_below(&p->rng, 255));
	p->longest = (uint16_t)(mtu + MF_PACKET_IP);
	for (unsigned int i = 0; i < PORTS; i++) {
		p->period[i] = 160u << mf_rng_below(&p->rng, 5);
		p->delay[i] = mf_rng_below(&p->rng, 2) ? DELAY : mf_rng_below(&p->rng, MF_US(1));
	}
	set("mtu", mtu);
	set("kmin", 0);
	set("classes", p->lossless);
	set("queue", mf_rng_below(&p->rng, 2) ? 0 : 5000);
	set("alpha", 0.01 * (double)(1 + mf_rng_below(&p->rng, 1000)));
	set("xoff", mf_rng_below(&p->rng, 2) ? 0 : (double)mf_rng_below(&p->rng, 1 << 20));
	set("resume", (double)mf_rng_below(&p->rng, 10000));
	set("quanta", mf_rng_below(&p->rng, 2) ? 65535 : 16 + (double)mf_rng_below(&p->rng, 3000));
	set("headroom", mf_rng_below(&p->rng, 4) ? 0 : (double)mf_rng_below(&p->rng, 200000));
	set("buffer", (double)(1 << 14) * (1 + (double)mf_rng_below(&p->rng, 400)));
	return ops->check(&p->c, &f);
}

static void incast(struct promise *p)
{
	const uint8_t *frame;

	for (mf_time now = 0; now < MF_US(120); now += 4 * PERIOD) {
		for (unsigned int i = 0; i < TO - 1; i++)
			send_frame(p, i, now);
		if (ops->next(bridge) <= now)
			ops->run(bridge, now);
		for (unsigned int i = 0; i < TO - 1; i++)
			told(p, i, now);
		for (unsigned int i = TO - 1; i <= TO; i++)
			if (p->drain[i] <= now) {
				uint16_t len = ops->pull(bridge, i, now, &frame);

				p->taken += len != 0;
				p->drain[i] = now + (len != 0 ? lasts(p, i, wire(len)) : 0);
			}
	}
}

static struct mf_bridge *create_of(const struct promise *p)
{
	struct mf_bridge_config c = p->c;

	c.l2_latency = MF_NS(400);
	c.wants = &wants;
	return ops->create(&c);
}

Test(pfc, loses_nothing_with_whatever_is_accepted)
{
	static struct promise p;
	unsigned int runs = 0, full = 0;
	uint64_t seed = 20151;

	ops = mf_bridge_find("pfc");
	mf_rng_init(&p.rng, seed, "pfc", 0);
	for (unsigned int i = 0; i < 250; i++) {
		memset(p.node, 0, sizeof(p.node));
		memset(p.drain, 0, sizeof(p.drain));
		p.given = p.taken = 0;
		if (!choose(&p))
			continue;
		bridge = create_of(&p);
		cr_assert_not_null(bridge, "run %u: accepted", i);
		incast(&p);
		cr_assert_eq(counter("drop_buffer"), 0, "seed %lu, run %u", seed, i);
		cr_assert_eq(counter("drop_tail"), 0, "seed %lu, run %u", seed, i);
		cr_assert_eq(counter("drop_lossy"), 0, "seed %lu, run %u", seed, i);
		cr_assert_eq(counter("drop_long"), 0, "seed %lu, run %u", seed, i);
		cr_assert_gt(p.taken, 0);
		full += counter("headroom_max_octets") > 2 * p.longest;
		runs++;
		ops->destroy(bridge);
	}
	cr_expect_gt(runs, 40, "%u", runs);
	cr_expect_gt(full, 20, "%u: headroom is used", full);
}
