/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving side of a memory node (EDM 3.2.1). Requests are executed in the order of their arrival,
 * when their check has passed; so a read sees the writes before it, and nothing interleaves with an
 * atomic. Only the response is dated: it leaves when the memory would have answered.
 *
 * A response that does not go out whole, at once, is kept as it was when the request was executed
 * (responses.c).
 */
#include "base/mf_cycles.h"
#include "base/mf_seeded_bug.h"
#include "systems/edm/host/once.h"
#include "systems/edm/host/responses.h"
#include "systems/edm/host/rx.h"

#define WRITE_OVER UINT32_MAX /**< host.written: chunks are ignored until a message begins */

static const struct mf_memory_ops *memory_ops(const struct mf_host *h)
{
	return h->config.memory_ops;
}

/** Whether a response may go out whole, at once, where there is room. */
static inline bool goes_at_once(const struct mf_host *h, uint16_t node, uint32_t size)
{
	return size <= h->config.chunk && !host_lane_held(h, node, HOST_LANE_RESPONSE);
}

/** Sends the response to the request of an id whole, at once. @return false: it cannot be */
static inline bool respond_at_once(struct mf_host *h, uint16_t node, uint8_t id, const void *data,
				   uint32_t size, mf_time ready)
{
	struct mf_msg m = {
		.kind = MF_RRES, .src = h->shell.node, .dst = node, .id = id, .size = size, .last = true};

	return goes_at_once(h, node, size) &&
	       host_response_push(h, &m, data, mf_time_max(ready, h->heard_at));
}

/**
 * Refuses the request of an id, which is of this kind and, where there are uses, of this one.
 * @param known  when that it is refused is
 */
static HOST_ASIDE void refuse(struct mf_host *h, uint16_t node, uint8_t id, uint16_t use, uint8_t kind,
			      uint8_t status, mf_time known)
{
	struct mf_msg err = {.kind = MF_ERR,
			     .src = h->shell.node,
			     .dst = node,
			     .id = id,
			     .epoch = use,
			     .status = status,
			     .of = kind};

	if (h->once) {
		host_once_at(h, node, id)->what = HOST_ONCE_REFUSED;
		host_once_at(h, node, id)->result = status;
	}
	h->stats.refused[status]++;
	if (kind != MF_WREQ)
		host_single_put(h, &err, known + h->cost_answer);
}

/**
 * What a message asks of the memory, at a time.
 * @param data  of a write; of an atomic its arguments
 * @return MF_OK or why not; a node without memory has no byte
 */
static inline uint8_t access_memory(const struct mf_host *h, const struct mf_msg *m, enum mf_right right,
				    uint32_t size, const void *data, mf_time at, struct mf_answer *out)
{
	const struct mf_access a = {.addr = m->addr,
				    .key = m->key,
				    .at = at,
				    .data = data,
				    .len = size,
				    .space = m->space,
				    .node = m->src,
				    .end = h->config.end,
				    .right = (uint8_t)right,
				    .op = right == MF_RIGHT_RMW ? m->op : 0};

	return likely(memory_ops(h) != NULL) ? memory_ops(h)->access(h->config.memory, &a, out)
					     : MF_ERR_RANGE;
}

/** What would come of it. @param out  its time */
static HOST_ASIDE uint8_t try_access(const struct mf_host *h, struct mf_msg m, enum mf_right right,
				     uint32_t size, mf_time at, struct mf_answer *out)
{
	const struct mf_access a = {.addr = m.addr,
				    .key = m.key,
				    .at = at,
				    .len = size,
				    .space = m.space,
				    .node = m.src,
				    .end = h->config.end,
				    .right = (uint8_t)right,
				    .op = right == MF_RIGHT_RMW ? m.op : 0,
				    .dry = true};

	return memory_ops(h) ? memory_ops(h)->access(h->config.memory, &a, out) : MF_ERR_RANGE;
}

/** When a response can leave: the memory has answered, which takes it this time, and the response is made. */
static inline mf_time response_ready(const struct mf_host *h, mf_time last, mf_time memory)
{
	return last + h->cost_parse + memory + h->cost_data_tx;
}

