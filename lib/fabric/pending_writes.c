/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_pending_writes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"

#define SLOTS_MIN 256

/** Nodes have less than 16 bits, so no name is PENDING_NONE. */
static uint64_t name_of(uint16_t cn, uint16_t mn, uint32_t id)
{
	return (uint64_t)cn << 48 | (uint64_t)mn << 32 | id;
}

static struct pending_pair *pair_of(const struct pending *p, uint64_t name)
{
	return &p->pair[(name >> 48) * p->nodes + (name >> 32 & UINT16_MAX)];
}

static int allocate(struct pending *p, uint32_t slots)
{
	p->slot = malloc(slots * sizeof(*p->slot));
	if (p->slot == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < slots; i++)
		p->slot[i].name = PENDING_NONE;
	p->mask = slots - 1;
	return 0;
}

int pending_init(struct pending *p, uint16_t nodes, bool ordered)
{
	*p = (struct pending){.nodes = nodes, .ordered = ordered};
	p->pair = mf_table_new((size_t)nodes * nodes, sizeof(*p->pair));
	return p->pair != NULL ? allocate(p, SLOTS_MIN) : -ENOMEM;
}

void pending_fini(struct pending *p)
{
	mf_table_free(p->pair);
	free(p->slot);
}

/** Where a name would be if no other one were in its way. */
static uint32_t home(const struct pending *p, uint64_t name)
{
	return (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 32) & p->mask;
}

/** The first slot from that of a name on which has this one there: the name itself, or none. */
static struct pending_write *slot_of(const struct pending *p, uint64_t name, uint64_t there)
{
	uint32_t i = home(p, name);

	while (p->slot[i].name != there && p->slot[i].name != PENDING_NONE)
		i = (i + 1) & p->mask;
	return &p->slot[i];
}

static bool grow(struct pending *p)
{
	struct pending old = *p;
	uint32_t first = 0;

	if (allocate(p, 2 * (old.mask + 1)) != 0) {
		*p = old;
		return false;
	}
	/* Not from the middle of a run: those of one name keep their order. */
	while (old.slot[first].name != PENDING_NONE)
		first++;
	for (uint32_t i = 0; i <= old.mask; i++) {
		const struct pending_write *w = &old.slot[(first + i) & old.mask];

		if (w->name != PENDING_NONE)
			*slot_of(p, w->name, PENDING_NONE) = *w;
	}
	free(old.slot);
	return true;
}

void pending_put(struct pending *p, uint16_t cn, uint16_t mn, uint32_t id, uint64_t user, mf_time submitted)
{
	uint64_t name = name_of(cn, mn, id);
	struct pending_write *w;

	if (2 * p->count > p->mask && !grow(p)) {
		p->incomplete = true;
		return;
	}
	w = slot_of(p, name, p->ordered ? PENDING_NONE : name);
	p->count += w->name == PENDING_NONE;
	*w = (struct pending_write){name, user, submitted, pair_of(p, name)->next++};
}

static void take_out(struct pending *p, const struct pending_write *w)
{
	uint32_t hole = (uint32_t)(w - p->slot);

	/* Those behind it move up, as far as none comes in front of its home. */
	for (uint32_t i = (hole + 1) & p->mask; p->slot[i].name != PENDING_NONE; i = (i + 1) & p->mask)
		if (((i - home(p, p->slot[i].name)) & p->mask) >= ((i - hole) & p->mask)) {
			p->slot[hole] = p->slot[i];
			hole = i;
		}
	p->slot[hole].name = PENDING_NONE;
	p->count--;
}

struct pending_write *pending_find(struct pending *p, uint16_t cn, uint16_t mn, uint32_t id)
{
	uint64_t name = name_of(cn, mn, id);
	struct pending_write *w = slot_of(p, name, name);

	while (w->name == name && p->ordered && (int32_t)(w->number - pair_of(p, name)->over) < 0) {
		take_out(p, w);
		w = slot_of(p, name, name);
	}
	return w->name == name ? w : NULL;
}

void pending_forget(struct pending *p, uint16_t cn)
{
	for (uint16_t mn = 0; mn < p->nodes; mn++) {
		struct pending_pair *pair = &p->pair[(size_t)cn * p->nodes + mn];

		pair->over = pair->next;
	}
}

void pending_take(struct pending *p, struct pending_write *w)
{
	pair_of(p, w->name)->over = w->number + 1;
	take_out(p, w);
}
