/* SPDX-License-Identifier: BSD-3-Clause */
/* HELLOs that are refused, with their reasons on both sides; those that are late, forged or of a stranger. */
#include <criterion/criterion.h>
#include <string.h>

#include "hello.h"

static uint64_t refused(const struct mf_link_stats *s, unsigned int reason)
{
	switch (reason) {
	case MF_LINK_REASON_VERSION:
		return s->refused_version_hellos;
	case MF_LINK_REASON_FABRIC:
		return s->refused_fabric_hellos;
	case MF_LINK_REASON_RATE:
		return s->refused_rate_hellos;
	case MF_LINK_REASON_FEATURES:
		return s->refused_features_hellos;
	default:
		return s->refused_stale_hellos;
	}
}

/** Both ends say why, with what each has; once; and neither is a storm. */
static void expect_refused(unsigned int reason, uint64_t node, uint64_t other)
{
	const uint64_t have[2] = {node, other};

	hello_start();
	rig_run(rig, MF_SEC(10));
	for (int e = 0; e < 2; e++) {
		struct mf_link_status s = rig->end[e].status; /* as of the last change */

		cr_assert(!mf_link_changed(rig->end[e].link));
		cr_assert(!s.up && s.refused == reason, "end %d: %u", e, s.refused);
		cr_assert_eq(s.have, have[s.by_partner ? !e : e]);
		cr_assert_eq(s.got, have[s.by_partner ? e : !e]);
		cr_assert_gt(refused(rig_stats(rig, e), reason), 5);
		cr_assert_leq(rig_stats(rig, e)->tx_refuse_frames, 11);
		cr_assert_geq(rig_stats(rig, e)->tx_refuse_frames, 9);
		cr_assert_leq(rig_stats(rig, e)->tx_hello_frames, 15);
		cr_assert_geq(rig_stats(rig, e)->tx_hello_frames, 9);
		cr_assert_gt(rig_stats(rig, e)->rx_refuse_frames, 5);
		cr_assert_eq(rig_stats(rig, e)->up_events, 0);
	}
}

HELLO_TEST(refuse, refused_other_fabric)
{
	rig->end[1].config.fabric = 0xbad;
	expect_refused(MF_LINK_REASON_FABRIC, 0xfab, 0xbad);
}

HELLO_TEST(refuse, refused_other_rate)
{
	rig->end[1].config.period = 640;
	expect_refused(MF_LINK_REASON_RATE, 2560, 640);
}

HELLO_TEST(refuse, refused_other_features)
{
	rig->end[0].config.retransmit = false;
	expect_refused(MF_LINK_REASON_FEATURES, MF_LINK_PROVES, MF_LINK_RETRANSMITS | MF_LINK_PROVES);
}

static bool as_before_probes(struct rig *r, int from, struct mf_link_head *h)
{
	struct mf_link_hello *b = (struct mf_link_hello *)(h + 1);

	(void)r;
	if (from == RIG_SWITCH && h->type == MF_LINK_HELLO) {
		b->features = MF_LINK_RETRANSMITS;
		mf_link_frame_seal((uint8_t *)h);
	}
	return true;
}

/** A partner that knows no PROBE is refused, and neither waits for the other in silence. */
HELLO_TEST(refuse, refused_without_probes)
{
	char text[256];
	struct mf_link_status s;

	rig->filter = as_before_probes;
	hello_start();
	rig_run(rig, MF_SEC(1));
	for (int e = 0; e < 2; e++) {
		s = hello_status(e);
		cr_assert(!s.up && s.refused == MF_LINK_REASON_FEATURES && s.by_partner == (e == RIG_SWITCH));
	}
	cr_assert(mf_link_status_text(&s, text, sizeof(text)));
	cr_assert_str_eq(text, "refuses us: other features: another version of memfab on one side");
}

/** All differ: the same reason on both sides, by the order of the checks. */
HELLO_TEST(refuse, refused_for_the_first_reason)
{
	rig->end[1].config.fabric = 0xbad;
	rig->end[1].config.period = 640;
	rig->end[1].config.retransmit = false;
	expect_refused(MF_LINK_REASON_FABRIC, 0xfab, 0xbad);
}

static bool as_version_2(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	/* A later version: all but what is fixed for ever may be different. */
	if (from != RIG_SWITCH)
		return true;
	h->version = 2;
	if (h->type == MF_LINK_HELLO) {
		memset((uint8_t *)(h + 1) + 8, 0xee, h->length - 8u);
		h->epoch = h->seq = h->ack = h->limit = 0x55555555;
		h->blocks = 0x4444;
	}
	mf_link_frame_seal((uint8_t *)h);
	return true;
}

