/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority queues whose entries are links inside what they order, so that any number of queues share one
 * table: pairing heaps (Fredman, Sedgewick, Sleator, Tarjan, 1986). Entries are numbers of a table; the
 * least key is first, and the number decides between equal keys. One queue of numbers alone: mf_deadlines.h.
 */
#ifndef MF_HEAP_H
#define MF_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MF_HEAP_NIL UINT32_MAX

struct mf_heap_link {
	uint64_t key;
	uint32_t child; /**< first of those that are behind it */
	uint32_t next; /**< sibling */
	uint32_t prev; /**< the sibling before, or what it is the first child of; the first entry: nothing */
};

/** The table: where the link of entry 0 is, and how far it is from one to the next. */
struct mf_heap {
	uint8_t *links;
	size_t stride;
};

static inline struct mf_heap_link *mf_heap_at(const struct mf_heap *h, uint32_t i)
{
	return (struct mf_heap_link *)(void *)(h->links + (size_t)i * h->stride);
}

static inline bool mf_heap_before(const struct mf_heap *h, uint32_t a, uint32_t b)
{
	uint64_t x = mf_heap_at(h, a)->key, y = mf_heap_at(h, b)->key;

	return x != y ? x < y : a < b;
}

/** Makes one of two heaps. @return its first entry */
static inline uint32_t mf_heap_meld(const struct mf_heap *h, uint32_t a, uint32_t b)
{
	uint32_t less, more, child;

	if (a == MF_HEAP_NIL || b == MF_HEAP_NIL)
		return a == MF_HEAP_NIL ? b : a;
	less = mf_heap_before(h, a, b) ? a : b;
	more = less == a ? b : a;
	child = mf_heap_at(h, less)->child;
	if (child != MF_HEAP_NIL)
		mf_heap_at(h, child)->prev = more;
	mf_heap_at(h, more)->next = child;
	mf_heap_at(h, more)->prev = less;
	mf_heap_at(h, less)->child = more;
	return less;
}

/** @param root  first entry of the queue; MF_HEAP_NIL: it is empty. Changed */
static inline void mf_heap_push(const struct mf_heap *h, uint32_t *root, uint32_t i, uint64_t key)
{
	struct mf_heap_link *l = mf_heap_at(h, i);

	l->key = key;
	l->child = l->next = l->prev = MF_HEAP_NIL;
	*root = mf_heap_meld(h, *root, i);
}

/** What is behind an entry, as a heap of its own. @return its first entry */
static inline uint32_t mf_heap_behind(const struct mf_heap *h, uint32_t entry)
{
	uint32_t i = mf_heap_at(h, entry)->child, pairs = MF_HEAP_NIL, heap = MF_HEAP_NIL;

	/* From the left two by two, then from the right all together. */
	while (i != MF_HEAP_NIL) {
		uint32_t a = i, b = mf_heap_at(h, a)->next, pair;

		i = b != MF_HEAP_NIL ? mf_heap_at(h, b)->next : MF_HEAP_NIL;
		pair = mf_heap_meld(h, a, b);
		mf_heap_at(h, pair)->next = pairs;
		pairs = pair;
	}
	while (pairs != MF_HEAP_NIL) {
		uint32_t next = mf_heap_at(h, pairs)->next;

		heap = mf_heap_meld(h, heap, pairs);
		pairs = next;
	}
	return heap;
}

/** Takes the first entry, which must be there. @return it */
static inline uint32_t mf_heap_pop(const struct mf_heap *h, uint32_t *root)
{
	uint32_t first = *root;

	*root = mf_heap_behind(h, first);
	return first;
}

/** Takes an entry of the queue, wherever it stands. */
static inline void mf_heap_remove(const struct mf_heap *h, uint32_t *root, uint32_t i)
{
	const struct mf_heap_link *l = mf_heap_at(h, i);
	struct mf_heap_link *before;

	if (i == *root) {
		mf_heap_pop(h, root);
		return;
	}
	before = mf_heap_at(h, l->prev);
	*(before->child == i ? &before->child : &before->next) = l->next;
	if (l->next != MF_HEAP_NIL)
		mf_heap_at(h, l->next)->prev = l->prev;
	*root = mf_heap_meld(h, *root, mf_heap_behind(h, i));
}

#endif
