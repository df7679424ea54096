/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of messages, under the virtual clock: what became of each operation that was intended in the
 * measured time. It is made of what the clients say of their operations, and the memory nodes of the writes
 * that take effect (struct mf_probe); so it is the same for any stack.
 */
#ifndef MF_MESSAGE_LOG_H
#define MF_MESSAGE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"
#include "workload/mf_workload.h"

#define MESSAGE_UNDER_WAY 0xff

struct message {
	mf_time intended; /**< in a closed loop: start */
	mf_time start; /**< submission */
	/** Of its data at the receiver: at the compute node; of a write, taking effect at the memory node. */
	mf_time first, last; /**< MF_NEVER: that never came */
	mf_time done; /**< completion or failure at the client; MF_NEVER: under way */
	uint32_t size;
	uint16_t target;
	uint8_t kind; /**< enum mf_client_kind */
	uint8_t status; /**< enum mf_status, or MESSAGE_UNDER_WAY */
};

/** How one is kept: times as what has passed since `intended`, at most 281 s. MESSAGE_NEVER is MF_NEVER. */
struct message_entry {
	mf_time intended;
	uint64_t start : 48, target : 16;
	uint64_t first : 48, kind : 8, status : 8;
	uint64_t last : 48, size_low : 16;
	uint64_t done : 48, size_high : 16;
};
static_assert(sizeof(struct message_entry) == 40, "of a million messages");

#define MESSAGE_NEVER ((UINT64_C(1) << 48) - 1)

/** The messages of one client, in the order of their begin. */
struct message_client {
	struct messages *log;
	struct message_entry **chunk; /**< of MESSAGE_CHUNK */
	uint32_t chunks;
	uint32_t count;
	uint64_t first; /**< number of the first one, see mf_client_number() */
	struct mf_client_watch watch; /**< of the client */
};

#define MESSAGE_CHUNK 1024

struct messages {
	unsigned int nodes;
	struct message_client *client; /**< [nodes] */
	bool incomplete; /**< no memory, or one took longer than can be kept: messages are missing */
};

/** @return NULL: no memory */
struct messages *messages_new(unsigned int nodes);
void messages_free(struct messages *m);

/** What the client of a node tells of its operations goes here. */
static inline const struct mf_client_watch *messages_watch(struct messages *m, unsigned int node)
{
	return &m->client[node].watch;
}

/** The first, the last octet of a write has taken effect. user: of its operation. */
void messages_first(struct messages *m, uint16_t cn, uint64_t user, mf_time at);
void messages_effect(struct messages *m, uint16_t cn, uint64_t user, mf_time at);

static inline mf_time message_time(const struct message_entry *e, uint64_t after)
{
	return after != MESSAGE_NEVER ? e->intended + after : MF_NEVER;
}

static inline struct message message_at(const struct message_client *c, uint32_t i)
{
	const struct message_entry *e = &c->chunk[i / MESSAGE_CHUNK][i % MESSAGE_CHUNK];

	return (struct message){
		.intended = e->intended,
		.start = message_time(e, e->start),
		.first = message_time(e, e->first),
		.last = message_time(e, e->last),
		.done = message_time(e, e->done),
		.size = (uint32_t)(e->size_high << 16 | e->size_low),
		.target = e->target,
		.kind = e->kind,
		.status = e->status,
	};
}

/** All of its data has come. */
static inline bool message_whole(const struct message *m)
{
	return m->status == MF_OK && m->last != MF_NEVER;
}

#endif
