/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it takes to allocate and free memory of an address space, for each size of pages that the memory nodes
 * have, and for requests of 1, 10 and 100 pages. A window of allocations is kept: each step makes one,
 * writes to it, and once the window is full frees another one, chosen at random. Times are of the call, as
 * the program sees it; the rate is how many calls of its kind that makes in a second.
 */
#include <errno.h>

#include "example.h"

#define WINDOW 64

enum step { ALLOCATE, TOUCH, FREE, STEPS };

struct bench {
	struct example *e;
	struct memfab_queue *q;
	struct memfab_space *space;
	unsigned int shift; /* pages of 2^shift octets */
	uint64_t size; /* octets of a request */
	uint64_t ptr[WINDOW]; /* allocations */
	unsigned int kept, window; /* how many of these; at most */
	uint64_t random;
	uint64_t *ns[STEPS]; /* [--number] how long each took */
	unsigned long n[STEPS];
};

static void took(struct bench *b, enum step step, uint64_t begin)
{
	if (b->n[step] < b->e->number)
		b->ns[step][b->n[step]++] = example_ns() - begin;
}

static int free_any(struct bench *b)
{
	unsigned int i = (unsigned int)(example_random(&b->random) % b->kept);
	uint64_t ptr = b->ptr[i], begin = example_ns();
	int rc = memfab_rfree(b->q, b->space, ptr, b->size);

	took(b, FREE, begin);
	b->ptr[i] = b->ptr[--b->kept];
	return rc;
}

/* Allocates, and writes to the first page: now there is one. */
static int allocate(struct bench *b)
{
	uint64_t ptr, begin = example_ns(), word = begin;
	int rc = memfab_ralloc(b->q, b->space, b->size, MEMFAB_PAGE(b->shift), &ptr);

	if (rc != 0)
		return rc;
	took(b, ALLOCATE, begin);
	b->ptr[b->kept++] = ptr;
	begin = example_ns();
	rc = memfab_rwrite(b->q, b->space, ptr, &word, sizeof(word));
	if (rc == 0)
		took(b, TOUCH, begin);
	return rc;
}

/*
 * Addresses are given for more memory than there is, so the write may find none, and says so after a while.
 * Then the window is half of what it was.
 */
static int run(struct bench *b)
{
	int rc = 0;

	while (rc == 0 && b->n[ALLOCATE] < b->e->number) {
		while (b->kept >= b->window && rc == 0)
			rc = free_any(b);
		if (rc == 0)
			rc = allocate(b);
		if (rc == -ENOBUFS && b->window > 1) {
			b->window /= 2;
			rc = 0;
		}
	}
	while (b->kept > 0) {
		int error = free_any(b);

		rc = rc != 0 ? rc : error;
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print(struct bench *b, enum step step)
{
	static const char *const name[] = {"allocate", "first write", "free"};
	uint64_t *ns = b->ns[step], sum = 0;
	unsigned long n = b->n[step];

	if (n == 0)
		return;
	qsort(ns, n, sizeof(ns[0]), by_value);
	for (unsigned long i = 0; i < n; i++)
		sum += ns[i];
	printf("%7" PRIu64 "KiB %7" PRIu64 " %7u  %-12s %11lu %11.2f %11.2f %11.2f %11.2f %11.2f %11.0f\n",
	       (UINT64_C(1) << b->shift) >> 10, b->size >> b->shift, b->window, name[step], n,
	       (double)ns[0] / 1e3, (double)ns[n / 2] / 1e3, (double)ns[n * 99 / 100] / 1e3,
	       (double)ns[n * 999 / 1000] / 1e3, (double)ns[n - 1] / 1e3, (double)n * 1e9 / (double)sum);
}

/* @return 0; -EINVAL: no memory node has such pages; or -errno */
static int bench(struct bench *b, uint64_t pages)
{
	int rc;

	memset(b->n, 0, sizeof(b->n));
	b->window = WINDOW;
	b->size = pages << b->shift;
	rc = run(b);
	if (rc == -ENOBUFS) {
		printf("%7" PRIu64 "KiB %7" PRIu64 "  does not fit\n", (UINT64_C(1) << b->shift) >> 10,
		       pages);
		return 0;
	}
	for (int step = 0; step < STEPS && rc == 0; step++)
		print(b, (enum step)step);
	return rc;
}

static int bench_all(struct bench *b)
{
	static const uint64_t pages[] = {1, 10, 100};
	int rc = 0;

	printf("%10s %7s %7s  %-12s %11s %11s %11s %11s %11s %11s %11s\n", "#page", "#pages", "#window",
	       "operation", "#iterations", "t_min[us]", "t_p50[us]", "99%[us]", "99.9%[us]", "t_max[us]",
	       "[1/s]");
	for (b->shift = 12; b->shift <= 30; b->shift++)
		for (unsigned int i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
			rc = bench(b, pages[i]);
			if (rc == -EINVAL)
				break; /* there are no such pages */
			if (rc != 0)
				return rc;
		}
	return 0;
}

int main(int argc, char **argv)
{
	struct example e = {.name = "alloc",
			    .what = "Allocates and frees remote memory, and prints what that takes.",
			    .unit = "allocations of each kind",
			    .number = 2000};
	struct bench b = {.e = &e, .random = 1};
	int rc = example_open(&e, argc, argv), error;

	if (rc != 0)
		return rc;
	for (int step = 0; step < STEPS; step++) {
		b.ns[step] = calloc(e.number, sizeof(b.ns[step][0]));
		if (b.ns[step] == NULL)
			return complain(&e, "--number", "is too large for this machine");
	}
	b.q = example_queue(&e, 1);
	rc = memfab_space_new(b.q, e.target != NULL ? &e.memory : NULL, 1, &b.space);
	if (rc != 0)
		return complain_of(&e, "the space cannot be made", rc);
	rc = bench_all(&b);
	error = memfab_space_end(b.q, b.space);
	memfab_queue_free(b.q);
	memfab_close(e.fabric);
	for (int step = 0; step < STEPS; step++)
		free(b.ns[step]);
	return rc != 0 || error != 0 ? complain_of(&e, "operation", rc != 0 ? rc : error) : 0;
}
