/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations from their completion to the verdict about their data.
 *
 * A read may complete before an older write of the same octets has failed; that failure explains what
 * the read returned. So a read that differs is only suspect while such writes are under way.
 */
#include "client_priv.h"

#define BATCH 32

static void release(struct mf_client *c, struct slot *s)
{
	s->state = SLOT_FREE;
	c->free[c->free_count++] = (uint32_t)(s - c->slot);
}

/** Whether a write or RMW that came before s, to octets of s, may still fail. */
static bool older_write_busy(const struct mf_client *c, const struct slot *s)
{
	for (uint32_t i = 0; i < c->depth; i++) {
		const struct slot *w = &c->slot[i];

		if (w->state == SLOT_BUSY && w->kind != MF_CLIENT_READ && w->number < s->number &&
		    client_overlap(w, s))
			return true;
	}
	return false;
}

static void mismatch(struct mf_client *c, const struct slot *s)
{
	if (c->stats.mismatches++ == 0) {
		c->stats.mismatch_node = c->target[s->region].node;
		c->stats.mismatch_addr = c->target[s->region].base + s->offset;
	}
}

/** A verdict about a read or RMW that has returned something. @return false: not yet */
static bool judge(struct mf_client *c, const struct slot *s, bool equal)
{
	if (!s->check) {
		c->stats.unverified++;
		return true;
	}
	if (!equal && older_write_busy(c, s))
		return false;
	c->stats.verified++;
	if (!equal)
		mismatch(c, s);
	return true;
}

static void judge_suspects(struct mf_client *c)
{
	for (uint32_t i = 0; i < c->depth; i++) {
		struct slot *s = &c->slot[i];

		if (s->state == SLOT_SUSPECT && judge(c, s, false)) {
			c->suspects--;
			release(c, s);
		}
	}
}

/** A write or RMW failed: nobody knows what those find who came after it. */
static void forget(struct mf_client *c, const struct slot *failed)
{
	for (uint32_t i = 0; i < c->depth; i++) {
		struct slot *s = &c->slot[i];

		if (s->state != SLOT_FREE && s->number > failed->number && client_overlap(s, failed))
			s->check = false;
	}
	shadow_fail(&c->shadow.region[failed->region], failed->number, failed->offset, failed->len);
}

static bool data_equal(const struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	if (s->kind != MF_CLIENT_READ)
		return done->result == s->expect;
	return done->len == s->len &&
	       shadow_hash(client_buffer(c, (uint32_t)(s - c->slot)), s->len) == s->expect;
}

static void count_overlapping(struct mf_client *c, const struct slot *s, mf_time done)
{
	if (c->stats.overlap_done == MF_NEVER) {
		c->stats.overlap_done = done;
		return;
	}
	c->stats.overlapping++;
	c->stats.overlapping_octets += s->len;
}

static void count_ok(struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	c->stats.completed_all++;
	if (!s->measured) {
		if (c->stats.first_begun != MF_NEVER)
			count_overlapping(c, s, done->done);
		return;
	}
	c->stats.kind[s->kind].completed++;
	c->stats.kind[s->kind].octets += s->len;
	mf_hist_add(&c->stats.kind[s->kind].latency, done->done - done->submitted);
	if (c->open)
		mf_hist_add(&c->stats.kind[s->kind].intended, done->done - s->intended);
	if (s->kind == MF_CLIENT_READ || choose_is_rmw((enum mf_client_kind)s->kind))
		mf_hist_add(&c->stats.kind[s->kind].first, done->first - done->submitted);
}

static void count_failed(struct mf_client *c, const struct slot *s, uint8_t status)
{
	c->stats.failed_all++;
	c->stats.failed_status[status < MF_STATUSES ? status : MF_ERR_UNKNOWN]++;
	c->stats.kind[s->kind].failed += s->measured;
}

static void op_ok(struct mf_client *c, struct slot *s, const struct mf_completion *done)
{
	bool returns = s->kind == MF_CLIENT_READ || choose_is_rmw((enum mf_client_kind)s->kind);
	bool judged = true;

	count_ok(c, s, done);
	if (c->verify && returns)
		judged = judge(c, s, s->check && data_equal(c, s, done));
	if (c->unordered && c->shadow.regions > 0 && s->kind == MF_CLIENT_WRITE_ACK)
		shadow_acknowledge(&c->shadow.region[s->region], s->number);
	else if (!c->unordered && c->shadow.regions > 0 && client_overwrites(s->kind))
		shadow_settle(&c->shadow.region[s->region], s->number, s->offset, s->len);
	if (judged) {
		release(c, s);
	} else {
		s->state = SLOT_SUSPECT;
		c->suspects++;
	}
}

static void op_failed(struct mf_client *c, struct slot *s, uint8_t status)
{
	count_failed(c, s, status);
	if (c->shadow.regions > 0 && s->kind != MF_CLIENT_READ)
		forget(c, s);
	release(c, s);
}

/** The slot of a completion; NULL: of no operation that is under way. */
static struct slot *find(struct mf_client *c, const struct mf_completion *done)
{
	uint64_t i = done->user & ((UINT64_C(1) << c->slot_bits) - 1);
	struct slot *s;

	if (i >= c->depth)
		return NULL;
	s = &c->slot[i];
	if (s->state != SLOT_BUSY || s->number != done->user >> c->slot_bits)
		return NULL;
	return c->target[s->region].node == done->node ? s : NULL;
}

static void op_done(struct mf_client *c, const struct mf_completion *done)
{
	struct slot *s = find(c, done);
	bool writes;

	if (s == NULL) {
		c->stats.stray++;
		return;
	}
	writes = s->kind != MF_CLIENT_READ;
	c->stats.last_done = mf_time_max(c->stats.last_done, done->done);
	if (done->status == MF_OK)
		op_ok(c, s, done);
	else
		op_failed(c, s, done->status);
	if (writes && c->suspects > 0)
		judge_suspects(c);
}

void client_complete(struct mf_client *c, mf_time now)
{
	struct mf_completion done[BATCH];
	unsigned int n;

	do {
		n = mf_host_completions(c->host, now, done, BATCH);
		for (unsigned int i = 0; i < n; i++)
			op_done(c, &done[i]);
	} while (n == BATCH);
}
