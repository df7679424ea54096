/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responses at a memory node (EDM 3.2.1): state by <requester, id>, with the data that is still to be
 * sent in a data buffer. The request is the grant of the first chunk; /G/ blocks bring the others.
 */
#include "systems/edm/host/responses.h"

bool host_response_sign(struct mf_host *h, struct mf_msg m, const uint8_t *data, mf_time ready)
{
	m.ext = true;
	m.epoch = host_once_at(h, m.dst, m.id)->use;
	m.offset += host_once_at(h, m.dst, m.id)->moved;
	return host_response_make(h, &m, data, ready);
}

static void response_unlink(struct mf_host *h, struct host_response *r)
{
	if (r->prev == HOST_NIL)
		h->response_head = r->next;
	else
		h->response[r->prev].next = r->next;
	if (r->next == HOST_NIL)
		h->response_tail = r->prev;
	else
		h->response[r->next].prev = r->prev;
}

void host_response_end(struct mf_host *h, struct host_response *r)
{
	if (!r->data)
		return;
	host_buffer_put(h, r->data);
	r->data = NULL;
	response_unlink(h, r);
}

/**
 * Ends what will not be granted any more: a pair's demands are granted in order (EDM 3.1.1, property 5), so
 * when a request is here, all that was granted of the ones before it is, too. The rest of those was given
 * up. With two switches the order in which requests come says nothing.
 * @param node  a request of whom has come
 */
static HOST_ASIDE void reclaim_passed(struct mf_host *h, uint16_t node)
{
	uint64_t newer[MF_PORTS_MAX / 64] = {0};
	uint32_t i = h->redundancy ? HOST_NIL : h->response_tail;

	newer[node / 64] |= UINT64_C(1) << node % 64;
	while (i != HOST_NIL) {
		struct host_response *r = &h->response[i];
		uint16_t of = (uint16_t)(i % h->shell.nodes);

		i = r->prev;
		if ((newer[of / 64] >> of % 64 & 1) && !host_lane_held(h, of, HOST_LANE_RESPONSE)) {
			host_response_end(h, r);
			h->stats.reclaimed++;
		}
		newer[of / 64] |= UINT64_C(1) << of % 64;
	}
}

/** ... those whose requesters have given up long ago, until there is a buffer. */
static HOST_ASIDE uint8_t *reclaim_late(struct mf_host *h, uint32_t size, mf_time at)
{
	uint8_t *data = host_buffer_get(h, size);

	while (!data && h->response_head != HOST_NIL && h->config.read_timeout) {
		struct host_response *r = &h->response[h->response_head];

		if (r->ready + h->timer[HOST_TIMER_QUARANTINE].timeout > at)
			break;
		host_response_end(h, r);
		h->stats.reclaimed++;
		data = host_buffer_get(h, size);
	}
	return data;
}

/** A data buffer for a request of a node. When there is none, one of a response that has been given up. */
uint8_t *host_response_buffer(struct mf_host *h, uint16_t node, uint32_t size, mf_time at)
{
	uint8_t *data = host_buffer_get(h, size);

	if (likely(data != NULL))
		return data;
	reclaim_passed(h, node);
	return reclaim_late(h, size, at);
}

/** Enters a response and the grant of its first chunk. */
void host_response_begin(struct mf_host *h, uint16_t node, uint8_t id, uint8_t *data, uint32_t size,
			 mf_time ready)
{
	uint32_t i = host_index(h, node, id);
	struct host_response *r = &h->response[i];
	struct host_job job = {.at = ready,
			       .ready = ready,
			       .size = h->config.chunk,
			       .node = node,
			       .id = id,
			       .kind = HOST_JOB_RESPONSE,
			       .lane = HOST_LANE_RESPONSE};

	host_response_end(h, r);
	*r = (struct host_response){
		.data = data, .ready = ready, .size = size, .prev = h->response_tail, .next = HOST_NIL};
	if (h->response_tail == HOST_NIL)
		h->response_head = i;
	else
		h->response[h->response_tail].next = i;
	h->response_tail = i;
	host_job_put(h, &job);
}

/** Serves a grant of a response. @return false: no room, again later */
bool host_response_send(struct mf_host *h, struct host_job *job)
{
	struct host_response *r = h->response ? &h->response[host_index(h, job->node, job->id)] : NULL;
	struct mf_msg m = {.kind = MF_RRES, .src = h->shell.node, .dst = job->node, .id = job->id};
	uint32_t left;

	if (!r || !r->data)
		return host_job_return(h, job);
	left = r->size - r->sent;
	m.size = job->size < left ? job->size : left;
	m.offset = r->sent;
	m.last = m.size == left;
	if (!m.last && m.size % MF_CHUNK_UNIT)
		return host_job_return(h, job);
	if (!host_response_push(h, &m, r->data + r->sent,
				mf_time_max(h->heard_at, mf_time_max(job->ready, r->ready))))
		return false;
	r->sent += m.size;
	if (m.last)
		host_response_end(h, r);
	return true;
}
