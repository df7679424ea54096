/* SPDX-License-Identifier: BSD-3-Clause */
/* A host is made whole or not at all: whatever there is no memory for, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "alone.h"
#include "shortage.h"

static int make(const void *of)
{
	struct mf_host *h = mf_host_new(of);

	if (h == NULL)
		return -errno;
	for (enum mf_host_pool what = MF_HOST_QUEUE; what <= MF_HOST_MUX; what++)
		mf_host_exhaust(h, what, true);
	mf_host_free(h);
	return 0;
}

Test(host_shortage, of_a_compute_node)
{
	struct mf_host_config c = alone_config(0, 64);

	c.compute = true;
	shortage_each(make, &c);
	c.proto.ext = false;
	shortage_each(make, &c);
	c.mux.period = 0;
	shortage_each(make, &c);
}

Test(host_shortage, of_a_memory_node)
{
	const struct mf_memory_config m = {.size = 4096, .numa_node = -1};
	struct mf_host_config c = alone_config(1, 64);
	struct mf_memory *memory = mf_memory_flat.create(&m);

	c.memory_ops = &mf_memory_flat;
	c.memory = memory;
	shortage_each(make, &c);
	c.proto.ext = false;
	shortage_each(make, &c);
	mf_memory_flat.destroy(memory);
}

Test(host_shortage, with_two_links)
{
	struct mf_host_config c = alone_config(0, 64);

	c.compute = c.redundant = true;
	c.take_again = MF_US(10);
	shortage_each(make, &c);
	c.begins = true;
	shortage_each(make, &c);
}

Test(host_shortage, with_keys_of_regions)
{
	static const struct mf_host_region region[] = {{0, 4096, 1}, {4096, 4096, 1}, {0, 4096, 2}};
	struct mf_host_config c = alone_config(0, 64);

	c.compute = true;
	c.region = region;
	c.regions = 3;
	shortage_each(make, &c);
}
