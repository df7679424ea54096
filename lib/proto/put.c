/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several blocks, made: /MS/, extension, arguments or payload, CRC-32C, /MT/. */
#include <string.h>

#include "proto_crc.h"
#include "proto_layout.h"

unsigned int mf_proto_request_blocks(const struct mf_proto *p, const struct mf_msg *m)
{
	unsigned int args = m->kind == MF_RMWREQ ? rmw_args(m->op) : 0;

	return 2 + (m->ext ? MF_EXT_BLOCKS : 0) + args + (p->check32 ? 1 : 0);
}

static uint64_t ms_word(const struct mf_msg *m)
{
	return MF_BT_MS | field(MS_KIND, m->kind) | field(MS_DST, m->dst) | field(MS_SRC, m->src) |
	       field(MS_ID, m->id) | field(MS_EXT, m->ext);
}

/* /MS/ and the extension. Returns the blocks so far. */
static unsigned int begin(const struct mf_msg *m, uint64_t ms, uint64_t *word)
{
	word[0] = ms;
	if (!m->ext)
		return 1;
	word[1] = m->key;
	word[2] = field(EPOCH, m->epoch);
	return 1 + MF_EXT_BLOCKS;
}

/* The checks and /MT/ behind n blocks. Returns the blocks of the message. */
static unsigned int finish(const struct mf_proto *p, uint64_t mt, uint64_t *word, unsigned int n)
{
	if (p->check32) {
		word[n] = field(CRC32, mf_crc32c(word, n, mt));
		n++;
	}
	word[n++] = mt;
	word[n - 1] |= field(CHECK, mf_crc16(word, n) ^ MF_CRC16_GOOD);
	return n;
}

unsigned int mf_proto_put_request(const struct mf_proto *p, const struct mf_msg *m, uint64_t *word)
{
	uint64_t ms = ms_word(m) | field(MS_ADDR, m->addr);
	uint64_t mt = MF_BT_MT | field(MT_ADDR, m->addr >> 24);
	unsigned int n = begin(m, ms, word);

	if (m->kind != MF_RMWREQ)
		return finish(p, mt | field(MT_SIZE, m->size - 1), word, n);
	for (unsigned int i = 0; i < rmw_args(m->op); i++)
		word[n++] = m->arg[i];
	return finish(p, mt | field(MT_OP, m->op), word, n);
}

unsigned int mf_proto_put_chunk(const struct mf_proto *p, const struct mf_msg *m, const void *data,
				uint64_t *word)
{
	uint64_t addr = m->kind == MF_RRES ? 0 : m->addr;
	uint64_t ms = ms_word(m) | field(MS_LAST, m->last) | field(MS_ADDR, addr);
	uint64_t mt = MF_BT_MT | field(MT_ADDR, addr >> 24) | field(MT_OFFSET, m->offset / MF_CHUNK_UNIT) |
		      field(MT_TAIL, m->size - 1);
	unsigned int n = begin(m, ms, word);
	unsigned int blocks = (m->size + 7) / 8;

	if (blocks == 0)
		return finish(p, mt, word, n);
	word[n + blocks - 1] = 0;
	memcpy(word + n, data, m->size);
	return finish(p, mt, word, n + blocks);
}
