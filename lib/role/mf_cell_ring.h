/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one lcore to another: a ring of cells, each of which is a cache line. A cell says of itself whether
 * it has been written and how many belong to it, so a short message crosses in the one or two lines that it
 * fills; a ring of objects moves its index, the object's head and its parts, each a line of its own.
 *
 * One thread puts, one takes. What the taker is through with is told in a line of its own, which the other
 * one looks at only when the ring seems full.
 */
#ifndef MF_CELL_RING_H
#define MF_CELL_RING_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pcs/mf_block.h"

#define CELL_WORDS 7

struct cell {
	/**
	 * Bits 0 to 31: its position + 1, so that what is left of an earlier round is not taken for it. 32 to
	 * 39: words in this cell; 40 to 47: cells that follow and belong to it. Of spans, 48 to 61: sync
	 * headers, two bits a word, the first one's are the lowest; 62, 63: mf_span.flags.
	 */
	uint64_t head;
	uint64_t word[CELL_WORDS];
} __attribute__((aligned(64)));
static_assert(sizeof(struct cell) == 64, "a cache line");
static_assert(CELL_WORDS <= MF_SPAN_SLACK, "whole cells are copied");

#define CROSSING_CELLS(words) (((words) + CELL_WORDS - 1) / CELL_WORDS)
#define CROSSING_SPAN CROSSING_CELLS(MF_SPAN_MAX) /**< cells of the longest span */
#define CROSSING_WORDS (256 * CELL_WORDS)

/** What is written by one side is two lines apart from what is by the other: CPUs fetch lines by twos. */
struct crossing {
	struct cell *cell;
	uint32_t mask;
	/* the one that puts */
	uint32_t put __attribute__((aligned(128)));
	uint32_t taken_seen; /**< what it has seen of `taken` */
	/* the one that takes */
	uint32_t take __attribute__((aligned(128)));
	uint32_t taken __attribute__((aligned(128))); /**< told to the other one */
};

/** @param cell  so many cells, a power of two, all zero; they stay the caller's */
static inline void crossing_init(struct crossing *c, struct cell *cell, uint32_t cells)
{
	*c = (struct crossing){.cell = cell, .mask = cells - 1};
}

/** Cells that can be put, if fewer than `want` seemed to be free: looked at again. */
static inline uint32_t crossing_room(struct crossing *c, uint32_t want)
{
	uint32_t room = c->mask + 1 - (c->put - c->taken_seen);

	if (room >= want)
		return room;
	c->taken_seen = __atomic_load_n(&c->taken, __ATOMIC_ACQUIRE);
	return c->mask + 1 - (c->put - c->taken_seen);
}

/**
 * The cell that is taken next, whole; NULL: it has not been put yet. While it is waited for, the one behind
 * it is asked for, too: 64 octets are in two, which then come at the same time.
 */
static inline const struct cell *crossing_peek(const struct crossing *c)
{
	const struct cell *cell = &c->cell[c->take & c->mask];

	if ((uint32_t)__atomic_load_n(&cell->head, __ATOMIC_ACQUIRE) == c->take + 1)
		return cell;
	__builtin_prefetch(&c->cell[(c->take + 1) & c->mask]);
	return NULL;
}

/** So many cells have been read. */
static inline void crossing_took(struct crossing *c, uint32_t cells)
{
	c->take += cells;
	__atomic_store_n(&c->taken, c->take, __ATOMIC_RELEASE);
}

/** Puts a span. There must be CROSSING_SPAN cells of room, or as many as it needs. */
void crossing_put_span(struct crossing *c, const struct mf_span *span);
/**
 * The same behind a cell of its own that has one word, a time: the first of the next crossing_peek(). There
 * must be one cell more of room. When the cell can be taken so can the span.
 */
void crossing_put_dated(struct crossing *c, uint64_t time, const struct mf_span *span);
/** Takes a span, all of it but its start. @return false: there is none */
bool crossing_take_span(struct crossing *c, struct mf_span *out);

/** Throws away all that there is. */
void crossing_drain(struct crossing *c);

/**
 * Puts words, which are taken together. There must be room for as many cells as they fill.
 * @param n  1..CROSSING_WORDS; as many as a cell has may be read behind them
 */
void crossing_put(struct crossing *c, const uint64_t *word, unsigned int n);
/**
 * Takes the words of one crossing_put().
 * @param word  room for as many as are put at a time, and for a cell behind them
 * @return how many; 0: there are none
 */
unsigned int crossing_take(struct crossing *c, uint64_t *word);

#endif
