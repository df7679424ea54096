/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several blocks, made: /MS/, extension, arguments or payload, CRC-32C, /MT/. */
#include "systems/edm/proto/mf_proto_inline.h"

unsigned int mf_proto_request_blocks(const struct mf_proto *p, const struct mf_msg *m)
{
	return mf_proto_blocks(p, m) + (p->ext && !m->ext ? MF_EXT_BLOCKS : 0);
}

unsigned int mf_proto_put_request(const struct mf_proto *p, const struct mf_msg *m, uint64_t *word)
{
	return mf_proto_make_request(p, m, word);
}

unsigned int mf_proto_put_chunk(const struct mf_proto *p, const struct mf_msg *m, const void *data,
				uint64_t *word)
{
	return mf_proto_make_chunk(p, m, data, word);
}
