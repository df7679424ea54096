/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link adds to a block's time. */
#include "config/mf_config_query.h"
#include "fabric/mf_make.h"

static void make_link(struct mf_fabric *f, uint32_t i)
{
	const struct mf_config_link *c = fabric_link_config(f, i);
	const struct mf_config_tier *tier = &f->config->tier[f->link[i].tier];
	bool wall = f->clock == MF_CLOCK_WALL;

	f->link[i] = (struct link_timing){
		.delay = wall ? 0 : mf_config_link_delay(tier, c),
		.propagation = wall && !c->shape ? 0 : c->propagation,
		.period = wall ? 0 : c->period,
		.shape = wall && c->shape ? c->period : 0,
		.scramble = c->scramble,
		.tier = f->link[i].tier,
	};
}

void make_links(struct mf_fabric *f)
{
	uint32_t links = f->config->backup.on ? f->nodes : f->graph->links;

	for (uint32_t i = 0; i < links; i++)
		if (fabric_is_trunk(f, i) || f->config->node[fabric_link_node(f, i)].up)
			make_link(f, i);
		else
			f->link[i].period = f->clock == MF_CLOCK_VIRTUAL; /* a port that nothing is at */
	if (f->config->backup.on)
		make_backup_links(f);
}
