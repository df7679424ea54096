/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_message_log.h"

#include <stdlib.h>

/** Room for one more. */
static bool grow(struct message_client *c)
{
	if ((c->chunks & (c->chunks - 1)) == 0) {
		size_t capacity = c->chunks > 0 ? 2 * (size_t)c->chunks : 1;
		struct message_entry **more = realloc(c->chunk, capacity * sizeof(*more));

		if (more == NULL)
			return false;
		c->chunk = more;
	}
	c->chunk[c->chunks] = malloc(MESSAGE_CHUNK * sizeof(struct message_entry));
	if (c->chunk[c->chunks] == NULL)
		return false;
	c->chunks++;
	return true;
}

static uint64_t after(struct messages *log, mf_time intended, mf_time at)
{
	if (at == MF_NEVER)
		return MESSAGE_NEVER;
	if (at - intended < MESSAGE_NEVER)
		return at - intended;
	log->incomplete = true;
	return MESSAGE_NEVER;
}

static void set(const struct message_client *c, uint32_t i, const struct message *m)
{
	c->chunk[i / MESSAGE_CHUNK][i % MESSAGE_CHUNK] = (struct message_entry){
		.intended = m->intended,
		.start = after(c->log, m->intended, m->start),
		.first = after(c->log, m->intended, m->first),
		.last = after(c->log, m->intended, m->last),
		.done = after(c->log, m->intended, m->done),
		.size_low = m->size & UINT16_MAX,
		.size_high = m->size >> 16,
		.target = m->target,
		.kind = m->kind,
		.status = m->status,
	};
}

static void begun(void *ctx, const struct mf_op *op, enum mf_client_kind kind, mf_time intended, mf_time now)
{
	struct message_client *c = ctx;

	/* Without a gap: they are found by their number. */
	if (c->log->incomplete)
		return;
	if (c->count == c->chunks * MESSAGE_CHUNK && !grow(c)) {
		c->log->incomplete = true;
		return;
	}
	if (c->count == 0)
		c->first = mf_client_number(op->user);
	set(c, c->count++,
	    &(struct message){
		    .intended = intended,
		    .start = now,
		    .first = MF_NEVER,
		    .last = MF_NEVER,
		    .done = MF_NEVER,
		    .size = (uint32_t)op->len,
		    .target = op->node,
		    .kind = (uint8_t)kind,
		    .status = MESSAGE_UNDER_WAY,
	    });
}

/** @return its place; count or more: of the warm-up, or missing */
static uint64_t find(const struct message_client *c, uint64_t user)
{
	return mf_client_number(user) - c->first;
}

static bool is_write(const struct message *m)
{
	return m->kind == MF_CLIENT_WRITE || m->kind == MF_CLIENT_WRITE_ACK;
}

static void done(void *ctx, const struct mf_completion *completion)
{
	const struct message_client *c = ctx;
	uint64_t i = find(c, completion->user);
	struct message m;

	if (i >= c->count)
		return;
	m = message_at(c, (uint32_t)i);
	m.status = completion->status;
	m.done = completion->done;
	if (!is_write(&m) && m.status == MF_OK) {
		m.first = completion->first;
		m.last = completion->done;
	}
	set(c, (uint32_t)i, &m);
}

void messages_first(struct messages *log, uint16_t cn, uint64_t user, mf_time at)
{
	const struct message_client *c = &log->client[cn];
	uint64_t i = find(c, user);
	struct message m;

	if (i >= c->count)
		return;
	m = message_at(c, (uint32_t)i);
	if (at < m.start) /* of a node's former life: probe.c */
		return;
	m.first = mf_time_min(m.first, at);
	set(c, (uint32_t)i, &m);
}

void messages_effect(struct messages *log, uint16_t cn, uint64_t user, mf_time at)
{
	const struct message_client *c = &log->client[cn];
	uint64_t i = find(c, user);
	struct message m;

	if (i >= c->count)
		return;
	m = message_at(c, (uint32_t)i);
	m.last = at;
	set(c, (uint32_t)i, &m);
}

struct messages *messages_new(unsigned int nodes)
{
	struct messages *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->nodes = nodes;
	m->client = calloc(nodes, sizeof(*m->client));
	if (m->client == NULL) {
		free(m);
		return NULL;
	}
	for (unsigned int i = 0; i < nodes; i++) {
		m->client[i].log = m;
		m->client[i].watch =
			(struct mf_client_watch){.begun = begun, .done = done, .ctx = &m->client[i]};
	}
	return m;
}

void messages_free(struct messages *m)
{
	if (m == NULL)
		return;
	for (unsigned int i = 0; i < m->nodes; i++) {
		for (uint32_t k = 0; k < m->client[i].chunks; k++)
			free(m->client[i].chunk[k]);
		free(m->client[i].chunk);
	}
	free(m->client);
	free(m);
}
