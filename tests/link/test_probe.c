/* SPDX-License-Identifier: BSD-3-Clause */
/* PROBEs: a link is up when frames of full size pass both ways. */
#include <criterion/criterion.h>
#include <string.h>

#include "hello.h"

/* Frames of full size: count is the MTU on the way, from the switch to the node alone or both ways. */

static bool passes(const struct rig *r, const struct mf_link_head *h)
{
	return sizeof(*h) + h->length <= r->count + 14;
}

static bool narrow(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	return passes(r, h);
}

static bool narrow_to_the_node(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_SWITCH || passes(r, h);
}

static void expect_unproven(int end, bool to, unsigned int passes_blocks)
{
	struct mf_link_status s = rig->end[end].status;

	cr_assert(!s.up && s.refused == MF_LINK_REASON_MTU, "end %d: %u", end, s.refused);
	cr_assert_eq(s.by_partner, to);
	cr_assert_eq(s.got, MF_SPAN_MAX);
	cr_assert_eq(s.have, passes_blocks, "end %d: %lu", end, s.have);
	cr_assert_eq(rig->end[end].ups, 0, "it must not flap");
}

/** Short frames pass and long ones do not: the link stays down, and says which MTU would do. */
HELLO_TEST(probe, a_low_mtu_is_found)
{
	static const unsigned int mtu[] = {1500, 1450, 1420, 1280};
	char text[256];

	for (unsigned int i = 0; i < 4; i++) {
		rig->filter = narrow;
		rig->count = mtu[i];
		hello_start();
		rig_run(rig, MF_MS(900));
		cr_assert_eq(rig->end[0].status.refused, 0, "a probe or two may be lost");
		rig_run(rig, MF_SEC(20));
		for (int e = 0; e < 2; e++) {
			expect_unproven(e, false, mf_link_blocks(mtu[i]));
			cr_assert_leq(rig_stats(rig, e)->tx_hello_frames, 210);
			cr_assert_leq(rig_stats(rig, e)->tx_probe_frames, 210 * 16);
		}
		cr_assert(mf_link_status_text(&rig->end[0].status, text, sizeof(text)));
		if (mtu[i] == 1450)
			cr_assert_str_eq(text,
					 "is not up: short frames pass, but an MTU on the way from the "
					 "partner is below the 4326 bytes of a full one; set \"mtu\" of "
					 "this port to 1446, or raise that MTU");
		/* Somebody raises it. */
		rig->filter = NULL;
		rig_until_up(rig, MF_MS(150));
		hello_tear_down();
		hello_set_up();
	}
}

HELLO_TEST(probe, a_low_mtu_one_way_only)
{
	rig->filter = narrow_to_the_node;
	rig->count = 1450;
	hello_start();
	rig_run(rig, MF_SEC(3));
	expect_unproven(RIG_NODE, false, mf_link_blocks(1450));
	expect_unproven(RIG_SWITCH, true, mf_link_blocks(1450));
	rig->end[RIG_NODE].config.blocks = (uint16_t)mf_link_blocks(1446);
	rig_kill(rig, RIG_NODE);
	rig_start(rig, RIG_NODE);
	rig_until_up(rig, MF_MS(250));
	rig->end[0].burst = rig->end[1].burst = MF_SPAN_MAX;
	rig->end[0].to_put = rig->end[1].to_put = 10000;
	rig_until_delivered(rig, MF_MS(10));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_replayed_frames, 0);
}

/** No frame of DATA goes before a frame as long as the longest has come from there, whatever is lost. */
HELLO_TEST(probe, the_longest_frame_has_passed_before_the_link_is_up)
{
	for (uint64_t seed = 1; seed < 200; seed++) {
		const struct mf_link_stats *s[2];

		hello_tear_down();
		rig = rig_new(seed);
		rig->filter = hello_lose_half;
		rig->end[seed % 2].config.blocks = (uint16_t)(8 + seed);
		hello_start();
		rig_until_up(rig, MF_SEC(30));
		for (int e = 0; e < 2; e++)
			s[e] = rig_stats(rig, e);
		cr_assert(s[0]->rx_probe_frames > 0 && s[1]->rx_probe_frames > 0);
		rig->filter = NULL;
		rig->end[0].to_put = rig->end[1].to_put = 1000;
		rig_until_delivered(rig, MF_SEC(1));
	}
}

static uint8_t late_probe[MF_LINK_FRAME_MAX];

static bool keep_probe(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	if (from == RIG_SWITCH && h->type == MF_LINK_PROBE)
		memcpy(late_probe, h, sizeof(*h) + h->length);
	return true;
}

static bool no_probes(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	return from != RIG_SWITCH || h->type != MF_LINK_PROBE;
}

/** A PROBE of another pair of epochs proves nothing. */
HELLO_TEST(probe, a_late_probe_proves_nothing)
{
	rig->filter = keep_probe;
	hello_start();
	rig_until_up(rig, MF_MS(1));
	cr_assert_eq(mf_link_frame_head(late_probe)->type, MF_LINK_PROBE);
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, late_probe);
	cr_assert(hello_status(RIG_NODE).up, "of its own connection it does nothing");
	rig->filter = no_probes;
	mf_link_leave(rig->end[RIG_NODE].link, rig->now);
	rig_run(rig, rig->now + MF_MS(500));
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, late_probe);
	rig_run(rig, rig->now + MF_SEC(1));
	cr_assert(!mf_link_up(rig->end[0].link) && !mf_link_up(rig->end[1].link));
	rig->filter = NULL;
	rig_until_up(rig, MF_MS(200));
}

static bool lose_the_proof(struct rig *r, int from, struct mf_link_head *h)
{
	const struct mf_link_hello *b = mf_link_frame_body((const uint8_t *)h);

	(void)r;
	return from != RIG_SWITCH || h->type != MF_LINK_HELLO || b->took == 0;
}

/**
 * One end is up. The other has lost the proof to a late HELLO of an older epoch: it is proven again, though
 * the end that is up sends no more PROBEs and has no blocks to send.
 */
HELLO_TEST(probe, an_end_that_is_up_proves_again)
{
	struct mf_link_head h;
	struct mf_link_hello late;

	rig->filter = lose_the_proof;
	hello_start();
	rig_run(rig, rig->now + MF_US(50));
	cr_assert(mf_link_up(rig->end[RIG_SWITCH].link));
	cr_assert_not(mf_link_up(rig->end[RIG_NODE].link));
	late = hello_of(RIG_SWITCH);
	late.epoch--;
	h = rig_head(rig, RIG_SWITCH, MF_LINK_HELLO);
	rig_inject(rig, RIG_NODE, &h, &late, sizeof(late));
	rig->filter = NULL;
	rig_until_up(rig, 2 * rig->end[0].config.hello_period + MF_US(50));
	cr_assert_eq(hello_status(RIG_NODE).connections, 1);
	cr_assert_eq(hello_status(RIG_SWITCH).connections, 1);
}
