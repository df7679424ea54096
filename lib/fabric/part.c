/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a fabric a process plays: all, or what --run says. */
#include "fabric/mf_fabric_state.h"

bool fabric_whole(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up && !f->part.node[i])
			return false;
	for (unsigned int k = 0; k < fabric_switches(f); k++)
		if (!f->part.sw[k])
			return false;
	return true;
}

bool fabric_has_node(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->part.node[i])
			return true;
	return false;
}

bool fabric_has_switch(const struct mf_fabric *f)
{
	for (unsigned int k = 0; k < fabric_switches(f); k++)
		if (f->part.sw[k])
			return true;
	return false;
}

bool fabric_has_compute(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->part.node[i] && f->config->node[i].compute)
			return true;
	return false;
}

void fabric_take_part(struct mf_fabric *f, const struct mf_part *part)
{
	if (part != NULL) {
		f->part = *part;
		return;
	}
	for (unsigned int k = 0; k < fabric_switches(f); k++)
		f->part.sw[k] = true;
	for (unsigned int i = 0; i < f->nodes; i++)
		f->part.node[i] = f->config->node[i].up;
}

bool fabric_carried(const struct mf_fabric *f, unsigned int net, unsigned int i)
{
	const struct mf_config_node *n = &f->config->node[i];
	const struct mf_config_llr *llr = net == 0 ? &n->link.llr : &n->backup_llr;
	bool here = f->part.node[i];
	bool switch_here = f->part.sw[f->config->switches > 0 ? n->to : net];

	if (!n->up || (!here && !switch_here))
		return false;
	return here != switch_here || llr->carry == MF_CARRY_ALWAYS;
}
