/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a fabric: a star, or two of the same nodes. */
#include <errno.h>
#include <stdlib.h>

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

/** In the order of fabric_link(): port i of a switch is that of node i, end s of a node goes to switch s. */
static int add_links(struct mf_fabric *f)
{
	for (unsigned int s = 0; s < fabric_switches(f); s++)
		for (unsigned int i = 0; i < f->nodes; i++)
			if (mf_topology_link(f->graph, i, f->nodes + s) == MF_NONE)
				return -ENOMEM;
	return mf_topology_close(f->graph);
}

int make_graph(struct mf_fabric *f)
{
	f->graph = mf_topology_new();
	if (f->graph == NULL || add_roles(f) != 0 || add_links(f) != 0)
		return -ENOMEM;
	f->link = calloc(f->graph->links, sizeof(*f->link));
	return f->link != NULL ? 0 : -ENOMEM;
}
