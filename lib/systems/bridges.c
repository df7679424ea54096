/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridges that there are. */
#include <string.h>

#include "systems/bridges.h"

const char *const mf_bridge_names[] = {"fifo", "pfabric", "pfc", "cxl", NULL};

const struct mf_bridge_ops *mf_bridge_find(const char *name)
{
	static const struct mf_bridge_ops *const all[] = {&bridge_fifo, &bridge_pfabric, &bridge_pfc,
							  &bridge_cxl};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}
