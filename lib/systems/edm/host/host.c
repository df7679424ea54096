/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting a host up, polling it, and asking it. */
#include <stdlib.h>

#include "base/mf_cycles.h"
#include "base/mf_table.h"
#include "systems/edm/host/keys.h"
#include "systems/edm/host/once.h"
#include "systems/edm/host/redundancy.h"

#define SMALL_SHIFT 12
#define LARGE_SHIFT 16
static_assert(1 << LARGE_SHIFT == MF_MESSAGE_MAX, "a large buffer holds the longest response");

#define QUARANTINE_TIMEOUTS 10
#define QUARANTINE_DEFAULT MF_MS(1) /**< without any timeout: for refused requests */

static bool config_ok(const struct mf_host_config *c)
{
	return c->nodes >= 1 && c->nodes <= MF_PORTS_MAX && c->node < c->nodes && c->x >= 1 &&
	       c->x <= MF_IDS / 2 && c->chunk >= MF_CHUNK_UNIT && c->chunk <= MF_MESSAGE_MAX &&
	       c->chunk % MF_CHUNK_UNIT == 0 && c->queue >= 1 && c->queue <= 65536 &&
	       (c->retries == 0 || (c->retries <= UINT8_MAX && c->retry_timeout > 0 && c->proto.ext)) &&
	       (c->regions == 0 || c->proto.ext) && c->answer <= MF_CALL_MAX &&
	       (!c->memory_ops || (c->memory && (!c->memory_ops->ask || c->proto.ext)));
}

/** A chunk and a request fit the multiplexer: they would wait for ever otherwise. */
static bool mux_ok(const struct mf_host_config *c)
{
	return !c->memory_enabled || (mf_proto_chunk_blocks(&c->proto, c->chunk) <= c->mux.memory_blocks &&
				      MF_REQUEST_BLOCKS_MAX <= c->mux.memory_blocks);
}

static void set_costs(struct mf_host *h)
{
	const struct mf_timing *t = &h->config.timing;

	/* Under the wall clock things take the time that they take. */
	if (h->shell.wall)
		return;
	h->cost_request = mf_timing_sum(t, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST);
	h->cost_data_tx = mf_timing_data_tx(t);
	h->cost_grant = mf_timing_grant_rx(t) + h->cost_data_tx;
	h->cost_return = mf_timing_grant_rx(t) + mf_timing_answer_tx(t) + t->cost[MF_STAGE_STATE_TABLE];
	h->cost_parse = mf_timing_sum(t, MF_STAGE_RREQ_PARSE, MF_STAGE_MEMORY_CONTROLLER);
	h->cost_data = mf_timing_sum(t, MF_STAGE_DATA_PARSE, MF_STAGE_DATA_DELIVER);
	h->cost_answer = mf_timing_answer_tx(t);
	h->cost_single = t->cost[MF_STAGE_DATA_PARSE];
}

/** The time of an operation, with that of all its sendings; 0: it has no end. */
static mf_time whole_time(const struct mf_host_config *c, mf_time timeout)
{
	return timeout ? timeout + c->retries * c->retry_timeout : 0;
}

static void set_timers(struct mf_host *h)
{
	const struct mf_host_config *c = &h->config;
	mf_time longest = mf_time_max(c->read_timeout, c->write_timeout);

	h->op_timer[HOST_OP_TIMER_READ].timeout = whole_time(c, c->read_timeout);
	h->op_timer[HOST_OP_TIMER_WRITE].timeout = whole_time(c, c->write_timeout);
	h->timer[HOST_TIMER_RETRY].timeout = c->retry_timeout;
	h->timer[HOST_TIMER_QUARANTINE].timeout = c->quarantine ? c->quarantine
						  : longest     ? longest * QUARANTINE_TIMEOUTS
								: QUARANTINE_DEFAULT;
	h->timer[HOST_TIMER_GRANTS].timeout = h->timer[HOST_TIMER_QUARANTINE].timeout / QUARANTINE_TIMEOUTS;
	for (int i = 0; i < HOST_TIMERS; i++)
		h->timer[i].at = MF_NEVER;
	for (int i = 0; i < HOST_OP_TIMERS; i++)
		h->op_timer[i].at = MF_NEVER;
}

