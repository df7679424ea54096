/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With two switches a message may come by one of them long after what was asked later came by the other.
 * That one stood still, or its link did, or it alone has what was lost at the other. Then the message must
 * not take effect any more. Its source may have given it up, and what was asked later has shown that it did
 * not (docs/fault-tolerance.md, "Overtaken").
 *
 * So each message says its number among those of its pair, in the order in which its source asked them (D9),
 * and a memory node knows the highest number of what it has executed. What is sent again has no place in the
 * order: it comes behind what was asked later, and its source waits for it.
 */
#ifndef SYSTEMS_EDM_HOST_OVERTAKEN_H
#define SYSTEMS_EDM_HOST_OVERTAKEN_H

#include "systems/edm/host/redundancy.h"

/** A message with an id is asked: the number that it says. */
static inline void host_asks(struct mf_host *h, uint16_t node, uint8_t id)
{
	struct host_redundancy *t = h->redundancy;

	if (unlikely(t != NULL))
		t->number[host_id_index(h, node, id)] = ++t->asked_of[node];
}

/**
 * Whether a request or a chunk of a write, which is about to be executed, is overtaken: it must not be, and
 * was counted. A read never is, since it changes nothing.
 */
bool host_is_overtaken(struct mf_host *h, const struct mf_msg *m);

#endif
