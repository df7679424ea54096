/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_plant.h"

#ifdef MF_WITH_PLANTED

#include <stddef.h>
#include <string.h>

enum mf_plant mf_planted;

static const char *const names[MF_PLANT_END] = {
#define MF_PLANT_NAME(name) [MF_PLANT_##name] = #name,
	MF_PLANTS(MF_PLANT_NAME)
#undef MF_PLANT_NAME
};

bool mf_plant(const char *name)
{
	for (unsigned int i = MF_PLANT_NONE + 1; i < MF_PLANT_END; i++)
		if (strcmp(names[i], name) == 0) {
			mf_planted = i;
			return true;
		}
	return false;
}

const char *mf_plant_name(unsigned int n)
{
	return n < MF_PLANT_END - 1 ? names[n + 1] : NULL;
}

#endif
