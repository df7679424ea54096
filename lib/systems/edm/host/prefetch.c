/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints. Nothing is checked: what is wrong in a message is only fetched. */
#include "base/mf_fetch.h"
#include "systems/edm/proto/mf_proto_inline.h"
#include "systems/edm/host/host.h"

static inline void fetch_lines(const void *from, size_t octets)
{
	for (size_t at = 0; at < octets; at += 64)
		__builtin_prefetch((const uint8_t *)from + at, 1);
}

/* What lies between is looked at when it is set up, or seldom. */
void mf_host_fetch(const struct mf_host *h)
{
	mf_fetch_only();
	fetch_lines(h, offsetof(struct mf_host, pool));
	__builtin_prefetch(&h->config);
	__builtin_prefetch(&h->config.probe);
	fetch_lines(&h->stats, offsetof(struct mf_host_stats, timeouts));
	fetch_lines(&h->rx.demux.ber, sizeof(*h) - offsetof(struct mf_host, rx.demux.ber));
}

void mf_host_fetch_peer(const struct mf_host *h, uint16_t node)
{
	mf_fetch_only();
	__builtin_prefetch(&h->peer[node], 1);
	__builtin_prefetch(&h->entry[host_id_index(h, node, 0)], 1);
	__builtin_prefetch(&h->entry[host_id_index(h, node, h->write_next[node])], 1);
}

/** Whose message a chunk of a response or a grant is for; HOST_NO_NODE: the block is neither. */
static inline uint16_t peer_of(const struct mf_host *h, uint64_t word, uint8_t *id)
{
	uint64_t node;

	if (mf_block_type(word) == MF_BT_G) {
		node = field_of(word, NG_DST);
		*id = field_of(word, NG_ID);
	} else if (mf_block_type(word) == MF_BT_MS && mf_proto_kind(word) == MF_RRES) {
		node = field_of(word, MS_SRC);
		*id = field_of(word, MS_ID);
	} else {
		return HOST_NO_NODE;
	}
	return node < h->shell.nodes ? (uint16_t)node : HOST_NO_NODE;
}

/** That message, or NULL. */
static inline const struct host_state *state_of(const struct mf_host *h, uint64_t word)
{
	uint8_t id;
	uint16_t node = peer_of(h, word, &id);

	return node != HOST_NO_NODE ? host_state_at(h, node, id) : NULL;
}

/** The node whose write a message is; HOST_NO_NODE: it is none. */
static inline uint16_t writer_of(const struct mf_host *h, uint64_t word)
{
	uint64_t node = field_of(word, MS_SRC);

	if (mf_block_type(word) != MF_BT_MS || mf_proto_kind(word) != MF_WREQ || node >= h->shell.nodes)
		return HOST_NO_NODE;
	return (uint16_t)node;
}

uint16_t mf_host_fetch_message(const struct mf_host *h, uint64_t first, uint64_t last)
{
	const struct mf_memory_ops *ops = h->config.memory_ops;
	uint8_t id;
	uint16_t node = peer_of(h, first, &id);

	mf_fetch_only();
	if (node != HOST_NO_NODE) {
		__builtin_prefetch(&h->entry[host_id_index(h, node, id)], 1);
		__builtin_prefetch(&h->peer[node], 1);
	} else if (ops != NULL && mf_block_type(first) == MF_BT_MS)
		ops->fetch(h->config.memory, mf_proto_addr(first, last));
	return writer_of(h, first);
}

void mf_host_fetch_state(const struct mf_host *h, uint64_t first)
{
	const struct host_state *s = state_of(h, first);

	mf_fetch_only();
	if (s != NULL)
		__builtin_prefetch(s, 1);
}

void mf_host_fetch_op(const struct mf_host *h, uint64_t first)
{
	const struct host_state *s = state_of(h, first);

	mf_fetch_only();
	if (s != NULL)
		fetch_lines(&h->op[s->op], sizeof(h->op[0]));
}

uint64_t mf_host_fetch_data(const struct mf_host *h, uint64_t first)
{
	const struct host_state *s = state_of(h, first);

	mf_fetch_only();
	if (s == NULL || s->phase != HOST_ACTIVE)
		return 0;
	__builtin_prefetch(h->op[s->op].buf, 1);
	return h->op[s->op].c.user;
}
