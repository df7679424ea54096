/* SPDX-License-Identifier: BSD-3-Clause */
/* What a memory node knows of the uses of ids: see once.h. */
#include "systems/edm/host/once.h"
#include "systems/edm/host/redundancy.h"

struct host_once *host_once_begin(struct mf_host *h, const struct mf_msg *m, enum host_once_what what)
{
	struct host_once *e = host_once_at(h, m->src, m->id);

	host_response_end(h, &h->response[host_index(h, m->src, m->id)]);
	*e = (struct host_once){.use = m->epoch, .what = (uint8_t)what, .again = m->again};
	return e;
}

void host_once_forget(struct mf_host *h, uint16_t node)
{
	for (uint32_t id = 0; id < MF_IDS && h->response; id++) {
		uint32_t i = host_index(h, node, (uint8_t)id);

		host_response_end(h, &h->response[i]);
		if (h->once && h->once[i].what != HOST_ONCE_NONE)
			h->once[i] = (struct host_once){0};
	}
	if (h->redundancy != NULL)
		memset(h->redundancy->newest[node], 0, sizeof(h->redundancy->newest[node]));
}
