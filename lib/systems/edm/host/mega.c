/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mega-messages (EDM 3.1.2, D8): one notification for several small WREQs that wait at the head of a
 * destination's FIFO, formed from what is there. Its size is in wire octets and at most a chunk: where its
 * messages end the scheduler does not know, so it is granted whole, and a grant holds two ports for no longer
 * than a chunk. Each message keeps its id, header, check and completion; together they are one of the X
 * active ones.
 */
#include "systems/edm/host/keys.h"
#include "systems/edm/host/state_table.h"

static uint32_t wire_octets(const struct mf_host *h, const struct host_op *o)
{
	return 8 * mf_proto_chunk_blocks(&h->config.proto, (uint32_t)o->c.len);
}

uint32_t host_mega_octets(const struct mf_host *h, const struct host_state *s)
{
	uint32_t octets = 8 * mf_proto_chunk_blocks(&h->config.proto, s->size);

	while (s->flags & HOST_MEGA_MORE) {
		s = host_state_at(h, s->node, s->mega_next);
		octets += 8 * mf_proto_chunk_blocks(&h->config.proto, s->size);
	}
	return octets;
}

/** @return how many operations from the head on fit one mega-message; octets: their wire octets */
unsigned int host_mega_collect(const struct mf_host *h, const struct host_peer *p, uint32_t *octets)
{
	unsigned int count = 0, most = h->config.mega < p->free_ids ? h->config.mega : p->free_ids;

	*octets = 0;
	for (uint32_t i = p->head; i != HOST_NIL && count < most; i = h->op[i].next, count++) {
		struct host_op *o = &h->op[i];

		if (!host_is_write(o->c.kind) || o->issued > 0 || o->c.len > h->config.chunk)
			break;
		if (unlikely(h->keys != NULL) && !host_key_at_hand(h, o->c.node, o))
			break;
		if (*octets + wire_octets(h, o) > h->config.chunk)
			break;
		*octets += wire_octets(h, o);
	}
	return count;
}

/** Starts a member behind another one, or the first. */
static struct host_state *member_start(struct mf_host *h, uint16_t node, struct host_state *before,
				       mf_time at)
{
	struct host_state *s = host_message_start(h, node, (uint32_t)h->op[h->peer[node].head].c.len, at);

	s->flags |= before ? HOST_MEGA_MEMBER : HOST_MEGA_HEAD;
	if (before) {
		before->flags |= HOST_MEGA_MORE;
		before->mega_next = s->id;
	}
	return s;
}

/** Starts the members, linked in order; the last one holds the slot. @return id of the first */
static uint8_t members_start(struct mf_host *h, uint16_t node, unsigned int count, mf_time at)
{
	struct host_state *s = member_start(h, node, NULL, at);
	uint8_t id = s->id;

	while (--count > 0)
		s = member_start(h, node, s, at);
	host_slot_hold(h, s);
	return id;
}

bool host_mega_start(struct mf_host *h, uint16_t node, unsigned int count, uint32_t octets, mf_time at)
{
	struct mf_msg m = {.kind = MF_NOTIFY,
			   .src = h->shell.node,
			   .dst = node,
			   .mega = true,
			   .ext = h->config.proto.ext,
			   .size = octets};
	uint64_t *word = mf_mux_put(h->shell.mux, host_request_ready(h, at),
				    host_tie(h, HOST_TIE_REQUEST, node), 1, 0);

	if (!word)
		return false;
	m.id = members_start(h, node, count, at);
	host_notify_put(h, word, &m, at);
	h->stats.megas++;
	h->stats.mega_messages += count;
	return true;
}

/**
 * Sends the members from job->id on.
 * @return false: no room; the job then names those that are left
 */
bool host_mega_send(struct mf_host *h, struct host_job *job)
{
	for (;;) {
		struct host_state *s = host_state_at(h, job->node, job->id);
		bool more = s->flags & HOST_MEGA_MORE;
		uint8_t next = s->mega_next;

		/* One that expired while it waited for room has failed, and is not sent. */
		if (s->phase == HOST_ACTIVE && !host_chunk_push(h, s, s->size, job->ready))
			return false;
		if (!more)
			return true;
		job->id = next;
	}
}
