/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems/edm/host/host.h"
#include "systems/edm/host/mf_host_leaks.h"

/** Requesters that gave up take no grants for the rest of a response: it stays until its buffer is wanted. */
static uint32_t responses(const struct mf_host *h)
{
	uint32_t n = 0;

	for (uint32_t i = h->response_head; i != HOST_NIL; i = h->response[i].next)
		n++;
	return n;
}

static uint32_t buffers(const struct mf_host *h)
{
	uint32_t used = 0;

	for (unsigned int i = 0; i < HOST_POOLS; i++) {
		const struct host_pool *p = &h->pool[i];

		if (p->base != NULL)
			used += (uint32_t)(p->octets >> p->shift) - p->count;
	}
	return used;
}

void mf_host_held(const struct mf_host *h, mf_time now, struct mf_host_held *out)
{
	*out = (struct mf_host_held){
		.operations = mf_host_outstanding(h),
		.jobs = h->job_tail - h->job_head,
		.blocks = mf_mux_backlog(h->shell.mux, now),
	};
	for (unsigned int i = 0; i < h->shell.nodes && h->peer != NULL; i++) {
		out->ids += host_ids(h) - h->peer[i].free_ids;
		out->slots += h->peer[i].active[0] + h->peer[i].active[1];
		for (int lane = 0; lane < HOST_LANES; lane++)
			out->lanes += h->peer[i].held[lane];
	}
	if (h->response != NULL)
		out->buffers = buffers(h) - responses(h);
}
