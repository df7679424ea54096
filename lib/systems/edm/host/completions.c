/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_cycles.h"
#include "systems/edm/host/timers.h"

unsigned int mf_host_completions(struct mf_host *h, mf_time now, struct mf_completion *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_HOST_COMPLETIONS);
	uint32_t i;
	unsigned int n = 0;

	if (unlikely(now >= h->wake))
		host_advance(h, now);
	for (i = h->due_head; n < max && i != HOST_NIL; n++) {
		struct host_op *o = &h->op[i];
		uint32_t next = o->next;

		out[n] = o->c;
		o->next = h->op_free;
		h->op_free = i;
		i = next;
	}
	h->due_head = i;
	h->op_count -= n;
	return n;
}