static HOST_ASIDE void stamp_request(const struct mf_host *h, uint16_t node, uint8_t id, mf_time first,
				     mf_time last, const struct mf_answer *a)
{
	mf_time t;

	host_stamp_one(h, node, h->shell.node, id, MF_STAGE_CHECK, first, last);
	t = host_stamp(h, node, h->shell.node, id, MF_STAGE_RREQ_PARSE, MF_STAGE_MEMORY_CONTROLLER, last);
	host_stamp_one(h, node, h->shell.node, id, MF_STAGE_DRAM, t, t + a->time - a->second);
	if (a->second != 0)
		host_stamp_one(h, node, h->shell.node, id, MF_STAGE_DRAM, t + a->time - a->second,
			       t + a->time);
}

/* ---- executed at most once: once.h ---- */

static void once_count(struct mf_host *h, enum host_once_verdict verdict)
{
	if (verdict == HOST_ONCE_OLD)
		h->stats.old++;
	else if (verdict == HOST_ONCE_AGAIN)
		h->stats.again++;
	else if (verdict == HOST_ONCE_COPY)
		h->stats.copies++;
}

/** Refuses it again. */
static void once_refuse(struct mf_host *h, struct host_once *e, const struct mf_msg *m, mf_time ready)
{
	e->again = m->again;
	refuse(h, m->src, m->id, m->epoch, m->kind, (uint8_t)e->result, ready);
}

/** Whether it was not executed for want of room, and is asked for again: so it is tried again. */
static inline bool once_tries_again(const struct host_once *e, enum host_once_verdict verdict)
{
	return verdict == HOST_ONCE_AGAIN && e->what == HOST_ONCE_REFUSED && e->result == MF_ERR_RESOURCE;
}

/* ---- reads ---- */

/**
 * Whether a read, or a call (mf_call.h), is to be served: again, too, but for a copy whose response is under
 * way. One that was granted is answered, so that the grant has its chunk; another answer ends at the switch.
 */
static HOST_ASIDE bool once_read(struct mf_host *h, struct mf_msg m, mf_time ready)
{
	struct host_once *e;
	enum host_once_verdict verdict;

	if (!h->once)
		return true;
	e = host_once_at(h, m.src, m.id);
	verdict = host_once_judge(e, &m);
	once_count(h, verdict);
	if (verdict == HOST_ONCE_NEW) {
		host_is_overtaken(h, &m); /* a read is not, but writes are by it */
		host_once_begin(h, &m, HOST_ONCE_READ)->moved = m.offset;
		return true;
	}
	if (verdict == HOST_ONCE_OLD || host_once_mirrored(h, verdict))
		return false;
	if (e->what != HOST_ONCE_READ && !once_tries_again(e, verdict)) {
		if (e->what == HOST_ONCE_REFUSED)
			once_refuse(h, e, &m, ready);
		return false;
	}
	if (verdict == HOST_ONCE_COPY && h->response[host_index(h, m.src, m.id)].data)
		return false;
	host_response_end(h, &h->response[host_index(h, m.src, m.id)]);
	e->what = HOST_ONCE_READ;
	e->again = m.again > e->again ? m.again : e->again;
	e->moved = m.offset;
	return true;
}

/** Copies what was read into a data buffer, and sends from there what can be sent at once. */
static HOST_ASIDE uint8_t read_buffered(struct mf_host *h, uint16_t node, uint8_t id,
					const struct mf_places *places, uint32_t size, mf_time at,
					mf_time ready)
{
	uint8_t *data = host_response_buffer(h, node, size, at);

	if (!data)
		return MF_ERR_RESOURCE;
	mf_places_copy(places, 0, size, data);
	if (respond_at_once(h, node, id, data, size, ready))
		host_buffer_put(h, data);
	else
		host_response_begin(h, node, id, data, size, ready);
	return MF_OK;
}

/**
 * An RREQ whose last block starts at last. Where its octets are in one place, a response that may go at once
 * is made right from there.
 */
