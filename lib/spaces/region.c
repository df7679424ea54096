/* SPDX-License-Identifier: BSD-3-Clause */
/* The region of a client: from its addresses to pages of the layer's spaces. */
#include "spaces/spaces.h"

uint64_t page_number(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page)
{
	return ((uint64_t)target * s->config.spaces + space) * s->config.pages + page;
}

uint64_t page_address(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page)
{
	uint64_t range = ((uint64_t)target * s->config.spaces + space) * s->ranges + page / s->config.range;

	return s->at[range] + (page % s->config.range << s->target[target].config.shift);
}

bool region_has(const struct spaces *s, const struct mf_op *op, uint64_t len)
{
	uint64_t size = s->config.spaces * s->config.pages << s->target[s->target_of[op->node]].config.shift;

	return op->addr >= s->config.base && op->addr - s->config.base <= size &&
	       len <= size - (op->addr - s->config.base);
}

/** Units of `interleave` octets go to all pages of all spaces in turn. */
uint8_t region_where(const struct spaces *s, const struct operation *o, uint8_t right, struct where *w,
		     uint64_t *key)
{
	unsigned int target = s->target_of[o->op.node];
	uint64_t in = o->op.addr + o->issued - s->config.base, unit = s->config.interleave;
	uint64_t pages = s->config.spaces * s->config.pages, n = in / unit, turn = n % pages;
	uint32_t space = (uint32_t)(turn % s->config.spaces);
	uint64_t page = turn / s->config.spaces, start = page_address(s, target, space, page);
	const struct space *sp = &s->space[(uint64_t)target * s->config.spaces + space];

	*w = (struct where){.target = target,
			    .space = mf_space_number(s->target[target].config.maker, space),
			    .addr = start + n / pages * unit + in % unit,
			    .page = page_number(s, target, space, page),
			    .start = start,
			    .left = unit - in % unit};
	if (sp->step == SPACE_FAILED)
		return MF_ERR_RESOURCE;
	*key = sp->key[right];
	return sp->step == SPACE_READY ? MF_OK : MF_ERR_PENDING;
}
