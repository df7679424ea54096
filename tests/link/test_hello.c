/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake: coming up whatever is lost, refusals with their reasons on both sides, epochs, states. */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

TestSuite(hello, .timeout = 60);

static struct rig *rig;

static void set_up(void)
{
	rig = rig_new(1);
}

static void tear_down(void)
{
	rig_free(rig);
}

#define HELLO_TEST(name) Test(hello, name, .init = set_up, .fini = tear_down)

static void start(void)
{
	rig_start(rig, 0);
	rig_start(rig, 1);
}

static struct mf_link_status status(int end)
{
	struct mf_link_status s;

	mf_link_status(rig->end[end].link, &s);
	return s;
}

HELLO_TEST(up_in_two_round_trips)
{
	struct mf_link_status s[2];

	start();
	cr_assert(!mf_link_up(rig->end[0].link));
	cr_assert_leq(rig_until_up(rig, MF_MS(1)), 3 * rig->delay + MF_US(1));
	for (int e = 0; e < 2; e++)
		s[e] = status(e);
	cr_assert(s[0].up && s[0].connections == 1 && s[0].refused == 0);
	cr_assert_eq(s[0].epoch, s[1].partner_epoch);
	cr_assert_eq(s[1].epoch, s[0].partner_epoch);
	cr_assert_str_eq(s[0].partner_name, "tor");
	cr_assert_str_eq(s[1].partner_name, "n7");
	cr_assert_eq(s[0].partner_node, MF_LINK_NODE_SWITCH);
	cr_assert_eq(s[1].partner_node, 7);
}

/** Who polls an end is told to a partner that is known, and again when it is another thread. */
HELLO_TEST(the_partner_is_told_who_polls)
{
	struct mf_link_place place = {.host = 0x123456789abcdef0, .thread = 4711};

	start();
	mf_link_set_place(rig->end[RIG_NODE].link, &place);
	rig_until_up(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(status(RIG_SWITCH).partner_place.host, place.host);
	cr_assert_eq(status(RIG_SWITCH).partner_place.thread, 4711);
	cr_assert_eq(status(RIG_NODE).partner_place.host, 0, "the other one has not told");
	place.thread++;
	mf_link_set_place(rig->end[RIG_NODE].link, &place);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(rig->end[RIG_SWITCH].status.partner_place.thread, 4712, "it is news");
	cr_assert_eq(rig->end[RIG_SWITCH].ups, 1);
}

/** The order in which processes start does not matter, nor how long one waits. */
HELLO_TEST(partners_wait_for_each_other)
{
	rig_start(rig, RIG_NODE);
	rig_run(rig, MF_SEC(10));
	cr_assert_leq(rig_stats(rig, RIG_NODE)->tx_hello_frames, 102);
	cr_assert_geq(rig_stats(rig, RIG_NODE)->tx_hello_frames, 99);
	cr_assert_eq(status(RIG_NODE).down, MF_LINK_DOWN_FIRST);
	rig_start(rig, RIG_SWITCH);
	rig_until_up(rig, 4 * rig->delay + MF_US(1));
}

static bool lose_one(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	return h->type != MF_LINK_HELLO || r->count-- != 0;
}

/** A1: any one HELLO of the handshake is lost, the third as well. */
HELLO_TEST(a1_any_hello_lost)
{
	for (uint64_t n = 0; n < 6; n++) {
		rig->filter = lose_one;
		rig->count = n;
		start();
		rig_until_up(rig, rig->end[0].config.hello_period + 4 * rig->delay);
		tear_down();
		set_up();
	}
}

static bool lose_hellos_to_the_switch(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_NODE || h->type != MF_LINK_HELLO || r->count++ < 1;
}

/** A1: a frame with the tag of both epochs is as good as the HELLO that was lost, and is taken itself. */
HELLO_TEST(a1_data_proves_that_the_partner_knows_us)
{
	rig->filter = lose_hellos_to_the_switch;
	start();
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
HELLO_TEST(a2_silence_on_one_side_only)
{
	uint64_t epoch;

	start();
	rig_until_up(rig, MF_MS(1));
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_delivered(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(1)); /* all is acknowledged */
	epoch = status(RIG_SWITCH).epoch;
	rig->filter = one_way;
	rig_run(rig, rig->now + MF_MS(3050));
	cr_assert_eq(status(RIG_SWITCH).down, MF_LINK_DOWN_SILENCE);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->down_silence_events, 1);
	cr_assert_eq(status(RIG_SWITCH).epoch, epoch + 1, "its own decision: its next epoch");
	cr_assert(mf_link_up(rig->end[RIG_NODE].link), "HELLOs that do not name its epoch end nothing");
	rig->filter = NULL;
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_up(rig, rig->end[0].config.hello_period + MF_US(50));
	rig_until_delivered(rig, MF_MS(200));
	cr_assert_eq(status(RIG_NODE).down, MF_LINK_DOWN_RESTARTED);
	cr_assert_eq(status(RIG_NODE).connections, 2);
	cr_assert_eq(status(RIG_SWITCH).connections, 2);
	cr_assert_eq(status(RIG_SWITCH).epoch, epoch + 1);
}

/** An owner that leaves says so; both begin anew. */
HELLO_TEST(a2_leave)
{
	start();
	rig_until_up(rig, MF_MS(1));
	mf_link_leave(rig->end[RIG_NODE].link, rig->now);
	cr_assert(!mf_link_up(rig->end[RIG_NODE].link));
	mf_link_leave(rig->end[RIG_NODE].link, rig->now);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_bye_frames, 1);
	cr_assert_eq(status(RIG_NODE).down, MF_LINK_DOWN_LEFT);
	cr_assert_eq(status(RIG_SWITCH).down, MF_LINK_DOWN_PARTNER_LEFT);
	rig_until_up(rig, MF_MS(300));
	rig->end[0].to_put = 100;
	rig_until_delivered(rig, MF_MS(1));
}

