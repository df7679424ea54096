/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of a memory with spaces, by the wall clock: a hit of the translation cache, a miss, a first access
 * of a page. The table of pages, and what is looked up there, are far larger than the caches. Each access
 * waits for the one before it, as that says where the next one is. So what is measured is latency.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mf_rng.h"
#include "bench.h"
#include "memory/mf_vm_slow.h"

#define NODE 1
#define SPACE (NODE << 13)
#define SHIFT 12 /* of a page */
#define LINE 64
#define BATCH 4096 /* accesses of a step */
#define HOT 16 /* pages of a hit */
#define RING (2 * BATCH)
#define PAGES (UINT64_C(1) << 21) /* that are allocated: two for each bucket */
#define PHYSICAL (UINT64_C(1) << 23) /* their table has 128 MiB */
#define TABLE (2 * PHYSICAL * sizeof(uint64_t))
#define PAGES_DATA (UINT64_C(1) << 20) /* where octets are read: as many lines, 64 MiB, in 4 GiB */

/** What is measured. */
enum memory_what {
	MEMORY_DRAM, /**< a line of memory, and nothing else */
	MEMORY_FLAT,
	MEMORY_FLAT_READ, /**< octets are read, from as much memory as MEMORY_MISS_READ has */
	MEMORY_HIT,
	MEMORY_MISS,
	MEMORY_MISS_READ,
	MEMORY_FAULT
};

struct memory_param {
	enum memory_what what;
	int over; /**< the figure is what it takes more than this, enum memory_what; -1: all of it */
};

/** A memory, and where the next access is. */
struct side {
	enum memory_what what;
	uint64_t pages; /**< of accesses, a power of two */
	uint64_t next; /**< number of the next one; each comes once in turn, in a random order */
	uint64_t begun; /**< accesses so far: of faults */
	uint64_t at; /**< address of the first page */
	uint64_t key[MF_SPACE_RIGHTS];
	uint32_t number; /**< of tasks */
	const struct mf_memory_ops *ops;
	struct mf_memory *memory;
	struct mf_vm *fast;
	struct mf_vm_slow *slow;
	uint64_t *line; /**< DRAM: each line has the number of the next one */
};

struct memory_bench {
	const struct bench_env *env;
	bool over;
	struct side side[2]; /**< [1]: what is taken off */
};

/* ---- both paths of a memory ---- */

static void settle(struct side *s)
{
	struct mf_vm_item item;
	bool any;

	do {
		any = false;
		for (; mf_vm_queue_take(mf_vm_out(s->fast), &item); any = true)
			mf_vm_slow_take(s->slow, &item);
		any |= mf_vm_slow_work(s->slow, 4096, 1 << 20);
		for (; mf_vm_queue_take(mf_vm_slow_out(s->slow), &item); any = true)
			mf_vm_take(s->fast, &item);
	} while (any);
}

static uint64_t ask(struct side *s, uint8_t what, uint64_t how_much)
{
	const struct mf_vm_request r = {.what = what,
					.node = NODE,
					.number = ++s->number,
					.space = SPACE,
					.key = s->key[MF_RIGHT_WRITE],
					.arg = {how_much}};
	uint64_t result = 0;

	(void)mf_vm_ask(s->fast, &r, &result);
	settle(s);
	(void)mf_vm_ask(s->fast, &r, &result);
	return result;
}

static struct mf_access access_of(const struct side *s, uint64_t page)
{
	return (struct mf_access){.addr = s->at + (page << SHIFT) + page % (4096 / LINE) * LINE,
				  .key = s->key[MF_RIGHT_READ],
				  .len = LINE,
				  .space = s->fast != NULL ? SPACE : 0,
				  .node = NODE,
				  .right = MF_RIGHT_READ};
}

/** Each page has had its first access. @param writes  also in the host's kernel */
static bool touch_pages(struct side *s, bool writes)
{
	static const uint64_t one = 1;

	for (uint64_t i = 0; i < s->pages; i++) {
		struct mf_access a = access_of(s, i);
		struct mf_answer out;

		if (writes) {
			a.right = MF_RIGHT_WRITE;
			a.key = s->key[MF_RIGHT_WRITE];
			a.data = &one;
			a.len = sizeof(one);
		}
		if (s->ops->access(s->memory, &a, &out) != MF_OK)
			return false;
		if (s->fast != NULL && i % BATCH == 0)
			settle(s);
	}
	return true;
}

