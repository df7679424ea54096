/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of a fabric: a star, two of the same nodes, or what "switches" and "links" say. Ports of a switch
 * are in an order that does not depend on that of the file: nodes by number, then switches by name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/mf_make.h"

/** Node i is role i, and switch s follows the nodes. @return 0 or -ENOMEM */
static int add_roles(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (mf_topology_role(f->graph, MF_VERTEX_NODE) == MF_NONE)
			return -ENOMEM;
	for (unsigned int s = 0; s < fabric_switches(f); s++)
		if (mf_topology_role(f->graph, MF_VERTEX_SWITCH) == MF_NONE)
			return -ENOMEM;
	return 0;
}

/** One switch, or two of the same nodes: port i is that of node i, end s of a node goes to switch s. */
static int add_stars(struct mf_fabric *f)
{
	for (unsigned int s = 0; s < fabric_switches(f); s++)
		for (unsigned int i = 0; i < f->nodes; i++)
			if (mf_topology_link(f->graph, i, f->nodes + s) == MF_NONE)
				return -ENOMEM;
	return 0;
}

/** The link of each node, of which link i is that of node i. */
static int add_links(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (mf_topology_link(f->graph, i, f->nodes + f->config->node[i].to) == MF_NONE)
			return -ENOMEM;
	return 0;
}

static int compare_names(const struct mf_config *c, uint16_t a, uint16_t b)
{
	return strcmp(c->switch_list[a].name, c->switch_list[b].name);
}

/** Ends of a link between switches, by name. */
struct named {
	const struct mf_config *config;
	uint32_t trunk;
	uint16_t first, second;
};

/** Of two switches several links may differ. */
static int compare_links(const struct mf_config_link *a, const struct mf_config_link *b)
{
	const uint64_t x[] = {a->period, a->propagation, a->policy,     a->quantum,
			      a->align8, a->scramble,    a->ber_window, a->ring};
	const uint64_t y[] = {b->period, b->propagation, b->policy,     b->quantum,
			      b->align8, b->scramble,    b->ber_window, b->ring};

	for (unsigned int i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static int compare_trunks(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = compare_names(x->config, x->first, y->first);

	if (order == 0)
		order = compare_names(x->config, x->second, y->second);
	if (order == 0)
		order = compare_links(&x->config->trunk[x->trunk].link, &y->config->trunk[y->trunk].link);
	return order != 0 ? order : (int)x->trunk - (int)y->trunk;
}

/** Sets f->trunk, and adds them in that order. */
static int add_trunks(struct mf_fabric *f)
{
	const struct mf_config *c = f->config;
	struct named *sorted = calloc(c->trunks + 1, sizeof(*sorted));
	int err = 0;

	f->trunk = calloc(c->trunks + 1, sizeof(*f->trunk));
	if (sorted == NULL || f->trunk == NULL) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->trunks; i++) {
		const struct mf_config_trunk *t = &c->trunk[i];
		bool swap = compare_names(c, t->a, t->b) > 0;

		sorted[i] = (struct named){c, i, swap ? t->b : t->a, swap ? t->a : t->b};
	}
	qsort(sorted, c->trunks, sizeof(*sorted), compare_trunks);
	for (uint32_t i = 0; i < c->trunks && err == 0; i++) {
		f->trunk[i] = &c->trunk[sorted[i].trunk];
		if (mf_topology_link(f->graph, f->nodes + sorted[i].first, f->nodes + sorted[i].second) ==
		    MF_NONE)
			err = -ENOMEM;
	}
	free(sorted);
	return err;
}

int make_graph(struct mf_fabric *f)
{
	int err;

	f->graph = mf_topology_new();
	if (f->graph == NULL || add_roles(f) != 0)
		return -ENOMEM;
	err = f->config->switches == 0 ? add_stars(f) : add_links(f);
	if (err == 0 && f->config->switches > 0)
		err = add_trunks(f);
	if (err != 0 || mf_topology_close(f->graph) != 0)
		return -ENOMEM;
	f->link = calloc(f->graph->links, sizeof(*f->link));
	f->sw = calloc(f->graph->switches, sizeof(*f->sw));
	return f->link != NULL && f->sw != NULL ? make_routes(f) : -ENOMEM;
}
