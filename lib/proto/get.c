/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several blocks, verified and taken apart. */
#include <errno.h>

#include "proto_crc.h"
#include "proto_layout.h"

void mf_proto_peek(uint64_t ms_word, struct mf_msg *m)
{
	m->kind = field_of(ms_word, MS_KIND);
	m->dst = field_of(ms_word, MS_DST);
	m->src = field_of(ms_word, MS_SRC);
	m->id = field_of(ms_word, MS_ID);
}

/* The CRC-32C stands in the last data block and covers all the other blocks, the CRC-16 as zero. */
static int verify32(const uint64_t *word, unsigned int n)
{
	uint64_t mt = word[n - 1] & ~field(CHECK, UINT16_MAX);

	if (n < 3)
		return -EPROTO;
	if (field_of(word[n - 2], CRC32) != mf_crc32c(word, n - 2, mt))
		return -EBADMSG;
	return field_of(word[n - 2], CRC32_SPARE) ? -EPROTO : 0;
}

static int verify(const struct mf_proto *p, const uint64_t *word, unsigned int n)
{
	if (n < 2 || n > MF_BLOCKS_MAX)
		return -EPROTO;
	if (mf_crc16(word, n) != MF_CRC16_GOOD)
		return -EBADMSG;
	if (mf_block_type(word[0]) != MF_BT_MS || mf_block_type(word[n - 1]) != MF_BT_MT)
		return -EPROTO;
	return p->check32 ? verify32(word, n) : 0;
}

/* n: data blocks between /MS/ and the checks. Returns how many of them the extension takes. */
static int get_ext(const uint64_t *word, unsigned int n, struct mf_msg *m)
{
	if (!m->ext)
		return 0;
	if (n < MF_EXT_BLOCKS || field_of(word[1], EPOCH_SPARE))
		return -EPROTO;
	m->key = word[0];
	m->epoch = field_of(word[1], EPOCH);
	return MF_EXT_BLOCKS;
}

static int get_rreq(uint64_t mt, unsigned int n, struct mf_msg *m)
{
	m->size = field_of(mt, MT_SIZE) + 1;
	return n == 0 && !m->last ? 0 : -EPROTO;
}

static int get_rmwreq(uint64_t mt, const uint64_t *word, unsigned int n, struct mf_msg *m)
{
	m->op = field_of(mt, MT_OP);
	if (m->op >= MF_RMW_OPS || n != rmw_args(m->op) || m->last || field_of(mt, MT_OP_SPARE))
		return -EPROTO;
	for (unsigned int i = 0; i < n; i++)
		m->arg[i] = word[i];
	return 0;
}

/* Behind the last octet the last data block is zero. */
static bool padding_is_zero(uint64_t last_word, unsigned int tail)
{
	return tail == 8 || last_word >> (8 * tail) == 0;
}

static int get_chunk(uint64_t mt, const uint64_t *word, unsigned int n, struct mf_msg *m)
{
	unsigned int tail = field_of(mt, MT_TAIL) + 1;

	if (n == 0 || field_of(mt, MT_CHUNK_SPARE) || !padding_is_zero(word[n - 1], tail))
		return -EPROTO;
	m->size = (n - 1) * 8 + tail;
	m->offset = field_of(mt, MT_OFFSET) * MF_CHUNK_UNIT;
	if (m->size > MF_MESSAGE_MAX - m->offset || (!m->last && m->size % MF_CHUNK_UNIT != 0))
		return -EPROTO;
	return m->kind == MF_RRES && m->addr != 0 ? -EPROTO : 0;
}

int mf_proto_get(const struct mf_proto *p, const uint64_t *word, unsigned int n, struct mf_msg *m,
		 const uint8_t **data)
{
	uint64_t mt;
	int rc = verify(p, word, n);

	if (rc)
		return rc;
	mt = word[n - 1];
	*m = (struct mf_msg){.ext = field_of(word[0], MS_EXT), .last = field_of(word[0], MS_LAST)};
	mf_proto_peek(word[0], m);
	m->addr = field_of(word[0], MS_ADDR) | field_of(mt, MT_ADDR) << 24;

	n -= p->check32 ? 3 : 2;
	rc = get_ext(word + 1, n, m);
	if (rc < 0)
		return rc;
	word += 1 + rc;
	n -= rc;
	switch (m->kind) {
	case MF_RREQ:
		return get_rreq(mt, n, m);
	case MF_RMWREQ:
		return get_rmwreq(mt, word, n, m);
	case MF_WREQ:
	case MF_WREQ_ACK:
	case MF_RRES:
		*data = (const uint8_t *)word;
		return get_chunk(mt, word, n, m);
	default:
		return -EPROTO;
	}
}
