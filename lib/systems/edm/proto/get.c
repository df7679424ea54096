/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several blocks, verified and taken apart. */
#include "systems/edm/proto/mf_proto_inline.h"

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
	enum mf_kind kind;
	int rc;

	if (n < 2 || n > MF_BLOCKS_MAX)
		return -EPROTO;
	if (mf_block_type(word[0]) != MF_BT_MS || mf_block_type(word[n - 1]) != MF_BT_MT)
		return mf_crc16(word, n) == MF_CRC16_GOOD ? -EPROTO : -EBADMSG;
	kind = mf_proto_kind(word[0]);
	switch (kind) {
	case MF_RREQ:
		return mf_proto_get_rreq(p, word, n, m);
	case MF_RMWREQ:
		return mf_proto_get_rmwreq(p, word, n, m);
	case MF_WREQ:
	case MF_WREQ_ACK:
	case MF_RRES:
		return mf_proto_get_chunk(p, word, n, kind, m, data);
	default:
		rc = mf_proto_verify(p, word, n);
		return rc ? rc : -EPROTO;
	}
}
