/* SPDX-License-Identifier: BSD-3-Clause */
/* Links between switches, or between nodes: how they are named, and found by their names. */
#include <stdio.h>
#include <string.h>

#include "config/mf_config_query.h"
#include "fabric/mf_fabric_state.h"

static unsigned int place(const struct mf_fabric *f, uint32_t link)
{
	return (unsigned int)(f->trunk[link - f->node_links] - f->config->trunk);
}

unsigned int fabric_parallel(const struct mf_fabric *f, uint32_t link)
{
	return mf_config_parallel(f->config, place(f, link));
}

/** The place in the graph of the switch or node at a side of a link, 0 or 1. */
static uint32_t role_at(const struct mf_fabric *f, uint32_t link, unsigned int side)
{
	return f->graph->end[f->graph->link[link].end[side]].role;
}

static bool same_roles(const struct mf_fabric *f, uint32_t a, uint32_t b)
{
	return b >= f->node_links && b < f->graph->links && role_at(f, a, 0) == role_at(f, b, 0) &&
	       role_at(f, a, 1) == role_at(f, b, 1);
}

char *fabric_trunk_name(const struct mf_fabric *f, uint32_t link, char buf[FABRIC_LINK_NAME])
{
	const char *a = fabric_role_name(f, role_at(f, link, 0)),
		   *b = fabric_role_name(f, role_at(f, link, 1));

	/* Links of the same two follow each other. */
	if (same_roles(f, link, link - 1) || same_roles(f, link, link + 1))
		snprintf(buf, FABRIC_LINK_NAME, "%s:%s:%u", a, b, fabric_parallel(f, link));
	else
		snprintf(buf, FABRIC_LINK_NAME, "%s:%s", a, b);
	return buf;
}

uint32_t fabric_find_trunk(const struct mf_fabric *f, const char *name, uint32_t *first)
{
	char buf[FABRIC_LINK_NAME], other[FABRIC_LINK_NAME];

	for (uint32_t link = f->node_links; f->config->trunks > 0 && link < f->graph->links; link++) {
		const char *number, *a = fabric_role_name(f, role_at(f, link, 0)),
				    *b = fabric_role_name(f, role_at(f, link, 1));

		fabric_trunk_name(f, link, buf);
		number = buf + strlen(a) + 1 + strlen(b);
		snprintf(other, sizeof(other), "%s:%s%s", b, a, number);
		if (strcmp(name, buf) != 0 && strcmp(name, other) != 0)
			continue;
		*first = role_at(f, link, strcmp(name, buf) == 0 ? 0 : 1);
		return link;
	}
	return MF_NONE;
}

int fabric_captured(const struct mf_fabric *f, uint32_t end, bool *down)
{
	const struct mf_end *e = &f->graph->end[end];

	if (fabric_is_trunk(f, e->link)) {
		*down = f->graph->role[e->role].number != f->trunk[e->link - f->node_links]->a;
		return (int)(f->nodes + place(f, e->link));
	}
	*down = f->graph->role[e->role].kind == MF_VERTEX_SWITCH;
	return fabric_link_end(f, e->link) == 0 ? (int)fabric_link_node(f, e->link) : -1;
}
