/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of a fabric: a star, two of the same nodes, or what "switches", "tiers" and "links" say. Ports of
 * a switch are in an order that does not depend on that of the file: nodes by number, then switches by name.
 * Those of a node are in the order of its ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/mf_config_query.h"
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

/** Whether it is more than stars: the file names switches, or a link between two nodes. */
static bool is_given(const struct mf_fabric *f)
{
	return f->config->switches > 0 || f->config->trunks > 0;
}

/** The link of an end of a node to a switch. Those between two nodes are added with those between switches.
 */
static int add_link(struct mf_fabric *f, unsigned int node, unsigned int end)
{
	const struct mf_config_end *e = mf_config_end(f->config, node, end);

	if (e->direct)
		return 0;
	return mf_topology_link(f->graph, node, f->nodes + e->to) != MF_NONE ? 0 : -ENOMEM;
}

/** The links of nodes: first that of the first end of each, in their order. */
static int add_links(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (add_link(f, i, 0) != 0)
			return -ENOMEM;
	for (unsigned int i = 0; i < f->nodes; i++)
		for (unsigned int k = 1; k < f->config->node[i].ends; k++)
			if (add_link(f, i, k) != 0)
				return -ENOMEM;
	return 0;
}

static void set_switches(struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->tiers; k++)
		for (unsigned int i = 0; i < f->tier[k].switches; i++) {
			struct fabric_switch *s = &f->sw[f->tier[k].first_switch + i];

			s->f = f;
			s->tier = &f->tier[k];
			s->number = f->tier[k].first_switch + i;
		}
}

/** Which links are of which networks. */
static void set_tiers(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		for (unsigned int k = 0; k < fabric_node_hosts(f, i); k++)
			make_tier_link(f, f->graph->end[mf_topology_end(f->graph, i, k)].link, i, k);
	for (uint32_t i = f->node_links; i < f->graph->links; i++) { /* of a second switch: of tier 0 */
		const struct mf_vertex *r = &f->graph->role[f->graph->end[f->graph->link[i].end[0]].role];

		if (r->kind == MF_VERTEX_SWITCH)
			f->link[i].tier = (uint16_t)(f->sw[r->number].tier - f->tier);
	}
}

/** Ends of a link between switches, or between nodes, by name. */
struct named {
	const struct mf_config_trunk *trunk;
	uint16_t end[2]; /**< as it has them, perhaps the other way round */
	const char *name[2];
};

/** Of two switches several links may differ. */
static int compare_links(const struct mf_config_link *a, const struct mf_config_link *b)
{
	const uint64_t x[] = {a->period,     a->propagation, a->policy,         a->quantum,
			      a->align8,     a->scramble,    a->ber_window,     a->ring,
			      a->disable.on, a->disable.bad, a->disable.within, a->disable.repair};
	const uint64_t y[] = {b->period,     b->propagation, b->policy,         b->quantum,
			      b->align8,     b->scramble,    b->ber_window,     b->ring,
			      b->disable.on, b->disable.bad, b->disable.within, b->disable.repair};

	for (unsigned int i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/** Links between switches come first, then those between nodes. */
static int compare_trunks(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = x->trunk->direct - y->trunk->direct;

	for (int side = 0; side < 2 && order == 0; side++)
		order = strcmp(x->name[side], y->name[side]);
	if (order == 0)
		order = compare_links(&x->trunk->link, &y->trunk->link);
	return order != 0 ? order : (x->trunk > y->trunk) - (x->trunk < y->trunk);
}

static struct named name_ends(const struct mf_config *c, const struct mf_config_trunk *t)
{
	struct named n = {.trunk = t,
			  .end = {t->a, t->b},
			  .name = {mf_config_trunk_end(c, t, 0), mf_config_trunk_end(c, t, 1)}};

	if (strcmp(n.name[0], n.name[1]) > 0) {
		n = (struct named){.trunk = t, .end = {t->b, t->a}, .name = {n.name[1], n.name[0]}};
	}
	return n;
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
	for (uint32_t i = 0; i < c->trunks; i++)
		sorted[i] = name_ends(c, &c->trunk[i]);
	qsort(sorted, c->trunks, sizeof(*sorted), compare_trunks);
	for (uint32_t i = 0; i < c->trunks && err == 0; i++) {
		uint32_t first = sorted[i].trunk->direct ? 0 : f->nodes; /* of the roles of that kind */

		f->trunk[i] = sorted[i].trunk;
		if (mf_topology_link(f->graph, first + sorted[i].end[0], first + sorted[i].end[1]) == MF_NONE)
			err = -ENOMEM;
	}
	free(sorted);
	return err;
}

/** The link between two nodes. @param trunk  its place in config->trunk */
static uint32_t direct_link(const struct mf_fabric *f, unsigned int trunk)
{
	uint32_t link = f->node_links;

	while (f->trunk[link - f->node_links] != &f->config->trunk[trunk])
		link++;
	return link;
}

/**
 * Ports of switches are in the order of nodes, whichever of a node's ends is there: at EDM's switch they are
 * the numbers of the nodes. Ports of a node are in the order of its ends, of which some lead to other nodes.
 */
static int close_graph(struct mf_fabric *f)
{
	uint32_t n = 0, more = 0, *order;
	int err;

	if (!is_given(f))
		return mf_topology_close(f->graph);
	order = calloc(2 * (size_t)f->graph->links, sizeof(*order));
	if (order == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nodes; i++)
		more += !mf_config_end(f->config, i, 0)->direct;
	for (unsigned int i = 0, first = 0; i < f->nodes; i++)
		for (unsigned int k = 0; k < f->config->node[i].ends; k++) {
			const struct mf_config_end *e = mf_config_end(f->config, i, k);
			uint32_t link = e->direct ? direct_link(f, e->to) : k == 0 ? first++ : more++;

			if (e->direct) { /* its roles are at its ends until it is closed */
				order[n++] = 2 * link + (f->graph->link[link].end[0] != i);
				continue;
			}
			order[n++] = 2 * link;
			order[n++] = 2 * link + 1;
		}
	for (uint32_t i = f->node_links; i < f->graph->links; i++)
		for (uint32_t side = 0; side < 2 && !f->trunk[i - f->node_links]->direct; side++)
			order[n++] = 2 * i + side;
	err = mf_topology_close_by(f->graph, order);
	free(order);
	return err;
}

int make_graph(struct mf_fabric *f)
{
	int err;

	f->graph = mf_topology_new();
	if (f->graph == NULL || add_roles(f) != 0)
		return -ENOMEM;
	err = is_given(f) ? add_links(f) : add_stars(f);
	f->node_links = is_given(f) ? f->graph->links : f->nodes;
	if (err == 0 && is_given(f))
		err = add_trunks(f);
	if (err != 0 || close_graph(f) != 0)
		return -ENOMEM;
	f->link = calloc(f->graph->links, sizeof(*f->link));
	f->sw = calloc(f->graph->switches + 1, sizeof(*f->sw));
	if (f->link == NULL || f->sw == NULL)
		return -ENOMEM;
	set_switches(f);
	set_tiers(f);
	return make_routes(f);
}