static bool half(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	(void)h;
	return mf_rng_below(&r->rng, 2) == 0;
}

/** A3: what an end tells of itself arrives though half of all frames are lost, and is echoed. */
HELLO_TEST(a3_states_are_told_until_they_are_known)
{
	start();
	rig_until_up(rig, MF_MS(1));
	rig->filter = half;
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY);
	rig_run(rig, rig->now + MF_SEC(2));
	cr_assert_eq(status(RIG_NODE).partner_state, MF_LINK_READY);
	cr_assert_eq(status(RIG_SWITCH).echo, MF_LINK_READY);
	cr_assert_eq(status(RIG_SWITCH).partner_state, 0);
	mf_link_set_state(rig->end[RIG_NODE].link, MF_LINK_DONE);
	rig_run(rig, rig->now + MF_SEC(2));
	cr_assert_eq(status(RIG_SWITCH).partner_state, MF_LINK_DONE);
	cr_assert_eq(status(RIG_NODE).echo, MF_LINK_DONE);
	cr_assert_eq(status(RIG_NODE).connections, 1);
	/* Finished, and gone without a BYE: what it told last is still known. */
	rig->filter = NULL;
	rig_kill(rig, RIG_NODE);
	rig_run(rig, rig->now + MF_SEC(4));
	cr_assert_eq(status(RIG_SWITCH).down, MF_LINK_DOWN_SILENCE);
	cr_assert_eq(status(RIG_SWITCH).partner_state, MF_LINK_DONE);
}

HELLO_TEST(a3_state_is_told_at_once)
{
	start();
	rig_until_up(rig, MF_MS(1));
	rig_run(rig, rig->now + MF_MS(10));
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY);
	rig_run(rig, rig->now + 2 * rig->delay + MF_US(1));
	cr_assert_eq(status(RIG_NODE).partner_state, MF_LINK_READY);
	cr_assert_eq(status(RIG_SWITCH).echo, MF_LINK_READY);
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
HELLO_TEST(a3_a_late_hello_takes_nothing_back)
{
	start();
	rig_until_up(rig, MF_MS(1));
	rig->filter = keep_hello;
	rig_run(rig, rig->now + MF_MS(200));
	cr_assert_eq(mf_link_frame_head(kept)->type, MF_LINK_HELLO);
	rig->filter = NULL;
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY | MF_LINK_DONE);
	mf_link_set_state(rig->end[RIG_NODE].link, MF_LINK_DONE);
	rig_run(rig, rig->now + MF_MS(1));
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, kept);
	cr_assert_eq(status(RIG_NODE).partner_state, MF_LINK_READY | MF_LINK_DONE);
	cr_assert_eq(status(RIG_NODE).echo, MF_LINK_DONE);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(status(RIG_SWITCH).echo, MF_LINK_READY | MF_LINK_DONE);
	mf_link_leave(rig->end[RIG_SWITCH].link, rig->now);
	rig_run(rig, rig->now + rig->delay);
	rig_kill(rig, RIG_SWITCH);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(status(RIG_NODE).down, MF_LINK_DOWN_PARTNER_LEFT);
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, kept);
	cr_assert_eq(status(RIG_NODE).partner_state, MF_LINK_READY | MF_LINK_DONE);
}

