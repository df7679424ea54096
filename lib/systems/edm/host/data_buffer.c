/* SPDX-License-Identifier: BSD-3-Clause */
/* Data buffers of a memory node, in two sizes. Their memory is touched when it is first used. */
#include <stdlib.h>

#include "base/mf_table.h"
#include "systems/edm/host/host.h"

int host_pool_init(struct host_pool *p, uint32_t count, uint32_t shift)
{
	p->base = mf_table_new(count, (size_t)1 << shift);
	p->free = malloc(count * sizeof(*p->free));
	p->octets = (size_t)count << shift;
	p->shift = shift;
	if (!p->base || !p->free)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		p->free[i] = count - 1 - i;
	p->count = count;
	return 0;
}

void host_pool_fini(struct host_pool *p)
{
	mf_table_free(p->base);
	free(p->free);
}

static uint8_t *pool_get(struct host_pool *p)
{
	return p->count ? p->base + ((size_t)p->free[--p->count] << p->shift) : NULL;
}

/** @return room for size octets, 1..MF_MESSAGE_MAX, or NULL */
uint8_t *host_buffer_get(struct mf_host *h, uint32_t size)
{
	struct host_pool *small = &h->pool[HOST_POOL_SMALL];
	uint8_t *data = size <= 1u << small->shift ? pool_get(small) : NULL;

	return data ? data : pool_get(&h->pool[HOST_POOL_LARGE]);
}

void host_buffer_put(struct mf_host *h, uint8_t *data)
{
	struct host_pool *small = &h->pool[HOST_POOL_SMALL], *p = &h->pool[HOST_POOL_LARGE];

	if ((uintptr_t)data - (uintptr_t)small->base < small->octets)
		p = small;
	p->free[p->count++] = (uint32_t)((size_t)(data - p->base) >> p->shift);
}
