/* SPDX-License-Identifier: BSD-3-Clause */
/* A chunk of a response, made in the multiplexer. */
#ifndef HOST_RESPONSES_H
#define HOST_RESPONSES_H

#include "systems/edm/host/once.h"
#include "systems/edm/proto/mf_proto_inline.h"

/** @return false: no room */
static inline bool host_response_make(struct mf_host *h, const struct mf_msg *m, const uint8_t *data,
				      mf_time ready)
{
	unsigned int n = mf_proto_chunk_blocks(&h->config.proto, m->size);
	uint64_t *word = mf_mux_put(h->shell.mux, ready, host_tie(h, HOST_TIE_RESPONSE, m->dst), n, 0);

	if (unlikely(!word))
		return false;
	mf_proto_make_chunk(&h->config.proto, m, data, word);
	h->stats.tx[MF_RRES]++;
	h->stats.tx_octets += m->size;
	if (host_stamps(h))
		host_stamp(h, m->dst, h->shell.node, m->id, MF_STAGE_GRANT_QUEUE, MF_STAGE_MAKE_DATA,
			   ready - h->cost_data_tx);
	return true;
}

/** The same where responses say the use that they are of. */
HOST_ASIDE bool host_response_sign(struct mf_host *h, struct mf_msg m, const uint8_t *data, mf_time ready);

/** @return false: no room */
static inline bool host_response_push(struct mf_host *h, const struct mf_msg *m, const uint8_t *data,
				      mf_time ready)
{
	if (host_once(h))
		return host_response_sign(h, mf_msg_copy(m), data, ready);
	return host_response_make(h, m, data, ready);
}

#endif
