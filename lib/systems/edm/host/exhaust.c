/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is free of something that there is a fixed number of is taken away, and given back: for tests of what
 * happens then. What comes free meanwhile is there to be used.
 */
#include "systems/edm/host/host.h"

static void take_queue(struct mf_host *h)
{
	h->taken.op_free = h->op_free;
	h->taken.queue = h->config.queue;
	h->op_free = HOST_NIL;
	h->config.queue = h->op_fresh;
}

static void give_queue(struct mf_host *h)
{
	uint32_t *last = &h->taken.op_free;

	while (*last != HOST_NIL)
		last = &h->op[*last].next;
	*last = h->op_free;
	h->op_free = h->taken.op_free;
	h->config.queue = h->taken.queue;
}

/** Numbers of free buffers are a stack: its lower part is not looked at. */
static void take_buffers(struct mf_host *h)
{
	for (int i = 0; i < HOST_POOLS; i++) {
		struct host_pool *p = &h->pool[i];

		h->taken.buffers[i] = p->count;
		if (p->count > 0)
			p->free += p->count;
		p->count = 0;
	}
}

static void give_buffers(struct mf_host *h)
{
	for (int i = 0; i < HOST_POOLS; i++) {
		struct host_pool *p = &h->pool[i];

		if (h->taken.buffers[i] > 0)
			p->free -= h->taken.buffers[i];
		p->count += h->taken.buffers[i];
	}
}

void mf_host_exhaust(struct mf_host *h, enum mf_host_pool what, bool on)
{
	if (!!(h->taken.what & 1U << what) == on)
		return;
	h->taken.what ^= 1U << what;
	switch (what) {
	case MF_HOST_QUEUE:
		on ? take_queue(h) : give_queue(h);
		break;
	case MF_HOST_BUFFERS:
		on ? take_buffers(h) : give_buffers(h);
		break;
	case MF_HOST_GRANTS:
		h->job_room = on ? 0 : HOST_GRANT_QUEUE;
		break;
	default:
		if (h->config.memory_enabled)
			mf_mux_close(h->shell.mux, on);
		break;
	}
}
