/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a fabric a process plays: all, or what --run says. */
#include "fabric/mf_fabric_state.h"

bool fabric_whole(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up && !f->part.node[i])
			return false;
	return f->part.sw && (f->part.backup || !f->config->backup.on);
}

bool fabric_has_node(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->part.node[i])
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
	f->part.sw = true;
	f->part.backup = f->config->backup.on;
	for (unsigned int i = 0; i < f->nodes; i++)
		f->part.node[i] = f->config->node[i].up;
}

bool fabric_carried(const struct mf_fabric *f, unsigned int net, unsigned int i)
{
	const struct mf_config_node *n = &f->config->node[i];
	const struct mf_config_llr *llr = net == 0 ? &n->link.llr : &n->backup_llr;
	bool here = f->part.node[i], switch_here = net == 0 ? f->part.sw : f->part.backup;

	if (!n->up || (!here && !switch_here))
		return false;
	return here != switch_here || llr->carry == MF_CARRY_ALWAYS;
}
