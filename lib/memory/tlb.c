/* SPDX-License-Identifier: BSD-3-Clause */
/* A use stamps an entry with a count of 64 bits, which does not wrap: the least stamp is the oldest use. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "memory/mf_tlb.h"

#define WAY_BITS 10

static_assert(MF_TLB_WAYS_MAX <= 1 << WAY_BITS, "a way has so many bits");

struct way {
	uint64_t used; /**< stamp; 0: the way is empty */
	uint32_t page;
	uint8_t rights;
};

struct mf_tlb {
	uint64_t times; /**< multiplier of the hash: odd */
	uint64_t now; /**< the last stamp */
	uint32_t sets, ways;
	unsigned int shift; /**< of the hash; with one set it is not used */
	struct mf_tlb_stats stats;
	/** [set][way], apart from the rest: they are what a look-up compares. 16 ways are two whole lines. */
	uint64_t *tag;
	struct way *way;
};

struct mf_tlb *mf_tlb_new(const struct mf_tlb_config *c)
{
	struct mf_tlb *t;

	if (c->sets == 0 || c->sets > MF_TLB_SETS_MAX || (c->sets & (c->sets - 1)) != 0 || c->ways == 0 ||
	    c->ways > MF_TLB_WAYS_MAX) {
		errno = EINVAL;
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return NULL;
	t->times = c->key | 1;
	t->sets = c->sets;
	t->ways = c->ways;
	t->shift = 64;
	while (UINT64_C(1) << (64 - t->shift) < c->sets)
		t->shift--;
	t->tag = mf_table_new((size_t)c->sets * c->ways, sizeof(t->tag[0]));
	t->way = mf_table_new((size_t)c->sets * c->ways, sizeof(t->way[0]));
	if (t->tag == NULL || t->way == NULL) {
		mf_tlb_free(t);
		return NULL;
	}
	mf_tlb_clear(t);
	return t;
}

void mf_tlb_free(struct mf_tlb *t)
{
	if (t == NULL)
		return;
	mf_table_free(t->tag);
	mf_table_free(t->way);
	free(t);
}

/** The place of the first way of a tag's set. */
static inline size_t set_of(const struct mf_tlb *t, uint64_t tag)
{
	return t->sets == 1 ? 0 : (size_t)(tag * t->times >> t->shift) * t->ways;
}

/** The place of a tag. @return false: it has none */
static inline bool place_of(const struct mf_tlb *t, uint64_t tag, size_t *place)
{
	size_t first = set_of(t, tag);

	for (size_t i = first; i < first + t->ways; i++) {
		if (t->tag[i] != tag)
			continue;
		*place = i;
		return true;
	}
	return false;
}

bool mf_tlb_look(const struct mf_tlb *t, uint64_t tag, struct mf_tlb_page *out, uint32_t *at)
{
	size_t place;

	if (!place_of(t, tag, &place))
		return false;
	*out = (struct mf_tlb_page){.page = t->way[place].page, .rights = t->way[place].rights};
	*at = (uint32_t)place;
	return true;
}

bool mf_tlb_peek(const struct mf_tlb *t, uint64_t tag, struct mf_tlb_page *out)
{
	uint32_t place;

	return mf_tlb_look(t, tag, out, &place);
}

bool mf_tlb_use(struct mf_tlb *t, uint64_t tag, uint32_t place)
{
	if (t->tag[place] != tag)
		return false;
	t->stats.hits++;
	t->way[place].used = ++t->now;
	return true;
}

bool mf_tlb_find(struct mf_tlb *t, uint64_t tag, struct mf_tlb_page *out)
{
	size_t place;

	if (!place_of(t, tag, &place)) {
		t->stats.misses++;
		return false;
	}
	t->stats.hits++;
	t->way[place].used = ++t->now;
	*out = (struct mf_tlb_page){.page = t->way[place].page, .rights = t->way[place].rights};
	return true;
}

/**
 * The place that is empty, or was used before all others of the set. The way stands below the stamp, so that
 * the least is found without a branch that nobody could predict. A stamp has 54 bits then: years.
 */
static size_t oldest(const struct mf_tlb *t, uint64_t tag)
{
	size_t first = set_of(t, tag);
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < t->ways; i++) {
		uint64_t used = t->way[first + i].used << WAY_BITS | i;

		least = used < least ? used : least;
	}
	return first + (least & ((1 << WAY_BITS) - 1));
}

static void put_at(struct mf_tlb *t, size_t place, uint64_t tag, struct mf_tlb_page page)
{
	t->tag[place] = tag;
	t->way[place] = (struct way){.used = ++t->now, .page = page.page, .rights = page.rights};
}

void mf_tlb_add(struct mf_tlb *t, uint64_t tag, struct mf_tlb_page page)
{
	size_t place = oldest(t, tag);

	t->stats.evicted += t->way[place].used != 0;
	t->stats.entries += t->way[place].used == 0;
	put_at(t, place, tag, page);
}

void mf_tlb_put(struct mf_tlb *t, uint64_t tag, struct mf_tlb_page page)
{
	size_t place;

	if (place_of(t, tag, &place))
		put_at(t, place, tag, page);
	else
		mf_tlb_add(t, tag, page);
}

void mf_tlb_protect(struct mf_tlb *t, uint64_t tag, uint8_t rights)
{
	size_t place;

	if (place_of(t, tag, &place))
		t->way[place].rights = rights;
}

bool mf_tlb_remove(struct mf_tlb *t, uint64_t tag)
{
	size_t place;

	if (!place_of(t, tag, &place))
		return false;
	t->tag[place] = MF_TAG_NONE;
	t->way[place].used = 0;
	t->stats.removed++;
	t->stats.entries--;
	return true;
}

void mf_tlb_clear(struct mf_tlb *t)
{
	for (size_t i = 0; i < (size_t)t->sets * t->ways; i++) {
		t->tag[i] = MF_TAG_NONE;
		t->way[i].used = 0;
	}
	t->stats.entries = 0;
}

const struct mf_tlb_stats *mf_tlb_stats(const struct mf_tlb *t)
{
	return &t->stats;
}

uint64_t mf_tlb_octets(const struct mf_tlb *t)
{
	return sizeof(*t) + (uint64_t)t->sets * t->ways * (sizeof(t->tag[0]) + sizeof(t->way[0]));
}
