/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations as a program sees them, and what its neighbour notices of them. */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "program.h"

#define PERCENT 90 /* of the pages are allocated while allocations are measured */
#define SIZES 2
#define LARGE 10000 /* pages of a request of the neighbour */
#define READ_PAGES 1000
#define SLICE 2e6 /* ns in which the neighbour rests, or does not */

static const uint64_t request[SIZES] = {1, 100}; /* pages */

/** Allocations of one size. */
struct kept {
	uint64_t *ptr;
	uint64_t n, pages;
	struct mf_hist ns;
};

struct allocations {
	struct memfab_queue *q;
	struct memfab_space *space;
	struct kept kept[SIZES];
	struct mf_rng rng;
};

static void allocate(struct allocations *a, struct kept *k)
{
	double begin = program_ns();

	program_must(memfab_ralloc(a->q, a->space, k->pages * PROGRAM_PAGE, 0, &k->ptr[k->n]), "allocation");
	mf_hist_add(&k->ns, (uint64_t)(program_ns() - begin));
	k->n++;
}

static void free_any(struct allocations *a, struct kept *k)
{
	uint64_t i = mf_rng_below(&a->rng, k->n), ptr = k->ptr[i];

	k->ptr[i] = k->ptr[--k->n];
	program_must(memfab_rfree(a->q, a->space, ptr, k->pages * PROGRAM_PAGE), "free");
}

/** Half of the pages by each size of requests. */
static void fill(struct allocations *a, uint64_t pages)
{
	for (uint64_t full = 0; full + request[1] + request[1] <= pages; full += 2 * request[1]) {
		allocate(a, &a->kept[1]);
		for (uint64_t i = 0; i < request[1]; i++)
			allocate(a, &a->kept[0]);
	}
}

void program_ralloc(struct program *p)
{
	uint64_t pages = memfab_memory(p->fabric, p->memory) / PROGRAM_PAGE * PERCENT / 100;
	struct allocations a = {.q = program_queue(p, "cn0", 4)};
	struct bench_watch w;
	double end;

	mf_rng_init(&a.rng, 1, "allocations", 0);
	program_must(memfab_space_new(a.q, &p->memory, 1, &a.space), "space");
	for (unsigned int i = 0; i < SIZES; i++) {
		a.kept[i].pages = request[i];
		a.kept[i].ptr = calloc(pages, sizeof(uint64_t));
		program_must(a.kept[i].ptr != NULL ? 0 : -ENOMEM, "allocations");
	}
	fill(&a, pages);
	for (unsigned int i = 0; i < SIZES; i++)
		mf_hist_reset(&a.kept[i].ns);
	program_start(p, &w);
	for (end = program_ns() + p->seconds * 1e9; program_ns() < end;)
		for (unsigned int i = 0; i < SIZES; i++) {
			free_any(&a, &a.kept[i]);
			allocate(&a, &a.kept[i]);
		}
	program_stop(p, &w);
	for (unsigned int i = 0; i < SIZES; i++) {
		p->figure[p->figures++] = (double)mf_hist_percentile(&a.kept[i].ns, 500000);
		free(a.kept[i].ptr);
	}
	program_must(memfab_space_end(a.q, a.space), "end");
	memfab_queue_free(a.q);
}

/* ---- two tenants ---- */

/** Who reads, and who allocates. */
struct tenants {
	struct memfab_queue *reader, *other;
	struct memfab_space *read, *large;
	int memory;
	uint64_t ptr; /**< of what is read */
	uint64_t at; /**< of what the other one has; 0: nothing */
	bool under_way; /**< an allocation or a free */
	unsigned long done;
	struct mf_rng rng;
};

static double read_one(struct tenants *t)
{
	static uint64_t to[8];
	uint64_t page = mf_rng_below(&t->rng, READ_PAGES);
	double begin = program_ns();

	program_must(memfab_rread(t->reader, t->read, t->ptr + page * PROGRAM_PAGE, to, sizeof(to)), "read");
	return program_ns() - begin;
}

/** What it has is freed, else it allocates. */
static void begin(struct tenants *t)
{
	struct memfab_sqe *s = memfab_get_sqe(t->other);

	if (t->at != 0)
		memfab_prep_rfree(s, t->large, t->at, LARGE * PROGRAM_PAGE);
	else
		memfab_prep_ralloc(s, t->large, t->memory, LARGE * PROGRAM_PAGE, 12, MEMFAB_RIGHTS_WRITE);
	memfab_submit(t->other);
	t->under_way = true;
}

static bool end(struct tenants *t)
{
	const struct memfab_cqe *c = memfab_peek_cqe(t->other);

	if (c == NULL)
		return false;
	program_must((int)c->res, t->at != 0 ? "free" : "allocation");
	t->at = t->at != 0 ? 0 : c->old;
	memfab_cq_advance(t->other, 1);
	t->under_way = false;
	t->done++;
	return true;
}

/** Between two reads. @param works  it begins the next one at once, else it ends what is under way */
static void neighbour(struct tenants *t, bool works)
{
	if (t->under_way)
		end(t);
	if (!t->under_way && works)
		begin(t);
}

/** Reads for a while. */
static void slice(struct tenants *t, bool works, struct mf_hist *h)
{
	double until = program_ns() + SLICE;

	while (program_ns() < until) {
		neighbour(t, works);
		mf_hist_add(h, (uint64_t)read_one(t));
	}
	while (t->under_way && !works)
		end(t);
}

void program_neighbour(struct program *p)
{
	struct tenants t = {.reader = program_queue(p, "cn0", 4),
			    .other = program_queue(p, "cn1", 4),
			    .memory = p->memory};
	static struct mf_hist h[2];
	struct bench_watch w;
	double end_at;

	mf_rng_init(&t.rng, 1, "tenants", 0);
	program_must(memfab_space_new(t.reader, &p->memory, 1, &t.read), "space");
	program_must(memfab_space_new(t.other, &p->memory, 1, &t.large), "space");
	program_must(memfab_ralloc(t.reader, t.read, READ_PAGES * PROGRAM_PAGE, MEMFAB_POPULATE, &t.ptr),
		     "allocation");
	slice(&t, true, &h[0]);
	slice(&t, false, &h[0]);
	mf_hist_reset(&h[0]);
	program_start(p, &w);
	for (end_at = program_ns() + p->seconds * 1e9; program_ns() < end_at;)
		for (unsigned int works = 0; works < 2; works++) {
			slice(&t, works, &h[works]);
			while (works && t.under_way)
				end(&t);
		}
	program_stop(p, &w);
	p->figure[p->figures++] = (double)mf_hist_percentile(&h[0], 990000);
	p->figure[p->figures++] = (double)mf_hist_percentile(&h[1], 990000);
	p->figure[p->figures++] = (double)t.done;
	program_must(memfab_space_end(t.reader, t.read), "end");
	program_must(memfab_space_end(t.other, t.large), "end");
	memfab_queue_free(t.reader);
	memfab_queue_free(t.other);
}