static void set_lists(struct mf_host *h)
{
	h->wake = MF_NEVER;
	h->due_head = h->due_tail = HOST_NIL;
	h->op_free = HOST_NIL;
	h->response_head = h->response_tail = HOST_NIL;
	h->ready_head = h->ready_tail = HOST_NO_NODE;
	for (unsigned int i = 0; i < h->shell.nodes; i++) {
		struct host_peer *p = &h->peer[i];

		p->head = p->tail = HOST_NIL;
		p->free_ids = (uint16_t)host_ids(h);
		p->ready_next = HOST_NOT_READY;
		memset(p->ids, 0xff, p->free_ids / 8);
	}
	h->state_free = HOST_NIL;
	h->state_fresh = HOST_ENTRIES_FIRST;
	for (uint32_t i = 0; i < HOST_ENTRIES_FIRST; i++) {
		struct host_state *ring = &h->state[i];

		ring->prev = ring->next = ring->event_prev = ring->event_next = i;
		ring->deadline = MF_NEVER;
	}
	for (uint32_t i = h->op_rings; i < h->op_rings + HOST_OP_TIMERS; i++) {
		h->op[i].c.done = MF_NEVER;
		h->op[i].timer_prev = h->op[i].timer_next = i;
	}
}

static void *alloc_lines(size_t entries, size_t size)
{
	return aligned_alloc(64, (entries * size + 63) & ~(size_t)63);
}

/* What is never used of the big tables is never touched. */
static int alloc_tables(struct mf_host *h)
{
	size_t entries = (size_t)h->shell.nodes * MF_IDS;
	int err = 0;

	h->peer = alloc_lines(h->shell.nodes, sizeof(*h->peer));
	h->job = mf_table_new(HOST_GRANT_QUEUE, sizeof(*h->job));
	h->job_room = HOST_GRANT_QUEUE;
	/* Behind those of the client one for each node that a key may be asked of: keys.h. Then the timers'.
	 */
	h->op_rings = h->config.queue + (h->config.regions ? h->shell.nodes : 0u);
	h->op = mf_table_new(h->op_rings + HOST_OP_TIMERS, sizeof(*h->op));
	h->state = mf_table_new(HOST_ENTRIES_FIRST + entries, sizeof(*h->state));
	h->entry = mf_table_new(entries, sizeof(*h->entry));
	if (h->config.proto.ext) {
		h->use = mf_table_new(entries, sizeof(*h->use));
		h->resting = calloc(h->shell.nodes, sizeof(*h->resting));
	}
	h->incarnation = calloc(h->shell.nodes, sizeof(*h->incarnation));
	h->write_next = calloc(h->shell.nodes, 1);
	if (!h->peer || !h->job || !h->op || !h->state || !h->entry || !h->incarnation || !h->write_next ||
	    (h->config.proto.ext && (!h->use || !h->resting)))
		return -ENOMEM;
	memset(h->peer, 0, h->shell.nodes * sizeof(*h->peer));
	err = host_keys_init(h);
	if (err || !h->config.memory_ops)
		return err;
	h->response = mf_table_new(entries, sizeof(*h->response));
	if (h->config.proto.ext)
		h->once = mf_table_new(entries, sizeof(*h->once));
	else
		h->written = mf_table_new(entries, sizeof(*h->written));
	if (!h->response || (!h->written && !h->once))
		return -ENOMEM;
	err = host_pool_init(&h->pool[HOST_POOL_SMALL], h->config.buffers_small, SMALL_SHIFT);
	return err ? err : host_pool_init(&h->pool[HOST_POOL_LARGE], h->config.buffers_large, LARGE_SHIFT);
}

int host_init(struct mf_host *h, const struct mf_host_config *config)
{
	struct mf_host_config *c = &h->config;
	int err;

	*c = *config;
	c->mux.memory_enabled = c->memory_enabled;
	if (c->buffers_small == 0)
		c->buffers_small = 4u * c->nodes;
	if (c->buffers_large == 0)
		c->buffers_large = 2u * c->nodes;
	h->shell.node = c->node;
	h->shell.nodes = c->nodes;
	h->shell.wall = c->mux.period == 0;
	h->shell.submits = c->compute && c->memory_enabled;
	h->stamps = c->probe && c->probe->stamp;
	set_costs(h);
	set_timers(h);
	err = alloc_tables(h);
	if (err)
		return err;
	set_lists(h);
	h->shell.mux = mf_mux_new(&c->mux);
	if (!h->shell.mux)
		return -errno;
	err = host_receiver_init(&h->rx, c, 0);
	if (!err && c->redundant)
		err = host_redundancy_init(h);
	return err;
}

struct mf_host *mf_host_new(const struct mf_host_config *config)
{
	struct mf_host *h;
	int err;

