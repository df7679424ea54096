/* SPDX-License-Identifier: BSD-3-Clause */
/* What a second switch needs besides: its links, and what two switches know of each other. */
#include "fabric/mf_make.h"

void make_backup_links(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *n = &f->config->node[i];
		struct link_timing *link = &f->link[fabric_link(f, 1, i)];

		*link = f->link[i];
		if (!n->up)
			continue;
		if (f->clock == MF_CLOCK_VIRTUAL || link->shape != 0)
			link->propagation = n->backup_propagation;
		if (f->clock == MF_CLOCK_VIRTUAL)
			link->delay += n->backup_propagation - n->link.propagation;
	}
}

mf_time make_take_again(const struct mf_fabric *f)
{
	return f->clock == MF_CLOCK_VIRTUAL ? MF_US(10) : MF_MS(1);
}

/** The longest that an operation can take, with all its retries, ps; 0: there is one without a timer. */
static mf_time longest(const struct mf_fabric *f)
{
	mf_time most = 0;

	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_host *h = &f->config->node[i].host;
		mf_time last = mf_time_max(h->read_timeout[f->clock], h->write_timeout[f->clock]);

		if (!f->config->node[i].up || !f->config->node[i].compute)
			continue;
		if (h->read_timeout[f->clock] == 0 || h->write_timeout[f->clock] == 0)
			return 0;
		most = mf_time_max(most, last + h->retries * h->retry_timeout[f->clock]);
	}
	return most;
}

void make_redundancy(const struct fabric_tier *t, unsigned int number, struct mf_switch_config *s)
{
	const struct mf_fabric *f = t->f;

	s->redundant = f->config->backup.on;
	s->number = (uint8_t)number;
	s->epoch_known = s->begins = fabric_whole(f); /* else this process may have been started again */
	s->in_order = t->config->sched.order == MF_ORDER_PAIR;
	s->chunk = t->config->sched.chunk[f->clock];
	s->take_again = make_take_again(f);
	s->longest = longest(f);
}
