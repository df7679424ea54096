/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake: coming up whatever is lost, epochs, states, and what no HELLO may do. */
#include <criterion/criterion.h>
#include <string.h>

#include "hello.h"

HELLO_TEST(hello, up_in_two_round_trips)
{
	struct mf_link_status s[2];

	hello_start();
	cr_assert(!mf_link_up(rig->end[0].link));
	cr_assert_leq(rig_until_up(rig, MF_MS(1)), 3 * rig->delay + MF_US(1));
	for (int e = 0; e < 2; e++)
		s[e] = hello_status(e);
	cr_assert(s[0].up && s[0].connections == 1 && s[0].refused == 0);
	cr_assert_eq(s[0].epoch, s[1].partner_epoch);
	cr_assert_eq(s[1].epoch, s[0].partner_epoch);
	cr_assert_str_eq(s[0].partner_name, "tor");
	cr_assert_str_eq(s[1].partner_name, "n7");
	cr_assert_eq(s[0].partner_node, MF_LINK_NODE_SWITCH);
	cr_assert_eq(s[1].partner_node, 7);
}

/** Who polls an end is told to a partner that is known, and again when it is another thread. */
HELLO_TEST(hello, the_partner_is_told_who_polls)
{
	struct mf_link_place place = {.host = 0x123456789abcdef0, .thread = 4711};

	hello_start();
	mf_link_set_place(rig->end[RIG_NODE].link, &place);
	rig_until_up(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(hello_status(RIG_SWITCH).partner_place.host, place.host);
	cr_assert_eq(hello_status(RIG_SWITCH).partner_place.thread, 4711);
	cr_assert_eq(hello_status(RIG_NODE).partner_place.host, 0, "the other one has not told");
	place.thread++;
	mf_link_set_place(rig->end[RIG_NODE].link, &place);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(rig->end[RIG_SWITCH].status.partner_place.thread, 4712, "it is news");
	cr_assert_eq(rig->end[RIG_SWITCH].ups, 1);
}

/** The order in which processes start does not matter, nor how long one waits. */
HELLO_TEST(hello, partners_wait_for_each_other)
{
	rig_start(rig, RIG_NODE);
	rig_run(rig, MF_SEC(10));
	cr_assert_leq(rig_stats(rig, RIG_NODE)->tx_hello_frames, 102);
	cr_assert_geq(rig_stats(rig, RIG_NODE)->tx_hello_frames, 99);
	cr_assert_eq(hello_status(RIG_NODE).down, MF_LINK_DOWN_FIRST);
	rig_start(rig, RIG_SWITCH);
	rig_until_up(rig, 4 * rig->delay + MF_US(1));
}

static bool lose_one(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	return h->type != MF_LINK_HELLO || r->count-- != 0;
}

/** A1: any one HELLO of the handshake is lost, the third as well. */
HELLO_TEST(hello, a1_any_hello_lost)
{
	for (uint64_t n = 0; n < 6; n++) {
		rig->filter = lose_one;
		rig->count = n;
		hello_start();
		rig_until_up(rig, rig->end[0].config.hello_period + 4 * rig->delay);
		hello_tear_down();
		hello_set_up();
	}
}

static bool lose_hellos_to_the_switch(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_NODE || h->type != MF_LINK_HELLO || r->count++ < 1;
}

/** A1: a frame with the tag of both epochs is as good as the HELLO that was lost, and is taken itself. */
HELLO_TEST(hello, a1_data_proves_that_the_partner_knows_us)
{
	rig->filter = lose_hellos_to_the_switch;
	hello_start();
	rig_run(rig, MF_US(20));
	cr_assert(mf_link_up(rig->end[RIG_NODE].link));
	cr_assert(!mf_link_up(rig->end[RIG_SWITCH].link));
	rig->end[RIG_NODE].to_put = 100;
	rig_until_delivered(rig, MF_US(10));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_replayed_frames, 0);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_down_frames, 0);
}