static bool open_vm(struct side *s)
{
	struct mf_vm_config c = {.page_class = {{.shift = SHIFT, .pages = PHYSICAL}},
				 .slots = 2,
				 .bucket = 16,
				 .tlb_sets = 64,
				 .tlb_ways = 16,
				 .ring = RING,
				 .pins = 64,
				 .tasks = 4,
				 .node_tasks = 1,
				 .spaces = 4,
				 .ranges = 64,
				 .retries_max = 60,
				 .huge_pages = true};
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "memory", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.secrets.mix[i] = mf_rng_next(&rng);
	c.secrets.tlb = mf_rng_next(&rng);
	c.secrets.key[0] = mf_rng_next(&rng);
	s->ops = &mf_memory_virtual;
	s->fast = mf_vm_new(&c);
	s->slow = s->fast != NULL ? mf_vm_slow_new(&c, mf_vm_octets(s->fast)) : NULL;
	if (s->slow == NULL)
		return false;
	s->memory = mf_vm_memory(s->fast);
	settle(s);
	(void)ask(s, MF_SPACE_MAKE, 0);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		s->key[right] = ask(s, MF_SPACE_JOIN, right);
	s->at = ask(s, MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(s->pages << SHIFT, 0, MF_PAGE_WRITE));
	return s->at != 0 && (s->what == MEMORY_FAULT || touch_pages(s, s->what == MEMORY_MISS_READ));
}

static bool open_flat(struct side *s)
{
	const struct mf_memory_config c = {.size = s->pages << SHIFT, .numa_node = -1, .huge_pages = true};

	s->ops = &mf_memory_flat;
	s->memory = mf_memory_flat.create(&c);
	return s->memory != NULL && touch_pages(s, true);
}

static void close_side(struct side *s)
{
	if (s->fast != NULL) {
		mf_vm_slow_free(s->slow);
		mf_vm_free(s->fast);
	} else if (s->memory != NULL) {
		s->ops->destroy(s->memory);
	}
	if (s->line != NULL)
		munmap(s->line, TABLE);
	s->fast = NULL;
	s->slow = NULL;
	s->memory = NULL;
	s->line = NULL;
}

/* ---- the next one ---- */

/** Each number below a power of two comes once, and no stride is seen by the CPU. */
static inline uint64_t follow(uint64_t n, uint64_t pages)
{
	return (n * UINT64_C(0x5851f42d4c957f2d) + UINT64_C(0x14057b7ef767814f)) & (pages - 1);
}

/** The low bits of such a sequence repeat soon: these do not. */
static inline uint64_t spread(uint64_t n, uint64_t pages)
{
	uint64_t m = n * UINT64_C(0x9e3779b97f4a7c15) & (pages - 1);

	m ^= m >> 9;
	return m * UINT64_C(0xd6e8feb86659fd93) & (pages - 1);
}

static bool open_dram(struct side *s)
{
	const uint64_t lines = TABLE / LINE, words = LINE / sizeof(uint64_t);

	s->line = mmap(NULL, TABLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->line == MAP_FAILED) {
		s->line = NULL;
		return false;
	}
	(void)madvise(s->line, TABLE, MADV_HUGEPAGE);
	s->pages = lines;
	for (uint64_t i = 0, n = 0; i < lines; i++, n = follow(n, lines))
		s->line[spread(n, lines) * words] = spread(follow(n, lines), lines) * words;
	return true;
}

static bool open_side(struct side *s, enum memory_what what)
{
	*s = (struct side){.what = what,
			   .pages = what == MEMORY_FLAT || what == MEMORY_HIT              ? HOT
				    : what == MEMORY_FLAT_READ || what == MEMORY_MISS_READ ? PAGES_DATA
											   : PAGES};
	if (what == MEMORY_DRAM)
		return open_dram(s);
	return what == MEMORY_FLAT || what == MEMORY_FLAT_READ ? open_flat(s) : open_vm(s);
}

/* ---- measured ---- */

static uint64_t chase(void *ctx)
{
	struct side *s = ctx;
	uint64_t at = s->next;

	for (unsigned int i = 0; i < BATCH; i++)
		at = s->line[at];
	s->next = at;
	return BATCH;
}

/** Where an access is depends on what the one before has answered: by an octet that is 0. */
static uint64_t accesses(void *ctx)
{
	struct side *s = ctx;
	bool reads = s->what == MEMORY_FLAT_READ || s->what == MEMORY_MISS_READ;
	uint64_t failed = 0, depends = 0;

	for (unsigned int i = 0; i < BATCH; i++) {
		struct mf_access a = access_of(s, spread(s->next, s->pages));
		struct mf_answer out;

		a.addr += depends;
		failed += s->ops->access(s->memory, &a, &out) != MF_OK;
		depends = (uintptr_t)out.places.at[0] >> 63;
		if (reads)
			depends |= *(const uint64_t *)(const void *)out.places.at[0] >> 63;
		s->next = follow(s->next, s->pages);
	}
	s->begun += BATCH;
	if (failed != 0)
		abort();
	return BATCH;
}

