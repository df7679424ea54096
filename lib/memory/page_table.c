/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry of 64 bits, of which a table with 2^b buckets divides the upper ones so:
 *
 *      rest of the mixed tag 58 - b | physical page b + 3 | state 3
 *
 * A state of 0 is that of an empty slot, which is 0 as a whole; others are 1 + 2 rights + present.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mf_fetch.h"
#include "memory/map.h"
#include "memory/mf_page_table.h"

#define STATE_BITS 3
#define STATE_MASK ((UINT64_C(1) << STATE_BITS) - 1)
#define STATE(rights, present) (1 + 2 * (uint64_t)(rights) + (uint64_t)(present))
#define LINE 64
#define ENTRIES_OF_LINE (LINE / sizeof(uint64_t))
#define HOST_PAGE (UINT64_C(2) << 20) /* octets; a mapping is a multiple of it */

static_assert(STATE(MF_PAGE_RIGHTS - 1, true) <= STATE_MASK, "a state has 3 bits");

struct mf_page_table {
	struct mf_page_shape shape;
	unsigned int rest_shift;
	uint64_t mapped; /**< octets */
	struct mf_page_table_stats stats;
	uint64_t *entry;
};

struct mf_page_table *mf_page_table_new(const struct mf_page_shape *shape, bool huge_pages)
{
	struct mf_page_table *t = calloc(1, sizeof(*t));
	uint64_t size = mf_page_slots(shape) * sizeof(t->entry[0]);

	if (t == NULL)
		return NULL;
	t->shape = *shape;
	t->rest_shift = 64 - (MF_TAG_BITS - shape->bits);
	t->mapped = (size + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
	t->entry = memory_map(t->mapped, huge_pages && size >= HOST_PAGE);
	if (t->entry != NULL)
		return t;
	free(t);
	return NULL;
}

void mf_page_table_free(struct mf_page_table *t)
{
	if (t == NULL)
		return;
	memory_unmap(t->entry, t->mapped);
	free(t);
}

/** All lines at once: none of them is waited for before the next one is asked for. */
static inline void fetch_bucket(const uint64_t *bucket, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i += ENTRIES_OF_LINE)
		__builtin_prefetch(bucket + i);
}

static inline uint64_t first_slot(const struct mf_page_table *t, uint64_t mixed)
{
	return mf_page_bucket(&t->shape, mixed) << t->shape.bucket_shift;
}

void mf_page_table_fetch(const struct mf_page_table *t, uint64_t tag)
{
	mf_fetch_only();
	fetch_bucket(t->entry + first_slot(t, mf_page_mix(&t->shape, tag)), t->shape.bucket);
}

/** @return the slot that has a tag; MF_TAG_NONE: none has it */
static inline uint64_t slot_of(const struct mf_page_table *t, uint64_t tag)
{
	uint64_t mixed = mf_page_mix(&t->shape, tag), first = first_slot(t, mixed);
	uint64_t want = mf_page_rest(&t->shape, mixed) << t->rest_shift;
	uint64_t others = (UINT64_C(1) << t->rest_shift) - 1;
	const uint64_t *bucket = t->entry + first;

	fetch_bucket(bucket, t->shape.bucket);
	/* An entry with this rest differs from want in lower bits alone; and does, as its state is not 0. */
	for (uint32_t i = 0; i < t->shape.bucket; i++)
		if ((bucket[i] ^ want) - 1 < others)
			return first + i;
	return MF_TAG_NONE;
}

static struct mf_mapping mapping_of(const struct mf_page_table *t, uint64_t slot)
{
	uint64_t entry = t->entry[slot], state = (entry & STATE_MASK) - 1;
	uint64_t page = (entry & ((UINT64_C(1) << t->rest_shift) - 1)) >> STATE_BITS;

	return (struct mf_mapping){
		.slot = slot, .page = (uint32_t)page, .rights = (uint8_t)(state / 2), .present = state & 1};
}

bool mf_page_table_find(const struct mf_page_table *t, uint64_t tag, struct mf_mapping *out)
{
	uint64_t slot = slot_of(t, tag);

	if (slot == MF_TAG_NONE)
		return false;
	*out = mapping_of(t, slot);
	return true;
}

int mf_page_table_add(struct mf_page_table *t, uint64_t tag, uint8_t rights)
{
	uint64_t mixed = mf_page_mix(&t->shape, tag);
	uint64_t *bucket = t->entry + first_slot(t, mixed);

	if (rights >= MF_PAGE_RIGHTS)
		return -EINVAL;
	if (slot_of(t, tag) != MF_TAG_NONE)
		return -EEXIST;
	for (uint32_t i = 0; i < t->shape.bucket; i++) {
		if (bucket[i] != 0)
			continue;
		bucket[i] = mf_page_rest(&t->shape, mixed) << t->rest_shift | STATE(rights, false);
		t->stats.entries++;
		return 0;
	}
	return -ENOSPC;
}

void mf_page_table_map(struct mf_page_table *t, uint64_t slot, uint32_t page)
{
	uint64_t entry = t->entry[slot];

	assert(entry != 0 && !mapping_of(t, slot).present && page < t->shape.pages);
	t->entry[slot] = (entry | (uint64_t)page << STATE_BITS) + 1; /* the state, with a page */
	t->stats.present++;
}

int mf_page_table_protect(struct mf_page_table *t, uint64_t tag, uint8_t rights)
{
	uint64_t slot = slot_of(t, tag);

	if (rights >= MF_PAGE_RIGHTS) /* their bits would be those of another page's number */
		return -EINVAL;
	if (slot == MF_TAG_NONE)
		return -ENOENT;
	t->entry[slot] = (t->entry[slot] & ~STATE_MASK) | STATE(rights, mapping_of(t, slot).present);
	return 0;
}

int mf_page_table_remove(struct mf_page_table *t, uint64_t tag, struct mf_mapping *was)
{
	uint64_t slot = slot_of(t, tag);

	if (slot == MF_TAG_NONE)
		return -ENOENT;
	*was = mapping_of(t, slot);
	t->entry[slot] = 0;
	t->stats.entries--;
	t->stats.present -= was->present;
	return 0;
}

struct mf_page_table_stats mf_page_table_stats(const struct mf_page_table *t)
{
	return t->stats;
}
