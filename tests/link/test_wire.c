/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends over a wire that does what it likes: drops, duplicates, reorders, delays and corrupts, while ends
 * are killed and started, away, or leave. rig.c holds what comes against what was sent. And what loss costs:
 * with --verbose the goodput and the efficiency of retransmission.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

TestSuite(wire, .timeout = 120);

#define RUNS 2000
#define EPISODES 20

static struct rig *rig;
static struct mf_rng rng;

/** What the campaign has seen: a class that never fired was not tested. */
static struct mf_link_stats seen;
static struct mf_impair_stats faults;
static uint64_t delivered, connections, kills, pauses, leaves;

static uint64_t pick(uint64_t n)
{
	return mf_rng_below(&rng, n);
}

static bool often(double share)
{
	return mf_rng_double(&rng) < share;
}

/** From tens of microseconds to tenths of seconds, each as likely. */
static mf_time some_time(void)
{
	return MF_US(20) << pick(13);
}

static double some_share(void)
{
	static const double share[] = {0, 0, 0.01, 0.05, 0.2, 0.6};

	return share[pick(6)];
}

static void add_stats(int end)
{
	const uint64_t *from = (const uint64_t *)rig_stats(rig, end);
	uint64_t *to = (uint64_t *)&seen;

	for (unsigned int i = 0; i < sizeof(seen) / sizeof(*to); i++)
		to[i] += from[i];
}

static void worsen(int end)
{
	struct rig_end *e = &rig->end[end];
	const struct mf_impair_config c = {.drop = some_share(),
					   .duplicate = some_share(),
					   .reorder = some_share(),
					   .reorder_by = (uint16_t)pick(12),
					   .corrupt = some_share()};

	/* What is held back stays so: only the probabilities change. */
	e->impaired = true;
	e->impair.config = c;
	if (c.reorder_by == 0)
		e->impair.config.reorder_by = 1;
}

static void configure(uint64_t seed)
{
	static const uint16_t window[] = {1, 2, 3, 16, 256};
	static const uint16_t blocks[] = {MF_LINK_BLOCKS_MIN, 33, 177, MF_SPAN_MAX};
	static const unsigned int burst[] = {1, 10, 100, 0};

	rig = rig_new(seed);
	mf_rng_init(&rng, seed, "wire", 0);
	for (int i = 0; i < 2; i++) {
		struct rig_end *e = &rig->end[i];

		e->config.window = window[pick(5)];
		e->config.blocks = blocks[pick(4)];
		e->config.first = (uint32_t)-pick(40);
		e->config.pace = often(0.2);
		e->burst = burst[pick(4)];
		mf_impair_init(&e->impair, &(struct mf_impair_config){0}, seed, (uint64_t)i);
	}
	rig->octet = often(0.5) ? 800 : 8000;
	rig->delay = MF_NS(200) << pick(8);
	rig_start(rig, 0);
	rig_start(rig, 1);
}

static void episode(void)
{
	int end = (int)pick(2);
	struct rig_end *e = &rig->end[end];

	e->to_put += pick(2000);
	rig->jitter = often(0.3) ? MF_NS(100) << pick(18) : 0;
	switch (pick(8)) {
	case 0:
		if (e->link != NULL)
			add_stats(end);
		rig_kill(rig, end);
		if (often(0.8))
			rig_start(rig, end);
		kills++;
		break;
	case 1:
		e->paused = rig->now + some_time() * (1 + pick(8));
		pauses++;
		break;
	case 2:
		if (e->link != NULL && often(0.3)) {
			mf_link_leave(e->link, rig->now);
			leaves++;
		}
		break;
	case 3:
		e->holds = !e->holds;
		break;
	case 4:
		if (often(0.3))
			break;
		/* A cable that is out, in one direction or in both. */
		for (int i = 0; i < 2; i++)
			if (i == end || often(0.5)) {
				rig->end[i].impaired = true;
				rig->end[i].impair.config.drop = 1;
			}
		rig_run(rig, rig->now + some_time() * (1 + pick(50)));
		worsen(0);
		worsen(1);
		break;
	default:
		worsen(end);
	}
	rig_run(rig, rig->now + some_time());
}

/** The wire is good again, and all processes run. */
static void mend(void)
{
	rig->jitter = 0;
	for (int i = 0; i < 2; i++) {
		struct rig_end *e = &rig->end[i];

		e->impair.config = (struct mf_impair_config){.reorder_by = 1};
		e->paused = 0;
		e->holds = false;
		if (e->link == NULL)
			rig_start(rig, i);
	}
	/* What is still under way. */
	rig_run(rig, rig->now + (MF_NS(100) << 18));
	rig_until_up(rig, 3 * rig->end[0].config.hello_period);
	rig->end[0].to_put += 1 + pick(3000);
	rig->end[1].to_put += 1 + pick(3000);
	rig_until_delivered(rig, MF_SEC(2));
}

static void run(uint64_t seed)
{
	configure(seed);
	for (int i = 0; i < EPISODES; i++)
		episode();
	mend();
	for (int i = 0; i < 2; i++) {
		const struct mf_impair_stats *s = &rig->end[i].impair.stats;

		add_stats(i);
		delivered += rig->end[i].delivered;
		connections += rig->end[i].ups;
		faults.dropped_frames += s->dropped_frames;
		faults.duplicated_frames += s->duplicated_frames;
		faults.reordered_frames += s->reordered_frames;
		faults.corrupted_frames += s->corrupted_frames;
	}
	rig_free(rig);
}

