/* SPDX-License-Identifier: BSD-3-Clause */
#include "history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mf_history.h"

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
	struct mf_history_log *log = mf_session_history(seat_session(q->seat), seat_node(q->seat));

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

/**
 * Reads, writes and atomics. Operations on regions are not recorded: what they change is told as a cut
 * (seat.c).
 */
static bool is_access(uint8_t op)
{
	return op != MEMFAB_NOP && op < MEMFAB_CLAIM;
}

int queue_history_begin(struct memfab_queue *q, const struct slot *s, mf_time now)
{
	const struct memfab_sqe *e = &s->sqe;
	struct recorded *r = recorded(q, s);
	const struct mf_history_record record = {.call = now,
						 .addr = e->addr,
						 .len = e->op >= MEMFAB_CAS ? 8 : e->len,
						 .client = (uint16_t)seat_node(q->seat),
						 .node = e->node,
						 .kind = is_access(e->op) ? kind_of(e->op) : 0};
	const void *data = e->buf;

	*r = (struct recorded){.place = MF_HISTORY_NONE};
	if (!is_access(e->op))
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
	if (status == MF_OK && (s->sqe.op == MEMFAB_CLAIM || s->sqe.op == MEMFAB_RELEASE))
		mf_history_cut(q->history->log, (uint16_t)seat_node(q->seat), s->sqe.node, 0);
}

static enum mf_history_outcome outcome_of(const struct slot *s, uint8_t status)
{
	if (s->error == 0)
		return MF_HISTORY_OK;
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
