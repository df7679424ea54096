/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_cycles.h"

const char *mf_cycles_name(enum mf_cycles_stage stage)
{
	static const char *const names[MF_CYCLES_STAGES] = {
#define X(constant, name) [MF_CYCLES_##constant] = (name),
		MF_CYCLES_LIST(X)
#undef X
	};

	return (unsigned int)stage < MF_CYCLES_STAGES ? names[stage] : "?";
}

void mf_cycles_start(struct mf_cycles *c, uint64_t now)
{
	*c = (struct mf_cycles){.since = now, .stage = MF_CYCLES_NONE};
}

void mf_cycles_stop(struct mf_cycles *c, uint64_t now)
{
	mf_cycles_leave(c, MF_CYCLES_NONE, now);
}

void mf_cycles_add(struct mf_cycles *sum, const struct mf_cycles *c)
{
	sum->away += c->away;
	for (unsigned int i = 0; i < MF_CYCLES_STAGES; i++) {
		sum->at[i].self += c->at[i].self;
		sum->at[i].calls += c->at[i].calls;
		sum->at[i].inner += c->at[i].inner;
	}
}

double mf_cycles_net(const struct mf_cycles *c, enum mf_cycles_stage stage, struct mf_cycles_cost cost)
{
	double own = (double)c->at[stage].calls * cost.inside + (double)c->at[stage].inner * cost.outside;
	double self = (double)c->at[stage].self;

	return self > own ? self - own : 0;
}

double mf_cycles_overhead(const struct mf_cycles *c, struct mf_cycles_cost cost)
{
	double sum = 0;

	for (unsigned int i = 0; i < MF_CYCLES_STAGES; i++)
		sum += (double)c->at[i].self - mf_cycles_net(c, (enum mf_cycles_stage)i, cost);
	return sum;
}

#ifdef MF_WITH_CYCLES

#define ROUNDS 64 /* the quietest counts */
#define STAGES_A_ROUND 1000

_Thread_local struct mf_cycles mf_cycles_here;

static void empty_stage(void)
{
	MF_CYCLES(MF_CYCLES_RING);
}

struct mf_cycles_cost mf_cycles_measure(void)
{
	struct mf_cycles_cost least = {1e9, 1e9};

	for (int round = 0; round < ROUNDS; round++) {
		double inside, outside;

		mf_cycles_start(&mf_cycles_here, mf_cycles_now());
		for (int i = 0; i < STAGES_A_ROUND; i++)
			empty_stage();
		mf_cycles_stop(&mf_cycles_here, mf_cycles_now());
		inside = (double)mf_cycles_here.at[MF_CYCLES_RING].self / STAGES_A_ROUND;
		outside = (double)mf_cycles_here.at[MF_CYCLES_NONE].self / STAGES_A_ROUND;
		if (inside + outside < least.inside + least.outside)
			least = (struct mf_cycles_cost){inside, outside};
	}
	return least;
}

#endif