void host_rx_read(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last)
{
	MF_CYCLES(MF_CYCLES_HOST_RX_REQUEST);
	struct mf_answer got;
	uint8_t status;
	mf_time ready;
	struct mf_msg m;

	if (!host_rx_accepts(h, mf_proto_get_rreq(&h->config.proto, word, n, &m), &m))
		return;
	if (unlikely(host_jobs_full(h, 1))) {
		h->stats.drop_room++;
		return;
	}
	if (host_once(h) && !once_read(h, mf_msg_copy(&m), last + h->cost_parse))
		return;
	status = access_memory(h, &m, MF_RIGHT_READ, m.size, NULL, last + h->cost_parse, &got);
	if (likely(status == MF_OK)) {
		ready = response_ready(h, last, got.time);
		if (unlikely(got.places.len[1] != 0 ||
			     !respond_at_once(h, m.src, m.id, got.places.at[0], m.size, ready)))
			status = read_buffered(h, m.src, m.id, &got.places, m.size, last, ready);
	}
	if (unlikely(status != MF_OK))
		refuse(h, m.src, m.id, m.epoch, m.kind, status, last + h->cost_parse);
	else if (host_stamps(h))
		stamp_request(h, m.src, m.id, first, last, &got);
}

/* ---- atomics ---- */

/** Where a result goes: right into the multiplexer, or into a data buffer. @return false: there is no room */
static inline bool result_room(struct mf_host *h, uint16_t node, uint32_t size, mf_time at, uint8_t **data)
{
	*data = NULL;
	if (goes_at_once(h, node, size) &&
	    mf_mux_room(h->shell.mux, mf_proto_chunk_blocks(&h->config.proto, size)))
		return true;
	*data = host_response_buffer(h, node, size, at);
	return *data != NULL;
}

/** @param size  octets of the result, which are in the order of the wire */
static inline void answer_send(struct mf_host *h, const struct mf_msg *m, const void *result, uint32_t size,
			       uint8_t *data, mf_time ready)
{
	if (!data) {
		respond_at_once(h, m->src, m->id, result, size, ready);
		return;
	}
	memcpy(data, result, size);
	host_response_begin(h, m->src, m->id, data, size, ready);
}

static inline void result_send(struct mf_host *h, const struct mf_msg *m, uint64_t old, uint8_t *data,
			       mf_time ready)
{
	old = htole64(old);
	answer_send(h, m, &old, sizeof(old), data, ready);
}

/**
 * The room for the result is there before the operation is executed. Who may not do it hears that, room or
 * not.
 */
static uint8_t rmw_serve(struct mf_host *h, const struct mf_msg *m, mf_time last, struct mf_answer *got)
{
	uint32_t size = mf_rmw_size(m->op);
	uint8_t *data, status;

	if (!result_room(h, m->src, sizeof(uint64_t), last, &data)) {
		status = try_access(h, mf_msg_copy(m), MF_RIGHT_RMW, size, last + h->cost_parse, got);
		return status == MF_OK ? MF_ERR_RESOURCE : status;
	}
	status = access_memory(h, m, MF_RIGHT_RMW, size, m->arg, last + h->cost_parse, got);
	if (status == MF_OK) {
		if (h->once && !MF_SEEDED_BUG(stored_result_dropped))
			host_once_at(h, m->src, m->id)->result = got->old;
		result_send(h, m, got->old, data, response_ready(h, last, got->time));
	} else if (data) {
		host_buffer_put(h, data);
	}
	return status;
}

/** What is asked of the memory's regions, or spaces, at a time. @param result  for who asked */
static uint8_t memory_ask(struct mf_host *h, const struct mf_msg *m, mf_time at, uint64_t *result)
{
	const struct mf_access a = {.addr = m->addr,
				    .key = m->key,
				    .at = at,
				    .data = m->arg,
				    .space = m->space,
				    .node = m->src,
				    .end = h->config.end};

	return memory_ops(h)->ask(h->config.memory, m->op, &a, result);
}

/** Of a space. What came of it is in the answer, so that it is there as often as it is asked for. */
static HOST_ASIDE uint8_t space_serve(struct mf_host *h, struct mf_msg m, mf_time last)
{
	uint64_t answer[2], result;
	uint8_t *data, status;

	if (!result_room(h, m.src, sizeof(answer), last, &data))
		return MF_ERR_RESOURCE;
	status = memory_ask(h, &m, last + h->cost_parse, &result);
	if (status == MF_ERR_OPCODE) {
		if (data)
			host_buffer_put(h, data);
		return status;
	}
	answer[0] = htole64(status);
	answer[1] = htole64(result);
	answer_send(h, &m, answer, sizeof(answer), data, last + h->cost_parse + h->cost_data_tx);
	return MF_OK;
}

