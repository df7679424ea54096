/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of a node that asks (mf_region.h). It knows from the fabric file where regions are, and asks the
 * memory node for the key of a region and right when an operation first needs it: an RMWREQ of its own
 * (attach) goes before the operation, which waits at the head of its queue, and all behind it.
 *
 *	NONE --- attach goes ---> ASKED --- key comes ---> operation goes with the key
 *	 ^                          |  refused: the operation fails as refused; the next one asks again
 *	 +--------------------------+  the link is lost, the node is back: asked again
 *
 * A key is forgotten when it is refused, since its epoch may be over, and when the node was started again.
 */
#ifndef HOST_KEYS_H
#define HOST_KEYS_H

#include "systems/edm/host/host.h"

/** How an operation may begin. */
enum host_key_state {
	HOST_KEY_NO_ROOM, /**< for what asks for it, or for itself */
	HOST_KEY_WAITS,
	HOST_KEY_THERE, /**< in the operation, where it needs one */
};

int host_keys_init(struct mf_host *h);
void host_keys_fini(struct mf_host *h);

/** Gives the first operation of a destination its key, or sees to it. */
HOST_ASIDE enum host_key_state host_key_for(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at);
/** The same where a key is there; nothing is asked. */
HOST_ASIDE bool host_key_at_hand(const struct mf_host *h, uint16_t node, struct host_op *o);
/** What asked for a key is over: s is of it. */
HOST_ASIDE void host_key_answered(struct mf_host *h, const struct host_state *s);
/** A message was refused with its key, or another epoch has begun with it. */
HOST_ASIDE void host_key_epoch(struct mf_host *h, const struct host_state *s);
/** The node is another one now. */
void host_keys_forget(struct mf_host *h, uint16_t node);

/** Whether an entry of the table of operations is what asks for a key. */
static inline bool host_is_attach(const struct mf_host *h, uint32_t op)
{
	return op >= h->attach_op;
}

#endif
