/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this room does, once and inline, for those who do it at every message: where the kind is known,
 * and where fields are not asked for, the compiler leaves the rest out. The functions of mf_proto.h are
 * made of these.
 */
#ifndef MF_PROTO_INLINE_H
#define MF_PROTO_INLINE_H

#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "base/mf_seeded_bug.h"
#include "systems/edm/proto/proto_crc.h"
#include "systems/edm/proto/proto_layout.h"

/*
 * ---- taken apart ----
 *
 * Whoever has found the blocks of a message knows, and these do not ask again, that the first is an /MS/
 * of the kind in question and the last, another one, an /MT/, and that they are MF_BLOCKS_MAX at most.
 */

/** The kind that an /MS/ block says. Unchecked: only for choosing who verifies the message. */
static inline uint8_t mf_proto_kind(uint64_t ms_word)
{
	return field_of(ms_word, MS_KIND);
}

/** The address in the two control blocks of a message without blocks between. Unchecked: for prefetching. */
static inline uint64_t mf_proto_addr(uint64_t ms_word, uint64_t mt_word)
{
	return field_of(ms_word, MS_ADDR) | field_of(mt_word, MT_ADDR) << 24;
}

/** mf_proto_peek() */
static inline void mf_proto_look(uint64_t ms_word, struct mf_msg *m)
{
	m->kind = mf_proto_kind(ms_word);
	m->dst = field_of(ms_word, MS_DST);
	m->src = field_of(ms_word, MS_SRC);
	m->id = field_of(ms_word, MS_ID);
}

/**
 * A copy for who is not inline: made field by field, where it is wanted, so that the message itself need not
 * be in memory.
 */
static inline __attribute__((always_inline)) struct mf_msg mf_msg_copy(const struct mf_msg *m)
{
	return (struct mf_msg){.kind = m->kind,
			       .id = m->id,
			       .src = m->src,
			       .dst = m->dst,
			       .resp = m->resp,
			       .last = m->last,
			       .mega = m->mega,
			       .op = m->op,
			       .status = m->status,
			       .of = m->of,
			       .ext = m->ext,
			       .epoch = m->epoch,
			       .behind = m->behind,
			       .again = m->again,
			       .size = m->size,
			       .offset = m->offset,
			       .number = m->number,
			       .addr = m->addr,
			       .arg = {m->arg[0], m->arg[1]},
			       .key = m->key};
}
static_assert(sizeof(struct mf_msg) == 64, "a field more is one more to copy");

/** What `check: 32` adds. */
__attribute__((cold)) int mf_proto_verify32(const uint64_t *word, unsigned int n);

/** @return 0; -EBADMSG: a check failed; -EPROTO: no room for the checks */
static inline int mf_proto_verify(const struct mf_proto *p, const uint64_t *word, unsigned int n)
{
	bool two = __builtin_constant_p(n) && n == 2;

	if (unlikely((two ? mf_crc16_two(word[0], word[1]) : mf_crc16(word, n)) != MF_CRC16_GOOD))
		return MF_SEEDED_BUG(check_skipped) ? 0 : -EBADMSG;
	return unlikely(p->check32) ? mf_proto_verify32(word, n) : 0;
}

/** The key, and what tells uses of an id apart, of n data blocks between /MS/ and the checks. */
static inline int mf_proto_get_ext(const uint64_t *word, unsigned int n, struct mf_msg *m)
{
	if (n < MF_EXT_BLOCKS)
		return -EPROTO;
	m->key = word[0];
	m->epoch = field_of(word[1], EXT_EPOCH);
	m->again = field_of(word[1], EXT_AGAIN);
	m->offset = field_of(word[1], EXT_FROM) * MF_CHUNK_UNIT;
	m->number = (uint32_t)field_of(word[1], EXT_NUMBER);
	if ((m->offset != 0 && m->kind != MF_RREQ && m->kind != MF_RMWREQ) ||
	    (m->number != 0 && m->kind == MF_RRES))
		return -EPROTO;
	return 0;
}

