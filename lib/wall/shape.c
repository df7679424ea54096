/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/shape.h"

#include <errno.h>

#include <rte_malloc.h>

#define SMALL_SPANS 4096 /**< that are under way at most: one a turn of the sender */

uint32_t wall_shape_cells(const struct link_timing *t)
{
	uint64_t blocks = (t->propagation + SHAPE_LATE) / t->shape + 1;
	uint64_t spans = blocks < SMALL_SPANS ? blocks : SMALL_SPANS;

	/* Each span has a cell for its time, and one that is not full. */
	return (uint32_t)(2 * spans + blocks / CELL_WORDS + 2 * (CROSSING_SPAN + 1));
}

int wall_shape(const struct mf_fabric *f, uint32_t link, struct wall_link *l)
{
	const struct link_timing *t = &f->link[link];

	if (t->shape == 0)
		return 0;
	l->shaper = rte_zmalloc("shaper", sizeof(*l->shaper), RTE_CACHE_LINE_SIZE);
	if (l->shaper == NULL)
		return -ENOMEM;
	l->shaper->period = shape_period(t->shape);
	l->shaper->delay = t->propagation;
	l->slow_path = true;
	return 0;
}