/**
 * What a call is answered with: its head, the octets, and zeros.
 * @param from  where the response begins, 0 or behind the head. @param size  octets of it
 */
static void call_fill(uint8_t *data, uint32_t from, uint32_t size, uint8_t status, uint64_t result,
		      const struct mf_places *places)
{
	const uint64_t head[2] = {htole64(status), htole64(result)};
	uint32_t skip = from == 0 ? MF_CALL_HEAD : 0, at = from + skip - MF_CALL_HEAD;
	uint32_t left = status == MF_OK && result > at ? (uint32_t)result - at : 0;

	memset(data, 0, size);
	memcpy(data, head, skip);
	if (left > 0)
		mf_places_copy(places, at, left < size - skip ? left : size - skip, data + skip);
}

/**
 * A call. The room for its answer is there before it is done; without room it is only asked whether it would
 * be refused. One that is late is answered all the same, since its response is granted.
 * @return MF_OK, or why it is refused
 */
static HOST_ASIDE uint8_t call_serve(struct mf_host *h, struct mf_msg m, mf_time last, struct mf_answer *got)
{
	uint8_t *data = host_response_buffer(h, m.src, m.size, last), status;
	const struct mf_access a = {.addr = m.addr,
				    .key = m.key,
				    .at = last + h->cost_parse,
				    .data = m.arg,
				    .len = m.offset + m.size - MF_CALL_HEAD,
				    .space = m.space,
				    .node = m.src,
				    .end = h->config.end,
				    .dry = data == NULL};
	uint64_t result;
	mf_time ready;

	status = memory_ops(h)->call(h->config.memory, &a, &result, got);
	if (data == NULL)
		return status == MF_OK || status == MF_ERR_PENDING ? MF_ERR_RESOURCE : status;
	if (mf_call_failed(status)) {
		host_buffer_put(h, data);
		return status;
	}
	*(status == MF_OK ? &h->stats.calls : &h->stats.calls_pending) += 1;
	call_fill(data, m.offset, m.size, status, result, &got->places);
	ready = response_ready(h, last, got->time);
	if (respond_at_once(h, m.src, m.id, data, m.size, ready))
		host_buffer_put(h, data);
	else
		host_response_begin(h, m.src, m.id, data, m.size, ready);
	return MF_OK;
}

/** Where there are calls. */
static inline uint8_t call_served(struct mf_host *h, struct mf_msg m, mf_time last, struct mf_answer *got)
{
	return memory_ops(h) && memory_ops(h)->call ? call_serve(h, m, last, got) : MF_ERR_OPCODE;
}

/** As with an atomic, the room for the result is there before. It takes no access of the memory. */
static HOST_ASIDE void ask_serve(struct mf_host *h, struct mf_msg m, mf_time last)
{
	uint8_t *data = NULL, status = memory_ops(h) && memory_ops(h)->ask ? MF_OK : MF_ERR_OPCODE;
	uint64_t result = 0;

	if (status == MF_OK && m.op == MF_RMW_SPACE) {
		status = space_serve(h, mf_msg_copy(&m), last);
		if (status == MF_OK)
			return;
	}
	if (status == MF_OK && !result_room(h, m.src, sizeof(result), last, &data))
		status = MF_ERR_RESOURCE;
	if (status == MF_OK)
		status = memory_ask(h, &m, last + h->cost_parse, &result);
	if (status == MF_OK) {
		if (h->once)
			host_once_at(h, m.src, m.id)->result = result;
		result_send(h, &m, result, data, last + h->cost_parse + h->cost_data_tx);
		return;
	}
	if (data)
		host_buffer_put(h, data);
	refuse(h, m.src, m.id, m.epoch, m.kind, status, last + h->cost_parse);
}

