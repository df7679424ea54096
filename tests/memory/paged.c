/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "paged.h"

#define NONE UINT32_MAX
#define CACHE 8 /* translations */
#define SPARE 4096 /* frames beyond one a page: of moves, and of pages that were freed and are held */
#define STRIDE 7919 /* a prime: neighbours in the order of frames are that far apart */

struct frame {
	uint32_t page; /* NONE: free, or held of a page that was freed */
	uint32_t held;
};

struct mf_memory {
	uint64_t size, held;
	uint32_t page, pages, frames, free;
	uint32_t *frame_of; /* [pages] */
	struct frame *frame;
	uint32_t *free_frame; /* a ring, so that a frame is not used again at once */
	uint32_t free_head;
	uint32_t cache[CACHE], cache_next;
	uint32_t last[2]; /* pages of the access before */
	mf_time dram;
	uint8_t *bytes;
};

struct paged_counts paged_counts;
static uint32_t page_size = 4092;

void paged_reset(uint32_t page)
{
	page_size = page;
	paged_counts = (struct paged_counts){0};
}

static uint8_t *bytes_of(const struct mf_memory *m, uint32_t frame)
{
	return m->bytes + (size_t)frame * m->page;
}

static void give_frame(struct mf_memory *m, uint32_t frame)
{
	memset(bytes_of(m, frame), 0xdd, m->page);
	m->frame[frame].page = NONE;
	m->free_frame[(m->free_head + m->free++) % m->frames] = frame;
}

static uint32_t take_frame(struct mf_memory *m, uint32_t page)
{
	uint32_t frame;

	if (m->free == 0)
		return NONE;
	frame = m->free_frame[m->free_head];
	m->free_head = (m->free_head + 1) % m->frames;
	m->free--;
	m->frame[frame].page = page;
	m->frame_of[page] = frame;
	return frame;
}

static void paged_destroy(struct mf_memory *m)
{
	if (m == NULL)
		return;
	paged_counts.destroyed++;
	paged_counts.left_held += m->held;
	free(m->frame_of);
	free(m->frame);
	free(m->free_frame);
	free(m->bytes);
	free(m);
}

static struct mf_memory *paged_create(const struct mf_memory_config *c)
{
	struct mf_memory *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->size = c->size;
	m->dram = c->dram;
	m->page = page_size;
	m->pages = (uint32_t)((c->size + m->page - 1) / m->page);
	m->frames = m->pages + SPARE;
	m->frames += m->frames % STRIDE == 0;
	m->frame_of = malloc(m->pages * sizeof(*m->frame_of));
	m->frame = calloc(m->frames, sizeof(*m->frame));
	m->free_frame = malloc(m->frames * sizeof(*m->free_frame));
	m->bytes = calloc(m->frames, m->page);
	paged_counts.made++;
	if (m->frame_of == NULL || m->frame == NULL || m->free_frame == NULL || m->bytes == NULL) {
		paged_destroy(m);
		errno = ENOMEM;
		return NULL;
	}
	memset(m->frame_of, 0xff, m->pages * sizeof(*m->frame_of));
	for (uint32_t i = 0; i < m->frames; i++) {
		m->frame[i].page = NONE;
		m->free_frame[i] = (uint32_t)((uint64_t)i * STRIDE % m->frames);
	}
	m->free = m->frames;
	for (int i = 0; i < CACHE; i++)
		m->cache[i] = NONE;
	m->last[0] = m->last[1] = NONE;
	return m;
}

/* Never that of a page that is held. */
static void move(struct mf_memory *m, uint32_t page)
{
	uint32_t from = page != NONE ? m->frame_of[page] : NONE, to;

	if (from == NONE || m->frame[from].held != 0)
		return;
	to = take_frame(m, page);
	if (to == NONE)
		return;
	memcpy(bytes_of(m, to), bytes_of(m, from), m->page);
	give_frame(m, from);
	paged_counts.moved++;
}

void paged_free(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	for (uint64_t page = addr / m->page; page * m->page < addr + len; page++) {
		uint32_t frame = m->frame_of[page];

		if (frame == NONE)
			continue;
		m->frame_of[page] = NONE;
		m->frame[frame].page = NONE;
		if (m->frame[frame].held == 0)
			give_frame(m, frame);
	}
}

/* @return what the translation takes */
static mf_time translate(struct mf_memory *m, uint32_t page, bool dry)
{
	for (int i = 0; i < CACHE; i++)
		if (m->cache[i] == page) {
			paged_counts.hits += !dry;
			return 0;
		}
	if (!dry) {
		paged_counts.misses++;
		m->cache[m->cache_next++ % CACHE] = page;
	}
	return PAGED_MISS;
}

/* The page has a frame from now on. */
static bool fault(struct mf_memory *m, uint32_t page)
{
	uint32_t frame = m->frame_of[page];

	if (frame != NONE)
		return true;
	frame = take_frame(m, page);
	if (frame == NONE)
		return false;
	memset(bytes_of(m, frame), 0, m->page);
	paged_counts.faults++;
	return true;
}

