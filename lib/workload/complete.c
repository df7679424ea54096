/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations from their completion to the verdict about their data.
 *
 * A read may complete before an older write of the same octets has failed; that failure explains what
 * the read returned. So a read that differs is only suspect while such writes are under way.
 */
#include "base/mf_cycles.h"
#include "workload/churn.h"
#include "workload/history.h"
#include "workload/store_client.h"

#define BATCH 32

static inline void release(struct mf_client *c, struct slot *s)
{
	s->state = SLOT_FREE;
	c->free[c->free_count++] = client_place(s);
	buffers_give(&c->buffers, client_place(s), s->len);
}

bool client_older_write_busy(const struct mf_client *c, const struct slot *s)
{
	for (uint32_t i = 0; i < c->used; i++) {
		const struct slot *w = &c->slot[i];

		if (w->state == SLOT_BUSY && !client_reads(w->kind) && w->user < s->user &&
		    client_overlap(w, s))
			return true;
	}
	return false;
}

void client_mismatch(struct mf_client *c, const struct slot *s)
{
	if (c->stats.mismatches++ == 0)
		c->stats.mismatch =
			(struct mf_client_mismatch){.addr = client_address(c, s->region, s->offset),
						    .octets = s->len,
						    .node = client_target(c, s->region)->node,
						    .kind = s->kind};
}

/** A verdict about a read or RMW that has returned something. @return false: not yet */
static inline bool judge(struct mf_client *c, const struct slot *s, bool equal)
{
	if (__builtin_expect(!s->check || (!equal && !s->sure), 0)) {
		c->stats.unverified++;
		return true;
	}
	if (__builtin_expect(!equal, 0) && client_older_write_busy(c, s))
		return false;
	c->stats.verified++;
	if (!equal)
		client_mismatch(c, s);
	return true;
}

static void judge_suspects(struct mf_client *c)
{
	for (uint32_t i = 0; i < c->used; i++) {
		struct slot *s = &c->slot[i];

		if (s->state != SLOT_SUSPECT)
			continue;
		if (c->store != NULL ? store_judge(c, s, s->intended) : judge(c, s, false)) {
			c->suspects--;
			release(c, s);
		}
	}
}

/** A write or RMW failed: nobody knows what those find who came after it. */
static void forget(struct mf_client *c, const struct slot *failed)
{
	for (uint32_t i = 0; i < c->used; i++) {
		struct slot *s = &c->slot[i];

		if (s->state != SLOT_FREE && s->user > failed->user && client_overlap(s, failed))
			s->check = false;
	}
	shadow_fail(shadow_region(&c->shadow, failed->region), client_number(failed), failed->offset,
		    failed->len);
}

static inline bool line_equal(const void *line, const void *expect)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));
	const pair *a = line, *b = expect;
	pair differs = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);

	static_assert(4 * sizeof(pair) == CLIENT_LINE, "all of it");
	return (differs[0] | differs[1]) == 0;
}

/** Where nothing is ever written the shadow is what it was when the read was submitted. */
static inline bool read_equal(const struct mf_client *c, const struct slot *s)
{
	const void *octets = client_buffer(c, s);
	const void *shadow = shadow_unwritten(&c->shadow, shadow_at(&c->shadow, s->region, s->offset));

	if (s->len == CLIENT_LINE)
		return line_equal(octets, c->constant ? shadow : s->line);
	return c->constant ? memcmp(octets, shadow, s->len) == 0 : lines_hash_of(octets, s->len) == s->expect;
}

static inline bool data_equal(const struct mf_client *c, const struct slot *s,
			      const struct mf_completion *done)
{
	if (!client_reads(s->kind))
		return done->result == s->expect;
	return done->len == s->len && read_equal(c, s);
}

/** From the first response in pieces on, what was one histogram until then is two. */
static void count_first(struct mf_client_kind_stats *k, mf_time latency)
{
	if (!k->apart)
		mf_hist_merge(&k->first, &k->latency);
	k->apart = true;
	mf_hist_add(&k->first, latency);
}

