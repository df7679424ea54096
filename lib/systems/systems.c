/* SPDX-License-Identifier: BSD-3-Clause */
/* The one list of systems. */
#include "systems/mf_systems.h"

#include <string.h>

#include "systems/cxl/mf_cxl.h"
#include "systems/ethernet/mf_ethernet.h"
#include "systems/fastpass/mf_fastpass.h"
#include "systems/frames/mf_queues.h"
#include "systems/ird/mf_ird.h"
#include "systems/kinds.h"
#include "systems/pfabric/mf_pfabric.h"
#include "systems/rdma/mf_rdma.h"
#include "systems/tcp/mf_tcp.h"

const char *const mf_stack_names[] = {MF_STACK_EDM, "ethernet", "rocev2", "tcp",      "dctcp", "pfabric",
				      "pfc",        "ird",      "cxl",    "fastpass", NULL};
const char *const mf_bridge_names[] = {"fifo", "pfabric", "pfc", "cxl", NULL};

const struct mf_stack_ops *mf_stack_find(const char *name)
{
	static const struct mf_stack_ops *const all[] = {&stack_ethernet, &stack_rocev2,  &stack_tcp,
							 &stack_dctcp,    &stack_pfabric, &stack_pfc,
							 &stack_ird,      &stack_cxl,     &stack_fastpass};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}

const struct mf_bridge_ops *mf_bridge_find(const char *name)
{
	static const struct mf_bridge_ops *const all[] = {&bridge_fifo, &bridge_pfabric, &bridge_pfc,
							  &bridge_cxl};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}

const struct mf_role_ops *mf_stack_node(const struct mf_stack_ops *stack)
{
	return mf_node_kinds[stack == NULL ? NODE_EDM : NODE_FRAMES];
}
