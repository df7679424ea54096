/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_seeded_bug.h"

#ifdef MF_WITH_SEEDED_BUGS

#include <stddef.h>
#include <string.h>

enum mf_seeded_bug mf_bug_seeded;

static const char *const names[MF_BUG_END] = {
#define MF_BUG_NAME(name) [MF_BUG_##name] = #name,
	MF_SEEDED_BUGS(MF_BUG_NAME) MF_SEEDED_VM_BUGS(MF_BUG_NAME)
#undef MF_BUG_NAME
};

bool mf_seed_bug(const char *name)
{
	for (unsigned int i = MF_BUG_NONE + 1; i < MF_BUG_END; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0) {
			mf_bug_seeded = i;
			return true;
		}
	return false;
}

const char *mf_seeded_bug_name(unsigned int n)
{
	return n < MF_BUG_END - 1 ? names[n + 1] : NULL;
}

#endif
