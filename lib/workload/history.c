/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client's history says of it (docs/history.md): called where operations begin and complete, if it has
 * one.
 */
#include "workload/history.h"

#include <errno.h>
#include <stdlib.h>

#include "linear/mf_history.h"

#define CHUNK_MIN 16 /* octets: what is no longer is looked at as a whole, and done or not */

static_assert((int)MF_CLIENT_READ == MF_HISTORY_READ && (int)MF_CLIENT_WRITE == MF_HISTORY_WRITE &&
		      (int)MF_CLIENT_WRITE_ACK == MF_HISTORY_WRITE_ACK &&
		      (int)MF_CLIENT_CAS == MF_HISTORY_CAS && (int)MF_CLIENT_AND == MF_HISTORY_AND &&
		      (int)MF_CLIENT_CALL == MF_HISTORY_OPS,
	      "kinds of clients and of histories are the same, but that a call is a read");

struct client_history {
	struct mf_history_log *log;
	uint64_t *place; /**< [slot_mask + 1]: in the log, of the operation of each slot */
	bool cuts_only; /**< who is below records operations */
	mf_time now; /**< of the last call of the client */
	bool *cut; /**< [targets]: it was lost since then */
	bool any_cut;
};

int mf_client_record(struct mf_client *c, struct mf_history_log *log, bool cuts_only)
{
	struct client_history *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return -ENOMEM;
	h->log = log;
	h->cuts_only = cuts_only;
	h->place = calloc((size_t)c->slot_mask + 1, sizeof(*h->place));
	h->cut = calloc(c->targets, sizeof(*h->cut));
	if (h->place == NULL || h->cut == NULL) {
		client_history_free(h);
		return -ENOMEM;
	}
	c->history = h;
	return 0;
}

void client_history_free(struct client_history *h)
{
	if (h == NULL)
		return;
	free(h->place);
	free(h->cut);
	free(h);
}

void client_history_cut(struct mf_client *c, uint32_t target)
{
	c->history->cut[target] = c->history->any_cut = true;
}

void client_history_turn(struct mf_client *c, mf_time now)
{
	struct client_history *h = c->history;

	h->now = now;
	if (!h->any_cut)
		return;
	for (uint32_t i = 0; i < c->targets; i++) {
		if (h->cut[i])
			mf_history_cut(h->log, c->node, client_target(c, i)->node, now);
		h->cut[i] = false;
	}
	h->any_cut = false;
}

void client_history_begun(struct mf_client *c, const struct slot *s, mf_time now)
{
	const struct mf_history_record r = {.call = now,
					    .addr = c->op.addr,
					    .len = c->op.len,
					    .client = c->node,
					    .node = s->node,
					    .kind = client_reads(s->kind) ? MF_HISTORY_READ : s->kind};

	if (c->history->cuts_only)
		return;
	c->history->place[client_place(s)] =
		mf_history_begin(c->history->log, &r, c->op.kind == MF_OP_RMW ? c->op.arg : c->op.buf);
}

static enum mf_history_outcome failed(const struct slot *s, uint8_t status)
{
	if (status == MF_ERR_RESTARTED)
		return MF_HISTORY_RESTARTED;
	if (status == MF_ERR_KEY && s->len <= CHUNK_MIN)
		return MF_HISTORY_REFUSED;
	if (status == MF_ERR_RESOURCE && s->len <= MF_MESSAGE_MAX)
		return MF_HISTORY_NO_ROOM;
	return MF_HISTORY_FAILED;
}

void client_history_done(struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	const struct client_history *h = c->history;
	const void *data = client_reads(s->kind) ? client_buffer(c, s) : &done->result;
	enum mf_history_outcome outcome = MF_HISTORY_OK;

	if (h->cuts_only)
		return;
	if (done->status != MF_OK)
		outcome = failed(s, done->status);
	else if (client_reads(s->kind) && done->len != s->len)
		outcome = MF_HISTORY_FAILED;
	mf_history_end(h->log, h->place[client_place(s)], h->now, outcome, done->status, data);
}
