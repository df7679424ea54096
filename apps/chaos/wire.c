/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#define EPISODES 20

/** A run. */
struct wire {
	struct rig *rig;
	struct mf_rng rng;
	struct wire_seen *seen;
};

static uint64_t pick(struct wire *w, uint64_t n)
{
	return mf_rng_below(&w->rng, n);
}

static bool often(struct wire *w, double share)
{
	return mf_rng_double(&w->rng) < share;
}

/** From tens of microseconds to tenths of seconds, each as likely. */
static mf_time some_time(struct wire *w)
{
	return MF_US(20) << pick(w, 13);
}

static double some_share(struct wire *w)
{
	static const double share[] = {0, 0, 0.01, 0.05, 0.2, 0.6};

	return share[pick(w, 6)];
}

static void add_stats(struct wire *w, int end)
{
	const uint64_t *from = (const uint64_t *)rig_stats(w->rig, end);
	uint64_t *to = (uint64_t *)&w->seen->link;

	for (unsigned int i = 0; i < sizeof(w->seen->link) / sizeof(*to); i++)
		to[i] += from[i];
}

static void worsen(struct wire *w, int end)
{
	struct rig_end *e = &w->rig->end[end];
	const struct mf_impair_config c = {.drop = some_share(w),
					   .duplicate = some_share(w),
					   .reorder = some_share(w),
					   .reorder_by = (uint16_t)pick(w, 12),
					   .corrupt = some_share(w)};

	/* What is held back stays so: only the probabilities change. */
	e->impaired = true;
	e->impair.config = c;
	if (c.reorder_by == 0)
		e->impair.config.reorder_by = 1;
}

static void configure(struct wire *w, uint64_t seed)
{
	static const uint16_t window[] = {1, 2, 3, 16, 256};
	static const uint16_t blocks[] = {MF_LINK_BLOCKS_MIN, 33, 177, MF_SPAN_MAX};
	static const unsigned int burst[] = {1, 10, 100, 0};

	w->rig = rig_new(seed);
	mf_rng_init(&w->rng, seed, "wire", 0);
	for (int i = 0; i < 2; i++) {
		struct rig_end *e = &w->rig->end[i];

		e->config.window = window[pick(w, 5)];
		e->config.blocks = blocks[pick(w, 4)];
		e->config.first = (uint32_t)-pick(w, 40);
		e->config.pace = often(w, 0.2);
		e->burst = burst[pick(w, 4)];
		mf_impair_init(&e->impair, &(struct mf_impair_config){0}, seed, (uint64_t)i);
	}
	w->rig->octet = often(w, 0.5) ? 800 : 8000;
	w->rig->delay = MF_NS(200) << pick(w, 8);
	rig_start(w->rig, 0);
	rig_start(w->rig, 1);
}

static void episode(struct wire *w)
{
	int end = (int)pick(w, 2);
	struct rig_end *e = &w->rig->end[end];

	e->to_put += pick(w, 2000);
	w->rig->jitter = often(w, 0.3) ? MF_NS(100) << pick(w, 18) : 0;
	switch (pick(w, 8)) {
	case 0:
		if (e->link != NULL)
			add_stats(w, end);
		rig_kill(w->rig, end);
		if (often(w, 0.8))
			rig_start(w->rig, end);
		w->seen->kills++;
		break;
	case 1:
		e->paused = w->rig->now + some_time(w) * (1 + pick(w, 8));
		w->seen->pauses++;
		break;
	case 2:
		if (e->link != NULL && often(w, 0.3)) {
			mf_link_leave(e->link, w->rig->now);
			w->seen->leaves++;
		}
		break;
	case 3:
		e->holds = !e->holds;
		break;
	case 4:
		if (often(w, 0.3))
			break;
		w->seen->cables++;
		/* A cable that is out, in one direction or in both. */
		for (int i = 0; i < 2; i++)
			if (i == end || often(w, 0.5)) {
				w->rig->end[i].impaired = true;
				w->rig->end[i].impair.config.drop = 1;
			}
		rig_run(w->rig, w->rig->now + some_time(w) * (1 + pick(w, 50)));
		worsen(w, 0);
		worsen(w, 1);
		break;
	default:
		worsen(w, end);
	}
	rig_run(w->rig, w->rig->now + some_time(w));
}

/** The wire is good again, and all processes run. */
static void mend(struct wire *w)
{
	w->rig->jitter = 0;
	for (int i = 0; i < 2; i++) {
		struct rig_end *e = &w->rig->end[i];

		e->impair.config = (struct mf_impair_config){.reorder_by = 1};
		e->paused = 0;
		e->holds = false;
		if (e->link == NULL)
			rig_start(w->rig, i);
	}
	/* What is still under way. */
	rig_run(w->rig, w->rig->now + (MF_NS(100) << 18));
	rig_until_up(w->rig, 3 * w->rig->end[0].config.hello_period);
	w->rig->end[0].to_put += 1 + pick(w, 3000);
	w->rig->end[1].to_put += 1 + pick(w, 3000);
	rig_until_delivered(w->rig, MF_MS(500));
}

void wire_run(uint64_t seed, struct wire_seen *seen)
{
	struct wire w = {.seen = seen};

	configure(&w, seed);
	for (int i = 0; i < EPISODES; i++)
		episode(&w);
	mend(&w);
	for (int i = 0; i < 2; i++) {
		const struct mf_impair_stats *s = &w.rig->end[i].impair.stats;

		add_stats(&w, i);
		seen->delivered += w.rig->end[i].delivered;
		seen->connections += w.rig->end[i].ups;
		seen->faults.frames += s->frames;
		seen->faults.dropped_frames += s->dropped_frames;
		seen->faults.duplicated_frames += s->duplicated_frames;
		seen->faults.reordered_frames += s->reordered_frames;
		seen->faults.corrupted_frames += s->corrupted_frames;
	}
	rig_free(w.rig);
}
