/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/mf_impair.h"

#define REORDER_BY 3

void mf_impair_init(struct mf_impair *s, const struct mf_impair_config *config, uint64_t seed,
		    uint64_t number)
{
	*s = (struct mf_impair){.config = *config};
	if (s->config.reorder_by == 0)
		s->config.reorder_by = REORDER_BY;
	mf_rng_init(&s->rng, seed, "impair", number);
}

/** A number is drawn for each fault of each frame, so that one more of one kind changes no other. */
static bool hits(struct mf_impair *s, double probability)
{
	return mf_rng_double(&s->rng) < probability;
}

static bool listed(struct mf_impair *s)
{
	if (s->listed == s->config.drop_count || s->config.drop_list[s->listed] != s->stats.frames)
		return false;
	s->listed++;
	return true;
}

static void corrupt(struct mf_impair *s, const struct mf_impair_frame *f)
{
	uint64_t bit = mf_rng_next(&s->rng);

	if (f->len == 0)
		return;
	bit %= 8 * (uint64_t)f->len;
	f->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	s->stats.corrupted_frames++;
}

static void step(struct mf_impair_step *out, unsigned int *n, enum mf_impair_do what,
		 const struct mf_impair_frame *f)
{
	out[(*n)++] = (struct mf_impair_step){what, *f};
}

/** One more frame has passed those that are held back. */
static unsigned int release(struct mf_impair *s, bool all, struct mf_impair_step *out)
{
	unsigned int n = 0, kept = 0;

	for (uint32_t i = 0; i < s->held; i++) {
		if (all || --s->hold[i].left == 0)
			step(out, &n, MF_IMPAIR_SEND, &s->hold[i].frame);
		else
			s->hold[kept++] = s->hold[i];
	}
	s->held = kept;
	return n;
}

unsigned int mf_impair(struct mf_impair *s, const struct mf_impair_frame *in, struct mf_impair_step *out)
{
	bool on_list = listed(s), drop = hits(s, s->config.drop) || on_list;
	bool duplicate = hits(s, s->config.duplicate), damage = hits(s, s->config.corrupt);
	bool late = hits(s, s->config.reorder);
	uint32_t by = 1 + (uint32_t)mf_rng_below(&s->rng, s->config.reorder_by);
	unsigned int n = 0;

	s->stats.frames++;
	if (drop) {
		s->stats.dropped_frames++;
		step(out, &n, MF_IMPAIR_DROP, in);
		return n;
	}
	if (damage)
		corrupt(s, in);
	if (duplicate) {
		s->stats.duplicated_frames++;
		step(out, &n, MF_IMPAIR_SEND_COPY, in);
	}
	if (late && s->held < MF_IMPAIR_HELD) {
		n += release(s, false, out + n);
		s->stats.reordered_frames++;
		s->hold[s->held++] = (struct mf_impair_hold){*in, by};
		return n;
	}
	step(out, &n, MF_IMPAIR_SEND, in);
	return n + release(s, false, out + n);
}

unsigned int mf_impair_flush(struct mf_impair *s, struct mf_impair_step *out)
{
	return release(s, true, out);
}
