/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link adds to a block's time. */
#include "config/mf_config_query.h"
#include "fabric/mf_make.h"

static void make_link(struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_link *c = &f->config->node[i].link;
	bool wall = f->clock == MF_CLOCK_WALL;

	f->link[i] = (struct link_timing){
		.delay = wall ? 0 : mf_config_delay(f->config, i),
		.propagation = wall ? 0 : c->propagation,
		.period = wall ? 0 : c->period,
		.scramble = c->scramble,
	};
}

/** Between two switches. */
static void make_trunk(struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_link *c = fabric_link_config(f, i);
	bool wall = f->clock == MF_CLOCK_WALL;

	f->link[i] = (struct link_timing){
		.delay = wall ? 0 : mf_config_link_delay(f->config, c),
		.propagation = wall ? 0 : c->propagation,
		.period = wall ? 0 : c->period,
		.scramble = c->scramble,
	};
}

void make_links(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up)
			make_link(f, i);
		else
			f->link[i].period = f->clock == MF_CLOCK_VIRTUAL; /* a port that nothing is at */
	if (f->config->backup.on)
		make_backup_links(f);
	for (unsigned int i = f->nodes; f->config->switches > 0 && i < f->graph->links; i++)
		make_trunk(f, i);
}
