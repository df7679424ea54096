/* SPDX-License-Identifier: BSD-3-Clause */
/* Items of a channel between roles on different lcores: they cross in bursts, by words. */
#ifndef WALL_CHANNEL_H
#define WALL_CHANNEL_H

#include "record/mf_record.h"
#include "wall/wall.h"

#define BURST RECORD_ITEMS_MAX

/** A burst of items, as it crosses. */
typedef uint64_t burst[BURST * MF_ITEM_WORDS + CELL_WORDS];

static inline unsigned int words(const struct mf_item *item)
{
	return item->size / sizeof(uint64_t);
}

/** Room for a whole burst of items, or for fewer. @return items */
static inline unsigned int burst_room(struct crossing *c, const struct mf_item *item)
{
	unsigned int cells = CROSSING_CELLS(BURST * words(item)), room = crossing_room(c, cells);

	return room >= cells ? BURST : room * CELL_WORDS / words(item);
}

#endif
