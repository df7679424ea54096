/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fair sharing, EDM's default (3.2.3): deficit round robin in blocks between memory and frames (D14).
 *
 * While both sides wait they take turns of `quantum` blocks. A memory message is indivisible: what it
 * takes beyond its side's credit is a debt, which later turns pay off. A side that has nothing to send
 * loses its credit, and blocks that the other side then sends alone pay off its debt. The one that
 * comes anew has the first turn. An idle line wipes everything out.
 */
#include "pcs/mux.h"

enum side {
	MEMORY,
	FRAMES,
};

/** Before a block starts at s. */
static void wipe_if_idle(const struct mf_mux *m, mf_time s, struct mux_fair *f)
{
	if (m->period && s > m->line_free)
		f->credit[MEMORY] = f->credit[FRAMES] = 0;
}

/** One side sends n blocks while the other has none. */
static void alone(struct mux_fair *f, enum side side, uint32_t n)
{
	int32_t *other = &f->credit[!side];

	*other = *other + (int32_t)n < 0 ? *other + (int32_t)n : 0;
	f->credit[side] = 0;
	f->turn = side;
}

/** Whose turn it is when both sides wait. */
static enum side next_turn(struct mux_fair *f)
{
	while (f->credit[f->turn] <= 0) {
		f->turn = !f->turn;
		f->credit[f->turn] += f->quantum;
	}
	return f->turn;
}

static uint32_t fair_frames(const struct mf_mux *m, mf_time s, mf_time r)
{
	struct mux_fair f = m->fair;
	uint32_t n = mux_blocks_before(m, s, r);

	wipe_if_idle(m, s, &f);
	if (n)
		alone(&f, FRAMES, n);
	while (n < MF_SPAN_MAX && next_turn(&f) == FRAMES) {
		n += (uint32_t)f.credit[FRAMES];
		f.credit[FRAMES] = 0;
	}
	return n;
}

static void fair_sent_frames(struct mf_mux *m, mf_time s, mf_time r, uint32_t n)
{
	struct mux_fair *f = &m->fair;
	uint32_t before = mux_blocks_before(m, s, r);

	wipe_if_idle(m, s, f);
	if (before)
		alone(f, FRAMES, before < n ? before : n);
	for (uint32_t i = before; i < n; i++) {
		next_turn(f);
		f->credit[FRAMES]--;
	}
}

static void fair_sent_memory(struct mf_mux *m, mf_time s, bool contended, uint32_t n)
{
	struct mux_fair *f = &m->fair;

	wipe_if_idle(m, s, f);
	if (contended) {
		next_turn(f);
		f->credit[MEMORY] -= (int32_t)n;
	} else {
		alone(f, MEMORY, n);
	}
}

const struct mux_policy mux_policy_fair = {
	.frames = fair_frames,
	.sent_frames = fair_sent_frames,
	.sent_memory = fair_sent_memory,
};