HELLO_TEST(refuse, refused_other_version)
{
	struct mf_link_refuse refuse = {.reason = MF_LINK_REASON_VERSION, .have = 2, .got = 1};
	struct mf_link_head h;

	rig->filter = as_version_2;
	hello_start();
	rig_run(rig, MF_MS(500));
	cr_assert_eq(hello_status(RIG_NODE).refused, MF_LINK_REASON_VERSION);
	cr_assert_eq(hello_status(RIG_NODE).have, 1);
	cr_assert_eq(hello_status(RIG_NODE).got, 2);
	cr_assert(!hello_status(RIG_NODE).by_partner);
	cr_assert_gt(rig_stats(rig, RIG_NODE)->rx_version_frames, 0);
	cr_assert_eq(hello_status(RIG_SWITCH).refused, MF_LINK_REASON_VERSION, "which our REFUSE told it");
	cr_assert(hello_status(RIG_SWITCH).by_partner);
	/* And the other way: a REFUSE that only its version tells from ours. */
	hello_tear_down();
	hello_set_up();
	rig_start(rig, RIG_NODE);
	h = rig_head(rig, RIG_SWITCH ^ 1, MF_LINK_REFUSE);
	h.flags = MF_LINK_FROM_SWITCH;
	h.version = 2;
	refuse.epoch = rig->end[RIG_NODE].config.epoch;
	rig_inject(rig, RIG_NODE, &h, &refuse, sizeof(refuse));
	rig_run(rig, MF_MS(1));
	cr_assert_eq(hello_status(RIG_NODE).refused, MF_LINK_REASON_VERSION);
	cr_assert(hello_status(RIG_NODE).by_partner);
}

/** A process that has been this end and was replaced keeps asking, and is told each second. */
HELLO_TEST(refuse, refused_stale_epoch)
{
	struct mf_link_status s;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	/* A second process is the node's end, started later; the first is cut off, and then is back. */
	mf_link_free(rig->end[RIG_SWITCH].link);
	rig->end[RIG_SWITCH].link = NULL;
	rig_start(rig, RIG_SWITCH);
	rig_until_up(rig, MF_MS(200));
	{
		struct mf_link *first = rig->end[RIG_NODE].link;
		struct mf_link_status old = rig->end[RIG_NODE].status;

		rig->end[RIG_NODE].link = NULL;
		rig_start(rig, RIG_NODE);
		rig_until_up(rig, MF_MS(200));
		mf_link_free(rig->end[RIG_NODE].link);
		rig->end[RIG_NODE].link = first;
		rig->end[RIG_NODE].status = old;
	}
	/* The first finds out by silence; its next epoch is not newer than that of the second. */
	rig->end[RIG_NODE].from = 0;
	rig_run(rig, rig->now + MF_SEC(6));
	s = hello_status(RIG_NODE);
	cr_assert(!s.up && s.refused == MF_LINK_REASON_STALE && s.by_partner);
	cr_assert_gt(s.have, s.got);
	cr_assert_eq(s.got, s.epoch);
	s = hello_status(RIG_SWITCH);
	cr_assert(!s.up && s.refused == MF_LINK_REASON_STALE && !s.by_partner);
	cr_assert_gt(rig_stats(rig, RIG_SWITCH)->refused_stale_hellos, 2);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->epoch_retries, 0);
}