/** Sends the result again that is kept. */
static void rmw_result_again(struct mf_host *h, const struct host_once *e, const struct mf_msg *m, mf_time at)
{
	struct mf_answer would = {.time = 0};
	uint8_t *data;

	if (h->response[host_index(h, m->src, m->id)].data)
		return; /* waits to be sent */
	if (m->op == MF_RMW_SPACE) {
		if (space_serve(h, mf_msg_copy(m), at) != MF_OK)
			h->stats.drop_room++;
		return;
	}
	/* Not before the first answer: as if it were done again. What is asked of regions takes no access. */
	if (m->op < MF_RMW_OPS && try_access(h, mf_msg_copy(m), MF_RIGHT_RMW, sizeof(e->result),
					     at + h->cost_parse, &would) != MF_OK)
		would.time = 0; /* its right was taken since */
	if (result_room(h, m->src, sizeof(e->result), at, &data))
		result_send(h, m, e->result, data, response_ready(h, at, would.time));
	else
		h->stats.drop_room++;
}

/** Whether an atomic is to be executed. If not it is answered as before. */
static HOST_ASIDE bool once_rmw(struct mf_host *h, struct mf_msg m, mf_time at)
{
	struct host_once *e;
	enum host_once_verdict verdict;

	if (!h->once)
		return true;
	e = host_once_at(h, m.src, m.id);
	verdict = host_once_judge(e, &m);
	once_count(h, verdict);
	if (verdict == HOST_ONCE_NEW) {
		if (host_is_overtaken(h, &m))
			return false;
		host_once_begin(h, &m, HOST_ONCE_RMW);
		return true;
	}
	if (verdict == HOST_ONCE_OLD || host_once_mirrored(h, verdict))
		return false;
	if (once_tries_again(e, verdict)) {
		if (host_is_overtaken(h, &m))
			return false;
		e->what = HOST_ONCE_RMW;
		e->again = m.again;
		return true;
	}
	if (verdict == HOST_ONCE_AGAIN)
		e->again = m.again;
	if (e->what == HOST_ONCE_REFUSED)
		once_refuse(h, e, &m, at + h->cost_parse);
	else if (e->what == HOST_ONCE_RMW)
		rmw_result_again(h, e, &m, at);
	return false;
}

/** An RMWREQ whose last block starts at last. */
void host_rx_rmw(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last)
{
	MF_CYCLES(MF_CYCLES_HOST_RX_REQUEST);
	struct mf_answer got;
	uint8_t status;
	struct mf_msg m;

	if (!host_rx_accepts(h, mf_proto_get_rmwreq(&h->config.proto, word, n, &m), &m))
		return;
	if (unlikely(host_jobs_full(h, 1))) {
		h->stats.drop_room++;
		return;
	}
	if (host_once(h) &&
	    !(unlikely(m.op == MF_RMW_CALL) ? once_read(h, mf_msg_copy(&m), last + h->cost_parse)
					    : once_rmw(h, mf_msg_copy(&m), last)))
		return;
	if (unlikely(m.op >= MF_RMW_OPS && m.op != MF_RMW_CALL)) {
		ask_serve(h, mf_msg_copy(&m), last);
		return;
	}
	status = likely(m.op != MF_RMW_CALL) ? rmw_serve(h, &m, last, &got)
					     : call_served(h, mf_msg_copy(&m), last, &got);
	if (unlikely(status != MF_OK))
		refuse(h, m.src, m.id, m.epoch, m.kind, status, last + h->cost_parse);
	else if (host_stamps(h))
		stamp_request(h, m.src, m.id, first, last, &got);
}

/* ---- writes ---- */

/**
 * Acknowledged writes are counted: an ACK says that every octet is there (D12). A chunk counts only in
 * its place; one out of its place spoils its message, the rest of which is ignored.
 * @return false: not to be applied
 */
static HOST_ASIDE bool write_in_order(struct mf_host *h, struct mf_msg m, mf_time ready)
{
	uint32_t *expected = &h->written[host_index(h, m.src, m.id)];
	bool gap = m.offset != 0 && m.offset != *expected && !MF_SEEDED_BUG(ack_with_gap);

	if (!gap) {
		*expected = m.last ? WRITE_OVER : m.offset + m.size;
		return true;
	}
	h->stats.drop_proto++;
	if (*expected != WRITE_OVER)
		refuse(h, m.src, m.id, m.epoch, m.kind, MF_ERR_RANGE, ready);
	*expected = WRITE_OVER;
	return false;
}

/** The ACK crosses to the TX clock domain, and is made there (EDM 3.2.1). @param done  when the write has
 * happened */