	if (!config_ok(config) || !mux_ok(config)) {
		errno = EINVAL;
		return NULL;
	}
	h = aligned_alloc(64, (sizeof(*h) + 63) & ~(size_t)63);
	if (!h) {
		errno = ENOMEM;
		return NULL;
	}
	memset(h, 0, sizeof(*h));
	err = host_init(h, config);
	if (err) {
		mf_host_free(h);
		errno = -err;
		return NULL;
	}
	return h;
}

void host_fini(struct mf_host *h)
{
	host_redundancy_fini(h);
	mf_receiver_fini(&h->rx);
	if (h->shell.mux)
		mf_mux_free(h->shell.mux);
	for (int i = 0; i < HOST_POOLS; i++)
		host_pool_fini(&h->pool[i]);
	host_keys_fini(h);
	mf_table_free(h->once);
	mf_table_free(h->written);
	mf_table_free(h->response);
	mf_table_free(h->use);
	mf_table_free(h->entry);
	mf_table_free(h->state);
	mf_table_free(h->op);
	free(h->resting);
	free(h->incarnation);
	free(h->write_next);
	mf_table_free(h->job);
	free(h->peer);
}

void mf_host_free(struct mf_host *h)
{
	if (!h)
		return;
	for (enum mf_host_pool what = MF_HOST_QUEUE; what <= MF_HOST_MUX; what++)
		mf_host_exhaust(h, what, false); /* what was taken away is freed, too */
	host_fini(h);
	free(h);
}

/** What waits for room in the multiplexer: grants first, they were promised a place on the links. */
static inline void retry(struct mf_host *h, mf_time now)
{
	if (h->job_head != h->job_tail)
		host_jobs_run(h);
	if (h->ready_head != HOST_NO_NODE)
		host_ready_run(h, now);
	if (unlikely(h->redundancy != NULL))
		host_redundancy_tell(h, now);
}

mf_time mf_host_run(struct mf_host *h, mf_time now)
{
	MF_CYCLES(MF_CYCLES_HOST_RUN);
	if (now >= h->wake)
		host_advance(h, now);
	if (now >= mf_demux_next(&h->rx.demux))
		host_rx_idle(h, now);
	if (unlikely(h->redundancy != NULL) && now >= host_redundancy_next(h))
		host_redundancy_run(h, now);
	retry(h, now);
	return mf_host_next(h);
}

mf_time mf_host_next(const struct mf_host *h)
{
	if (h->due_head != HOST_NIL)
		return 0;
	if (unlikely(h->redundancy != NULL) && host_redundancy_next(h) < h->wake)
		return mf_time_min(host_redundancy_next(h), mf_demux_next(&h->rx.demux));
	return mf_time_min(h->wake, mf_demux_next(&h->rx.demux));
}

mf_time mf_host_tx_next(const struct mf_host *h, mf_time now)
{
	return mf_mux_next(h->shell.mux, now);
}

static inline void sent(struct mf_host *h, mf_time now)
{
	uint64_t cookie;
	mf_time at;

	while ((cookie = mf_mux_done(h->shell.mux, &at)) != 0)
		host_state_sent(h, cookie, at);
	retry(h, now);
}

unsigned int mf_host_tx(struct mf_host *h, mf_time now, unsigned int max, struct mf_span *out)
{
	unsigned int n = mf_mux_pull(h->shell.mux, now, max, out);

	if (n > 0)
		sent(h, now);
	return n;
}

inline struct mf_span *mf_host_tx_in_place(struct mf_host *h, mf_time now, struct mf_span *room)
{
	struct mf_span *s = mf_mux_pull_in_place(h->shell.mux, now, room);

	if (s)
		sent(h, now);
	return s;
}

bool mf_host_send_frame(struct mf_host *h, mf_time now, const uint8_t *frame, uint16_t len)
{
	return mf_mux_frame(h->shell.mux, now, frame, len);
}

void mf_host_on_frame(struct mf_host *h, mf_host_frame_fn fn, void *ctx)
{
	h->sink = (struct mf_frame_sink){fn, ctx};
}

const struct mf_host_stats *mf_host_stats(const struct mf_host *h)
{
	return &h->stats;
}

const struct mf_demux *mf_host_demux(const struct mf_host *h)
{
	return &h->rx.demux;
}

const struct mf_demux *mf_host_demux_of(const struct mf_host *h, unsigned int link)
{
	if (!h->redundancy)
		return link == 0 ? &h->rx.demux : NULL;
	return h->redundancy->served == link ? &h->rx.demux : &h->redundancy->other.demux;
}

uint32_t mf_host_outstanding(const struct mf_host *h)
{
	return h->op_count;
}
