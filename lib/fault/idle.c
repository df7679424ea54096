/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors where nothing is sent. Idle is in no span, so it is not sent through the stage: how far the next
 * block of it is that a rule strikes is drawn as for all else (dice.c), and that block alone is made,
 * damaged, and goes to the receiver. A line that is idle costs what its errors cost.
 *
 * A sender gives out the end of a frame late, up to a span behind its start. So a block is known to have been
 * idle only that much later, or when something is sent that starts behind it.
 */
#include "fault/mf_fault_stage.h"

#define LATE ((mf_time)MF_SPAN_MAX + 3) /* blocks */
#define NONE UINT64_MAX

static bool strikes_idle(const struct mf_fault_rule *r)
{
	return r->idle && r->class <= MF_FAULT_TYPE;
}

/** Units of a block that the rule may strike. */
static unsigned int units(const struct mf_fault_rule *r)
{
	return r->class == MF_FAULT_BIT ? FAULT_BLOCK_BITS : 1;
}

/** Blocks from idle.at on that start before t. */
static uint64_t blocks_until(const struct mf_fault *f, mf_time t)
{
	return t > f->idle.at ? (t - f->idle.at + f->period - 1) / f->period : 0;
}

/** How many blocks are spared before the next one that a rule strikes; NONE: it strikes no more. */
static uint64_t spared(const struct mf_fault *f, unsigned int i)
{
	const struct fault_dice *d = &f->dice[i];
	uint64_t skipped = blocks_until(f, d->rule.from), n = f->idle.dice[i].left / units(&d->rule);
	mf_time until = d->rule.until < f->idle.until ? d->rule.until : f->idle.until;

	if (!strikes_idle(&d->rule) || (d->rule.count != 0 && d->fired >= d->rule.count) ||
	    until <= f->idle.at)
		return NONE;
	return n < blocks_until(f, until) && skipped + n < blocks_until(f, until) ? skipped + n : NONE;
}

/** What a wire error in the block before has left to this one. */
static bool has_carry(const struct mf_fault *f)
{
	return f->carry != 0 && f->carry_at == f->idle.at && f->idle.at < f->idle.until;
}

static uint64_t first(const struct mf_fault *f)
{
	uint64_t n = has_carry(f) ? 0 : NONE;

	for (unsigned int i = 0; i < f->rules; i++) {
		uint64_t one = spared(f, i);

		n = one < n ? one : n;
	}
	return n;
}

/** So many blocks have passed that no rule struck. */
static void skip(struct mf_fault *f, uint64_t blocks)
{
	for (unsigned int i = 0; i < f->rules; i++) {
		const struct mf_fault_rule *r = &f->dice[i].rule;
		uint64_t skipped = blocks_until(f, r->from), *left = &f->idle.dice[i].left, n;

		n = blocks > skipped ? (blocks - skipped) * units(r) : 0;
		*left -= n < *left ? n : *left;
	}
	f->idle.at += blocks * f->period;
}

/** A rule strikes a unit of the block at idle.at. @return which */
static uint64_t struck(struct mf_fault *f, unsigned int i)
{
	struct fault_dice *d = &f->idle.dice[i];
	uint64_t unit = d->left;

	d->left = unit + 1 + fault_draw(d);
	d->fired++;
	f->dice[i].fired++;
	return unit;
}

/** Makes the block at idle.at, with all that strikes it, and goes behind it. */
static void damage(struct mf_fault *f)
{
	struct fault_block x = {.b = {.word = MF_IDLE_WORD, .sync = MF_SYNC_CTRL},
				.tag = {.word = MF_IDLE_WORD},
				.wrong = true};
	uint64_t own = has_carry(f) ? f->carry : 0, carry = 0;

	for (unsigned int i = 0; i < f->rules; i++) {
		const struct mf_fault_rule *r = &f->dice[i].rule;

		while (spared(f, i) == 0) {
			uint64_t unit = struck(f, i);

			if (r->class == MF_FAULT_BIT)
				fault_bit((unsigned int)unit, &x.b.sync, &own, &carry);
			else if (r->class == MF_FAULT_SYNC)
				x.b.sync = mf_rng_next(&f->idle.rng) & 1 ? 3 : 0;
			else
				own ^= 1 + mf_rng_below(&f->idle.rng, 255);
		}
	}
	x.b.word ^= own;
	f->carry = carry;
	f->carry_at = f->idle.at + f->period;
	fault_leave(f, f->idle.at, &x, MF_SPAN_IDLE);
	skip(f, 1);
}

static void plan(struct mf_fault *f)
{
	uint64_t n = f->idle.at != MF_NEVER ? first(f) : NONE;

	f->idle.next = n != NONE ? f->idle.at + (n + LATE) * f->period : MF_NEVER;
}

void fault_idle_init(struct mf_fault *f, const struct mf_fault_config *c)
{
	bool any = false;

	f->idle.at = f->idle.next = MF_NEVER;
	f->idle.until = c->idle_until;
	for (unsigned int i = 0; i < f->rules; i++)
		any |= strikes_idle(&f->dice[i].rule);
	if (!any || c->period == 0 || c->idle_until == 0)
		return;
	f->idle.on = true;
	for (unsigned int i = 0; i < f->rules; i++)
		fault_dice_init(&f->idle.dice[i], c, i, "fault idle");
	mf_rng_init(&f->idle.rng, c->seed, "fault idle bits", c->number);
	fault_idle_from(f, 0);
}

void fault_idle_until(struct mf_fault *f, mf_time t)
{
	uint64_t n, left;

	if (f->idle.at >= t)
		return;
	left = (t - f->idle.at) / f->period; /* whole blocks */
	while ((n = first(f)) < left) {
		skip(f, n);
		damage(f);
		left -= n + 1;
	}
	skip(f, left);
}

void fault_idle_from(struct mf_fault *f, mf_time t)
{
	f->idle.at = t;
	plan(f);
}

void fault_idle_run(struct mf_fault *f, mf_time now)
{
	fault_idle_until(f, now - (LATE - 1) * f->period);
	plan(f);
}