/** The ring is full again. Where each page has been accessed, another memory has pages that have not. */
static void prepare_faults(void *ctx)
{
	struct side *s = ctx;

	if (s->begun + BATCH > s->pages) {
		close_side(s);
		if (!open_side(s, MEMORY_FAULT))
			abort();
	}
	settle(s);
}

static double run_side(struct memory_bench *m, struct side *s, struct bench_sample *out)
{
	double n = bench_loop(m->env, s->what == MEMORY_FAULT ? prepare_faults : NULL,
			      s->what == MEMORY_DRAM ? chase : accesses, s, out);

	return out->cpu * 1e9 / n;
}

static int memory_run(void *state, struct bench_sample *out, char *why)
{
	struct memory_bench *m = state;
	struct bench_sample less = {.value = 0};

	(void)why;
	out->value = run_side(m, &m->side[0], out);
	if (!m->over)
		return 0;
	out->value -= run_side(m, &m->side[1], &less);
	out->cpu += less.cpu;
	out->got += less.got;
	out->wall += less.wall;
	return 0;
}

static void memory_close(void *state)
{
	struct memory_bench *m = state;

	close_side(&m->side[0]);
	close_side(&m->side[1]);
	free(m);
}

static void *memory_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	const struct memory_param *p = line->param;
	struct memory_bench *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->env = env;
	m->over = p->over >= 0;
	if (open_side(&m->side[0], p->what) &&
	    (!m->over || open_side(&m->side[1], (enum memory_what)p->over)))
		return m;
	snprintf(why, BENCH_REASON, "no memory: %s", strerror(errno));
	memory_close(m);
	return NULL;
}

static const struct bench_ops memory_ops = {.open = memory_open, .run = memory_run, .close = memory_close};

struct memory_line {
	const char *name, *what;
	struct memory_param param;
	bool reference;
	enum bench_goal_kind goal_kind;
	double goal;
	const char *beside[2];
};

static void add(struct bench_suite *s, const struct memory_line *l)
{
	struct bench_line line = {.unit = "ns",
				  .better = BENCH_LOWER,
				  .reference = l->reference,
				  .crosses = -1,
				  .goal_kind = l->goal_kind,
				  .goal = l->goal,
				  .beside = {l->beside[0], l->beside[1]},
				  .ops = &memory_ops,
				  .param = &l->param};

	snprintf(line.name, sizeof(line.name), "%s", l->name);
	snprintf(line.what, sizeof(line.what), "%s", l->what);
	bench_add(s, &line);
}

void bench_memory_references(struct bench_suite *s)
{
	static const struct memory_line lines[] = {
		{.name = "reference.dram",
		 .what = "one line after the other, of 128 MiB",
		 .param = {MEMORY_DRAM, -1},
		 .reference = true},
		{.name = "reference.flat",
		 .what = "access of flat memory, 16 pages",
		 .param = {MEMORY_FLAT, -1},
		 .reference = true},
		{.name = "reference.flat.read",
		 .what = "access of flat memory, 64 MiB of lines, read",
		 .param = {MEMORY_FLAT_READ, -1},
		 .reference = true},
	};

	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add(s, &lines[i]);
}

void bench_memory(struct bench_suite *s)
{
	static const struct memory_line lines[] = {
		{.name = "memory.hit",
		 .what = "access of a space, in the TLB",
		 .param = {MEMORY_HIT, -1},
		 .beside = {"reference.flat"}},
		{.name = "memory.hit.adds",
		 .what = "what a hit adds to flat memory",
		 .param = {MEMORY_HIT, MEMORY_FLAT},
		 .goal_kind = BENCH_GOAL,
		 .goal = 15},
		{.name = "memory.miss",
		 .what = "access of a space, table of 128 MiB",
		 .param = {MEMORY_MISS, -1},
		 .goal_kind = BENCH_GOAL_RATIO,
		 .goal = 1.4,
		 .beside = {"reference.dram"}},
		{.name = "memory.miss.read",
		 .what = "the same, and its octets are read",
		 .param = {MEMORY_MISS_READ, -1},
		 .beside = {"reference.flat.read", "reference.dram"}},
		{.name = "memory.fault",
		 .what = "first access of a page",
		 .param = {MEMORY_FAULT, -1},
		 .beside = {"reference.dram"}},
		{.name = "memory.fault.adds",
		 .what = "what a first access adds to a miss",
		 .param = {MEMORY_FAULT, MEMORY_MISS},
		 .goal_kind = BENCH_GOAL,
		 .goal = 60},
	};

	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add(s, &lines[i]);
}
