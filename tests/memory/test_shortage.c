/* SPDX-License-Identifier: BSD-3-Clause */
/* Memories and their regions are made whole or not at all: where there is no room, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "memory/mf_bucket_use.h"
#include "memory/mf_page_pool.h"
#include "memory/mf_page_ring.h"
#include "memory/mf_page_table.h"
#include "memory/mf_pins.h"
#include "memory/mf_ranges.h"
#include "memory/mf_region.h"
#include "memory/mf_tlb.h"
#include "shortage.h"
#include "vm_rig.h"

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

/* ---- the parts of virtual memory ---- */

static const struct mf_page_shape_config shape = {.pages = 1000, .slots = 2, .bucket = 16};

static int page_table(const void *of)
{
	struct mf_page_shape s;
	struct mf_page_table *t;

	(void)of;
	(void)mf_page_shape_init(&s, &shape);
	t = mf_page_table_new(&s, true);
	if (t == NULL)
		return -errno;
	mf_page_table_free(t);
	return 0;
}

static int bucket_use(const void *of)
{
	struct mf_page_shape s;
	struct mf_bucket_use *u;

	(void)of;
	(void)mf_page_shape_init(&s, &shape);
	u = mf_bucket_use_new(&s);
	if (u == NULL)
		return -errno;
	mf_bucket_use_free(u);
	return 0;
}

static int tlb(const void *of)
{
	const struct mf_tlb_config c = {.sets = 4, .ways = 4};
	struct mf_tlb *t = mf_tlb_new(&c);

	(void)of;
	if (t == NULL)
		return -errno;
	mf_tlb_free(t);
	return 0;
}

static int pins(const void *of)
{
	struct mf_pins *p = mf_pins_new(10);

	(void)of;
	if (p == NULL)
		return -errno;
	mf_pins_free(p);
	return 0;
}

static int page_ring(const void *of)
{
	struct mf_page_ring *r = mf_page_ring_new(10);

	(void)of;
	if (r == NULL)
		return -errno;
	free(r);
	return 0;
}

static void zero(void *ctx, uint32_t page, uint64_t offset, uint64_t len)
{
	(void)ctx, (void)page, (void)offset, (void)len;
}

static int page_pool(const void *of)
{
	const struct mf_page_pool_config c = {.pages = 100, .octets = 4096, .zero = zero};
	struct mf_page_pool *p = mf_page_pool_new(&c);

	(void)of;
	if (p == NULL)
		return -errno;
	mf_page_pool_free(p);
	return 0;
}

static int range_pool(const void *of)
{
	const struct mf_range_pool_config c = {.ranges = 100, .covered_max = 4};
	struct mf_range_pool *p = mf_range_pool_new(&c);

	(void)of;
	if (p == NULL)
		return -errno;
	mf_range_pool_free(p);
	return 0;
}

Test(memory_shortage, of_virtual_memory)
{
	int (*const each[])(const void *of) = {page_table, bucket_use, tlb,       pins,
					       page_ring,  page_pool,  range_pool};

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		shortage_each(each[i], NULL);
}

static int both_paths(const void *of)
{
	struct vm_rig r;

	if (!vm_rig_make(&r, of))
		return -errno;
	vm_rig_settle(&r);
	vm_rig_free(&r);
	return 0;
}

Test(memory_shortage, of_both_paths)
{
	const struct mf_vm_config c = vm_rig_config(1);

	shortage_each(both_paths, &c);
}

static uint64_t ask(struct vm_rig *r, uint8_t what, uint64_t key, uint64_t arg0, uint64_t arg1)
{
	const struct mf_vm_request q = {.what = what, .key = key, .arg = {arg0, arg1}};
	uint64_t result;

	cr_assert_eq(vm_rig_ask(r, &q, &result), MF_OK);
	return result;
}

/** Once both paths are there neither asks for more, whatever is done. */
Test(memory_shortage, nothing_is_asked_for_later)
{
	const struct mf_vm_config c = vm_rig_config(1);
	struct mf_answer out;
	unsigned long before;
	struct vm_rig r;

	cr_assert(vm_rig_make(&r, &c));
	before = shortage_requests();
	for (unsigned int i = 0; i < 20; i++) {
		uint64_t own = ask(&r, MF_SPACE_MAKE, 0, 0, 0), key = ask(&r, MF_SPACE_JOIN, 0, 1, 0);
		uint64_t at = ask(&r, MF_SPACE_ALLOCATE, key, MF_SPACE_ALLOC(1 << 16, 0, 2), 0);
		struct mf_access a = {.addr = at, .len = 8, .right = MF_RIGHT_READ, .hold = true};

		a.key = ask(&r, MF_SPACE_JOIN, 0, MF_RIGHT_READ, 0);
		cr_assert_eq(mf_memory_virtual.access(r.memory, &a, &out), MF_OK);
		ask(&r, MF_SPACE_PROTECT, key, MF_SPACE_ALLOC(1 << 13, 0, 1), at);
		ask(&r, MF_SPACE_FREE, key, 1 << 13, at);
		ask(&r, MF_SPACE_END, own, 0, 0);
		mf_memory_virtual.let_go(r.memory, &out.places);
	}
	cr_expect_eq(shortage_requests(), before);
	vm_rig_free(&r);
}
