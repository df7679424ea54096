/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of messages, under the virtual clock: what became of each operation that was intended in the
 * measured time. It is made of what the clients say of their operations, and the memory nodes of the writes
 * that take effect (struct mf_probe); so it is the same for any stack.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "mf_time.h"
#include "mf_workload.h"

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
static_assert(sizeof(struct message) == 48, "of a million messages");

/** The messages of one client, in the order of their begin. */
struct message_client {
	struct messages *log;
	struct message **chunk; /**< of MESSAGE_CHUNK */
	uint32_t chunks;
	uint32_t count;
	uint64_t first; /**< number of the first one, see mf_client_number() */
	struct mf_client_watch watch; /**< of the client */
};

#define MESSAGE_CHUNK 1024

struct messages {
	unsigned int nodes;
	struct message_client *client; /**< [nodes] */
	bool incomplete; /**< no memory: messages are missing */
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

static inline struct message *message_at(const struct message_client *c, uint32_t i)
{
	return &c->chunk[i / MESSAGE_CHUNK][i % MESSAGE_CHUNK];
}

/** All of its data has come. */
static inline bool message_whole(const struct message *m)
{
	return m->status == MF_OK && m->last != MF_NEVER;
}

#endif
