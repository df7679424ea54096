/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes to the forger's port: grants of its writes, and answers, which are judged. */
#include "systems/edm/fault/forge_priv.h"

/** The message that an answer is to; NULL: none of the forger's. */
static struct forged *asked(struct fault_forge *g, uint16_t dst, uint8_t id)
{
	struct forged *o = id >= MF_FAULT_FORGE_ID ? &g->out[id - MF_FAULT_FORGE_ID] : NULL;

	return o != NULL && o->use != 0 && o->dst == dst ? o : NULL;
}

static void grant(struct fault_forge *g, const struct mf_msg *m)
{
	struct forged *o = asked(g, m->dst, m->id);

	if (o == NULL || m->resp || o->granted || o->write.kind == MF_KIND_NONE || m->size < o->write.size)
		return;
	o->granted = true;
	g->granted++;
}

/** Whether an answer is of this use of its id, and not of one long ago. */
static bool names(const struct forged *o, const struct mf_msg *m)
{
	unsigned int bits = m->kind == MF_ACK ? MF_ACK_USE_BITS : m->kind == MF_ERR ? MF_ERR_USE_BITS : 16;

	return ((m->epoch ^ o->use) & ((1u << bits) - 1)) == 0;
}

/** Judges an answer. What a switch says itself (a node has restarted, it has no room) is none. */
static void answer(struct fault_forge *g, const struct mf_msg *m, const uint8_t *data)
{
	const struct forged *o = asked(g, m->src, m->id);

	if (o == NULL || !names(o, m) || (m->kind == MF_ERR && m->status == MF_ERR_RESTARTED))
		return;
	if (o->honest)
		forge_spy_answered(g, m, data);
	else if (m->kind == MF_RRES || m->kind == MF_ACK)
		g->stats.let_in++;
	else if (m->kind == MF_ERR && m->status == MF_ERR_KEY)
		g->stats.refused++;
	else if (m->kind == MF_ERR && m->status != MF_ERR_RESOURCE)
		g->stats.told++;
}

static void single(struct fault_forge *g, uint64_t word)
{
	struct mf_msg m;

	if (mf_proto_get_single(word, &m) != 0)
		return;
	if (m.kind == MF_GRANT)
		grant(g, &m);
	else
		answer(g, &m, NULL);
}

static void several(struct fault_forge *g)
{
	const uint8_t *data;
	struct mf_msg m;

	if (g->blocks <= FORGE_HEARD && mf_proto_get(&g->proto, g->heard, g->blocks, &m, &data) == 0)
		answer(g, &m, data);
	g->blocks = 0;
}

static void listen(struct fault_forge *g, uint8_t sync, uint64_t word)
{
	uint8_t type = mf_block_type(word);

	if (sync == MF_SYNC_CTRL && type == MF_BT_MS)
		g->blocks = 0;
	else if (sync == MF_SYNC_CTRL && type != MF_BT_MT) {
		if (type == MF_BT_G || type == MF_BT_MST)
			single(g, word);
		return;
	} else if (g->blocks == 0) {
		return;
	}
	if (g->blocks < FORGE_HEARD)
		g->heard[g->blocks] = word;
	g->blocks++;
	if (sync == MF_SYNC_CTRL && type == MF_BT_MT)
		several(g);
}

void forge_hear(struct fault_forge *g, const struct mf_span *span)
{
	for (unsigned int i = 0; i < span->count; i++)
		listen(g, span->sync[i], span->word[i]);
}