/**
 * Verifies a message and decodes what all kinds have.
 * @param body  set to the data blocks behind the extension
 * @return how many those are, or as mf_proto_get()
 */
static inline int mf_proto_get_head(const struct mf_proto *p, const uint64_t *word, unsigned int n,
				    enum mf_kind kind, struct mf_msg *m, const uint64_t **body)
{
	int rc = mf_proto_verify(p, word, n), blocks = (int)n - (unlikely(p->check32) ? 3 : 2);
	uint64_t ms, mt;

	*body = word + 1;
	if (unlikely(rc))
		return rc < 0 ? rc : -EPROTO;
	ms = word[0];
	mt = word[n - 1];
	*m = (struct mf_msg){.kind = (uint8_t)kind,
			     .id = field_of(ms, MS_ID),
			     .src = field_of(ms, MS_SRC),
			     .dst = field_of(ms, MS_DST),
			     .last = field_of(ms, MS_LAST),
			     .ext = field_of(ms, MS_EXT),
			     .addr = field_of(ms, MS_ADDR) | field_of(mt, MT_ADDR) << 24};
	if (likely(!(m->ext | p->ext)))
		return blocks;
	if (!m->ext)
		return -EPROTO;
	rc = mf_proto_get_ext(word + 1, (unsigned int)blocks, m);
	*body += MF_EXT_BLOCKS;
	return rc ? rc : blocks - MF_EXT_BLOCKS;
}

/** What is told in place of the size of a piece that is not the last. @return whether it may be */
static inline bool mf_proto_get_behind(uint64_t told, struct mf_msg *m)
{
	m->behind = (uint16_t)told;
	m->size = MF_MESSAGE_MAX;
	return told != 0;
}

static inline int mf_proto_get_rreq_n(const struct mf_proto *p, const uint64_t *word, unsigned int n,
				      struct mf_msg *m)
{
	const uint64_t *body;
	int blocks = mf_proto_get_head(p, word, n, MF_RREQ, m, &body);

	if (unlikely(blocks < 0))
		return blocks;
	m->size = field_of(word[n - 1], MT_SIZE) + 1;
	if (unlikely(m->last)) {
		m->last = false;
		if (!mf_proto_get_behind(field_of(word[n - 1], MT_SIZE), m))
			return -EPROTO;
	}
	return likely(blocks == 0 && m->size <= MF_MESSAGE_MAX - m->offset) ? 0 : -EPROTO;
}

/** mf_proto_get() for RREQ, which has two blocks as a rule. */
static inline int mf_proto_get_rreq(const struct mf_proto *p, const uint64_t *word, unsigned int n,
				    struct mf_msg *m)
{
	const struct mf_proto usual = {0};

	return likely(n == 2 && !(p->check32 | p->ext)) ? mf_proto_get_rreq_n(&usual, word, 2, m)
							: mf_proto_get_rreq_n(p, word, n, m);
}

/** mf_proto_get() for RMWREQ. */
static inline int mf_proto_get_rmwreq(const struct mf_proto *p, const uint64_t *word, unsigned int n,
				      struct mf_msg *m)
{
	const uint64_t *body;
	int blocks = mf_proto_get_head(p, word, n, MF_RMWREQ, m, &body);
	uint64_t mt;

	if (unlikely(blocks < 0))
		return blocks;
	mt = word[n - 1];
	m->op = field_of(mt, MT_OP);
	m->size = field_of(mt, MT_ANSWER) * MF_CALL_UNIT;
	if (m->op >= MF_RMW_ALL || (unsigned int)blocks != rmw_args(m->op) || m->last ||
	    (m->size != 0) != (m->op == MF_RMW_CALL) || (m->offset != 0 && m->op != MF_RMW_CALL) ||
	    m->offset + m->size > MF_CALL_HEAD + MF_CALL_MAX)
		return -EPROTO;
	for (int i = 0; i < blocks; i++)
		m->arg[i] = body[i];
	return 0;
}

