/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with linear probing, at most half full. A hole is filled with a later entry: no tombstones. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "memory/mf_pins.h"

struct pin {
	uint32_t page;
	uint32_t holds : 31; /**< 0: the place is empty */
	uint32_t gone : 1; /**< it was unmapped */
};

struct mf_pins {
	uint32_t max, pages;
	uint32_t mask; /**< places - 1 */
	uint64_t held;
	struct pin pin[];
};

struct mf_pins *mf_pins_new(uint32_t pages)
{
	uint32_t places = 2;
	struct mf_pins *p;

	if (pages == 0 || pages > MF_PINS_MAX) {
		errno = EINVAL;
		return NULL;
	}
	while (places < 2 * pages)
		places *= 2;
	p = calloc(1, sizeof(*p) + places * sizeof(p->pin[0]));
	if (p == NULL)
		return NULL;
	p->max = pages;
	p->mask = places - 1;
	return p;
}

void mf_pins_free(struct mf_pins *p)
{
	free(p);
}

static uint32_t home(const struct mf_pins *p, uint32_t page)
{
	return (uint32_t)mf_hash64(page) & p->mask;
}

/** The place of a page, or the empty one where it would be. */
static uint32_t place_of(const struct mf_pins *p, uint32_t page)
{
	uint32_t i = home(p, page);

	while (p->pin[i].holds > 0 && p->pin[i].page != page)
		i = (i + 1) & p->mask;
	return i;
}

bool mf_pins_hold(struct mf_pins *p, uint32_t page)
{
	struct pin *pin = &p->pin[place_of(p, page)];

	if (pin->holds == 0) {
		if (p->pages == p->max)
			return false;
		*pin = (struct pin){.page = page};
		p->pages++;
	}
	assert(!pin->gone);
	pin->holds++;
	p->held++;
	return true;
}

/** Empties a place. Later entries whose home is this place or an earlier one move up. */
static void empty(struct mf_pins *p, uint32_t hole)
{
	for (uint32_t i = (hole + 1) & p->mask; p->pin[i].holds > 0; i = (i + 1) & p->mask) {
		uint32_t from = home(p, p->pin[i].page);

		if (((i - from) & p->mask) < ((i - hole) & p->mask))
			continue;
		p->pin[hole] = p->pin[i];
		hole = i;
	}
	p->pin[hole].holds = 0;
	p->pages--;
}

bool mf_pins_let_go(struct mf_pins *p, uint32_t page)
{
	uint32_t place = place_of(p, page);
	struct pin *pin = &p->pin[place];
	bool gone = pin->gone;

	assert(pin->holds > 0);
	p->held--;
	if (--pin->holds > 0)
		return false;
	empty(p, place);
	return gone;
}

bool mf_pins_unmap(struct mf_pins *p, uint32_t page)
{
	struct pin *pin = &p->pin[place_of(p, page)];

	if (pin->holds == 0)
		return true;
	assert(!pin->gone);
	pin->gone = 1;
	return false;
}

uint64_t mf_pins_held(const struct mf_pins *p)
{
	return p->held;
}

uint32_t mf_pins_pages(const struct mf_pins *p)
{
	return p->pages;
}

uint64_t mf_pins_octets(const struct mf_pins *p)
{
	return sizeof(*p) + ((uint64_t)p->mask + 1) * sizeof(p->pin[0]);
}
