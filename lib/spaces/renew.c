/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leases: several times in each all spaces whose keys are here are renewed, some in each turn. First those of
 * the region come, then the keys of those that programs have named.
 */
#include "spaces/spaces.h"

#define PARTS 3 /* of a lease, after which it is renewed: one renewal may be lost */
#define LOOKS 64 /* spaces, or keys, in a turn */

static uint64_t of_region(const struct spaces *s)
{
	return (uint64_t)s->config.targets * s->config.spaces;
}

static bool is_renewing(const struct spaces *s)
{
	return s->renewing < of_region(s) || s->renewing_key != 0;
}

void renew_begin(struct spaces *s)
{
	mf_time least = MF_NEVER;

	for (unsigned int i = 0; i < s->config.targets; i++)
		if (s->target[i].config.lease != 0)
			least = mf_time_min(least, s->target[i].config.lease);
	s->renew_at = least == MF_NEVER ? MF_NEVER : s->now + least / PARTS;
	s->renewing = of_region(s);
	s->renewing_key = 0;
}

/** @return false: there is no piece for it */
static bool send(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t key)
{
	struct piece *p = piece_new(s, PIECE_RENEW);

	if (p == NULL)
		return false;
	p->op.kind = MF_OP_RMW;
	p->op.rmw = MF_RMW_SPACE;
	p->op.node = s->target[target].config.node;
	p->op.space = space;
	p->op.key = key;
	p->op.buf = p->word;
	p->op.arg[0] = MF_SPACE_ASK(MF_SPACE_RENEW, 0, 0);
	p->op.arg[1] = right;
	s->stats.renewed++;
	piece_go(s, p);
	return true;
}

static bool renew_of_region(struct spaces *s, uint64_t i)
{
	unsigned int target = (unsigned int)(i / s->config.spaces);
	uint32_t space = mf_space_number(s->target[target].config.maker, (uint32_t)(i % s->config.spaces));

	return s->space[i].step != SPACE_READY || s->target[target].config.lease == 0 ||
	       send(s, target, space, MF_RIGHT_READ, s->space[i].key[MF_RIGHT_READ]);
}

static bool renew_key(struct spaces *s, const struct key *k)
{
	return !key_renews(s, k) || s->target[k->target].config.lease == 0 ||
	       send(s, k->target, k->space, k->right, k->key);
}

void renew_run(struct spaces *s)
{
	if (!is_renewing(s)) {
		if (s->now < s->renew_at)
			return;
		renew_begin(s);
		s->renewing = 0;
		s->renewing_key = s->keyed;
	}
	for (unsigned int i = 0; i < LOOKS && is_renewing(s); i++) {
		if (s->renewing < of_region(s)) {
			if (!renew_of_region(s, s->renewing))
				return;
			s->renewing++;
		} else {
			const struct key *k = &s->key[s->renewing_key - 1];

			if (!renew_key(s, k))
				return;
			s->renewing_key = k->used;
		}
	}
}

mf_time renew_next(const struct spaces *s)
{
	if (s->rests)
		return MF_NEVER;
	if (!is_renewing(s))
		return s->renew_at;
	return s->starved ? MF_NEVER : s->now; /* a piece that is free has it go on */
}

void renew_done(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	unsigned int target = s->target_of[p->op.node];
	uint32_t space = p->op.space & ((1 << MF_SPACE_OF_NODE_BITS) - 1);
	bool refused = c->status == MF_OK && p->word[0] == MF_ERR_KEY && !p->former;

	if (refused)
		key_refused(s, target, p->op.space, (uint8_t)p->op.arg[1], p->op.key);
	if (refused && space < s->config.spaces &&
	    p->op.space == mf_space_number(s->target[target].config.maker, space) &&
	    p->op.key == s->space[(uint64_t)target * s->config.spaces + space].key[MF_RIGHT_READ])
		set_up_probe(s, target, space);
	piece_free(s, p);
}
