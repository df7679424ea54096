/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stage that harms frames: each fault as often as asked for, the same for a seed, and no frame gets lost
 * in it.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "link/mf_impair.h"

#define FRAMES 100000
#define OCTETS 64

struct frame {
	uint8_t data[OCTETS];
	unsigned int sent, copied, dropped, left;
};

static struct frame frame[FRAMES];
static struct mf_impair stage;
static unsigned int order[3 * FRAMES], sent;

static void do_steps(const struct mf_impair_step *s, unsigned int n)
{
	cr_assert_leq(n, MF_IMPAIR_OUT);
	for (unsigned int i = 0; i < n; i++) {
		struct frame *f = s[i].frame.frame;

		cr_assert_eq(f->sent + f->dropped, 0, "it has left");
		f->copied += s[i].what == MF_IMPAIR_SEND_COPY;
		f->sent += s[i].what == MF_IMPAIR_SEND;
		f->dropped += s[i].what == MF_IMPAIR_DROP;
		if (s[i].what != MF_IMPAIR_DROP)
			order[sent++] = (unsigned int)(f - frame);
	}
}

static void run(const struct mf_impair_config *config, uint64_t seed, uint64_t number)
{
	struct mf_impair_step step[MF_IMPAIR_OUT];

	memset(frame, 0, sizeof(frame));
	sent = 0;
	mf_impair_init(&stage, config, seed, number);
	for (unsigned int i = 0; i < FRAMES; i++) {
		const struct mf_impair_frame in = {&frame[i], frame[i].data, OCTETS};

		do_steps(step, mf_impair(&stage, &in, step));
	}
	do_steps(step, mf_impair_flush(&stage, step));
	for (unsigned int i = 0; i < FRAMES; i++)
		cr_assert_eq(frame[i].sent + frame[i].dropped, 1, "frame %u", i);
}

static unsigned int bits(const struct frame *f)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < OCTETS; i++)
		n += (unsigned int)__builtin_popcount(f->data[i]);
	return n;
}

static void expect_share(uint64_t n, double share)
{
	double mean = FRAMES * share;

	cr_assert(n > 0.9 * mean && n < 1.1 * mean, "%lu for %g", n, mean);
}

Test(impair, nothing_asked_for_nothing_done)
{
	run(&(const struct mf_impair_config){0}, 1, 0);
	cr_assert_eq(sent, FRAMES);
	for (unsigned int i = 0; i < FRAMES; i++)
		cr_assert(order[i] == i && bits(&frame[i]) == 0);
}

Test(impair, each_fault_as_often_as_asked_for)
{
	const struct mf_impair_config c = {.drop = 0.02, .duplicate = 0.03, .reorder = 0.04, .corrupt = 0.05};
	uint64_t dropped = 0, copied = 0, damaged = 0, late = 0;

	run(&c, 2, 0);
	for (unsigned int i = 0; i < FRAMES; i++) {
		dropped += frame[i].dropped;
		copied += frame[i].copied;
		damaged += bits(&frame[i]);
		cr_assert_leq(bits(&frame[i]), 1);
	}
	for (unsigned int i = 0; i + 1 < sent; i++)
		late += order[i] > order[i + 1];
	expect_share(dropped, 0.02);
	expect_share(copied, 0.98 * 0.03);
	expect_share(damaged, 0.98 * 0.05);
	expect_share(late, 0.98 * 0.04);
	cr_assert_eq(stage.stats.frames, FRAMES);
	cr_assert_eq(stage.stats.dropped_frames, dropped);
	cr_assert_eq(stage.stats.duplicated_frames, copied);
	cr_assert_eq(stage.stats.corrupted_frames, damaged);
	expect_share(stage.stats.reordered_frames, 0.98 * 0.04);
	cr_assert_eq(sent, FRAMES - dropped + copied);
}

Test(impair, reorder_by_as_much_as_asked_for)
{
	for (uint16_t by = 1; by < 10; by++) {
		unsigned int most = 0;

		run(&(const struct mf_impair_config){.reorder = 0.05, .reorder_by = by}, by, 0);
		for (unsigned int i = 0; i + MF_IMPAIR_HELD < sent; i++)
			if (i > order[i] && i - order[i] > most)
				most = i - order[i];
		cr_assert(most >= by && most <= by, "%u for %u", most, by);
	}
}

Test(impair, listed_frames_are_dropped)
{
	static const uint64_t list[] = {0, 49, 50, 99999};
	const struct mf_impair_config c = {.drop_list = list, .drop_count = 4};

	run(&c, 3, 0);
	cr_assert_eq(stage.stats.dropped_frames, 4);
	for (unsigned int i = 0; i < 4; i++)
		cr_assert(frame[list[i]].dropped);
}

Test(impair, a_seed_repeats_and_directions_differ)
{
	const struct mf_impair_config c = {.drop = 0.1, .duplicate = 0.1, .reorder = 0.1, .corrupt = 0.1};
	static unsigned int before[3 * FRAMES];
	unsigned int n;

	run(&c, 4, 0);
	memcpy(before, order, sizeof(order));
	n = sent;
	run(&c, 4, 0);
	cr_assert(n == sent && memcmp(before, order, n * sizeof(*order)) == 0);
	run(&c, 4, 1);
	cr_assert(n != sent || memcmp(before, order, n * sizeof(*order)) != 0);
}
