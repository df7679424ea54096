/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_arriving.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define SLOTS_MIN 256

int arriving_init(struct arriving *a)
{
	*a = (struct arriving){.slot = calloc(SLOTS_MIN, sizeof(*a->slot)), .mask = SLOTS_MIN - 1};
	return a->slot != NULL ? 0 : -ENOMEM;
}

void arriving_fini(struct arriving *a)
{
	free(a->slot);
}

/** Where a name would be if no other one were in its way. */
static uint32_t home(const struct arriving *a, uint64_t stored)
{
	return (uint32_t)(stored * UINT64_C(0x9e3779b97f4a7c15) >> 32) & a->mask;
}

/** Where it is, or would be put. */
static struct arriving_message *slot_of(const struct arriving *a, uint64_t stored)
{
	uint32_t i = home(a, stored);

	while (a->slot[i].name != 0 && a->slot[i].name != stored)
		i = (i + 1) & a->mask;
	return &a->slot[i];
}

struct arriving_message *arriving_find(const struct arriving *a, uint64_t name)
{
	struct arriving_message *m = slot_of(a, name + 1);

	return m->name != 0 ? m : NULL;
}

static int grow(struct arriving *a)
{
	struct arriving more = {.mask = 2 * a->mask + 1, .count = a->count};

	more.slot = calloc((size_t)more.mask + 1, sizeof(*more.slot));
	if (more.slot == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i <= a->mask; i++)
		if (a->slot[i].name != 0)
			*slot_of(&more, a->slot[i].name) = a->slot[i];
	free(a->slot);
	*a = more;
	return 0;
}

struct arriving_message *arriving_put(struct arriving *a, uint64_t name)
{
	struct arriving_message *m;

	if (2 * a->count > a->mask && grow(a) != 0)
		return NULL;
	m = slot_of(a, name + 1);
	*m = (struct arriving_message){.name = name + 1};
	a->count++;
	return m;
}

/*
 * The entries after the hole move up, but none in front of its own place. So a removed entry leaves no mark.
 */
void arriving_remove(struct arriving *a, struct arriving_message *m)
{
	uint32_t hole = (uint32_t)(m - a->slot), i = hole;

	while (i = (i + 1) & a->mask, a->slot[i].name != 0)
		if (((i - home(a, a->slot[i].name)) & a->mask) >= ((i - hole) & a->mask)) {
			a->slot[hole] = a->slot[i];
			hole = i;
		}
	a->slot[hole].name = 0;
	a->count--;
}