/** Whether the last data block of a chunk is zero behind its last octet. */
static inline bool mf_proto_padded(uint64_t last_word, unsigned int tail)
{
	return likely(tail == 8) || last_word >> (8 * tail) == 0;
}

/** mf_proto_get() for what says that it is of this kind: WREQ, WREQ_ACK or RRES. */
static inline int mf_proto_get_chunk(const struct mf_proto *p, const uint64_t *word, unsigned int n,
				     enum mf_kind kind, struct mf_msg *m, const uint8_t **data)
{
	const uint64_t *body;
	int blocks = mf_proto_get_head(p, word, n, kind, m, &body);
	unsigned int tail;
	uint64_t mt;

	if (unlikely(blocks < 0))
		return blocks;
	mt = word[n - 1];
	tail = field_of(mt, MT_TAIL) + 1;
	if (unlikely(blocks == 0 || field_of(mt, MT_CHUNK_SPARE) || !mf_proto_padded(body[blocks - 1], tail)))
		return -EPROTO;
	m->size = (unsigned int)(blocks - 1) * 8 + tail;
	m->offset = field_of(mt, MT_OFFSET) * MF_CHUNK_UNIT;
	*data = (const uint8_t *)body;
	if (unlikely(m->size > MF_MESSAGE_MAX - m->offset || (!m->last && m->size % MF_CHUNK_UNIT != 0)))
		return -EPROTO;
	return unlikely(kind == MF_RRES && m->addr != 0) ? -EPROTO : 0;
}

/** mf_proto_get_single() for a block of the type /G/. */
static inline int mf_proto_get_grant(uint64_t word, struct mf_msg *m)
{
	if (unlikely(mf_crc16_one(word) != MF_CRC16_GOOD))
		return -EBADMSG;
	*m = (struct mf_msg){.kind = MF_GRANT,
			     .dst = field_of(word, NG_DST),
			     .id = field_of(word, NG_ID),
			     .size = field_of(word, NG_SIZE) + 1,
			     .resp = field_of(word, G_RESP)};
	return unlikely(field_of(word, G_SPARE)) ? -EPROTO : 0;
}

/* ---- made ---- */

/** Wire blocks of a request that is as it says, extended or not. */
static inline unsigned int mf_proto_blocks(const struct mf_proto *p, const struct mf_msg *m)
{
	unsigned int args = m->kind == MF_RMWREQ ? rmw_args(m->op) : 0;

	return 2 + (m->ext ? MF_EXT_BLOCKS : 0) + args + (p->check32 ? 1 : 0);
}

/** The size of an RREQ or /N/, or what is told in place of it. */
static inline uint64_t mf_proto_told(const struct mf_msg *m)
{
	return likely(m->behind == 0) ? m->size - 1 : m->behind;
}

/** Puts the check into a single block. */
static inline uint64_t mf_proto_checked(uint64_t word)
{
	return word | field(MSG_CHECK, mf_crc16_one(word) ^ MF_CRC16_GOOD);
}

/** Number of the use of its id, of a good message with the extension. @param word  its blocks, 3 at least */
static inline uint16_t mf_proto_use(const uint64_t *word)
{
	return (uint16_t)field_of(word[2], EXT_EPOCH);
}

static inline uint64_t mf_proto_make_notify(const struct mf_msg *m)
{
	return mf_proto_checked(MF_BT_N | field(NG_DST, m->dst) | field(NG_ID, m->id) |
				field(NG_SIZE, mf_proto_told(m)) | field(N_MORE, m->behind != 0) |
				field(N_MEGA, m->mega) | field(N_EXT, m->ext));
}

static inline uint64_t mf_proto_make_grant(const struct mf_msg *m)
{
	return mf_proto_checked(MF_BT_G | field(NG_DST, m->dst) | field(NG_ID, m->id) |
				field(NG_SIZE, m->size - 1) | field(G_RESP, m->resp));
}