/** The same for the first that began late. */
static void count_intended(struct mf_client_kind_stats *k, mf_time latency)
{
	if (!k->late)
		mf_hist_merge(&k->intended, &k->latency);
	k->late = true;
	mf_hist_add(&k->intended, latency);
}

static void first_carried(struct mf_client *c, const struct slot *s, mf_time done)
{
	c->stats.carried_done = done;
	c->stats.carried_octets = s->len;
	c->stats.carried_kind = s->kind;
}

static inline void count_ok(struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	struct mf_client_kind_stats *k = c->kind[s->kind];

	c->stats.completed_all++;
	k->last = done->done;
	if (!s->measured) {
		k->unmeasured.operations++;
		k->unmeasured.octets += s->len;
		if (done->done >= c->measure && c->stats.carried_done == MF_NEVER && s->kind != CHURN_TASK)
			first_carried(c, s, done->done);
		return;
	}
	if ((done->first != done->done || k->apart) && client_returns(s->kind))
		count_first(k, done->first - done->submitted);
	if (c->open && (k->late || done->submitted != s->intended))
		count_intended(k, done->done - s->intended);
	k->completed++;
	k->octets += s->len;
	mf_hist_add(&k->latency, done->done - done->submitted);
}

static void count_failed(struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	struct mf_client_kind_stats *k = c->kind[s->kind];
	uint8_t status = done->status;

	k->failed_max = mf_time_max(k->failed_max, done->done - done->submitted);
	c->stats.failed_all++;
	c->stats.failed_status[status < MF_STATUSES ? status : MF_ERR_UNKNOWN]++;
	k->failed += s->measured;
	c->stats.unmeasured.failed += !s->measured;
	c->stats.unmeasured.octets_failed += s->len;
}

/** What a completed operation says about the data. @return false: its verdict has to wait */
static inline bool op_verify(struct mf_client *c, struct slot *s, const struct mf_completion *done)
{
	struct shadow_region *r = shadow_region(&c->shadow, s->region);
	bool judged = true;

	if (__builtin_expect(client_reads(s->kind), 1))
		return !c->verify || judge(c, s, s->check && data_equal(c, s, done));
	if (c->verify && client_returns(s->kind))
		judged = judge(c, s, s->check && data_equal(c, s, done));
	if (c->order == MF_CLIENT_ANY_ORDER)
		shadow_over(r, client_number(s), s->offset, s->len);
	else if (c->order != MF_CLIENT_IN_ORDER && s->kind == MF_CLIENT_WRITE_ACK)
		shadow_acknowledge(r, client_number(s));
	if (client_overwrites(s->kind) &&
	    (c->order == MF_CLIENT_IN_ORDER || (c->order == MF_CLIENT_ANY_ORDER && s->alone)))
		shadow_settle(r, client_number(s), s->offset, s->len);
	return judged;
}

/** A sink holds the same at any time, so nothing excuses a read that differs. */
static __attribute__((noinline)) void judge_sink(struct mf_client *c, const struct slot *s,
						 const struct mf_completion *done)
{
	const void *expect = mf_sink_content(client_address(c, s->region, s->offset));

	c->stats.verified++;
	if (done->len != s->len || memcmp(client_buffer(c, s), expect, s->len) != 0)
		client_mismatch(c, s);
}

static void suspect(struct mf_client *c, struct slot *s)
{
	s->state = SLOT_SUSPECT;
	c->suspects++;
}

static inline void op_ok(struct mf_client *c, struct slot *s, const struct mf_completion *done)
{
	count_ok(c, s, done);
	if (__builtin_expect(c->store != NULL, 0)) {
		if (store_judge(c, s, done->done)) {
			release(c, s);
		} else {
			s->intended = done->done; /* its query goes on from then */
			suspect(c, s);
		}
		return;
	}
	client_set_busy(c, s, 0);
	if (c->sink && c->verify && client_reads(s->kind))
		judge_sink(c, s, done);
	if (c->shadow.regions == 0 || op_verify(c, s, done))
		release(c, s);
	else
		suspect(c, s);
}

