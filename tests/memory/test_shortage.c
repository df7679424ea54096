/* SPDX-License-Identifier: BSD-3-Clause */
/* Memories and their regions are made whole or not at all: where there is no room, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "memory/mf_region.h"
#include "shortage.h"

#define SIZE (1 << 20)

static int flat(const void *of)
{
	struct mf_memory *m = mf_memory_flat.create(of);

	if (m == NULL)
		return -errno;
	mf_memory_flat.destroy(m);
	return 0;
}

Test(memory_shortage, of_a_memory)
{
	const struct mf_memory_config c = {.size = SIZE, .numa_node = -1};

	shortage_each(flat, &c);
}

/** A NUMA node that the machine has not: what was mapped already is given back. */
static int nowhere(const void *of)
{
	int rc;

	if (mf_memory_flat.create(of) != NULL)
		return 1;
	rc = -errno;
	return rc == -EINVAL ? 0 : rc;
}

Test(memory_shortage, of_numa_nodes)
{
	const struct mf_memory_config c = {.size = SIZE, .numa_node = 1 << 20};

	shortage_each(nowhere, &c);
}

static bool draw(void *ctx, uint64_t *out, unsigned int words)
{
	(void)ctx;
	for (unsigned int i = 0; i < words; i++)
		out[i] = i + 1;
	return true;
}

static int regions(const void *of)
{
	struct mf_regions *r = mf_regions_new(of);

	if (r == NULL)
		return -errno;
	mf_regions_free(r);
	return 0;
}

Test(memory_shortage, of_regions)
{
	const struct mf_memory_config m = {.size = SIZE, .numa_node = -1};
	const struct mf_region_config region[] = {{.at = 0, .size = 4096, .owner = MF_REGION_FREE},
						  {.at = 4096, .size = 4096, .owner = 1}};
	const struct mf_regions_config c = {.region = region,
					    .regions = 2,
					    .memory_ops = &mf_memory_flat,
					    .memory = mf_memory_flat.create(&m),
					    .draw = draw};

	shortage_each(regions, &c);
	mf_memory_flat.destroy(c.memory);
}
