/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "memory/mf_memory.h"

static const struct mf_memory_ops *const kinds[] = {&mf_memory_flat, &mf_memory_sink};

const struct mf_memory_ops *mf_memory_find(const char *name)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}