static void acknowledge(struct mf_host *h, uint16_t node, uint8_t id, uint16_t use, mf_time done)
{
	struct mf_msg ack = {.kind = MF_ACK, .src = h->shell.node, .dst = node, .id = id, .epoch = use};

	host_single_put(h, &ack, done + h->cost_answer);
	if (host_stamps(h))
		host_stamp_ack(h, node, id, done);
}

static HOST_ASIDE void write_refused(struct mf_host *h, struct mf_msg m, uint8_t status, mf_time ready)
{
	if (m.kind == MF_WREQ_ACK && h->written)
		h->written[host_index(h, m.src, m.id)] = WRITE_OVER;
	refuse(h, m.src, m.id, m.epoch, m.kind, status, ready);
}

/** @param taken  what the memory takes for it */
static HOST_ASIDE void probe_write(const struct mf_host *h, const struct mf_probe *probe, struct mf_msg m,
				   mf_time first, mf_time last, mf_time taken)
{
	mf_time done = last + h->cost_data;

	if (m.last && probe->stamp) {
		host_stamp_data(h, m.src, h->shell.node, &m, first, last);
		if (taken != 0)
			host_stamp_one(h, m.src, h->shell.node, m.id, MF_STAGE_DRAM, done, done + taken);
	}
	if (probe->effect)
		probe->effect(probe->ctx, m.src, h->shell.node, m.id, m.offset, m.size, m.last,
			      first + h->cost_data, done + taken);
}

/** Applies a chunk. @return when the memory has taken it; MF_NEVER: it was refused */
static inline mf_time write_apply(struct mf_host *h, const struct mf_msg *m, const uint8_t *data,
				  mf_time first, mf_time last)
{
	const struct mf_probe *probe = h->config.probe;
	mf_time done = last + h->cost_data;
	struct mf_answer got;
	uint8_t status = access_memory(h, m, MF_RIGHT_WRITE, m->size, data, done, &got);

	if (unlikely(status != MF_OK)) {
		write_refused(h, mf_msg_copy(m), status, done);
		return MF_NEVER;
	}
	h->stats.rx_octets += m->size;
	if (unlikely(probe != NULL))
		probe_write(h, probe, mf_msg_copy(m), first, last, got.time);
	return done + got.time;
}

/** A chunk of a write of which all that can be done was done: its answer may have been lost. */
static void once_written(struct mf_host *h, struct host_once *e, const struct mf_msg *m,
			 enum host_once_verdict verdict, mf_time ready)
{
	once_count(h, verdict);
	if (verdict != HOST_ONCE_AGAIN || m->kind != MF_WREQ_ACK)
		return;
	if (e->what == HOST_ONCE_REFUSED) {
		once_refuse(h, e, m, ready);
	} else if (e->what == HOST_ONCE_WRITTEN && m->last) {
		e->again = m->again;
		acknowledge(h, m->src, m->id, m->epoch, ready);
	}
}

/**
 * Who sends a long write again begins where it was told that the memory node is (retry.c). It is told once a
 * sending when a chunk comes that was applied before, and once when one is missing.
 * @param gap  a chunk is missing
 * @return whether this is the first such chunk of its sending
 */
static bool gap_told(struct host_once *e, const struct mf_msg *m, bool gap)
{
	uint64_t step = 2U * m->again + gap;

	if (e->result > step || (!gap && m->again == 0))
		return true;
	e->result = step + 1;
	return false;
}

static void tell_gap(struct mf_host *h, struct host_once *e, const struct mf_msg *m, bool gap, mf_time ready)
{
	struct mf_msg tell = {.kind = MF_ERR,
			      .src = h->shell.node,
			      .dst = m->src,
			      .id = m->id,
			      .epoch = m->epoch,
			      .status = MF_ERR_GAP,
			      .of = (uint8_t)(e->moved / MF_GAP_UNIT)};

	struct mf_answer would;

	if (m->kind == MF_WREQ_ACK && h->config.retries > 0 && e->what == HOST_ONCE_WRITE &&
	    !gap_told(e, m, gap) &&
	    try_access(h, mf_msg_copy(m), MF_RIGHT_WRITE, m->size, ready, &would) != MF_ERR_KEY)
		host_single_put(h, &tell, ready + h->cost_answer);
}