static bool one_way(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	(void)h;
	return from != RIG_NODE;
}

/** A2: one side alone takes the link for dead. Its next connection has another tag and begins anew. */
HELLO_TEST(hello, a2_silence_on_one_side_only)
{
	uint64_t epoch;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_delivered(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(1)); /* all is acknowledged */
	epoch = hello_status(RIG_SWITCH).epoch;
	rig->filter = one_way;
	rig_run(rig, rig->now + MF_MS(3050));
	cr_assert_eq(hello_status(RIG_SWITCH).down, MF_LINK_DOWN_SILENCE);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->down_silence_events, 1);
	cr_assert_eq(hello_status(RIG_SWITCH).epoch, epoch + 1, "its own decision: its next epoch");
	cr_assert(mf_link_up(rig->end[RIG_NODE].link), "HELLOs that do not name its epoch end nothing");
	rig->filter = NULL;
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_up(rig, rig->end[0].config.hello_period + MF_US(50));
	rig_until_delivered(rig, MF_MS(200));
	cr_assert_eq(hello_status(RIG_NODE).down, MF_LINK_DOWN_RESTARTED);
	cr_assert_eq(hello_status(RIG_NODE).connections, 2);
	cr_assert_eq(hello_status(RIG_SWITCH).connections, 2);
	cr_assert_eq(hello_status(RIG_SWITCH).epoch, epoch + 1);
}

/** An owner that leaves says so; both begin anew. */
HELLO_TEST(hello, a2_leave)
{
	hello_start();
	rig_until_up(rig, MF_MS(1));
	mf_link_leave(rig->end[RIG_NODE].link, rig->now);
	cr_assert(!mf_link_up(rig->end[RIG_NODE].link));
	mf_link_leave(rig->end[RIG_NODE].link, rig->now);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_bye_frames, 1);
	cr_assert_eq(hello_status(RIG_NODE).down, MF_LINK_DOWN_LEFT);
	cr_assert_eq(hello_status(RIG_SWITCH).down, MF_LINK_DOWN_PARTNER_LEFT);
	rig_until_up(rig, MF_MS(300));
	rig->end[0].to_put = 100;
	rig_until_delivered(rig, MF_MS(1));
}

/** A3: what an end tells of itself arrives though half of all frames are lost, and is echoed. */
HELLO_TEST(hello, a3_states_are_told_until_they_are_known)
{
	hello_start();
	rig_until_up(rig, MF_MS(1));
	rig->filter = hello_lose_half;
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY);
	rig_run(rig, rig->now + MF_SEC(2));
	cr_assert_eq(hello_status(RIG_NODE).partner_state, MF_LINK_READY);
	cr_assert_eq(hello_status(RIG_SWITCH).echo, MF_LINK_READY);
	cr_assert_eq(hello_status(RIG_SWITCH).partner_state, 0);
	mf_link_set_state(rig->end[RIG_NODE].link, MF_LINK_DONE);
	rig_run(rig, rig->now + MF_SEC(2));
	cr_assert_eq(hello_status(RIG_SWITCH).partner_state, MF_LINK_DONE);
	cr_assert_eq(hello_status(RIG_NODE).echo, MF_LINK_DONE);
	cr_assert_eq(hello_status(RIG_NODE).connections, 1);
	/* Finished, and gone without a BYE: what it told last is still known. */
	rig->filter = NULL;
	rig_kill(rig, RIG_NODE);
	rig_run(rig, rig->now + MF_SEC(4));
	cr_assert_eq(hello_status(RIG_SWITCH).down, MF_LINK_DOWN_SILENCE);
	cr_assert_eq(hello_status(RIG_SWITCH).partner_state, MF_LINK_DONE);
}

HELLO_TEST(hello, a3_state_is_told_at_once)
{
	hello_start();
	rig_until_up(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(10));
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY);
	rig_run(rig, rig->now + 2 * rig->delay + MF_US(1));
	cr_assert_eq(hello_status(RIG_NODE).partner_state, MF_LINK_READY);
	cr_assert_eq(hello_status(RIG_SWITCH).echo, MF_LINK_READY);
}

