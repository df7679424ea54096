/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of the memory nodes, and what of them the nodes that ask know: where they are, but no keys. Those
 * come over the fabric.
 *
 * Keys are of the kernel's random bits under the wall clock. Under the virtual clock, and where a run is
 * recorded or replayed, they are of the seed of the file, so that it repeats itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "config/mf_config_query.h"
#include "fabric/mf_fabric_regions.h"
#include "fabric/mf_fabric_state.h"

static bool draw_secret(void *ctx, uint64_t *out, unsigned int words)
{
	size_t size = words * sizeof(*out);

	(void)ctx;
	/* Up to 256 octets come as a whole, or not at all (getrandom(2)). */
	return size <= 256 && getrandom(out, size, 0) == (ssize_t)size;
}

static bool draw_seeded(void *ctx, uint64_t *out, unsigned int words)
{
	for (unsigned int i = 0; i < words; i++)
		out[i] = mf_rng_next(ctx);
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct mf_region_config *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static struct mf_region_nodes nodes_of(const struct mf_config_set *set)
{
	struct mf_region_nodes nodes = {{0}};

	for (unsigned int i = 0; i < set->n; i++)
		mf_region_nodes_set(&nodes, set->node[i], true);
	return nodes;
}

/** Those of a memory node, by address. @param out  room for config->regions */
static unsigned int regions_of(const struct mf_config *config, unsigned int node,
			       struct mf_region_config *out)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->regions; i++) {
		const struct mf_config_region *r = &config->region[i];

		if (mf_config_has(&r->memory, node))
			out[n++] = (struct mf_region_config){
				.at = r->at,
				.size = r->size,
				.owner = r->owner < 0 ? MF_REGION_FREE : (uint16_t)r->owner,
				.readers = nodes_of(&r->readers),
				.writers = nodes_of(&r->writers),
			};
	}
	qsort(out, n, sizeof(*out), by_address);
	return n;
}

static int make(struct mf_fabric *f, unsigned int i)
{
	struct mf_region_config *region = calloc(f->config->regions + 1, sizeof(*region));
	struct node *n = &f->node[i];
	struct mf_regions_config c = {
		.region = region,
		.owned_max = f->config->limits.regions,
		.memory_ops = n->top_ops,
		.memory = n->top,
		.draw = f->clock == MF_CLOCK_WALL ? draw_secret : draw_seeded,
		.draw_ctx = &n->keys,
	};

	if (region == NULL)
		return -ENOMEM;
	mf_rng_init(&n->keys, f->config->seed, "region keys", i);
	c.regions = regions_of(f->config, i, region);
	n->regions = c.regions > 0 ? mf_regions_new(&c) : NULL;
	free(region);
	return c.regions == 0 || n->regions != NULL ? 0 : -errno;
}

int regions_make(struct mf_fabric *f, unsigned int i)
{
	struct node *n = &f->node[i];

	if (n->regions == NULL)
		return make(f, i);
	mf_regions_restart(n->regions, n->top);
	return 0;
}

void regions_repeat(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		struct node *n = &f->node[i];

		if (n->regions == NULL)
			continue;
		mf_rng_init(&n->keys, f->config->seed, "region keys", i);
		mf_regions_renew(n->regions, draw_seeded, &n->keys);
	}
}

int regions_map(struct mf_fabric *f)
{
	struct mf_region_config *region = calloc(f->config->regions + 1, sizeof(*region));
	unsigned int n = 0, capacity = f->config->regions * f->nodes;

	f->region = calloc(capacity + 1, sizeof(*f->region));
	if (region == NULL || f->region == NULL) {
		free(region);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < f->nodes; i++) {
		unsigned int of_node = regions_of(f->config, i, region);

		for (unsigned int k = 0; k < of_node; k++)
			f->region[n++] = (struct mf_host_region){
				.node = (uint16_t)i, .at = region[k].at, .size = region[k].size};
	}
	f->regions = n;
	free(region);
	return 0;
}

static void add(struct mf_regions_stats *sum, const struct mf_regions_stats *s)
{
	for (int i = 0; i < MF_REFUSALS; i++) {
		sum->refused[i] += s->refused[i];
		sum->attach_refused[i] += s->attach_refused[i];
		sum->owner_refused[i] += s->owner_refused[i];
	}
	sum->attached += s->attached;
	sum->claimed += s->claimed;
	sum->released += s->released;
	sum->shared += s->shared;
	sum->zeroed += s->zeroed;
	sum->drawless += s->drawless;
}

bool regions_sum(const struct mf_fabric *f, struct mf_regions_stats *sum)
{
	bool any = false;

	*sum = (struct mf_regions_stats){.attached = 0};
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].regions == NULL)
			continue;
		add(sum, mf_regions_stats(f->node[i].regions));
		any = true;
	}
	return any;
}
