/* SPDX-License-Identifier: BSD-3-Clause */
/* The forger (forge.h): set-up, ids, and what it sends next. */
#include <stdlib.h>

#include "systems/edm/fault/forge_priv.h"

#define SPIES 3 /* of so many messages one is the spy's, where it has something to do */

struct fault_forge *forge_new(const struct mf_fault_config *c)
{
	struct fault_forge *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->secrets = *c->secrets;
	g->proto = *c->proto;
	g->node = c->node;
	g->last = calloc(c->secrets->regions, sizeof(*g->last));
	g->former = calloc(c->secrets->regions, sizeof(*g->former));
	if (g->last != NULL && g->former != NULL)
		return g;
	forge_free(g);
	return NULL;
}

void forge_free(struct fault_forge *g)
{
	if (g == NULL)
		return;
	free(g->last);
	free(g->former);
	free(g);
}

const struct mf_forge_stats *forge_stats(const struct fault_forge *g)
{
	return &g->stats;
}

bool forge_can(const struct fault_forge *g)
{
	for (unsigned int i = 0; i < g->secrets.regions; i++)
		if (g->secrets.region[i].node != g->node)
			return true;
	return false;
}

unsigned int forge_region(const struct fault_forge *g, struct mf_rng *rng)
{
	unsigned int i = (unsigned int)mf_rng_below(rng, g->secrets.regions);

	while (g->secrets.region[i].node == g->node)
		i = (i + 1) % g->secrets.regions;
	return i;
}

struct forged *forge_number(struct fault_forge *g, struct mf_msg *m)
{
	struct forged *o = &g->out[g->turn % FORGE_IDS];

	m->id = (uint8_t)(MF_FAULT_FORGE_ID + g->turn++ % FORGE_IDS);
	m->epoch = (uint16_t)(o->use + 1);
	*o = (struct forged){.dst = m->dst, .use = m->epoch};
	return o;
}

unsigned int forge_put(const struct fault_forge *g, const struct mf_msg *m, const void *data, uint64_t *word)
{
	if (m->kind == MF_RREQ || m->kind == MF_RMWREQ)
		return mf_proto_put_request(&g->proto, m, word);
	return mf_proto_put_chunk(&g->proto, m, data, word);
}

/** The chunk of a write that was granted. */
static unsigned int chunk(struct fault_forge *g, uint64_t *word)
{
	unsigned int i = 0;

	while (!g->out[i].granted)
		i++;
	g->out[i].granted = false;
	g->granted--;
	return forge_put(g, &g->out[i].write, g->out[i].data, word);
}

/** A write is asked for before its chunk may go. */
static unsigned int notify(const struct mf_msg *m, uint64_t *word)
{
	const struct mf_msg n = {
		.kind = MF_NOTIFY, .src = m->src, .dst = m->dst, .id = m->id, .size = m->size, .ext = true};

	word[0] = mf_proto_put_single(&n);
	return 1;
}

static unsigned int forge(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	struct mf_msg m = forge_flawed(g, rng);
	struct forged *o = forge_number(g, &m);

	g->stats.sent++;
	if (m.kind == MF_RREQ || m.kind == MF_RMWREQ)
		return forge_put(g, &m, NULL, word);
	o->write = m;
	for (unsigned int i = 0; i < FORGE_OCTETS / 8; i++)
		o->data[i] = mf_rng_next(rng);
	return notify(&m, word);
}

unsigned int forge_next(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	unsigned int n = 0;

	if (g->granted > 0)
		return chunk(g, word);
	if (mf_rng_below(rng, SPIES) == 0)
		n = forge_spy(g, rng, word);
	return n > 0 ? n : forge(g, rng, word);
}

bool forge_granted(const struct fault_forge *g)
{
	return g->granted > 0;
}
