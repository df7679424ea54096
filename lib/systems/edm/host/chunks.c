/* SPDX-License-Identifier: BSD-3-Clause */
/* WREQ chunks: a grant is looked up in the message state table, and the chunk built in the multiplexer. */
#include "systems/edm/host/once.h"
#include "systems/edm/proto/mf_proto_inline.h"

static inline __attribute__((always_inline)) bool chunk_push(struct mf_host *h, struct host_state *s,
							     uint32_t size, mf_time ready, bool once)
{
	const struct host_op *op = &h->op[s->op];
	uint64_t done = (uint64_t)s->piece * MF_MESSAGE_MAX + s->moved;
	struct mf_msg m = {.kind = s->kind == MF_OP_WRITE ? MF_WREQ : MF_WREQ_ACK,
			   .id = s->id,
			   .src = h->shell.node,
			   .dst = s->node,
			   .last = s->moved + size == s->size,
			   .size = size,
			   .offset = s->moved,
			   .addr = op->addr + done};
	unsigned int n = mf_proto_chunk_blocks(&h->config.proto, size);
	uint64_t *word = mf_mux_put(h->shell.mux, ready, host_tie(h, HOST_TIE_OWN, s->node), n,
				    host_state_cookie(h, s, n, s->moved == 0, m.last));

	if (unlikely(!word))
		return false;
	if (once)
		host_once_sign(h, s, &m);
	mf_proto_make_chunk(&h->config.proto, &m, op->buf + done, word);
	s->moved += size;
	if (m.last)
		s->phase = HOST_SENT;
	if (m.last && s->kind == MF_OP_WRITE)
		host_timer_stop(h, s);
	h->stats.tx[m.kind]++;
	h->stats.tx_octets += size;
	if (host_stamps(h))
		host_stamp(h, h->shell.node, s->node, s->id, MF_STAGE_GRANT_QUEUE, MF_STAGE_MAKE_DATA,
			   ready - h->cost_data_tx);
	return true;
}

static HOST_ASIDE bool chunk_push_once(struct mf_host *h, struct host_state *s, uint32_t size, mf_time ready)
{
	return chunk_push(h, s, size, ready, true);
}

/** Queues the next `size` octets of a write. @return false: no room */
bool host_chunk_push(struct mf_host *h, struct host_state *s, uint32_t size, mf_time ready)
{
	return host_once(h) ? chunk_push_once(h, s, size, ready) : chunk_push(h, s, size, ready, false);
}

/** Serves a grant of an own message. @return false: no room, again later */
bool host_chunk_send(struct mf_host *h, struct host_job *job)
{
	struct host_state *s = host_state_find(h, job->node, job->id, job->at);
	uint32_t left = s->size - s->moved, size = job->size < left ? job->size : left;

	if (s->phase != HOST_ACTIVE || !host_is_write(s->kind) || s->flags & HOST_MEGA_MEMBER)
		return host_job_return(h, job);
	if (s->flags & HOST_MEGA_HEAD) {
		if (job->size < host_mega_octets(h, s))
			return host_job_return(h, job);
		job->kind = HOST_JOB_MEGA;
		return host_mega_send(h, job);
	}
	/* The chunk behind it could not say where it begins. */
	if (size < left && size % MF_CHUNK_UNIT)
		return host_job_return(h, job);
	return host_chunk_push(h, s, size, job->ready);
}
