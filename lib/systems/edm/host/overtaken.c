/* SPDX-License-Identifier: BSD-3-Clause */
/* What must not be executed any more: overtaken.h. */
#include "systems/edm/host/overtaken.h"

/** How far a number is ahead of another one, of MF_NUMBER_BITS. */
static int32_t ahead(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << (32 - MF_NUMBER_BITS)) >> (32 - MF_NUMBER_BITS);
}

/** Where requests have no order with writes (D9) these overtake each other. */
static struct host_newest *newest_of(const struct mf_host *h, const struct mf_msg *m)
{
	bool request = m->kind == MF_RREQ || m->kind == MF_RMWREQ;

	return &h->redundancy->newest[m->src][request && !h->config.in_order];
}

bool host_is_overtaken(struct mf_host *h, const struct mf_msg *m)
{
	struct host_newest *newest;

	if (h->redundancy == NULL || m->again > 0)
		return false;
	newest = newest_of(h, m);
	if (!newest->known || ahead(m->number, newest->number) >= 0) {
		*newest = (struct host_newest){.number = m->number, .known = true};
		return false;
	}
	if (m->kind == MF_RREQ)
		return false;
	h->stats.gaps++;
	return true;
}