/** Whether a chunk has something that was not applied. */
static bool may_apply(const struct host_once *e, enum host_once_verdict verdict, const struct mf_msg *m)
{
	return verdict == HOST_ONCE_NEW ||
	       (verdict != HOST_ONCE_OLD && e->what == HOST_ONCE_WRITE && m->offset + m->size > e->moved);
}

/**
 * The entry of a chunk that is to be applied, or NULL. Those of an acknowledged write are applied in order,
 * each octet once: behind one that did not come the rest is dropped, as it will be sent again. Of an
 * unacknowledged one, of which nothing is, no octet is applied behind a later one.
 */
static struct host_once *once_chunk(struct mf_host *h, const struct mf_msg *m, mf_time ready)
{
	struct host_once *e = host_once_at(h, m->src, m->id);
	enum host_once_verdict verdict = host_once_judge(e, m);

	if (may_apply(e, verdict, m) && host_is_overtaken(h, m))
		return NULL;
	if (verdict == HOST_ONCE_NEW) {
		e = host_once_begin(h, m, HOST_ONCE_WRITE);
	} else if (verdict == HOST_ONCE_OLD || e->what != HOST_ONCE_WRITE) {
		once_written(h, e, m, verdict, ready);
		return NULL;
	}
	if (m->offset + m->size <= e->moved) {
		h->stats.copies++;
		tell_gap(h, e, m, false, ready);
		return NULL;
	}
	if (m->offset > e->moved && m->kind == MF_WREQ_ACK) {
		h->stats.gaps++;
		tell_gap(h, e, m, true, ready);
		return NULL;
	}
	return e;
}

/** A chunk of a write, of which what was applied before is left out: others may be granted again. */
static HOST_ASIDE void once_write(struct mf_host *h, struct mf_msg m, const uint8_t *data, mf_time first,
				  mf_time last)
{
	struct host_once *e = once_chunk(h, &m, last + h->cost_data);
	mf_time done;
	uint32_t skip;

	if (!e)
		return;
	skip = e->moved > m.offset ? e->moved - m.offset : 0;
	m.offset += skip;
	m.addr += skip;
	m.size -= skip;
	done = write_apply(h, &m, data + skip, first, last);
	if (done == MF_NEVER)
		return;
	e->moved = m.offset + m.size;
	if (!m.last)
		return;
	e->what = HOST_ONCE_WRITTEN;
	e->again = m.again;
	if (m.kind == MF_WREQ_ACK)
		acknowledge(h, m.src, m.id, m.epoch, done);
}

/** See mf_seeded_bug.h: whatever it says of itself. */
static HOST_ASIDE void write_unchecked(struct mf_host *h, const uint64_t *word, unsigned int n)
{
	uint64_t addr = mf_proto_addr(word[0], word[n - 1]);
	uint32_t size = (n - 2) * 8;

	if (size > 0 && memory_ops(h))
		mf_memory_write(memory_ops(h), h->config.memory, addr, size, word + 1);
}

/** A chunk of a write. */
void host_rx_write(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last)
{
	MF_CYCLES(MF_CYCLES_HOST_RX_WRITE);
	enum mf_kind kind = mf_proto_kind(word[0]);
	mf_time done = last + h->cost_data;
	const uint8_t *data;
	struct mf_msg m;

	if (MF_SEEDED_BUG(write_before_check))
		write_unchecked(h, word, n);
	if (!host_rx_accepts(h, mf_proto_get_chunk(&h->config.proto, word, n, kind, &m, &data), &m))
		return;
	if (m.kind == MF_WREQ_ACK && host_jobs_full(h, 1)) {
		h->stats.drop_room++;
		return;
	}
	if (unlikely(h->once != NULL)) {
		once_write(h, mf_msg_copy(&m), data, first, last);
		return;
	}
	if (m.kind == MF_WREQ_ACK && h->written && !write_in_order(h, mf_msg_copy(&m), done))
		return;
	done = write_apply(h, &m, data, first, last);
	if (done != MF_NEVER && m.kind == MF_WREQ_ACK && m.last)
		acknowledge(h, m.src, m.id, m.epoch, done);
}
