/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all received messages pass: rx.c chooses who takes a message, and who takes it verifies it.
 *
 * Who takes a message gives its struct mf_msg to inline functions only, and mf_msg_copy() of it to others:
 * then it never is in memory, and what nobody reads is not decoded.
 */
#ifndef HOST_RX_H
#define HOST_RX_H

#include "systems/edm/host/state_table.h"
#include "systems/edm/proto/mf_proto_inline.h"

/** Counts a message that is not for this node, from another one. */
HOST_ASIDE void host_rx_stray(struct mf_host *h, uint16_t dst);

/** Whether a decoded message is for this node, from another one. */
static inline bool host_rx_is_for_us(struct mf_host *h, const struct mf_msg *m)
{
	if (likely(m->dst == h->shell.node && m->src < h->shell.nodes && m->src != h->shell.node))
		return true;
	host_rx_stray(h, m->dst);
	return false;
}

/** Counts a message that was not decoded. err: what said so */
HOST_ASIDE void host_rx_bad(struct mf_host *h, int err);

/** Whether a message was decoded and is for this node. */
static inline bool host_rx_accepts(struct mf_host *h, int err, const struct mf_msg *m)
{
	if (unlikely(err)) {
		host_rx_bad(h, err);
		return false;
	}
	h->stats.rx[m->kind]++;
	return host_rx_is_for_us(h, m);
}

#endif
