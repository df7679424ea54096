/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of spaces that programs name, and what is known of the pages there.
 *
 * A program may have more pages than can be kept in mind, and pages that others have accessed. So this is a
 * cache: a page that is not in it may have been accessed, or not, and is taken to be new. That costs no
 * message, but for long accesses, and holds back what is asked of the page until the first access is over.
 */
#include <string.h>

#include "base/mf_rng.h"
#include "spaces/spaces.h"

static struct known *set_of(const struct spaces *s, unsigned int target, uint64_t tag)
{
	return &s->known[mf_hash64(tag ^ (uint64_t)target << MF_TAG_BITS) % KNOWN_SETS * KNOWN_WAYS];
}

/** The group of a page's space. */
static unsigned int group_of(unsigned int target, uint64_t tag)
{
	return (mf_remote_tag_space(tag) + 31 * target) % KNOWN_GROUPS;
}

static bool counts(const struct spaces *s, const struct known *k)
{
	if (k->state != PAGE_PRESENT)
		return k->state == PAGE_BUSY;
	return k->generation == s->generation[group_of(k->target, k->tag)];
}

static struct known *find(const struct spaces *s, unsigned int target, uint64_t tag)
{
	struct known *set = set_of(s, target, tag);

	for (unsigned int i = 0; i < KNOWN_WAYS; i++)
		if (set[i].tag == tag && set[i].target == target && counts(s, &set[i]))
			return &set[i];
	return NULL;
}

/** A place for a page: free, or of one that is present, which is forgotten. @return NULL: all are busy */
static struct known *place(struct spaces *s, unsigned int target, uint64_t tag)
{
	struct known *set = set_of(s, target, tag), *out = NULL;

	for (unsigned int i = 0; i < KNOWN_WAYS; i++)
		if (!counts(s, &set[i]))
			return &set[i];
	for (unsigned int i = 0; i < KNOWN_WAYS; i++)
		if (set[i].state != PAGE_BUSY && (out == NULL || (tag + i) % KNOWN_WAYS == 0))
			out = &set[i];
	return out;
}

enum page_state page_state(const struct spaces *s, uint8_t way, unsigned int target, uint64_t page)
{
	const struct known *k;

	if (way == WAY_REGION)
		return bit(s->present, page) ? PAGE_PRESENT : bit(s->busy, page) ? PAGE_BUSY : PAGE_UNKNOWN;
	k = find(s, target, page);
	return k != NULL ? k->state : PAGE_UNKNOWN;
}

bool page_put(struct spaces *s, uint8_t way, unsigned int target, uint64_t page, enum page_state state)
{
	struct known *k;

	if (way == WAY_REGION) {
		bit_put(s->present, page, state == PAGE_PRESENT);
		bit_put(s->busy, page, state == PAGE_BUSY);
		return true;
	}
	k = find(s, target, page);
	if (k == NULL && state != PAGE_UNKNOWN)
		k = place(s, target, page);
	if (k == NULL)
		return state == PAGE_UNKNOWN;
	*k = (struct known){.tag = page,
			    .generation = s->generation[group_of(target, page)],
			    .target = (uint16_t)target,
			    .state = (uint8_t)state};
	s->knows = true;
	return true;
}

void pages_forget_all(struct spaces *s)
{
	for (unsigned int i = 0; i < KNOWN_GROUPS; i++)
		s->generation[i]++;
}

void pages_forget(struct spaces *s, unsigned int target, uint32_t space, uint64_t addr, uint64_t octets)
{
	unsigned int shift = s->target[target].config.class_shift[mf_remote_class(addr)];
	uint64_t first, pages;

	if (shift == 0 || octets == 0)
		return;
	first = mf_remote_tag(space, addr, shift);
	pages = ((addr & ((UINT64_C(1) << shift) - 1)) + octets - 1) >> shift;
	if (pages >= FORGET_MAX) {
		s->generation[group_of(target, first)]++;
		return;
	}
	for (uint64_t i = 0; i <= pages; i++) {
		struct known *k = find(s, target, first + i);

		if (k != NULL && k->state == PAGE_PRESENT)
			k->state = PAGE_UNKNOWN;
	}
}

/** Two pages that are known to be there go together; a memory node takes no more at a time (mf_vm.h). */
static uint64_t run_of(const struct spaces *s, const struct where *w, unsigned int shift, uint64_t most)
{
	if (most <= w->left)
		return w->left;
	if (page_state(s, WAY_POINTER, w->target, w->page) != PAGE_PRESENT ||
	    page_state(s, WAY_POINTER, w->target, w->page + 1) != PAGE_PRESENT)
		return w->left;
	return w->left + (UINT64_C(1) << shift);
}

uint8_t pointer_where(struct spaces *s, const struct operation *o, uint8_t right, struct where *w,
		      uint64_t *key)
{
	unsigned int target = s->target_of[o->op.node], shift;
	uint64_t addr = o->op.addr + o->issued, within;

	shift = s->target[target].config.class_shift[mf_remote_class(addr)];
	if (shift == 0)
		shift = MF_PAGE_SHIFT_MIN; /* there is no such page: it is refused */
	within = addr & ((UINT64_C(1) << shift) - 1);
	*w = (struct where){.target = target,
			    .space = o->op.space,
			    .addr = addr,
			    .page = mf_remote_tag(o->op.space, addr, shift),
			    .start = addr - within,
			    .left = (UINT64_C(1) << shift) - within};
	w->left = run_of(s, w, shift, o->done.len - o->issued);
	return key_get(s, target, o->op.space, right, key);
}