static uint8_t kept[MF_LINK_FRAME_MAX];

static bool keep_hello(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	if (from == RIG_SWITCH && h->type == MF_LINK_HELLO)
		memcpy(kept, h, sizeof(*h) + h->length);
	return true;
}

/** A3: an older HELLO comes behind a newer one, or behind the BYE: what was told stays, and is echoed. */
HELLO_TEST(hello, a3_a_late_hello_takes_nothing_back)
{
	hello_start();
	rig_until_up(rig, MF_MS(1));
	rig->filter = keep_hello;
	rig_run(rig, rig->now + MF_MS(200));
	cr_assert_eq(mf_link_frame_head(kept)->type, MF_LINK_HELLO);
	rig->filter = NULL;
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY | MF_LINK_DONE);
	mf_link_set_state(rig->end[RIG_NODE].link, MF_LINK_DONE);
	rig_run(rig, rig->now + MF_MS(1));
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, kept);
	cr_assert_eq(hello_status(RIG_NODE).partner_state, MF_LINK_READY | MF_LINK_DONE);
	cr_assert_eq(hello_status(RIG_NODE).echo, MF_LINK_DONE);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(hello_status(RIG_SWITCH).echo, MF_LINK_READY | MF_LINK_DONE);
	mf_link_leave(rig->end[RIG_SWITCH].link, rig->now);
	rig_run(rig, rig->now + rig->delay);
	rig_kill(rig, RIG_SWITCH);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(hello_status(RIG_NODE).down, MF_LINK_DOWN_PARTNER_LEFT);
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, kept);
	cr_assert_eq(hello_status(RIG_NODE).partner_state, MF_LINK_READY | MF_LINK_DONE);
}

static uint8_t kept_ack[MF_LINK_FRAME_MAX];

static bool keep_last(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	if (from == RIG_SWITCH && h->type == MF_LINK_HELLO)
		memcpy(kept, h, sizeof(*h) + h->length);
	if (from == RIG_SWITCH && h->type == MF_LINK_ACK)
		memcpy(kept_ack, h, sizeof(*h));
	return true;
}

static bool lose_probes(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	(void)from;
	return h->type != MF_LINK_PROBE;
}

/**
 * A2: an end that has gone down because its partner has a newer epoch keeps its own. The HELLO and the ACK
 * that the network still holds of the older epoch are of a pair that has been used, and begin nothing.
 */
HELLO_TEST(hello, a2_an_older_epoch_does_not_come_back)
{
	hello_start();
	rig_until_up(rig, MF_MS(1));
	rig->filter = keep_last;
	rig->end[RIG_NODE].to_put = 1000;
	rig_until_delivered(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(200));
	cr_assert_eq(mf_link_frame_head(kept)->type, MF_LINK_HELLO);
	cr_assert_eq(mf_link_frame_head(kept_ack)->type, MF_LINK_ACK);
	rig->filter = one_way;
	rig_run(rig, rig->now + MF_MS(3050));
	cr_assert_not(mf_link_up(rig->end[RIG_SWITCH].link));
	rig->filter = lose_probes;
	rig_run(rig, rig->now + rig->end[0].config.hello_period + MF_US(50));
	cr_assert_eq(hello_status(RIG_NODE).down, MF_LINK_DOWN_RESTARTED);
	cr_assert_not(mf_link_up(rig->end[RIG_NODE].link), "nothing has proven the new epoch");
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, kept);
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, kept_ack);
	cr_assert_not(mf_link_up(rig->end[RIG_NODE].link));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->refused_stale_hellos, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_down_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_bad_acks, 0);
	rig->filter = NULL;
	rig_until_up(rig, MF_MS(300));
	rig->end[RIG_NODE].to_put = 1000;
	rig_until_delivered(rig, MF_MS(1));
	cr_assert_eq(hello_status(RIG_NODE).connections, 2);
	cr_assert_eq(hello_status(RIG_SWITCH).connections, 2);
}