/** A stranger's HELLO on a link that is up, and idle: it is refused, and its partner does not notice. */
HELLO_TEST(refuse, a_stranger_does_not_slow_down_a_link)
{
	const struct mf_link_hello hello = {.epoch = 1, .fabric = 0xbad, .window = 1, .blocks = 8, .node = 7};
	struct mf_link_head h;
	uint64_t before;

	for (int e = 0; e < 2; e++) {
		rig->end[e].config.refused_period = MF_SEC(1);
		rig->end[e].config.silence = MF_MS(1050);
		rig->end[e].config.replays = 4;
	}
	hello_start();
	rig_until_up(rig, MF_MS(1));
	h = rig_head(rig, RIG_NODE, MF_LINK_HELLO);
	rig_inject(rig, RIG_SWITCH, &h, &hello, sizeof(hello));
	rig_run(rig, rig->now + MF_MS(100));
	cr_assert(hello_status(RIG_SWITCH).up && hello_status(RIG_SWITCH).refused == MF_LINK_REASON_FABRIC);
	before = rig_stats(rig, RIG_SWITCH)->tx_hello_frames;
	rig_run(rig, rig->now + MF_SEC(5));
	cr_assert_geq(rig_stats(rig, RIG_SWITCH)->tx_hello_frames, before + 45);
	cr_assert_eq(rig->end[RIG_NODE].ups, 1);
	/* Of the next connection it is no news. */
	rig_kill(rig, RIG_NODE);
	rig_run(rig, rig->now + MF_SEC(2));
	cr_assert(!hello_status(RIG_SWITCH).up && hello_status(RIG_SWITCH).refused == 0);
	cr_assert_eq(hello_status(RIG_SWITCH).down, MF_LINK_DOWN_SILENCE);
}

/** B8: the clock has gone back since the process before: an end that was never up takes a later epoch. */
HELLO_TEST(refuse, b8_clock_went_back)
{
	uint64_t known;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	known = hello_status(RIG_NODE).epoch;
	rig_kill(rig, RIG_NODE);
	rig->end[RIG_NODE].config.epoch = known - 1000000;
	rig->end[RIG_NODE].process++;
	memset(&rig->end[RIG_NODE].status, 0, sizeof(rig->end[RIG_NODE].status));
	rig->end[RIG_NODE].link = mf_link_new(&rig->end[RIG_NODE].config, rig->now);
	rig_until_up(rig, MF_MS(1));
	cr_assert_eq(hello_status(RIG_NODE).epoch, known + 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->epoch_retries, 1);
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_delivered(rig, MF_MS(1));
}

/** B7: what refuses a HELLO of another epoch, or comes while up, is too late. */
HELLO_TEST(refuse, b7_late_refuse_is_ignored)
{
	struct mf_link_refuse refuse = {.reason = MF_LINK_REASON_STALE, .have = UINT64_MAX - 1};
	struct mf_link_head h;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	refuse.epoch = hello_status(RIG_NODE).epoch;
	h = rig_head(rig, RIG_SWITCH, MF_LINK_REFUSE);
	rig_inject(rig, RIG_NODE, &h, &refuse, sizeof(refuse));
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert(mf_link_up(rig->end[RIG_NODE].link));
	cr_assert_eq(hello_status(RIG_NODE).refused, 0);
	rig_kill(rig, RIG_SWITCH);
	rig_run(rig, rig->now + MF_SEC(4));
	cr_assert(!mf_link_up(rig->end[RIG_NODE].link));
	rig_inject(rig, RIG_NODE, &h, &refuse, sizeof(refuse)); /* of the epoch before */
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(hello_status(RIG_NODE).refused, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_refuse_frames, 2);
}

/** B7: a port with switch's ends answers for links that it does not have, but only a node's HELLO. */
HELLO_TEST(refuse, b7_unknown_link)
{
	static const uint8_t mac[MF_LINK_MAC] = {2, 0, 0, 0, 0, 9};
	uint8_t answer[MF_LINK_FRAME_MAX];
	const uint8_t *frame;
	uint16_t len;
	uint8_t other[MF_LINK_FRAME_MAX];

	rig->end[RIG_NODE].config.id = 99;
	rig_start(rig, RIG_NODE);
	rig_start(rig, RIG_SWITCH);
	frame = mf_link_tx(rig->end[RIG_NODE].link, 0, &len);
	cr_assert_not_null(frame);
	len = mf_link_refuse_unknown(frame, mac, answer);
	cr_assert_eq(len, sizeof(struct mf_link_head) + sizeof(struct mf_link_refuse));
	cr_assert_eq(mf_link_frame_check(answer, len, MF_LINK_ETHERTYPE), MF_LINK_GOOD);
	cr_assert(mf_link_frame_good(answer));
	cr_assert_arr_eq(mf_link_frame_head(answer)->dst, rig->end[RIG_NODE].config.mac, MF_LINK_MAC);
	mf_link_rx(rig->end[RIG_NODE].link, 0, answer);
	cr_assert_eq(hello_status(RIG_NODE).refused, MF_LINK_REASON_LINK);
	cr_assert(hello_status(RIG_NODE).by_partner);
	cr_assert_eq(hello_status(RIG_NODE).got, 99);
	/* No answer to a REFUSE, to the switch's HELLO, to DATA. */
	cr_assert_eq(mf_link_refuse_unknown(answer, mac, other), 0);
	frame = mf_link_tx(rig->end[RIG_SWITCH].link, 0, &len);
	cr_assert_eq(mf_link_refuse_unknown(frame, mac, other), 0);
	((struct mf_link_head *)answer)->flags = 0;
	((struct mf_link_head *)answer)->type = MF_LINK_DATA;
	cr_assert_eq(mf_link_refuse_unknown(answer, mac, other), 0);
}

