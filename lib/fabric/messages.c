/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages.h"

#include <stdlib.h>

/** Room for one more. */
static bool grow(struct message_client *c)
{
	if ((c->chunks & (c->chunks - 1)) == 0) {
		size_t room = c->chunks > 0 ? 2 * (size_t)c->chunks : 1;
		struct message **more = realloc(c->chunk, room * sizeof(*more));

		if (more == NULL)
			return false;
		c->chunk = more;
	}
	c->chunk[c->chunks] = malloc(MESSAGE_CHUNK * sizeof(struct message));
	if (c->chunk[c->chunks] == NULL)
		return false;
	c->chunks++;
	return true;
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
	*message_at(c, c->count++) = (struct message){
		.intended = intended,
		.start = now,
		.first = MF_NEVER,
		.last = MF_NEVER,
		.done = MF_NEVER,
		.size = (uint32_t)op->len,
		.target = op->node,
		.kind = (uint8_t)kind,
		.status = MESSAGE_UNDER_WAY,
	};
}

/** NULL: of the warm-up. */
static struct message *find(const struct message_client *c, uint64_t user)
{
	uint64_t i = mf_client_number(user) - c->first;

	return i < c->count ? message_at(c, (uint32_t)i) : NULL;
}

static bool is_write(const struct message *m)
{
	return m->kind == MF_CLIENT_WRITE || m->kind == MF_CLIENT_WRITE_ACK;
}

static void done(void *ctx, const struct mf_completion *completion)
{
	struct message *m = find(ctx, completion->user);

	if (m == NULL)
		return;
	m->status = completion->status;
	m->done = completion->done;
	if (is_write(m) || m->status != MF_OK)
		return;
	m->first = completion->first;
	m->last = completion->done;
}

void messages_first(struct messages *log, uint16_t cn, uint64_t user, mf_time at)
{
	struct message *m = find(&log->client[cn], user);

	if (m != NULL)
		m->first = mf_time_min(m->first, at);
}

void messages_effect(struct messages *log, uint16_t cn, uint64_t user, mf_time at)
{
	struct message *m = find(&log->client[cn], user);

	if (m != NULL)
		m->last = at;
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
