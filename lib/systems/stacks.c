/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks that there are. */
#include <string.h>

#include "systems/stacks.h"

const char *const mf_stack_names[] = {MF_STACK_EDM, "ethernet", "rocev2", "tcp",      "dctcp", "pfabric",
				      "pfc",        "ird",      "cxl",    "fastpass", NULL};

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