static void print_seen(void)
{
	unsigned int n;
	const struct mf_link_counter *c = mf_link_counters(&n);

	for (unsigned int i = 0; i < n; i++)
		cr_log_info("%s %lu", c[i].name, mf_link_counter_of(&seen, &c[i]));
	cr_log_info("%lu blocks, %lu connections, %lu kills, %lu pauses, %lu leaves", delivered, connections,
		    kills, pauses, leaves);
}

Test(wire, adversarial)
{
	uint64_t base = 0x5eed;

	for (uint64_t i = 0; i < RUNS; i++)
		run(base + i);
	print_seen();
	cr_assert(faults.dropped_frames && faults.duplicated_frames && faults.reordered_frames &&
		  faults.corrupted_frames);
	cr_assert(kills && pauses && leaves);
	cr_assert(seen.rx_duplicate_frames && seen.rx_gap_frames && seen.rx_outside_frames &&
		  seen.rx_down_frames && seen.rx_stale_frames && seen.rx_untaken_blocks &&
		  seen.rx_damaged_frames && seen.rx_missing_frames && seen.rx_old_acks);
	cr_assert(seen.tx_replayed_frames && seen.tx_poll_frames && seen.tx_nack_frames &&
		  seen.tx_refuse_frames && seen.tx_bye_frames && seen.tx_down_blocks &&
		  seen.tx_unsent_blocks && seen.tx_timer_replays && seen.tx_nack_replays &&
		  seen.tx_held_nacks && seen.tx_limit_stalls);
	cr_assert(seen.down_silence_events && seen.down_restarted_events && seen.down_gave_up_events &&
		  seen.down_partner_left_events && seen.down_partner_gave_up_events && seen.down_left_events);
	cr_assert(seen.refused_stale_hellos && seen.stall_events);
	/* What the ends do wrong, and not the wire. */
	cr_assert(!seen.rx_no_room_frames && !seen.rx_bad_acks && !seen.rx_bad_limits &&
		  !seen.rx_malformed_frames && !seen.rx_version_frames && !seen.rx_type_frames &&
		  !seen.rx_reflected_frames && !seen.tx_no_room_blocks && !seen.refused_fabric_hellos &&
		  !seen.refused_rate_hellos);
}

/**
 * A frame of one loss rate in full: goodput as a share of what the line carries, and of frames, the new ones.
 */
struct outcome {
	double goodput, efficiency;
};

static struct outcome measure(const struct mf_impair_config *c, uint64_t seed, mf_time delay)
{
	const mf_time span = MF_MS(30);
	const struct mf_link_stats *s;
	struct outcome o;
	uint64_t blocks;

	rig = rig_up(seed);
	rig->delay = delay;
	rig->octet = 320; /* 25 Gb/s */
	for (int i = 0; i < 2; i++) {
		rig->end[i].impaired = true;
		mf_impair_init(&rig->end[i].impair, c, seed, (uint64_t)i);
	}
	rig->end[RIG_NODE].burst = MF_SPAN_MAX;
	rig->end[RIG_NODE].to_put = UINT64_MAX;
	rig_run(rig, rig->now + MF_MS(2));
	blocks = rig->end[RIG_SWITCH].delivered;
	rig_run(rig, rig->now + span);
	blocks = rig->end[RIG_SWITCH].delivered - blocks;
	s = rig_stats(rig, RIG_NODE);
	cr_assert_eq(s->up_events, 1);
	o.goodput = (double)blocks * (MF_LINK_FRAME_MAX + 24) / MF_SPAN_MAX * 320 / (double)span;
	o.efficiency = (double)s->tx_data_frames / (double)(s->tx_data_frames + s->tx_replayed_frames);
	rig->end[RIG_NODE].to_put = 0;
	rig_until_delivered(rig, MF_SEC(1));
	rig_free(rig);
	return o;
}

Test(wire, goodput_against_loss)
{
	static const double loss[] = {0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05};
	struct outcome before = {2, 2};

	for (unsigned int i = 0; i < sizeof(loss) / sizeof(loss[0]); i++) {
		const struct mf_impair_config c = {.drop = loss[i]};
		struct outcome o = measure(&c, 1, MF_US(5));

		cr_log_info("loss %4.1f %%: goodput %5.1f %%, efficiency of retransmission %5.1f %%",
			    100 * loss[i], 100 * o.goodput, 100 * o.efficiency);
		cr_assert_lt(o.goodput, before.goodput);
		cr_assert(o.efficiency <= 1 && o.efficiency < before.efficiency);
		before = o;
		if (loss[i] == 0)
			cr_assert(o.goodput > 0.99 && o.efficiency == 1);
		cr_assert_gt(o.goodput, 1 / (1 + loss[i] * 30), "what go-back-N costs at this round trip");
	}
}

Test(wire, goodput_with_all_faults_at_one_percent)
{
	const struct mf_impair_config c = {.drop = 0.01, .duplicate = 0.01, .reorder = 0.01, .corrupt = 0.01};
	struct outcome o = measure(&c, 2, MF_US(5));

	cr_log_info("all at 1 %%: goodput %.1f %%, efficiency of retransmission %.1f %%", 100 * o.goodput,
		    100 * o.efficiency);
	cr_assert_gt(o.goodput, 0.4);
}