/** The next connection begins with what is told then. */
HELLO_TEST(a3_the_next_connection_takes_back)
{
	start();
	rig_until_up(rig, MF_MS(1));
	mf_link_set_state(rig->end[RIG_SWITCH].link, MF_LINK_READY);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(status(RIG_NODE).partner_state, MF_LINK_READY);
	mf_link_leave(rig->end[RIG_SWITCH].link, rig->now);
	mf_link_set_state(rig->end[RIG_SWITCH].link, 0);
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert(status(RIG_NODE).up);
	cr_assert_eq(status(RIG_NODE).connections, 2);
	cr_assert_eq(status(RIG_NODE).partner_state, 0);
	cr_assert_eq(status(RIG_SWITCH).echo, 0);
}

/* Refusals. */

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

	start();
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

HELLO_TEST(refused_other_fabric)
{
	rig->end[1].config.fabric = 0xbad;
	expect_refused(MF_LINK_REASON_FABRIC, 0xfab, 0xbad);
}

HELLO_TEST(refused_other_rate)
{
	rig->end[1].config.period = 640;
	expect_refused(MF_LINK_REASON_RATE, 2560, 640);
}

HELLO_TEST(refused_other_features)
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
HELLO_TEST(refused_without_probes)
{
	char text[256];
	struct mf_link_status s;

	rig->filter = as_before_probes;
	start();
	rig_run(rig, MF_SEC(1));
	for (int e = 0; e < 2; e++) {
		s = status(e);
		cr_assert(!s.up && s.refused == MF_LINK_REASON_FEATURES && s.by_partner == (e == RIG_SWITCH));
	}
	cr_assert(mf_link_status_text(&s, text, sizeof(text)));
	cr_assert_str_eq(text, "refuses us: other features: another version of memfab on one side");
}

/** All differ: the same reason on both sides, by the order of the checks. */
HELLO_TEST(refused_for_the_first_reason)
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

HELLO_TEST(refused_other_version)
{
	struct mf_link_refuse refuse = {.reason = MF_LINK_REASON_VERSION, .have = 2, .got = 1};
	struct mf_link_head h;

	rig->filter = as_version_2;
	start();
	rig_run(rig, MF_MS(500));
	cr_assert_eq(status(RIG_NODE).refused, MF_LINK_REASON_VERSION);
	cr_assert_eq(status(RIG_NODE).have, 1);
	cr_assert_eq(status(RIG_NODE).got, 2);
	cr_assert(!status(RIG_NODE).by_partner);
	cr_assert_gt(rig_stats(rig, RIG_NODE)->rx_version_frames, 0);
	cr_assert_eq(status(RIG_SWITCH).refused, MF_LINK_REASON_VERSION, "which our REFUSE told it");
	cr_assert(status(RIG_SWITCH).by_partner);
	/* And the other way: a REFUSE that only its version tells from ours. */
	tear_down();
	set_up();
	rig_start(rig, RIG_NODE);
	h = rig_head(rig, RIG_SWITCH ^ 1, MF_LINK_REFUSE);
	h.flags = MF_LINK_FROM_SWITCH;
	h.version = 2;
	refuse.epoch = rig->end[RIG_NODE].config.epoch;
	rig_inject(rig, RIG_NODE, &h, &refuse, sizeof(refuse));
	rig_run(rig, MF_MS(1));
	cr_assert_eq(status(RIG_NODE).refused, MF_LINK_REASON_VERSION);
	cr_assert(status(RIG_NODE).by_partner);
}

/** A process that has been this end and was replaced keeps asking, and is told each second. */
HELLO_TEST(refused_stale_epoch)
{
	struct mf_link_status s;

	start();
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
	s = status(RIG_NODE);
	cr_assert(!s.up && s.refused == MF_LINK_REASON_STALE && s.by_partner);
	cr_assert_gt(s.have, s.got);
	cr_assert_eq(s.got, s.epoch);
	s = status(RIG_SWITCH);
	cr_assert(!s.up && s.refused == MF_LINK_REASON_STALE && !s.by_partner);
	cr_assert_gt(rig_stats(rig, RIG_SWITCH)->refused_stale_hellos, 2);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->epoch_retries, 0);
}

