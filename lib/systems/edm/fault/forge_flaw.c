/* SPDX-License-Identifier: BSD-3-Clause */
/* What the forger asks for: a request that is right but for one thing. */
#include "systems/edm/fault/forge_priv.h"

#define BORDER 16 /* octets before an end where something is asked for that goes beyond it */

/** What is wrong with a message. All else of it is right. */
enum flaw {
	FLAW_RANDOM, /**< the key is any */
	FLAW_NONE, /**< there is no key */
	FLAW_BIT, /**< one bit of it is wrong */
	FLAW_LOW, /**< only its low half is right */
	FLAW_HIGH, /**< only its high half is */
	FLAW_RIGHT, /**< it is that of another right */
	FLAW_REGION, /**< it is that of another region */
	FLAW_FORMER, /**< it is that of an epoch that is over */
	FLAW_BORDER, /**< the key is right, but what is asked for goes beyond the region */
	FLAW_OUTSIDE, /**< the address is in no region */
	FLAW_NODE, /**< the key is right, but the node has no such right */
	FLAW_OWNER, /**< a node that has no right to it asks for a key, or for another owner */
	FLAWS
};

struct mf_fault_secret forge_look_up(struct fault_forge *g, unsigned int region, unsigned int right)
{
	struct mf_fault_secret s = g->secrets.look(g->secrets.ctx, region, g->node, right);
	uint64_t *last = &g->last[region][right];

	if (*last != s.key) {
		g->former[region][right] = *last;
		*last = s.key;
	}
	return s;
}

/** What is asked of a region, but for its key. */
static struct mf_msg request(const struct fault_forge *g, struct mf_rng *rng, unsigned int region)
{
	static const uint8_t kinds[FORGE_RIGHTS][2] = {
		{MF_RREQ, MF_RREQ}, {MF_WREQ, MF_WREQ_ACK}, {MF_RMWREQ, MF_RMWREQ}};
	static const uint8_t ops[] = {MF_RMW_FADD, MF_RMW_SWAP, MF_RMW_FOR, MF_RMW_FAND};
	const struct mf_fault_region *r = &g->secrets.region[region];
	unsigned int right = (unsigned int)mf_rng_below(rng, FORGE_RIGHTS);
	uint64_t first = (r->at + 7) / 8 * 8, end = r->at + r->size;
	struct mf_msg m = {.kind = kinds[right][mf_rng_below(rng, 2)],
			   .src = g->node,
			   .dst = r->node,
			   .ext = true,
			   .last = true,
			   .op = ops[mf_rng_below(rng, sizeof(ops))],
			   .size = 8,
			   .arg = {mf_rng_next(rng), 0}};

	if (first + 8 > end) { /* it has no aligned word */
		m.addr = r->at;
		m.size = 1;
	} else {
		m.addr = first + 8 * mf_rng_below(rng, (end - first) / 8);
	}
	return m;
}

unsigned int forge_right_of(const struct mf_msg *m)
{
	return m->kind == MF_RREQ ? 0 : m->kind == MF_RMWREQ ? 2 : 1;
}

/** The first address behind a region that is in none. */
static uint64_t beyond(const struct fault_forge *g, unsigned int region)
{
	const struct mf_fault_secrets *s = &g->secrets;
	uint64_t end = s->region[region].at + s->region[region].size;

	for (unsigned int i = region + 1; i < s->regions && s->region[i].node == s->region[region].node; i++)
		if (s->region[i].at < end + 8)
			end = s->region[i].at + s->region[i].size;
	return (end + 7) / 8 * 8;
}

/** Makes it cross the end of the region. An atomic is within a word, so it becomes a read. */
static void across(struct mf_msg *m, const struct mf_fault_region *r)
{
	if (m->kind == MF_RMWREQ)
		m->kind = MF_RREQ;
	m->addr = r->size > BORDER ? r->at + r->size - BORDER : r->at;
	m->size = FORGE_OCTETS;
}

/** Makes it an atomic that only an owner may ask for, or only who has the right. */
static void of_owners(struct mf_msg *m, struct mf_rng *rng, unsigned int right,
		      const struct mf_fault_secret *secret)
{
	m->kind = MF_RMWREQ;
	m->op = MF_RMW_ATTACH;
	m->arg[0] = secret->may ? FORGE_RIGHTS + mf_rng_below(rng, 5)
				: right; /* who may: a right that there is not */
	if (secret->owns || mf_rng_below(rng, 2) == 0)
		return;
	m->op = mf_rng_below(rng, 2) == 0 ? MF_RMW_RELEASE : MF_RMW_SHARE;
	m->arg[0] = m->op == MF_RMW_SHARE ? m->src | right % 2 << 16 | 1 << 18 : 0;
}

/** Makes a right request wrong. @return false: this one cannot be, in this manner */
static bool spoil(struct fault_forge *g, struct mf_rng *rng, enum flaw flaw, unsigned int region,
		  struct mf_msg *m)
{
	const struct mf_fault_region *r = &g->secrets.region[region];
	unsigned int right = forge_right_of(m);
	uint64_t random = mf_rng_next(rng);
	struct mf_fault_secret secret = forge_look_up(g, region, right);

	m->key = secret.key;
	switch (flaw) {
	case FLAW_RANDOM:
		m->key = random;
		return true;
	case FLAW_NONE:
		m->key = 0;
		return true;
	case FLAW_BIT:
		m->key ^= UINT64_C(1) << random % 64;
		return true;
	case FLAW_LOW:
		m->key ^= (random | 1) << 32;
		return true;
	case FLAW_HIGH:
		m->key ^= (random | 1) & UINT32_MAX;
		return true;
	case FLAW_RIGHT:
		m->key =
			forge_look_up(g, region, (right + 1 + (unsigned int)(random & 1)) % FORGE_RIGHTS).key;
		return true;
	case FLAW_REGION:
		m->key = forge_look_up(g, (region + 1) % g->secrets.regions, right).key;
		return g->secrets.regions > 1;
	case FLAW_FORMER:
		m->key = g->former[region][right];
		return m->key != 0;
	case FLAW_BORDER:
		across(m, r);
		m->key = forge_look_up(g, region, forge_right_of(m)).key;
		return true;
	case FLAW_OUTSIDE:
		m->addr = beyond(g, region);
		return true;
	case FLAW_NODE:
		return !secret.may;
	default: /* what may be claimed may be its own by the time that this comes */
		of_owners(m, rng, right, &secret);
		return !secret.claimable;
	}
}

struct mf_msg forge_flawed(struct fault_forge *g, struct mf_rng *rng)
{
	struct mf_msg m;
	unsigned int region;

	do {
		region = forge_region(g, rng);
		m = request(g, rng, region);
	} while (!spoil(g, rng, (enum flaw)mf_rng_below(rng, FLAWS), region, &m));
	return m;
}
