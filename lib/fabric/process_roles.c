/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a fabric a process plays: all, or what --run says. */
#include "fabric/mf_fabric_state.h"

bool fabric_whole(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up && !f->plays.node[i])
			return false;
	for (unsigned int k = 0; k < fabric_switches(f); k++)
		if (!f->plays.sw[k])
			return false;
	return true;
}

bool fabric_has_node(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->plays.node[i])
			return true;
	return false;
}

bool fabric_has_switch(const struct mf_fabric *f)
{
	for (unsigned int k = 0; k < fabric_switches(f); k++)
		if (f->plays.sw[k])
			return true;
	return false;
}

bool fabric_has_compute(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->plays.node[i] && f->config->node[i].compute)
			return true;
	return false;
}

void fabric_take_roles(struct mf_fabric *f, const struct mf_process_roles *plays)
{
	if (plays != NULL) {
		f->plays = *plays;
		return;
	}
	for (unsigned int k = 0; k < fabric_switches(f); k++)
		f->plays.sw[k] = true;
	for (unsigned int i = 0; i < f->nodes; i++)
		f->plays.node[i] = f->config->node[i].up;
}

const struct mf_config_llr *fabric_llr(const struct mf_fabric *f, uint32_t link)
{
	if (f->config->backup.on && link >= f->nodes)
		return &f->config->node[link - f->nodes].backup_llr;
	return &fabric_link_config(f, link)->llr;
}

int fabric_link_port(const struct mf_fabric *f, uint32_t link, enum mf_link_end side)
{
	const struct mf_graph_link *l = &f->graph->link[link];
	const struct mf_vertex *r = &f->graph->role[f->graph->end[l->end[side]].role];

	/* In the file the ends of a link between switches are in another order than in the graph. */
	if (fabric_is_trunk(f, link))
		side = r->number == f->trunk[link - f->node_links]->a ? MF_LINK_NODE : MF_LINK_SWITCH;
	return fabric_llr(f, link)->port[side];
}

bool fabric_plays_end(const struct mf_fabric *f, uint32_t link, enum mf_link_end side)
{
	const struct mf_vertex *r = &f->graph->role[f->graph->end[f->graph->link[link].end[side]].role];

	return r->kind == MF_VERTEX_NODE ? f->plays.node[r->number] : fabric_plays_switch(f, r->number);
}

bool fabric_is_tunnel(const struct mf_fabric *f, uint32_t link)
{
	bool first = fabric_plays_end(f, link, MF_LINK_NODE);
	bool second = fabric_plays_end(f, link, MF_LINK_SWITCH);

	if ((!first && !second) ||
	    (!fabric_is_trunk(f, link) && !f->config->node[fabric_link_node(f, link)].up))
		return false;
	return first != second || fabric_llr(f, link)->carry == MF_CARRY_ALWAYS;
}