/** Of what is shared others may have taken the right, or the page. That is an answer. */
static void count_denied(struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	struct mf_completion answered = *done;
	struct slot none = *s;

	none.len = 0;
	answered.first = done->done;
	c->stats.denied++;
	c->stats.unmeasured.octets_failed += s->len;
	count_ok(c, &none, &answered);
}

static void op_failed(struct mf_client *c, struct slot *s, const struct mf_completion *done)
{
	if (c->churn != NULL && done->status == MF_ERR_KEY)
		count_denied(c, s, done);
	else
		count_failed(c, s, done);
	if (c->store != NULL)
		store_failed(c, s, c->stats.last_done);
	if (c->shadow.regions > 0 && !client_reads(s->kind))
		forget(c, s);
	client_set_busy(c, s, 0);
	release(c, s);
}

/** The slot of a completion; NULL: of no operation that is under way. */
static inline struct slot *find(const struct mf_client *c, const struct mf_completion *done)
{
	struct slot *s = &c->slot[done->user & c->slot_mask];

	if (s->state != SLOT_BUSY || s->user != done->user)
		return NULL;
	return s->node == done->node ? s : NULL;
}

/** One that was of a memory node that is no more: its data say nothing of the new one. */
static __attribute__((cold, noinline)) void former_done(struct mf_client *c, const struct mf_completion *done)
{
	struct slot *s = &c->slot[done->user & c->slot_mask];

	if (s->state != SLOT_FORMER || s->user != done->user || s->node != done->node) {
		c->stats.stray++;
		return;
	}
	if (c->watch != NULL && s->measured)
		c->watch->done(c->watch->ctx, done);
	if (c->history != NULL)
		client_history_done(c, s, done);
	c->stats.last_done = done->done;
	if (done->status == MF_OK)
		count_ok(c, s, done);
	else
		count_failed(c, s, done);
	c->stats.unverified += done->status == MF_OK && client_returns(s->kind);
	release(c, s);
	judge_suspects(c);
}

static inline void op_done(struct mf_client *c, const struct mf_completion *done)
{
	struct slot *s = find(c, done);

	if (__builtin_expect(s == NULL, 0)) {
		former_done(c, done);
		return;
	}
	if (__builtin_expect(c->watch != NULL, 0) && s->measured)
		c->watch->done(c->watch->ctx, done);
	if (__builtin_expect(c->history != NULL, 0))
		client_history_done(c, s, done);
	if (__builtin_expect(s->kind == CHURN_TASK, 0))
		churn_done(c, s, done);
	c->stats.last_done = done->done; /* completions come in order */
	if (__builtin_expect(done->status == MF_OK, 1))
		op_ok(c, s, done);
	else
		op_failed(c, s, done);
	if (c->suspects > 0 && !client_reads(s->kind))
		judge_suspects(c);
}

void client_fail_all(struct mf_client *c, mf_time now)
{
	for (uint32_t i = 0; i < c->used; i++) {
		const struct slot *s = &c->slot[i];

		if (s->state == SLOT_BUSY || s->state == SLOT_FORMER)
			op_done(c, &(struct mf_completion){.user = s->user,
							   .submitted = s->intended,
							   .first = MF_NEVER,
							   .done = now,
							   .status = MF_ERR_UNKNOWN,
							   .node = s->node});
	}
}

void client_complete(struct mf_client *c, mf_time now)
{
	MF_CYCLES(MF_CYCLES_CLIENT_COMPLETE);
	struct mf_completion done[BATCH];
	unsigned int n;

	do {
		n = mf_below_completions(&c->below, now, done, BATCH);
		for (unsigned int i = 0; i < n; i++)
			op_done(c, &done[i]);
	} while (n == BATCH);
}
