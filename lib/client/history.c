/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linear/mf_history.h"

/** What is known of an operation under way. */
struct recorded {
	uint64_t place; /**< in the log; MF_HISTORY_NONE: it is not recorded */
	uint8_t *octets; /**< where it has several buffers: their octets in one piece; else NULL */
	uint8_t status; /**< the first one that is not MF_OK */
};

struct queue_history {
	struct mf_history_log *log;
	struct recorded slot[];
};

int queue_history_new(struct memfab_queue *q)
{
	struct mf_history_log *log =
		mf_session_history(attachment_session(q->attachment), attachment_node(q->attachment));

	if (log == NULL)
		return 0;
	q->history = calloc(1, sizeof(*q->history) + (q->mask + 1) * sizeof(q->history->slot[0]));
	if (q->history == NULL)
		return -ENOMEM;
	q->history->log = log;
	return 0;
}

void queue_history_free(struct memfab_queue *q)
{
	for (uint32_t i = 0; q->history != NULL && i <= q->mask; i++)
		free(q->history->slot[i].octets);
	free(q->history);
}

static struct recorded *recorded(struct memfab_queue *q, const struct slot *s)
{
	return &q->history->slot[s - q->slot];
}

/** Copies the octets of all buffers into one piece. */
static void gather(uint8_t *octets, const struct memfab_sqe *s)
{
	for (uint32_t i = 0; i < s->iovs; octets += s->iov[i++].iov_len)
		if (s->iov[i].iov_len > 0)
			memcpy(octets, s->iov[i].iov_base, s->iov[i].iov_len);
}

static enum mf_history_kind kind_of(uint8_t op)
{
	static const uint8_t kind[] = {
		[MEMFAB_READ] = MF_HISTORY_READ,           [MEMFAB_WRITE] = MF_HISTORY_WRITE,
		[MEMFAB_WRITE_ACK] = MF_HISTORY_WRITE_ACK, [MEMFAB_CAS] = MF_HISTORY_CAS,
		[MEMFAB_FETCH_ADD] = MF_HISTORY_FADD,      [MEMFAB_SWAP] = MF_HISTORY_SWAP,
		[MEMFAB_FETCH_OR] = MF_HISTORY_OR,         [MEMFAB_FETCH_AND] = MF_HISTORY_AND,
	};

	return kind[op];
}

static bool zeroes(uint8_t op)
{
	return op == MEMFAB_CLAIM || op == MEMFAB_RELEASE;
}

/** Reads, writes and atomics. */
static bool is_access(uint8_t op)
{
	return op != MEMFAB_NOP && op < MEMFAB_CLAIM;
}

/** Who claims or releases a region has its octets zeroed. @return false: there is no such region */
static bool zeroing_of(const struct mf_config *c, struct mf_history_record *r)
{
	for (unsigned int i = 0; i < c->regions; i++) {
		const struct mf_config_region *g = &c->region[i];

		for (unsigned int k = 0; k < g->memory.n; k++) {
			if (g->memory.node[k] != r->node || r->addr < g->at || r->addr - g->at >= g->size)
				continue;
			r->kind = MF_HISTORY_ZEROED;
			r->addr = g->at;
			r->len = g->size;
			return true;
		}
	}
	return false;
}

int queue_history_begin(struct memfab_queue *q, const struct slot *s, mf_time now)
{
	const struct memfab_sqe *e = &s->sqe;
	struct recorded *r = recorded(q, s);
	struct mf_history_record record = {.call = now,
					   .addr = e->addr,
					   .len = e->op >= MEMFAB_CAS ? 8 : e->len,
					   .client = (uint16_t)attachment_node(q->attachment),
					   .node = e->node,
					   .kind = is_access(e->op) ? kind_of(e->op) : 0};
	const void *data = e->buf;

	*r = (struct recorded){.place = MF_HISTORY_NONE};
	if (e->space != NULL) /* the layer that has it records what it asks there */
		return 0;
	if (!is_access(e->op) &&
	    !(zeroes(e->op) && zeroing_of(mf_session_config(attachment_session(q->attachment)), &record)))
		return 0;
	if (e->op >= MEMFAB_CAS) {
		data = e->arg;
	} else if (e->iovs > 0) {
		r->octets = malloc(e->len);
		if (r->octets == NULL)
			return -ENOMEM;
		gather(r->octets, e);
		data = r->octets;
	}
	r->place = mf_history_begin(q->history->log, &record, data);
	return 0;
}

void queue_history_part(struct memfab_queue *q, const struct slot *s, uint8_t status)
{
	struct recorded *r = recorded(q, s);

	if (r->status == MF_OK)
		r->status = status;
}

static enum mf_history_outcome outcome_of(const struct slot *s, uint8_t status)
{
	if (s->error == 0)
		return MF_HISTORY_OK;
	if (zeroes(s->sqe.op) && status == MF_ERR_KEY)
		return MF_HISTORY_REFUSED;
	return status == MF_ERR_RESTARTED ? MF_HISTORY_RESTARTED : MF_HISTORY_FAILED;
}

void queue_history_end(struct memfab_queue *q, const struct slot *s, mf_time now)
{
	struct recorded *r = recorded(q, s);
	const void *data = s->sqe.op >= MEMFAB_CAS ? (const void *)&s->old : s->sqe.buf;

	if (r->octets != NULL) {
		gather(r->octets, &s->sqe);
		data = r->octets;
	}
	mf_history_end(q->history->log, r->place, now, outcome_of(s, r->status), r->status, data);
	free(r->octets);
	*r = (struct recorded){.place = MF_HISTORY_NONE};
}