/** A stranger's HELLO on a link that is up, and idle: it is refused, and its partner does not notice. */
HELLO_TEST(a_stranger_does_not_slow_down_a_link)
{
	const struct mf_link_hello hello = {.epoch = 1, .fabric = 0xbad, .window = 1, .blocks = 8, .node = 7};
	struct mf_link_head h;
	uint64_t before;

	for (int e = 0; e < 2; e++) {
		rig->end[e].config.refused_period = MF_SEC(1);
		rig->end[e].config.silence = MF_MS(1050);
		rig->end[e].config.replays = 4;
	}
	start();
	rig_until_up(rig, MF_MS(1));
	h = rig_head(rig, RIG_NODE, MF_LINK_HELLO);
	rig_inject(rig, RIG_SWITCH, &h, &hello, sizeof(hello));
	rig_run(rig, rig->now + MF_MS(100));
	cr_assert(status(RIG_SWITCH).up && status(RIG_SWITCH).refused == MF_LINK_REASON_FABRIC);
	before = rig_stats(rig, RIG_SWITCH)->tx_hello_frames;
	rig_run(rig, rig->now + MF_SEC(5));
	cr_assert_geq(rig_stats(rig, RIG_SWITCH)->tx_hello_frames, before + 45);
	cr_assert_eq(rig->end[RIG_NODE].ups, 1);
	/* Of the next connection it is no news. */
	rig_kill(rig, RIG_NODE);
	rig_run(rig, rig->now + MF_SEC(2));
	cr_assert(!status(RIG_SWITCH).up && status(RIG_SWITCH).refused == 0);
	cr_assert_eq(status(RIG_SWITCH).down, MF_LINK_DOWN_SILENCE);
}

/** B8: the clock has gone back since the process before: an end that was never up takes a later epoch. */
HELLO_TEST(b8_clock_went_back)
{
	uint64_t known;

	start();
	rig_until_up(rig, MF_MS(1));
	known = status(RIG_NODE).epoch;
	rig_kill(rig, RIG_NODE);
	rig->end[RIG_NODE].config.epoch = known - 1000000;
	rig->end[RIG_NODE].process++;
	memset(&rig->end[RIG_NODE].status, 0, sizeof(rig->end[RIG_NODE].status));
	rig->end[RIG_NODE].link = mf_link_new(&rig->end[RIG_NODE].config, rig->now);
	rig_until_up(rig, MF_MS(1));
	cr_assert_eq(status(RIG_NODE).epoch, known + 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->epoch_retries, 1);
	rig->end[0].to_put = rig->end[1].to_put = 1000;
	rig_until_delivered(rig, MF_MS(1));
}

/** B7: what refuses a HELLO of another epoch, or comes while up, is too late. */
HELLO_TEST(b7_late_refuse_is_ignored)
{
	struct mf_link_refuse refuse = {.reason = MF_LINK_REASON_STALE, .have = UINT64_MAX - 1};
	struct mf_link_head h;

	start();
	rig_until_up(rig, MF_MS(1));
	refuse.epoch = status(RIG_NODE).epoch;
	h = rig_head(rig, RIG_SWITCH, MF_LINK_REFUSE);
	rig_inject(rig, RIG_NODE, &h, &refuse, sizeof(refuse));
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert(mf_link_up(rig->end[RIG_NODE].link));
	cr_assert_eq(status(RIG_NODE).refused, 0);
	rig_kill(rig, RIG_SWITCH);
	rig_run(rig, rig->now + MF_SEC(4));
	cr_assert(!mf_link_up(rig->end[RIG_NODE].link));
	rig_inject(rig, RIG_NODE, &h, &refuse, sizeof(refuse)); /* of the epoch before */
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(status(RIG_NODE).refused, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_refuse_frames, 2);
}

/** B7: a port with switch's ends answers for links that it does not have, but only a node's HELLO. */
HELLO_TEST(b7_unknown_link)
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
	cr_assert_eq(status(RIG_NODE).refused, MF_LINK_REASON_LINK);
	cr_assert(status(RIG_NODE).by_partner);
	cr_assert_eq(status(RIG_NODE).got, 99);
	/* No answer to a REFUSE, to the switch's HELLO, to DATA. */
	cr_assert_eq(mf_link_refuse_unknown(answer, mac, other), 0);
	frame = mf_link_tx(rig->end[RIG_SWITCH].link, 0, &len);
	cr_assert_eq(mf_link_refuse_unknown(frame, mac, other), 0);
	((struct mf_link_head *)answer)->flags = 0;
	((struct mf_link_head *)answer)->type = MF_LINK_DATA;
	cr_assert_eq(mf_link_refuse_unknown(answer, mac, other), 0);
}

