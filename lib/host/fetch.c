/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints. Nothing is checked: what is wrong in a message is only fetched. */
#include "mf_proto_inline.h"
#include "host.h"

static inline void fetch_lines(const void *from, size_t octets)
{
	for (size_t at = 0; at < octets; at += 64)
		__builtin_prefetch((const uint8_t *)from + at, 1);
}

void mf_host_fetch(const struct mf_host *h)
{
	fetch_lines(h, sizeof(*h));
}

void mf_host_fetch_mux(const struct mf_host *h)
{
	mf_mux_fetch(h->mux);
}

void mf_host_fetch_peer(const struct mf_host *h, uint16_t node)
{
	__builtin_prefetch(&h->peer[node], 1);
	__builtin_prefetch(&h->state[host_index(h, node, 0)], 1);
}

/** The message that a chunk of a response or a grant is for; NULL: the block is neither. */
static inline const struct host_state *state_of(const struct mf_host *h, uint64_t word)
{
	uint64_t node, id;

	if (mf_block_type(word) == MF_BT_G) {
		node = field_of(word, NG_DST);
		id = field_of(word, NG_ID);
	} else if (mf_block_type(word) == MF_BT_MS && mf_proto_kind(word) == MF_RRES) {
		node = field_of(word, MS_SRC);
		id = field_of(word, MS_ID);
	} else {
		return NULL;
	}
	return node < h->nodes ? &h->state[host_index(h, (uint16_t)node, (uint8_t)id)] : NULL;
}

void mf_host_fetch_message(const struct mf_host *h, uint64_t first, uint64_t last)
{
	const struct mf_memory_ops *ops = h->config.memory_ops;
	const struct host_state *s = state_of(h, first);

	if (s != NULL)
		__builtin_prefetch(s, 1);
	else if (ops != NULL && mf_block_type(first) == MF_BT_MS)
		__builtin_prefetch(ops->at(h->config.memory, mf_proto_addr(first, last), 1), 1);
}

void mf_host_fetch_op(const struct mf_host *h, uint64_t first)
{
	const struct host_state *s = state_of(h, first);

	if (s != NULL)
		fetch_lines(&h->op[s->op], sizeof(h->op[0]));
}

uint64_t mf_host_fetch_data(const struct mf_host *h, uint64_t first)
{
	const struct host_state *s = state_of(h, first);

	if (s == NULL || s->phase != HOST_ACTIVE)
		return 0;
	__builtin_prefetch(h->op[s->op].buf, 1);
	return h->op[s->op].c.user;
}
