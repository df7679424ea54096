/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and frees the slow path of a virtual memory, and tells how it stands. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/mf_seeded_bug.h"
#include "memory/map.h"
#include "memory/vm_slow.h"

#define HOST_PAGE 4096 /* octets */

static uint8_t *octets_of(const struct vm_class_pages *p, uint32_t page, uint64_t offset)
{
	return p->slow->octets + mf_vm_layout_at(&p->slow->layout, p->page_class, page) + offset;
}

/** Past the caches, which are the fast path's, where that can be. */
static void clear(uint8_t *octets, uint64_t len)
{
#ifdef __SSE2__
	if (((uintptr_t)octets | len) % sizeof(__m128i) == 0) {
		for (uint64_t i = 0; i < len; i += sizeof(__m128i))
			_mm_stream_si128((__m128i *)(void *)(octets + i), _mm_setzero_si128());
		_mm_sfence(); /* before an item says that the page is zero */
		return;
	}
#endif
	memset(octets, 0, len);
}

static void zero(void *ctx, uint32_t page, uint64_t offset, uint64_t len)
{
	if (!MF_SEEDED_BUG(page_not_zeroed))
		clear(octets_of(ctx, page, offset), len);
}

/** It is written, or the first write would fault. It is zero, and stays so. */
static void touch(void *ctx, uint32_t page, uint64_t offset, uint64_t len)
{
	volatile uint8_t *octets = octets_of(ctx, page, offset);

	for (uint64_t i = 0; i < len; i += HOST_PAGE)
		octets[i] = 0;
}

static bool make_pools(struct mf_vm_slow *s)
{
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++) {
		struct vm_class_pages *p = &s->pages[c];
		const struct mf_page_pool_config pc = {.pages = s->layout.of[c].pages,
						       .first = s->layout.of[c].first,
						       .octets = UINT64_C(1) << s->layout.of[c].shift,
						       .zero = zero,
						       .touch = s->config.touch ? touch : NULL,
						       .ctx = p};

		*p = (struct vm_class_pages){
			.slow = s, .page_class = c, .credit = s->config.ring, .supply = true};
		if (pc.pages == 0)
			continue;
		p->pool = mf_page_pool_new(&pc);
		if (p->pool == NULL)
			return false;
	}
	return true;
}

/** What depends on secrets. */
static bool make_keyed(struct mf_vm_slow *s)
{
	struct mf_page_shape_config sc = {
		.pages = s->layout.pages, .slots = s->config.slots, .bucket = s->config.bucket};
	struct mf_page_shape shape;
	int error;

	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		sc.key[i] = s->config.secrets.mix[i];
	error = mf_page_shape_init(&shape, &sc);
	if (error != 0) {
		errno = -error;
		return false;
	}
	s->use = mf_bucket_use_new(&shape);
	return s->use != NULL;
}

static bool make_tables(struct mf_vm_slow *s)
{
	const struct mf_range_pool_config rc = {.ranges = s->config.ranges, .covered_max = VM_SLOW_COVERED};

	s->ranges = make_keyed(s) ? mf_range_pool_new(&rc) : NULL;
	s->numbered_mapped = MF_SPACES * sizeof(*s->numbered);
	s->numbered = s->ranges != NULL ? memory_map(s->numbered_mapped, false) : NULL;
	return s->numbered != NULL;
}

static bool make_lists(struct mf_vm_slow *s)
{
	s->space = calloc(s->config.spaces, sizeof(*s->space));
	s->places = s->config.tasks + 1;
	s->task = s->space != NULL ? calloc(s->places, sizeof(*s->task)) : NULL;
	s->place = s->task != NULL ? calloc(s->places, sizeof(*s->place)) : NULL;
	s->out = s->place != NULL ? mf_vm_queue_new(VM_SLOW_QUEUE) : NULL;
	if (s->out == NULL)
		return false;
	for (uint32_t i = 0; i < s->config.spaces; i++)
		s->space[i].next_free = i + 1;
	for (uint32_t i = 0; i < s->places; i++)
		s->place[i] = i;
	return true;
}

struct mf_vm_slow *mf_vm_slow_new(const struct mf_vm_config *config, uint8_t *octets)
{
	struct mf_vm_slow *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return NULL;
	s->config = *config;
	s->octets = octets;
	rc = mf_vm_layout(config, &s->layout);
	if (rc == 0 && (config->tasks == 0 || config->tasks > MF_VM_TASKS_MAX || config->spaces == 0 ||
			config->spaces > MF_SPACES || config->ring == 0))
		rc = -EINVAL;
	errno = -rc;
	if (rc == 0 && make_pools(s) && make_tables(s) && make_lists(s))
		return s;
	rc = errno;
	mf_vm_slow_free(s);
	errno = rc;
	return NULL;
}

void mf_vm_slow_free(struct mf_vm_slow *s)
{
	if (s == NULL)
		return;
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		mf_page_pool_free(s->pages[c].pool);
	mf_bucket_use_free(s->use);
	mf_range_pool_free(s->ranges);
	memory_unmap(s->numbered, s->numbered_mapped);
	free(s->space);
	free(s->task);
	free(s->place);
	free(s->out);
	free(s);
}

int mf_vm_slow_renew(struct mf_vm_slow *s, const struct mf_vm_secrets *secrets)
{
	s->config.secrets = *secrets;
	mf_bucket_use_free(s->use);
	s->use = NULL;
	return make_keyed(s) ? 0 : -ENOMEM;
}

struct mf_vm_queue *mf_vm_slow_out(struct mf_vm_slow *s)
{
	return s->out;
}

uint32_t mf_vm_slow_next_space(const struct mf_vm_slow *s, uint32_t *place)
{
	while (*place < s->records) {
		uint32_t record = (*place)++, number = s->space[record].number;

		if (s->numbered[number].record == record + 1)
			return number;
	}
	return MF_SPACES;
}

void mf_vm_slow_stats(const struct mf_vm_slow *s, struct mf_vm_slow_stats *out)
{
	*out = s->stats;
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++) {
		const struct mf_page_pool_stats *p;

		if (s->pages[c].pool == NULL)
			continue;
		p = mf_page_pool_stats(s->pages[c].pool);
		out->pages[c].free = p->fresh + p->clean;
		out->pages[c].zeroing = p->dirty + p->working;
		out->pages[c].fast = p->out;
	}
	out->slots = mf_bucket_use_taken(s->use);
	out->ranges_left = mf_range_pool_left(s->ranges);
	out->spaces = s->spaces;
	out->under_way = s->tasks - s->ending;
}