/** B7: however many HELLOs do not match, an end refuses one a second, and goes on with its partner. */
HELLO_TEST(refuse, b7_refuse_is_no_storm)
{
	struct mf_link_hello b;
	struct mf_link_head h;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	b = hello_of(RIG_NODE);
	h = rig_head(rig, RIG_NODE, MF_LINK_HELLO);
	b.fabric = 0xbad;
	for (int i = 0; i < 1000; i++) {
		rig_inject(rig, RIG_SWITCH, &h, &b, sizeof(b));
		rig_run(rig, rig->now + MF_MS(2));
	}
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->refused_fabric_hellos, 1000);
	cr_assert_leq(rig_stats(rig, RIG_SWITCH)->tx_refuse_frames, 3);
	cr_assert_geq(rig_stats(rig, RIG_SWITCH)->tx_refuse_frames, 2);
	cr_assert_eq(hello_status(RIG_SWITCH).refused, MF_LINK_REASON_FABRIC);
	cr_assert(rig_is_up(rig));
}

/** B9: one frame, forged or late, ends nothing and shuts nobody out. */
HELLO_TEST(refuse, b9_a_newer_epoch_alone_ends_nothing)
{
	struct mf_link_hello b;
	struct mf_link_head h;

	hello_start();
	rig_until_up(rig, MF_MS(1));
	rig->end[0].to_put = rig->end[1].to_put = UINT64_MAX;
	rig->octet = 3200;
	b = hello_of(RIG_NODE);
	h = rig_head(rig, RIG_NODE, MF_LINK_HELLO);
	b.epoch = UINT64_MAX;
	for (int i = 0; i < 100; i++) {
		b.partner = i % 2 ? 0 : hello_status(RIG_SWITCH).epoch - 1;
		rig_inject(rig, RIG_SWITCH, &h, &b, sizeof(b));
		rig_run(rig, rig->now + MF_US(100));
	}
	cr_assert_eq(rig->end[0].ups + rig->end[1].ups, 2);
	rig->end[0].to_put = rig->end[1].to_put = 0;
	rig_until_delivered(rig, MF_MS(10));
	/* A true restart after that. */
	rig_kill(rig, RIG_NODE);
	rig_start(rig, RIG_NODE);
	rig_until_up(rig, MF_MS(1));
	cr_assert_eq(hello_status(RIG_SWITCH).down, MF_LINK_DOWN_RESTARTED);
}

/** HELLOs of before a restart arrive after it, once and twice: no connection is disturbed. */
HELLO_TEST(refuse, hello_duplicated_and_reordered_over_restart)
{
	struct mf_link_hello before[2];
	struct mf_link_head h[2];

	hello_start();
	rig_until_up(rig, MF_MS(1));
	for (int e = 0; e < 2; e++) {
		before[e] = hello_of(e);
		h[e] = rig_head(rig, e, MF_LINK_HELLO);
	}
	for (int e = 0; e < 2; e++) {
		rig_kill(rig, e);
		rig_start(rig, e);
		for (int i = 0; i < 6; i++) {
			rig_inject(rig, i % 2, &h[!(i % 2)], &before[!(i % 2)], sizeof(before[0]));
			if (i >= 2)
				rig_run(rig, rig->now + MF_US(3));
		}
		rig_until_up(rig, MF_MS(300));
		rig->end[0].to_put = rig->end[1].to_put = 1000;
		rig_until_delivered(rig, MF_MS(10));
		for (int i = 0; i < 6; i++) {
			rig_inject(rig, i % 2, &h[!(i % 2)], &before[!(i % 2)], sizeof(before[0]));
			rig_run(rig, rig->now + MF_US(3));
		}
		cr_assert(rig_is_up(rig));
		rig_run(rig, rig->now + MF_MS(300));
	}
	cr_assert_eq(rig_stats(rig, 1)->up_events + rig_stats(rig, 0)->up_events, 2 + 1);
}
