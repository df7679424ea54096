/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a rule strikes. Not every unit is asked: the number of those that are spared until the next one
 * is drawn at once, geometrically distributed. So a rate of 1e-12 costs nothing, and bits need not be
 * counted one by one.
 */
#include <math.h>

#include "fault/mf_fault_stage.h"

uint64_t fault_draw(struct fault_dice *d)
{
	double n;

	if (d->rule.rate >= 1)
		return 0;
	n = floor(log1p(-mf_rng_double(&d->rng)) / log1p(-d->rule.rate));
	return n < 0x1p63 ? (uint64_t)n : UINT64_MAX / 2;
}

void fault_dice_init(struct fault_dice *d, const struct mf_fault_config *c, unsigned int rule,
		     const char *stream)
{
	d->rule = c->rule[rule];
	mf_rng_init(&d->rng, c->seed, stream, c->number * MF_FAULT_RULES + rule);
	d->left = fault_draw(d);
}

uint64_t fault_roll(struct fault_dice *d, mf_time t, uint64_t units)
{
	uint64_t at = d->left;

	if (t < d->rule.from || t >= d->rule.until || (d->rule.count != 0 && d->fired >= d->rule.count))
		return units;
	if (at >= units) {
		d->left -= units;
		return units;
	}
	d->left = fault_draw(d);
	d->fired++;
	return at;
}

unsigned int fault_struck(struct fault_dice *d, mf_time t, unsigned int from)
{
	if (from >= FAULT_BLOCK_BITS)
		return FAULT_BLOCK_BITS;
	return from + (unsigned int)fault_roll(d, t, FAULT_BLOCK_BITS - from);
}