/** The next connection begins with what is told then. */
HELLO_TEST(hello, a3_the_next_connection_takes_back)
{
	hello_start();
	rig_until_up(rig, MF_MS(1));
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(hello_status(RIG_NODE).partner_state, MF_LINK_READY);
	mf_link_leave(rig->end[RIG_SWITCH].link, rig->now);
	mf_link_set_state(rig->end[RIG_SWITCH].link, 0);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert(hello_status(RIG_NODE).up);
	cr_assert_eq(hello_status(RIG_NODE).connections, 2);
	cr_assert_eq(hello_status(RIG_NODE).partner_state, 0);
	cr_assert_eq(hello_status(RIG_SWITCH).echo, 0);
}

HELLO_TEST(hello, simultaneous_hello)
{
	rig->delay = MF_MS(20);
	hello_start();
	rig_until_up(rig, MF_MS(60) + MF_US(1));
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_delivered(rig, MF_MS(200));
	cr_assert_eq(rig->end[0].ups, 1);
	cr_assert_eq(rig->end[1].ups, 1);
}

/** A partner that goes and comes, with another address: frames of the connection go to it alone. */
static struct mf_link_head last_data;

static bool see_data(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	if (from == RIG_SWITCH && h->type == MF_LINK_DATA)
		last_data = *h;
	return true;
}

HELLO_TEST(hello, c7_addresses)
{
	static const uint8_t broadcast[MF_LINK_MAC] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	rig->filter = see_data;
	for (uint8_t i = 1; i < 4; i++) {
		uint8_t *mac = rig->end[RIG_NODE].config.mac;

		mac[0] = i == 1 ? 2 : i == 2 ? 3 : 0; /* one's own, a group's, none */
		mac[5] = i == 3 ? 0 : i;
		if (rig->end[RIG_NODE].link != NULL)
			rig_kill(rig, RIG_NODE);
		rig_start(rig, RIG_NODE);
		if (i == 1)
			rig_start(rig, RIG_SWITCH);
		rig_until_up(rig, MF_MS(1));
		rig->end[RIG_SWITCH].to_put = 10;
		rig_until_delivered(rig, MF_MS(1));
		cr_assert_arr_eq(last_data.dst, i == 1 ? mac : broadcast, MF_LINK_MAC);
		cr_assert_arr_eq(last_data.src, rig->end[RIG_SWITCH].config.mac, MF_LINK_MAC);
	}
}

/** What the port gets wrong, or somebody reflects, is not the partner's. */
HELLO_TEST(hello, reflected_frames_are_counted)
{
	const uint8_t *frame;
	uint16_t len;

	hello_start();
	frame = mf_link_tx(rig->end[RIG_NODE].link, 0, &len);
	mf_link_rx(rig->end[RIG_NODE].link, 0, frame);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_reflected_frames, 1);
	cr_assert_eq(hello_status(RIG_NODE).partner_epoch, 0);
}

static struct mf_link_config config(void)
{
	struct mf_link_config c = rig->end[0].config;

	return c;
}

/** As docs/fabric-file.md has them. */
HELLO_TEST(hello, defaults)
{
	struct mf_link_config c;

	mf_link_config_default(&c);
	cr_expect(c.retransmit && !c.pace);
	cr_expect_eq(c.window, 256);
	cr_expect_eq(c.replays, 16);
	cr_expect_eq(c.ack_every, 0);
	cr_expect_eq(c.ack_after, MF_US(50));
	cr_expect_eq(c.replay_after, MF_US(500));
	cr_expect_eq(c.replay_max, MF_MS(100));
	cr_expect_eq(c.hello_period, MF_MS(100));
	cr_expect_eq(c.silence, MF_SEC(3));
}

