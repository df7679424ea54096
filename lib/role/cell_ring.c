/* SPDX-License-Identifier: BSD-3-Clause */
#include "role/mf_cell_ring.h"

#define HEAD_WORDS 32
#define HEAD_MORE 40
#define HEAD_SYNC 48
#define HEAD_FLAGS 62

/** Two bits of each of seven octets, side by side. */
static inline uint64_t pack_sync(uint64_t sync)
{
	sync &= UINT64_C(0x0003030303030303);
	sync = (sync | sync >> 6) & UINT64_C(0x000f000f000f000f);
	sync = (sync | sync >> 12) & UINT64_C(0x000000ff000000ff);
	return (sync | sync >> 24) & UINT64_C(0x3fff);
}

static inline uint64_t unpack_sync(uint64_t bits)
{
	bits = (bits | bits << 24) & UINT64_C(0x000000ff000000ff);
	bits = (bits | bits << 12) & UINT64_C(0x000f000f000f000f);
	return (bits | bits << 6) & UINT64_C(0x0303030303030303);
}

/**
 * Puts n words, and the sync headers of each if there are any. The first cell is put last: it shows that all
 * are there.
 */
static inline void put(struct crossing *c, const uint64_t *word, const uint8_t *sync, unsigned int n,
		       uint64_t flags)
{
	unsigned int more = (n - 1) / CELL_WORDS, first = c->put, left = n - more * CELL_WORDS;
	uint64_t eight = 0;

	flags = flags << HEAD_FLAGS | (uint64_t)more << HEAD_MORE;
	for (unsigned int i = more + 1; i-- > 0; left = CELL_WORDS) {
		struct cell *cell = &c->cell[(first + i) & c->mask];

		memcpy(cell->word, word + i * CELL_WORDS, sizeof(cell->word));
		if (sync != NULL)
			memcpy(&eight, sync + i * CELL_WORDS, sizeof(eight));
		__atomic_store_n(&cell->head,
				 flags | pack_sync(eight) << HEAD_SYNC | (uint64_t)left << HEAD_WORDS |
					 (uint32_t)(first + i + 1),
				 __ATOMIC_RELEASE);
	}
	c->put = first + more + 1;
}

void crossing_put_span(struct crossing *c, const struct mf_span *span)
{
	put(c, span->word, span->sync, span->count, span->flags);
}

void crossing_put_dated(struct crossing *c, uint64_t time, const struct mf_span *span)
{
	uint32_t at = c->put++;
	struct cell *cell = &c->cell[at & c->mask];

	/* Nobody looks behind a cell that is not there. */
	crossing_put_span(c, span);
	cell->word[0] = time;
	__atomic_store_n(&cell->head, UINT64_C(1) << HEAD_WORDS | (at + 1), __ATOMIC_RELEASE);
}

void crossing_put(struct crossing *c, const uint64_t *word, unsigned int n)
{
	put(c, word, NULL, n, 0);
}

bool crossing_take_span(struct crossing *c, struct mf_span *out)
{
	const struct cell *cell = crossing_peek(c);
	unsigned int count = 0, i = 0, more;
	uint64_t head, sync;

	if (cell == NULL)
		return false;
	head = cell->head;
	more = head >> HEAD_MORE & 0xff;
	out->flags = (uint16_t)(head >> HEAD_FLAGS);
	for (;;) {
		sync = unpack_sync(head >> HEAD_SYNC & 0x3fff);
		memcpy(&out->word[count], cell->word, sizeof(cell->word));
		memcpy(&out->sync[count], &sync, sizeof(sync));
		count += head >> HEAD_WORDS & 0xff;
		if (i++ == more)
			break;
		cell = &c->cell[(c->take + i) & c->mask];
		head = cell->head;
	}
	out->count = (uint16_t)count;
	out->period = 0;
	crossing_took(c, more + 1);
	return true;
}

void crossing_drain(struct crossing *c)
{
	const struct cell *cell;

	while ((cell = crossing_peek(c)) != NULL)
		crossing_took(c, 1 + (cell->head >> HEAD_MORE & 0xff));
}

unsigned int crossing_take(struct crossing *c, uint64_t *word)
{
	const struct cell *cell = crossing_peek(c);
	unsigned int more, n = 0;

	if (cell == NULL)
		return 0;
	more = cell->head >> HEAD_MORE & 0xff;
	for (unsigned int i = 0; i <= more; i++) {
		cell = &c->cell[(c->take + i) & c->mask];
		memcpy(word + n, cell->word, sizeof(cell->word));
		n += cell->head >> HEAD_WORDS & 0xff;
	}
	crossing_took(c, more + 1);
	return n;
}
