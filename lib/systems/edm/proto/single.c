/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of one control block: /N/, /G/ and, within /MST/, ACK, ERR, GRET and TAKE. */
#include "systems/edm/proto/mf_proto_inline.h"

static uint64_t put_mst(const struct mf_msg *m)
{
	uint64_t w = MF_BT_MST | field(MS_KIND, m->kind);

	if (m->kind == MF_TAKE)
		return w | field(TAKE_EPOCH, m->epoch) | field(TAKE_WHAT, m->op) | field(TAKE_OF, m->dst);
	w |= field(MS_DST, m->dst);
	if (m->kind == MF_GRET)
		return w | field(GRET_ID, m->id) | field(GRET_RESP, m->resp) | field(GRET_SIZE, m->size - 1) |
		       field(GRET_ASKED, m->op);
	w |= field(MS_SRC, m->src) | field(MS_ID, m->id);
	if (m->kind == MF_ERR && mf_proto_of_incarnation(m->status))
		return w | field(ERR_STATUS, m->status) | field(ERR_INCARNATION, m->epoch);
	if (m->kind == MF_ERR && m->status == MF_ERR_GAP)
		return w | field(ERR_STATUS, m->status) | field(ERR_APPLIED, m->of) |
		       field(ERR_USE, m->epoch);
	if (m->kind == MF_ERR)
		return w | field(ERR_STATUS, m->status) | field(ERR_OF, m->of) | field(ERR_USE, m->epoch);
	return w | field(ACK_USE, m->epoch);
}

uint64_t mf_proto_put_single(const struct mf_msg *m)
{
	switch (m->kind) {
	case MF_NOTIFY:
		return mf_proto_make_notify(m);
	case MF_GRANT:
		return mf_proto_make_grant(m);
	default:
		return mf_proto_checked(put_mst(m));
	}
}

static int get_notify(uint64_t w, struct mf_msg *m)
{
	m->kind = MF_NOTIFY;
	m->dst = field_of(w, NG_DST);
	m->id = field_of(w, NG_ID);
	m->size = field_of(w, NG_SIZE) + 1;
	m->mega = field_of(w, N_MEGA);
	m->ext = field_of(w, N_EXT);
	if (field_of(w, N_SPARE) != 0)
		return -EPROTO;
	if (field_of(w, N_MORE) == 0)
		return 0;
	return mf_proto_get_behind(field_of(w, NG_SIZE), m) && !m->mega ? 0 : -EPROTO;
}

static int get_gret(uint64_t w, struct mf_msg *m)
{
	m->id = field_of(w, GRET_ID);
	m->resp = field_of(w, GRET_RESP);
	m->size = field_of(w, GRET_SIZE) + 1;
	m->op = field_of(w, GRET_ASKED);
	return field_of(w, GRET_SPARE) ? -EPROTO : 0;
}

/* Why a memory node may refuse: the local outcomes do not travel. */
static bool is_refusal(uint8_t status)
{
	return (status >= MF_ERR_RANGE && status <= MF_ERR_RESOURCE) || status == MF_ERR_KEY;
}

/* The switch says so of a demand that it refuses. */
static bool is_refused_demand(const struct mf_msg *m)
{
	return m->status == MF_ERR_RESOURCE && m->of == MF_NOTIFY && m->epoch == 0;
}

static int get_err(uint64_t w, struct mf_msg *m)
{
	m->status = field_of(w, ERR_STATUS);
	if (mf_proto_of_incarnation(m->status)) {
		m->epoch = field_of(w, ERR_INCARNATION);
		return 0;
	}
	m->epoch = field_of(w, ERR_USE);
	if (m->status == MF_ERR_GAP) {
		m->of = field_of(w, ERR_APPLIED);
		return 0;
	}
	m->of = field_of(w, ERR_OF);
	return (is_refusal(m->status) && m->of <= MF_RMWREQ) || is_refused_demand(m) ? 0 : -EPROTO;
}

static int get_take(uint64_t w, struct mf_msg *m)
{
	m->epoch = field_of(w, TAKE_EPOCH);
	m->op = field_of(w, TAKE_WHAT);
	m->dst = field_of(w, TAKE_OF);
	if (m->op == MF_TAKE_ASK && m->epoch != 0)
		return -EPROTO;
	return field_of(w, TAKE_SPARE) ? -EPROTO : 0;
}

static int get_mst(uint64_t w, struct mf_msg *m)
{
	m->kind = field_of(w, MS_KIND);
	if (m->kind == MF_TAKE)
		return get_take(w, m);
	m->dst = field_of(w, MS_DST);
	if (m->kind == MF_GRET)
		return get_gret(w, m);
	m->src = field_of(w, MS_SRC);
	m->id = field_of(w, MS_ID);
	if (m->kind == MF_ERR)
		return get_err(w, m);
	m->epoch = field_of(w, ACK_USE);
	return m->kind == MF_ACK ? 0 : -EPROTO;
}

int mf_proto_get_single(uint64_t word, struct mf_msg *m)
{
	if (mf_block_type(word) == MF_BT_G)
		return mf_proto_get_grant(word, m);
	if (mf_crc16_one(word) != MF_CRC16_GOOD)
		return -EBADMSG;
	*m = (struct mf_msg){0};
	switch (mf_block_type(word)) {
	case MF_BT_N:
		return get_notify(word, m);
	case MF_BT_MST:
		return get_mst(word, m);
	default:
		return -EPROTO;
	}
}