static struct mf_places places_of(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	uint32_t page = (uint32_t)(addr / m->page), in = (uint32_t)(addr % m->page), first = m->page - in;
	struct mf_places p = {.at = {bytes_of(m, m->frame_of[page]) + in}, .len = {len}};

	if (len > first) {
		p.at[1] = bytes_of(m, m->frame_of[page + 1]);
		p.len[0] = first;
		p.len[1] = len - first;
	}
	return p;
}

static void put(const struct mf_places *p, const void *from)
{
	memcpy((uint8_t *)(uintptr_t)p->at[0], from, p->len[0]);
	if (p->len[1] != 0)
		memcpy((uint8_t *)(uintptr_t)p->at[1], (const uint8_t *)from + p->len[0], p->len[1]);
}

static void hold(struct mf_memory *m, const struct mf_places *p)
{
	for (int i = 0; i < 2 && p->len[i] != 0; i++)
		m->frame[(size_t)(p->at[i] - m->bytes) / m->page].held++;
	if (++m->held > paged_counts.held_max)
		paged_counts.held_max = m->held;
}

static void paged_let_go(struct mf_memory *m, const struct mf_places *p)
{
	for (int i = 0; i < 2 && p->len[i] != 0; i++) {
		uint32_t frame = (uint32_t)((size_t)(p->at[i] - m->bytes) / m->page);

		if (m->frame[frame].held == 0) {
			paged_counts.strange++;
			return;
		}
		if (--m->frame[frame].held == 0 && m->frame[frame].page == NONE)
			give_frame(m, frame);
	}
	m->held--;
	paged_counts.let_go++;
}

static void modify(const struct mf_access *a, const struct mf_places *p, uint64_t *old)
{
	uint64_t word;

	mf_places_copy(p, 0, sizeof(*old), old);
	word = mf_memory_modified(a->op, *old, a->data);
	put(p, &word);
}

static void count(const struct mf_access *a, bool crosses)
{
	paged_counts.reads += a->right == MF_RIGHT_READ;
	paged_counts.writes += a->right == MF_RIGHT_WRITE;
	paged_counts.atomics += a->right == MF_RIGHT_RMW;
	paged_counts.crossings += crosses;
	paged_counts.atomic_crossings += crosses && a->right == MF_RIGHT_RMW;
}

static void execute(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	struct mf_places p = places_of(m, a->addr, a->len);

	count(a, p.len[1] != 0);
	if (a->right == MF_RIGHT_WRITE) {
		put(&p, a->data);
	} else if (a->right == MF_RIGHT_RMW) {
		modify(a, &p, &out->old);
	} else {
		out->places = p;
		if (a->hold)
			hold(m, &p);
	}
}

static uint8_t paged_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	uint32_t first = (uint32_t)(a->addr / m->page);
	uint64_t last = (a->addr + a->len - 1) / m->page;

	if (a->right == MF_RIGHT_RMW && a->op >= MF_RMW_OPS)
		return MF_ERR_OPCODE;
	if (a->len > m->size || a->addr > m->size - a->len)
		return MF_ERR_RANGE;
	if (a->right == MF_RIGHT_RMW && a->addr % 8 != 0)
		return MF_ERR_ALIGN;
	if (last > first + 1 && !a->dry)
		return MF_ERR_RESOURCE;
	out->time = a->right == MF_RIGHT_WRITE ? 0 : m->dram;
	out->second = a->right == MF_RIGHT_RMW ? m->dram : 0;
	out->time += translate(m, first, a->dry) + out->second;
	if (last != first)
		out->time += translate(m, first + 1, a->dry);
	if (a->dry) {
		paged_counts.dry++;
		return MF_OK;
	}
	move(m, m->last[0]);
	move(m, m->last[1]);
	if (!fault(m, first) || !fault(m, (uint32_t)last))
		return MF_ERR_RESOURCE;
	execute(m, a, out);
	m->last[0] = first;
	m->last[1] = last != first ? (uint32_t)last : NONE;
	return MF_OK;
}

static uint64_t paged_held(const struct mf_memory *m)
{
	return m->held;
}

static uint8_t paged_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return len <= m->size && addr <= m->size - len ? MF_OK : MF_ERR_RANGE;
}

static void paged_fetch(const struct mf_memory *m, uint64_t addr)
{
	__builtin_prefetch(paged_check(m, addr, 1) == MF_OK ? &m->frame_of[addr / m->page] : NULL);
}

static const void *paged_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	if (paged_check(m, addr, len) != MF_OK || addr % m->page + len > m->page ||
	    m->frame_of[addr / m->page] == NONE)
		return NULL;
	return places_of(m, addr, len).at[0];
}

static uint8_t paged_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	if (paged_check(m, addr, len) != MF_OK)
		return MF_ERR_RANGE;
	while (len > 0) {
		uint64_t in = addr % m->page, n = len < m->page - in ? len : m->page - in;
		uint32_t frame = m->frame_of[addr / m->page];

		if (frame != NONE)
			memset(bytes_of(m, frame) + in, 0, n);
		addr += n;
		len -= n;
	}
	return MF_OK;
}

const struct mf_memory_ops mf_memory_paged = {
	.name = "paged",
	.create = paged_create,
	.destroy = paged_destroy,
	.access = paged_access,
	.let_go = paged_let_go,
	.held = paged_held,
	.fetch = paged_fetch,
	.at = paged_at,
	.check = paged_check,
	.zero = paged_zero,
};
