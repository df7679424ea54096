/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a flat memory asks of the system: huge pages where it should, a node of the machine that it prefers.
 * The system is this file, so that it can say anything.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/mf_memory.h"

#define SIZE (UINT64_C(5) << 20) /* not whole huge pages */

void *__real_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_madvise(void *at, size_t size, int advice);
long __wrap_mbind(void *at, unsigned long size, int mode, const unsigned long *mask, unsigned long max,
		  unsigned int flags);
int __wrap_numa_available(void);
int __wrap_numa_max_node(void);

static struct {
	bool has_huge, has_numa; /* reserved huge pages; several nodes, of which 3 is the last */
	int bind_error;
	unsigned int huge, ordinary, advised, bound;
	unsigned long mask;
} os;

void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	cr_expect_eq(size % ((size_t)2 << 20), 0);
	os.huge += (flags & MAP_HUGETLB) != 0;
	os.ordinary += (flags & MAP_HUGETLB) == 0;
	if ((flags & MAP_HUGETLB) != 0 && !os.has_huge) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(at, size, prot, flags & ~MAP_HUGETLB, fd, offset);
}

int __wrap_madvise(void *at, size_t size, int advice)
{
	cr_expect_neq(at, MAP_FAILED);
	cr_expect_geq(size, SIZE);
	cr_expect_eq(advice, MADV_HUGEPAGE);
	os.advised++;
	return 0;
}

long __wrap_mbind(void *at, unsigned long size, int mode, const unsigned long *mask, unsigned long max,
		  unsigned int flags)
{
	(void)at, (void)mode, (void)flags;
	cr_expect_geq(size, SIZE);
	cr_expect_geq(max, 8 * sizeof(*mask));
	os.bound++;
	os.mask = mask[0];
	errno = os.bind_error;
	return os.bind_error != 0 ? -1 : 0;
}

int __wrap_numa_available(void)
{
	return os.has_numa ? 0 : -1;
}

int __wrap_numa_max_node(void)
{
	return 3;
}

static void reset(void)
{
	memset(&os, 0, sizeof(os));
	os.has_numa = true;
}

TestSuite(pages, .init = reset);

/** @return 0 or errno */
static int create(bool huge_pages, int node)
{
	const struct mf_memory_config c = {.size = SIZE, .huge_pages = huge_pages, .numa_node = node};
	struct mf_memory *m = mf_memory_flat.create(&c);

	if (m == NULL)
		return errno;
	cr_expect_eq(mf_memory_flat.check(m, 0, SIZE), MF_OK);
	cr_expect_neq(mf_memory_flat.check(m, 0, SIZE + 1), MF_OK);
	mf_memory_flat.destroy(m);
	return 0;
}

Test(pages, ordinary_ones)
{
	os.has_huge = true;
	cr_expect_eq(create(false, -1), 0);
	cr_expect(os.huge == 0 && os.ordinary == 1 && os.advised == 0);
}

Test(pages, reserved_huge_ones)
{
	os.has_huge = true;
	cr_expect_eq(create(true, -1), 0);
	cr_expect(os.huge == 1 && os.ordinary == 0 && os.advised == 0);
}

Test(pages, ordinary_ones_to_be_joined_where_none_are_reserved)
{
	cr_expect_eq(create(true, -1), 0);
	cr_expect(os.huge == 1 && os.ordinary == 1 && os.advised == 1);
}

Test(pages, the_node_that_is_preferred)
{
	cr_expect_eq(create(false, -1), 0);
	cr_expect_eq(os.bound, 0, "any will do");
	for (int node = 0; node < 4; node++) {
		cr_expect_eq(create(false, node), 0);
		cr_expect_eq(os.mask, 1UL << node);
	}
	cr_expect_eq(os.bound, 4);
	cr_expect_eq(create(false, 4), EINVAL, "there is none");
	cr_expect_eq(os.bound, 4);
	os.has_numa = false;
	cr_expect_eq(create(false, 2), 0);
	cr_expect_eq(os.bound, 4);
}

/* Containers refuse to let their programs choose. */
Test(pages, a_system_that_does_not_let_us_choose)
{
	os.bind_error = EPERM;
	cr_expect_eq(create(false, 1), 0);
	os.bind_error = ENOSYS;
	cr_expect_eq(create(false, 1), 0);
	os.bind_error = EIO;
	cr_expect_eq(create(false, 1), EIO);
}
