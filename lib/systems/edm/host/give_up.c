/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a requester gives up before it is answered is told (docs/fault-tolerance.md, "Given up"). Its place
 * among the X of its pair goes to the next one, while a switch that stood still has the demand still: it
 * would refuse the next as one too many. A standby would let the request out behind what is asked next.
 *
 * The word goes in front of what is asked next, whose request takes its time to be made. Of two switches it
 * goes behind all that waits, too: the standby knows the chunks of a write by their demand, and an
 * incarnation that is told may end what has begun just now.
 */
#include "systems/edm/host/give_up.h"
#include "systems/edm/host/rx.h"

void host_gives_up(struct mf_host *h, uint16_t node, uint8_t id, mf_time at)
{
	const struct mf_msg m = {.kind = MF_ERR,
				 .src = h->shell.node,
				 .dst = node,
				 .id = id,
				 .status = MF_ERR_RESOURCE,
				 .of = MF_NOTIFY};

	if (host_jobs_full(h, 1))
		return;
	if (h->redundancy)
		host_single_put(h, &m, mf_mux_behind(h->shell.mux, at));
	else /* a request that is made in no time is due at once, and would go first */
		host_single_put_ahead(h, &m, at - 1);
}
