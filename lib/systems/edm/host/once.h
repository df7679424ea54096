/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests are executed at most once (host.once). Every message of several blocks says the number of the
 * use of its id, ACK and ERR its low bits. So of each id of each source a memory node knows the last use,
 * what it was, and how it went, and tells apart what comes:
 *
 *   NEW    a use that was not seen: it is executed
 *   AGAIN  the same, sent again: its answer was lost, or late. It is answered once more: an atomic with the
 *          result that is kept, a refusal with the same one, a read is read again, a chunk of a write is
 *          applied if it was not. What there was no room for is tried again
 *   COPY   the same, which came twice on its way. Nobody waits for a second answer
 *   OLD    an older use: whoever asked has given up long ago
 *
 * Who asked takes what names the use that is under way, and of each octet the first copy.
 *
 * Uses of an id follow each other, modulo 2^16, over lost links, too; a source that was started again
 * begins anywhere, so all that is known of it is forgotten when the switch says that it is back
 * (MF_ERR_RESTARTED), and nothing that it has sent before comes behind that. A memory node that is started
 * again knows nothing. What was under way to it has failed for those who asked, so nobody sends it again.
 */
#ifndef HOST_ONCE_H
#define HOST_ONCE_H

#include "systems/edm/host/state_table.h"

enum host_once_verdict { HOST_ONCE_NEW, HOST_ONCE_AGAIN, HOST_ONCE_COPY, HOST_ONCE_OLD };

/** What is known of the last use of an id, at a memory node. */
enum host_once_what {
	HOST_ONCE_NONE, /**< nothing is known */
	HOST_ONCE_READ, /**< of what follows its first `moved` octets */
	HOST_ONCE_RMW, /**< executed: its result is kept */
	HOST_ONCE_WRITE, /**< its first `moved` octets are applied */
	HOST_ONCE_WRITTEN, /**< applied as a whole */
	HOST_ONCE_REFUSED, /**< result: enum mf_status */
};

struct host_once {
	uint64_t result; /**< by `what`; of a write the last sending of which a gap was told: gap_told() */
	uint32_t moved;
	uint16_t use;
	uint8_t what; /**< enum host_once_what */
	uint8_t again; /**< of what was answered last */
};
static_assert(sizeof(struct host_once) == 16, "four a cache line");

/** Whether the host has uses. All of its messages of several blocks are extended, then. */
static inline bool host_once(const struct mf_host *h)
{
	return unlikely(h->config.proto.ext);
}

/* ---- who asks ---- */

/** The number of the use of an id that is under way, or was last. */
static inline uint16_t host_use(const struct mf_host *h, uint16_t node, uint8_t id)
{
	return (uint16_t)(h->use[host_id_index(h, node, id)] + h->config.use);
}

/** Whether what a node has answered to an id has the low bits of that. */
static inline bool host_use_is(const struct mf_host *h, const struct mf_msg *m, unsigned int bits)
{
	return ((host_use(h, m->src, m->id) ^ m->epoch) & ((1u << bits) - 1)) == 0 ||
	       MF_SEEDED_BUG(epoch_ignored);
}

/** What a request or a chunk of a message says of its use. */
static inline void host_once_sign(const struct mf_host *h, const struct host_state *s, struct mf_msg *m)
{
	m->ext = true;
	m->key = h->op[s->op].key;
	m->epoch = host_use(h, s->node, s->id);
	m->again = s->again;
	if (unlikely(h->redundancy != NULL))
		m->number = h->redundancy->number[host_id_index(h, s->node, s->id)];
	else
		m->space = h->op[s->op].c.space;
}

/* ---- who is asked ---- */

static inline struct host_once *host_once_at(const struct mf_host *h, uint16_t node, uint8_t id)
{
	return &h->once[host_index(h, node, id)];
}

/**
 * Two switches let the same request out. Its answer went on both links, and another one would be taken by the
 * switch for that of the id's next use.
 */
static inline bool host_once_mirrored(const struct mf_host *h, enum host_once_verdict verdict)
{
	return verdict == HOST_ONCE_COPY && h->redundancy != NULL;
}

/** What a request or chunk is, to which e is the entry of its id. Nothing is changed. */
static inline enum host_once_verdict host_once_judge(const struct host_once *e, const struct mf_msg *m)
{
	int16_t ahead = (int16_t)(m->epoch - e->use);

	if (MF_SEEDED_BUG(no_duplicate_filter))
		return HOST_ONCE_NEW;
	if (e->what == HOST_ONCE_NONE || ahead > 0)
		return HOST_ONCE_NEW;
	if (ahead < 0)
		return HOST_ONCE_OLD;
	return m->again > e->again ? HOST_ONCE_AGAIN : HOST_ONCE_COPY;
}

/** A use begins: what was known of the id is forgotten, and a response that was under way is over. */
struct host_once *host_once_begin(struct mf_host *h, const struct mf_msg *m, enum host_once_what what);
/** Forgets all that is known of a source, and what was to be answered to it. */
void host_once_forget(struct mf_host *h, uint16_t node);

#endif
