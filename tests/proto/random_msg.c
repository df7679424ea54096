/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_msg.h"

static void random_chunk(struct test_rng *r, struct mf_msg *m, uint32_t max_octets)
{
	m->last = rnd(r) & 1;
	m->size = 1 + below(r, max_octets);
	if (!m->last)
		m->size = (m->size + MF_CHUNK_UNIT - 1) / MF_CHUNK_UNIT * MF_CHUNK_UNIT;
	m->offset = below(r, (MF_MESSAGE_MAX - m->size) / MF_CHUNK_UNIT + 1) * MF_CHUNK_UNIT;
	if (m->kind == MF_RRES)
		m->addr = 0;
}

static void random_err(struct test_rng *r, struct mf_msg *m)
{
	static const uint8_t status[] = {MF_ERR_RANGE, MF_ERR_ALIGN,     MF_ERR_OPCODE,      MF_ERR_RESOURCE,
					 MF_ERR_KEY,   MF_ERR_RESTARTED, MF_ERR_INCARNATION, MF_ERR_GAP};

	m->status = status[below(r, sizeof(status))];
	if (!mf_proto_of_incarnation(m->status))
		m->of = below(r, m->status == MF_ERR_GAP ? 16 : MF_RMWREQ + 1);
	m->epoch = below(r, mf_proto_of_incarnation(m->status) ? (MF_INCARNATION_MAX + 1) / MF_IDS
							       : 1 << MF_ERR_USE_BITS);
}

/* The size of a message, or it is a piece of a transfer that has something behind it. */
static void random_size(struct test_rng *r, struct mf_msg *m)
{
	m->size = 1 + below(r, MF_MESSAGE_MAX);
	if (m->kind == MF_GRANT || m->kind == MF_GRET || m->mega || below(r, 4) != 0)
		return;
	m->size = MF_MESSAGE_MAX;
	m->behind = 1 + below(r, MF_BEHIND_MAX);
}

static void random_multi(struct test_rng *r, struct mf_msg *m, uint32_t max_octets)
{
	m->addr = rnd(r) & MF_ADDR_MAX;
	m->ext = rnd(r) & 1;
	if (m->ext) {
		m->key = rnd(r);
		m->epoch = (uint16_t)rnd(r);
		m->again = (uint8_t)rnd(r);
		m->number = m->kind == MF_RRES ? 0 : below(r, 1u << MF_NUMBER_BITS);
	}
	if (m->kind == MF_RREQ) {
		random_size(r, m);
		if (m->ext)
			m->offset = below(r, (MF_MESSAGE_MAX - m->size) / MF_CHUNK_UNIT + 1) * MF_CHUNK_UNIT;
	} else if (m->kind == MF_RMWREQ) {
		m->op = below(r, MF_RMW_ALL);
		m->arg[0] = rnd(r);
		m->arg[1] = m->op == MF_RMW_CAS || m->op == MF_RMW_CALL ? rnd(r) : 0;
		m->size = m->op == MF_RMW_CALL ? MF_CALL_UNIT * (1 + below(r, 4095)) : 0;
		if (m->op == MF_RMW_CALL && m->ext)
			m->offset = below(r, 4096 - m->size / MF_CALL_UNIT) * MF_CALL_UNIT;
	} else {
		random_chunk(r, m, max_octets);
	}
}

static struct mf_msg random_take(struct test_rng *r)
{
	struct mf_msg m = {.kind = MF_TAKE, .op = below(r, MF_TAKES)};

	if (m.op != MF_TAKE_ASK)
		m.epoch = (uint16_t)rnd(r);
	m.dst = below(r, MF_INCARNATION_MAX + 1);
	return m;
}

struct mf_msg random_msg(struct test_rng *r, uint8_t kind, uint32_t max_octets)
{
	struct mf_msg m = {.kind = kind, .dst = below(r, MF_PORTS_MAX), .id = (uint8_t)rnd(r)};

	if (kind == MF_TAKE)
		return random_take(r);
	if (kind != MF_NOTIFY && kind != MF_GRANT && kind != MF_GRET)
		m.src = below(r, MF_PORTS_MAX);
	if (kind == MF_NOTIFY) {
		m.mega = rnd(r) & 1;
		m.ext = rnd(r) & 1;
	}
	if (kind == MF_GRANT || kind == MF_GRET)
		m.resp = rnd(r) & 1;
	if (kind == MF_GRET)
		m.op = rnd(r) & 1;
	if (kind == MF_NOTIFY || kind == MF_GRANT || kind == MF_GRET)
		random_size(r, &m);
	if (kind == MF_ERR)
		random_err(r, &m);
	if (kind == MF_ACK)
		m.epoch = below(r, 1 << MF_ACK_USE_BITS);
	if (!is_single(kind))
		random_multi(r, &m, max_octets);
	return m;
}

unsigned int encode(const struct mf_proto *p, const struct mf_msg *m, const void *data, uint64_t *word)
{
	if (is_single(m->kind)) {
		word[0] = mf_proto_put_single(m);
		return 1;
	}
	if (m->kind == MF_RREQ || m->kind == MF_RMWREQ)
		return mf_proto_put_request(p, m, word);
	return mf_proto_put_chunk(p, m, data, word);
}

int decode(const struct mf_proto *p, const uint64_t *word, unsigned int n, struct mf_msg *m,
	   const uint8_t **data)
{
	return n == 1 ? mf_proto_get_single(word[0], m) : mf_proto_get(p, word, n, m, data);
}

void expect_equal(const struct mf_msg *a, const struct mf_msg *b)
{
	cr_assert(eq(u8, a->kind, b->kind));
	cr_assert(eq(u8, a->id, b->id));
	cr_assert(eq(u16, a->src, b->src));
	cr_assert(eq(u16, a->dst, b->dst));
	cr_assert(a->resp == b->resp && a->last == b->last && a->mega == b->mega && a->ext == b->ext);
	cr_assert(a->op == b->op && a->status == b->status && a->of == b->of && a->behind == b->behind);
	cr_assert(eq(u32, a->size, b->size));
	cr_assert(eq(u32, a->offset, b->offset));
	cr_assert(eq(u64, a->addr, b->addr));
	cr_assert(a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1]);
	cr_assert(a->key == b->key && a->epoch == b->epoch && a->again == b->again);
	cr_assert(eq(u32, a->number, b->number));
}