static struct mf_link_hello hello_of(int end)
{
	struct mf_link_hello b = {.epoch = status(end).epoch,
				  .partner = status(!end).epoch,
				  .fabric = 0xfab,
				  .features = MF_LINK_RETRANSMITS | MF_LINK_PROVES,
				  .period = 2560,
				  .window = 256,
				  .blocks = 520,
				  .node = end == RIG_SWITCH ? MF_LINK_NODE_SWITCH : 7};

	return b;
}

/** B7: however many HELLOs do not match, an end refuses one a second, and goes on with its partner. */
HELLO_TEST(b7_refuse_is_no_storm)
{
	struct mf_link_hello b;
	struct mf_link_head h;

	start();
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
	cr_assert_eq(status(RIG_SWITCH).refused, MF_LINK_REASON_FABRIC);
	cr_assert(rig_is_up(rig));
}

/** B9: one frame, forged or late, ends nothing and shuts nobody out. */
HELLO_TEST(b9_a_newer_epoch_alone_ends_nothing)
{
	struct mf_link_hello b;
	struct mf_link_head h;

	start();
	rig_until_up(rig, MF_MS(1));
	rig->end[0].to_put = rig->end[1].to_put = UINT64_MAX;
	rig->octet = 3200;
	b = hello_of(RIG_NODE);
	h = rig_head(rig, RIG_NODE, MF_LINK_HELLO);
	b.epoch = UINT64_MAX;
	for (int i = 0; i < 100; i++) {
		b.partner = i % 2 ? 0 : status(RIG_SWITCH).epoch - 1;
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
	cr_assert_eq(status(RIG_SWITCH).down, MF_LINK_DOWN_RESTARTED);
}

/** HELLOs of before a restart arrive after it, once and twice: no connection is disturbed. */
HELLO_TEST(hello_duplicated_and_reordered_over_restart)
{
	struct mf_link_hello before[2];
	struct mf_link_head h[2];

	start();
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

HELLO_TEST(simultaneous_hello)
{
	rig->delay = MF_MS(20);
	start();
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

HELLO_TEST(c7_addresses)
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
HELLO_TEST(reflected_frames_are_counted)
{
	const uint8_t *frame;
	uint16_t len;

	start();
	frame = mf_link_tx(rig->end[RIG_NODE].link, 0, &len);
	mf_link_rx(rig->end[RIG_NODE].link, 0, frame);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_reflected_frames, 1);
	cr_assert_eq(status(RIG_NODE).partner_epoch, 0);
}

static struct mf_link_config config(void)
{
	struct mf_link_config c = rig->end[0].config;

	return c;
}

/** As docs/fabric-file.md has them. */
HELLO_TEST(defaults)
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

HELLO_TEST(configurations_that_cannot_work_are_refused)
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
HELLO_TEST(garbage)
{
	uint8_t frame[MF_LINK_FRAME_MAX];
	struct mf_link_head *h = (struct mf_link_head *)frame;
	const struct mf_link_stats *s;

	start();
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
HELLO_TEST(a_low_mtu_is_found)
{
	static const unsigned int mtu[] = {1500, 1450, 1420, 1280};
	char text[256];

	for (unsigned int i = 0; i < 4; i++) {
		rig->filter = narrow;
		rig->count = mtu[i];
		start();
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
		tear_down();
		set_up();
	}
}

HELLO_TEST(a_low_mtu_one_way_only)
{
	rig->filter = narrow_to_the_node;
	rig->count = 1450;
	start();
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
HELLO_TEST(the_longest_frame_has_passed_before_the_link_is_up)
{
	for (uint64_t seed = 1; seed < 200; seed++) {
		const struct mf_link_stats *s[2];

		tear_down();
		rig = rig_new(seed);
		rig->filter = half;
		rig->end[seed % 2].config.blocks = (uint16_t)(8 + seed);
		start();
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
HELLO_TEST(a_late_probe_proves_nothing)
{
	rig->filter = keep_probe;
	start();
	rig_until_up(rig, MF_MS(1));
	cr_assert_eq(mf_link_frame_head(late_probe)->type, MF_LINK_PROBE);
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, late_probe);
	cr_assert(status(RIG_NODE).up, "of its own connection it does nothing");
	rig->filter = no_probes;
	mf_link_leave(rig->end[RIG_NODE].link, rig->now);
	rig_run(rig, rig->now + MF_MS(500));
	mf_link_rx(rig->end[RIG_NODE].link, rig->now, late_probe);
	rig_run(rig, rig->now + MF_SEC(1));
	cr_assert(!mf_link_up(rig->end[0].link) && !mf_link_up(rig->end[1].link));
	rig->filter = NULL;
	rig_until_up(rig, MF_MS(200));
}
