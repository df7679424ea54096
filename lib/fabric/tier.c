/* SPDX-License-Identifier: BSD-3-Clause */
/* The networks of a fabric: which nodes have an end there, their numbers and links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "config/mf_config_query.h"
#include "fabric/mf_make.h"

static int make_tier(struct mf_fabric *f, unsigned int k)
{
	const struct mf_config_tier *c = &f->config->tier[k];
	struct fabric_tier *t = &f->tier[k];

	bool one = f->config->tiers == 1;

	t->f = f;
	t->several = c->several;
	t->config = c;
	t->first_switch = one ? 0 : c->first_switch;
	t->switches = one ? fabric_switches(f) : c->switches;
	t->nodes = c->nodes;
	t->node = calloc(t->nodes + 1, sizeof(*t->node));
	t->end = calloc(t->nodes + 1, sizeof(*t->end));
	t->link = calloc(t->nodes + 1, sizeof(*t->link));
	t->number = malloc(f->nodes * sizeof(*t->number));
	if (t->node == NULL || t->end == NULL || t->link == NULL || t->number == NULL)
		return -ENOMEM;
	memset(t->number, 0xff, f->nodes * sizeof(*t->number));
	if (f->clock == MF_CLOCK_VIRTUAL)
		t->timing = c->timing;
	return 0;
}

int make_tiers(struct mf_fabric *f)
{
	f->tiers = f->config->tiers;
	f->tier = calloc(f->tiers, sizeof(*f->tier));
	if (f->tier == NULL)
		return -ENOMEM;
	for (unsigned int k = 0; k < f->tiers; k++)
		if (make_tier(f, k) != 0)
			return -ENOMEM;
	return 0;
}

void make_tier_link(struct mf_fabric *f, uint32_t link, unsigned int node, unsigned int end)
{
	struct mf_config_end e = {.number = (uint16_t)node}; /* without "switches" any place has a port */
	struct fabric_tier *t;

	if (f->trunk != NULL)
		e = *mf_config_end(f->config, node, end);
	t = &f->tier[e.tier];
	f->link[link].tier = e.tier;
	t->node[e.number] = (uint16_t)node;
	t->end[e.number] = (uint16_t)end;
	t->link[e.number] = link;
	if (t->number[node] == FABRIC_NO_NUMBER)
		t->number[node] = e.number;
}

void tiers_free(struct mf_fabric *f)
{
	for (unsigned int k = 0; f->tier != NULL && k < f->tiers; k++) {
		struct fabric_tier *t = &f->tier[k];

		if (t->shared != NULL)
			t->config->stack_ops->unshare(t->shared);
		free(t->node);
		free(t->end);
		free(t->link);
		free(t->number);
	}
	free(f->tier);
}

/** The n-th end of a node in a network, by its number there. @param n  any: the last one has the first behind
 * it */
static uint16_t end_of(const struct fabric_tier *t, unsigned int node, uint32_t n)
{
	uint16_t first = t->number[node], ends = 0;

	while (first + ends < (int)t->nodes && t->node[first + ends] == node) /* they follow each other */
		ends++;
	return (uint16_t)(first + n % ends);
}

struct fabric_way fabric_way_by_ends(const struct mf_fabric *f, const struct fabric_tier *t,
				     unsigned int from, unsigned int to)
{
	const char *a = f->config->node[from].name, *b = f->config->node[to].name;
	uint64_t hash = XXH3_64bits_withSeed(a, strlen(a), f->config->seed);

	hash = XXH3_64bits_withSeed(b, strlen(b), hash);
	return (struct fabric_way){t, end_of(t, from, (uint32_t)hash), end_of(t, to, (uint32_t)(hash >> 32))};
}

const struct fabric_tier *fabric_common_of(const struct mf_fabric *f, unsigned int node, unsigned int other)
{
	for (unsigned int k = 0; k < fabric_node_hosts(f, node); k++) {
		const struct fabric_tier *t = fabric_end_tier(f, node, k);

		if (t->number[other] != FABRIC_NO_NUMBER)
			return t;
	}
	return NULL;
}

struct mf_node *fabric_host(const struct mf_fabric *f, const struct fabric_tier *t, unsigned int node)
{
	for (unsigned int k = 0; f->node[node].host != NULL && k < fabric_node_hosts(f, node); k++)
		if (fabric_end_tier(f, node, k) == t)
			return mf_node_host(f->node[node].host, k);
	return NULL;
}

const struct mf_config_link *fabric_link_config(const struct mf_fabric *f, uint32_t link)
{
	if (fabric_is_trunk(f, link))
		return &f->trunk[link - f->node_links]->link;
	if (f->config->backup.on)
		return &f->config->node[link % f->nodes].link;
	return &mf_config_end(f->config, fabric_link_node(f, link), fabric_link_end(f, link))->link;
}