/** The checks and /MT/ behind n blocks. Returns the blocks of the message. */
static inline __attribute__((always_inline)) unsigned int mf_proto_finish(const struct mf_proto *p,
									  uint64_t mt, uint64_t *word,
									  unsigned int n)
{
	if (unlikely(p->check32)) {
		word[n] = field(MSG_CRC32, mf_crc32c(word, n, mt));
		n++;
	}
	word[n] = mt;
	mt |= field(MSG_CHECK, (n == 1 ? mf_crc16_two(word[0], mt) : mf_crc16(word, n + 1)) ^ MF_CRC16_GOOD);
	word[n] = mt;
	return n + 1;
}

static inline uint64_t mf_proto_ms(const struct mf_msg *m)
{
	return MF_BT_MS | field(MS_KIND, m->kind) | field(MS_DST, m->dst) | field(MS_SRC, m->src) |
	       field(MS_ID, m->id) | field(MS_EXT, m->ext);
}

/** /MS/ and the extension. Returns the blocks so far. */
static inline unsigned int mf_proto_begin(const struct mf_msg *m, uint64_t ms, uint64_t *word)
{
	word[0] = ms;
	if (likely(!m->ext))
		return 1;
	word[1] = m->key;
	word[2] =
		field(EXT_EPOCH, m->epoch) | field(EXT_AGAIN, m->again) |
		field(EXT_FROM, m->kind == MF_RREQ || m->kind == MF_RMWREQ ? m->offset / MF_CHUNK_UNIT : 0) |
		field(EXT_NUMBER, m->number);
	return 1 + MF_EXT_BLOCKS;
}

/** mf_proto_put_request() */
static inline __attribute__((always_inline)) unsigned int mf_proto_make_request(const struct mf_proto *p,
										const struct mf_msg *m,
										uint64_t *word)
{
	uint64_t ms = mf_proto_ms(m) | field(MS_ADDR, m->addr) | field(MS_MORE, m->behind != 0);
	uint64_t mt = MF_BT_MT | field(MT_ADDR, m->addr >> 24);
	unsigned int n = mf_proto_begin(m, ms, word);

	if (likely(m->kind != MF_RMWREQ))
		return mf_proto_finish(p, mt | field(MT_SIZE, mf_proto_told(m)), word, n);
	for (unsigned int i = 0; i < rmw_args(m->op); i++)
		word[n++] = m->arg[i];
	mt |= field(MT_OP, m->op);
	if (m->op == MF_RMW_CALL)
		mt |= field(MT_ANSWER, m->size / MF_CALL_UNIT);
	return mf_proto_finish(p, mt, word, n);
}

/** mf_proto_put_chunk() */
static inline unsigned int mf_proto_make_chunk(const struct mf_proto *p, const struct mf_msg *m,
					       const void *data, uint64_t *word)
{
	uint64_t addr = m->kind == MF_RRES ? 0 : m->addr;
	uint64_t ms = mf_proto_ms(m) | field(MS_LAST, m->last) | field(MS_ADDR, addr);
	uint64_t mt = MF_BT_MT | field(MT_ADDR, addr >> 24) | field(MT_OFFSET, m->offset / MF_CHUNK_UNIT) |
		      field(MT_TAIL, m->size - 1);
	unsigned int blocks = (m->size + 7) / 8, n;

	if (likely(!m->ext && !p->check32 && m->size % 8 == 0 && blocks > 0)) {
		word[0] = ms;
		mt |= field(MSG_CHECK, mf_crc16_copy(word, data, blocks, mt) ^ MF_CRC16_GOOD);
		word[blocks + 1] = mt;
		return blocks + 2;
	}
	n = mf_proto_begin(m, ms, word);
	if (blocks > 0)
		word[n + blocks - 1] = 0;
	memcpy(word + n, data, m->size);
	return mf_proto_finish(p, mt, word, n + blocks);
}

#endif
