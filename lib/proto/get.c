/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several blocks, verified and taken apart. */
#include "mf_proto_inline.h"

void mf_proto_peek(uint64_t ms_word, struct mf_msg *m)
{
	mf_proto_look(ms_word, m);
}

/* The CRC-32C stands in the last data block and covers all the other blocks, the CRC-16 as zero. */
int mf_proto_verify32(const uint64_t *word, unsigned int n)
{
	uint64_t mt = word[n - 1] & ~field(MSG_CHECK, UINT16_MAX);

	if (n < 3)
		return -EPROTO;
	if (field_of(word[n - 2], MSG_CRC32) != mf_crc32c(word, n - 2, mt))
		return -EBADMSG;
	return field_of(word[n - 2], MSG_CRC32_SPARE) ? -EPROTO : 0;
}

int mf_proto_get(const struct mf_proto *p, const uint64_t *word, unsigned int n, struct mf_msg *m,
		 const uint8_t **data)
{
	uint8_t kind = n > 0 ? mf_proto_kind(word[0]) : MF_KIND_NONE;

	if (kind == MF_RREQ || kind == MF_RMWREQ)
		return mf_proto_get_request(p, word, n, m);
	return mf_proto_get_chunk(p, word, n, m, data);
}