HELLO_TEST(hello, configurations_that_cannot_work_are_refused)
{
#define REFUSED(change)                                                        \
	({                                                                     \
		struct mf_link_config c = config();                            \
		c.change;                                                      \
		mf_link_config_fault(&c) != NULL &&mf_link_new(&c, 0) == NULL; \
	})
	cr_assert(mf_link_config_fault(&rig->end[0].config) == NULL);
	cr_assert(REFUSED(name = NULL));
	cr_assert(REFUSED(epoch = 0));
	cr_assert(REFUSED(period = 0));
	cr_assert(REFUSED(switch_end = true));
	cr_assert(REFUSED(blocks = MF_LINK_BLOCKS_MIN - 1));
	cr_assert(REFUSED(blocks = MF_SPAN_MAX + 1));
	cr_assert(REFUSED(window = 0));
	cr_assert(REFUSED(window = MF_LINK_WINDOW_MAX + 1));
	cr_assert(REFUSED(replays = 0));
	cr_assert(REFUSED(replay_after = 0));
	cr_assert(REFUSED(hello_period = 0));
	cr_assert(REFUSED(hello_period = MF_MS(301)));
	cr_assert(REFUSED(silence = MF_MS(1027)), "A7: else a loss looks like silence");
	cr_assert(!REFUSED(silence = MF_MS(1028)));
	cr_assert(REFUSED(replays = 100));
	cr_assert(REFUSED(refused_period = 0));
}

/** Anything at all, of which much passes the first checks: nothing comes of it but counters. */
HELLO_TEST(hello, garbage)
{
	uint8_t frame[MF_LINK_FRAME_MAX];
	struct mf_link_head *h = (struct mf_link_head *)frame;
	const struct mf_link_stats *s;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	s = rig_stats(rig, RIG_NODE);
	for (int i = 0; i < 200000; i++) {
		struct mf_link_head good = rig_head(rig, RIG_SWITCH, MF_LINK_DATA);

		for (unsigned int k = 0; k < sizeof(frame) / 8 && (k < 24 || i % 100 == 0); k++) {
			uint64_t x = mf_rng_next(&rig->rng);

			memcpy(frame + 8 * k, &x, 8);
		}
		if (i % 2) {
			h->version = MF_LINK_VERSION;
			h->type %= 8;
			h->flags &= MF_LINK_FROM_SWITCH | MF_LINK_POLL;
		}
		if (i % 4 == 1) {
			h->flags = MF_LINK_FROM_SWITCH;
			h->epoch = good.epoch;
			h->blocks %= 3;
		}
		mf_link_head_ethertype(h, MF_LINK_ETHERTYPE);
		h->length = (uint16_t)(h->length % (i % 8 == 1 ? 40 : 140));
		if (i % 8 == 1)
			h->length &= ~7;
		if (i % 8 == 1) /* no bits of no block */
			memset(frame + sizeof(*h), 1, 1), memset(frame + sizeof(*h) + 1, 0, 7);
		mf_link_frame_seal(frame);
		cr_assert_neq(mf_link_frame_check(frame, sizeof(frame), MF_LINK_ETHERTYPE),
			      MF_LINK_FAULT_CRC);
		mf_link_rx(rig->end[RIG_NODE].link, rig->now, frame);
		while (mf_link_take(rig->end[RIG_NODE].link) != NULL)
			rig->end[RIG_NODE].taken = NULL;
		if (!mf_link_up(rig->end[RIG_NODE].link)) { /* a BYE of chance */
			rig_run(rig, rig->now + MF_US(1));
			rig_until_up(rig, MF_SEC(1));
		}
	}
	cr_assert_gt(s->rx_version_frames, 0);
	cr_assert_gt(s->rx_type_frames, 0);
	cr_assert_gt(s->rx_malformed_frames, 0);
	cr_assert_gt(s->rx_stale_frames, 0);
	cr_assert_gt(s->rx_outside_frames, 0);
	cr_assert_gt(s->rx_bad_acks, 0);
	cr_assert_gt(s->rx_reflected_frames, 0);
	rig->end[0].from = rig->end[1].from = 0;
}
