/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shortage.h"

#define DIRT 0xa5 /* what is in memory that was not cleared */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void __real_free(void *p);
int __real_munmap(void *at, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void __wrap_free(void *p);
int __wrap_munmap(void *at, size_t size);

static unsigned long asked, failing; /* requests so far; the number of the one that fails */
static long held; /* and was not given back */

/** @return false: this request fails */
static bool grant(void)
{
	if (++asked != failing)
		return true;
	errno = ENOMEM;
	return false;
}

static void *hold(void *p)
{
	held += p != NULL;
	return p;
}

static void *soil(void *p, size_t size)
{
	return p != NULL ? memset(p, DIRT, size) : NULL;
}

void *__wrap_malloc(size_t size)
{
	return grant() ? soil(hold(__real_malloc(size)), size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return grant() ? hold(__real_calloc(count, size)) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *p;

	if (!grant())
		return NULL;
	p = __real_realloc(old, size);
	held += old == NULL && p != NULL;
	return p;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return grant() ? soil(hold(__real_aligned_alloc(align, size)), size) : NULL;
}

void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *p = grant() ? __real_mmap64(at, size, prot, flags, fd, offset) : MAP_FAILED;

	held += p != MAP_FAILED;
	return p;
}

void __wrap_free(void *p)
{
	held -= p != NULL;
	__real_free(p);
}

int __wrap_munmap(void *at, size_t size)
{
	held--;
	return __real_munmap(at, size);
}

void shortage_each(int (*once)(const void *of), const void *of)
{
	bool failed = true;

	for (unsigned long n = 1; failed; n++) {
		long before = held;
		int rc;

		asked = 0;
		failing = n;
		rc = once(of);
		failed = asked >= n;
		failing = 0;
		cr_assert_eq(rc, failed ? -ENOMEM : 0, "request %lu fails: it returns %d", n, rc);
		cr_assert_eq(held, before, "request %lu fails: %ld are not given back", n, held - before);
		cr_assert(failed || n > 1, "it has asked for nothing");
	}
}

unsigned long shortage_requests(void)
{
	return asked;
}
