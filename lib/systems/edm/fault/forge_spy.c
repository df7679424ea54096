/* SPDX-License-Identifier: BSD-3-Clause */
/* The forger's spy: it claims a region that is nobody's, reads it, writes something and releases it. */
#include "systems/edm/fault/forge_priv.h"

static unsigned int spy_send(struct fault_forge *g, struct mf_msg m, enum spy_phase phase, uint64_t *word)
{
	struct spy *s = &g->spy;

	m.src = g->node;
	m.dst = g->secrets.region[s->region].node;
	m.ext = true;
	forge_number(g, &m)->honest = true;
	s->phase = phase;
	s->turn = g->turn;
	s->id = m.id;
	return forge_put(g, &m, NULL, word);
}

static unsigned int spy_ask(struct fault_forge *g, uint8_t op, enum spy_phase phase, uint64_t *word)
{
	const struct mf_msg m = {
		.kind = MF_RMWREQ, .op = op, .size = 8, .addr = g->secrets.region[g->spy.region].at};

	return spy_send(g, m, phase, word);
}

/** Reads or writes words anywhere in the region. */
static unsigned int spy_access(struct fault_forge *g, struct mf_rng *rng, bool write, uint64_t *word)
{
	const struct mf_fault_region *r = &g->secrets.region[g->spy.region];
	uint64_t first = (r->at + 7) / 8 * 8, words = (r->at + r->size - first) / 8;
	uint64_t count = write || words < FORGE_OCTETS / 8 ? 1 : FORGE_OCTETS / 8;
	struct mf_msg m = {.kind = write ? MF_RMWREQ : MF_RREQ,
			   .op = MF_RMW_SWAP,
			   .size = (uint32_t)count * 8,
			   .addr = first + 8 * mf_rng_below(rng, words - count + 1),
			   .arg = {mf_rng_next(rng) | 1, 0}};

	m.key = forge_look_up(g, g->spy.region, forge_right_of(&m)).key;
	return spy_send(g, m, write ? SPY_WRITES : SPY_READS, word);
}

/** Claims a region that is nobody's. One that it owns already, since the answer was lost, it releases. */
static unsigned int spy_begin(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	unsigned int region = forge_region(g, rng);
	struct mf_fault_secret secret = forge_look_up(g, region, 0);

	if (!secret.claimable || g->secrets.region[region].size < 16 || (!secret.free && !secret.owns))
		return 0;
	g->spy.region = region;
	if (secret.owns)
		return spy_ask(g, MF_RMW_RELEASE, SPY_RELEASES, word);
	return spy_ask(g, MF_RMW_CLAIM, SPY_CLAIMS, word);
}

unsigned int forge_spy(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	switch (g->spy.phase) {
	case SPY_NONE:
		return spy_begin(g, rng, word);
	case SPY_OWNS:
		return spy_access(g, rng, false, word);
	case SPY_READ:
		return spy_access(g, rng, true, word);
	case SPY_WROTE:
		return spy_ask(g, MF_RMW_RELEASE, SPY_RELEASES, word);
	default: /* the answer may have been lost */
		if (g->turn - g->spy.turn >= FORGE_IDS)
			g->spy.phase = SPY_NONE;
		return 0;
	}
}

static bool all_zero(const uint8_t *data, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (data[i] != 0)
			return false;
	return true;
}

void forge_spy_answered(struct fault_forge *g, const struct mf_msg *m, const uint8_t *data)
{
	struct spy *s = &g->spy;

	if (m->id != s->id)
		return;
	if (m->kind != MF_RRES) {
		s->phase = SPY_NONE;
		return;
	}
	if (s->phase == SPY_READS)
		g->stats.found += !all_zero(data, m->size);
	if (!m->last)
		return;
	g->stats.claimed += s->phase == SPY_CLAIMS;
	if (s->phase == SPY_RELEASES)
		s->phase = SPY_NONE;
	else if (s->phase == SPY_CLAIMS || s->phase == SPY_READS || s->phase == SPY_WRITES)
		s->phase++;
}
