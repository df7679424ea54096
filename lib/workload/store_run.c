/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries from their begin to their end. */
#include <errno.h>

#include "base/mf_cycles.h"
#include "workload/store_client.h"

static void push(struct store_client *s, struct query_ring *r, uint32_t query)
{
	uint32_t at = r->head + r->count++;

	r->query[at < s->depth ? at : at - s->depth] = query;
}

static struct query *top(const struct store_client *s, const struct query_ring *r)
{
	return &s->query[r->query[r->head]];
}

static void pop(const struct store_client *s, struct query_ring *r)
{
	r->head = r->head + 1 < s->depth ? r->head + 1 : 0;
	r->count--;
}

bool store_has_more(const struct mf_client *c, mf_time now)
{
	return c->store->begun < c->operations &&
	       (c->store->config.queries == NULL || c->store->given < c->store->config.queries_count) &&
	       (c->open ? c->arrival.next : now) < __atomic_load_n(&c->stop, __ATOMIC_RELAXED);
}

static void over(struct mf_client *c, struct query *q, mf_time at, bool local)
{
	struct store_client *s = c->store;
	struct mf_query_stats *stats = &c->stats.query[q->kind];

	s->free[s->free_count++] = (uint32_t)(q - s->query);
	c->stats.last_done = mf_time_max(c->stats.last_done, at);
	if (q->failed) {
		stats->failed += q->measured;
		return;
	}
	stats->last = mf_time_max(stats->last, at);
	if (!q->measured) {
		stats->unmeasured++;
		return;
	}
	stats->completed++;
	stats->local += local;
	mf_hist_add(&stats->latency, at - q->begun);
	if (!local)
		mf_hist_add(&stats->remote, at - q->begun);
	if (c->open)
		mf_hist_add(&stats->intended, at - q->intended);
}

static void begin_local(struct mf_client *c, struct query *q, mf_time now)
{
	q->begun = now;
	q->done = now + c->store->config.local_time;
	push(c->store, &c->store->local, (uint32_t)(q - c->store->query));
}

/** The first part from submitted on that is not on the own node. @return false: there is none */
static bool next_part(struct store_client *s, struct query *q, struct part *p)
{
	for (; q->submitted < q->parts; q->submitted++, q->left--) {
		store_part(s, q, q->submitted, p);
		if (p->len > 0)
			return true;
	}
	return false;
}

static void first_measured(struct mf_client *c, mf_time intended)
{
	c->stats.first_begun = intended;
	if (c->measured != 0 && c->measured < c->operations - c->store->begun)
		c->operations = c->store->begun + c->measured;
}

static void begin_query(struct mf_client *c, mf_time now)
{
	struct store_client *s = c->store;
	uint32_t i = s->free[--s->free_count];
	struct query *q = &s->query[i];
	struct part p;

	store_choose(s, q);
	q->intended = c->arrival.next;
	q->measured = q->intended >= c->measure;
	if (q->measured && c->stats.first_begun == MF_NEVER)
		first_measured(c, q->intended);
	c->stats.query[q->kind].begun += q->measured;
	s->begun++;
	client_next_start(c);
	if ((s->config.local > 0 && mf_rng_double(&s->rng) < s->config.local) || !next_part(s, q, &p))
		begin_local(c, q, now);
	else
		push(s, &s->todo, i);
}

static void make_data(struct mf_client *c, const struct slot *s)
{
	const struct mf_store *store = &c->store->config.store;
	uint64_t record = mf_store_record(store), within = s->offset % record;
	uint64_t key = store_key(store, s->region, s->offset - within);
	uint64_t stamp = store_stamp(c->node, client_number(s));
	uint8_t *at = client_buffer(c, s);

	for (uint64_t octet = 0; octet < s->len; octet += store->field)
		store_put(at + octet, store->field,
			  store_cell(store, key, (uint32_t)((within + octet) / store->field)), stamp);
}

static struct slot *make_message(struct mf_client *c, const struct query *q, const struct part *p)
{
	uint32_t i = client_take(c);
	struct slot *s = &c->slot[i];
	const struct mf_client_target *t = client_target(c, p->target);

	s->user = c->stats.begun_all << MF_CLIENT_SLOT_BITS | i;
	s->intended = q->intended;
	s->offset = p->offset;
	s->expect = (uint64_t)(q - c->store->query);
	s->len = p->len;
	s->region = p->target;
	s->node = t->node;
	s->kind = p->kind;
	s->measured = q->measured;
	s->check = false;
	c->op = (struct mf_op){.kind = p->kind, /* up to the RMW they are the same */
			       .node = t->node,
			       .addr = t->base + p->offset,
			       .len = p->len,
			       .buf = client_buffer(c, s),
			       .user = s->user};
	if (p->kind != MF_CLIENT_READ)
		make_data(c, s);
	return s;
}

static void refused(struct mf_client *c, struct slot *s, int err)
{
	if (err != -EAGAIN) {
		c->stats.submit_error = err;
		c->operations = 0;
	} else if (c->waiting != s) {
		c->stats.refused++;
	}
	c->waiting = s;
}

static void begun(struct mf_client *c, struct query *q, struct slot *s, mf_time now)
{
	s->state = SLOT_BUSY;
	client_count_begun(c, s, now);
	if (s->kind != MF_CLIENT_READ)
		store_wrote(c, s);
	if (q->submitted++ == 0 && (q->kind != MF_QUERY_RMW || !q->writing))
		q->begun = now;
}

/** Submits the next part of the query that is first. @return false: the host has no room */
static bool submit(struct mf_client *c, mf_time now)
{
	struct store_client *s = c->store;
	struct query *q = top(s, &s->todo);
	struct slot *slot = c->waiting;
	struct part p;
	int err;

	if (slot == NULL) {
		next_part(s, q, &p);
		slot = make_message(c, q, &p);
	}
	err = mf_below_submit(&c->below, now, &c->op);
	if (err != 0) {
		refused(c, slot, err);
		return false;
	}
	c->waiting = NULL;
	begun(c, q, slot, now);
	if (!next_part(s, q, &p))
		pop(s, &s->todo);
	return true;
}

static bool is_due(const struct mf_client *c, mf_time now)
{
	return c->store->free_count > 0 && c->arrival.next <= now && store_has_more(c, now);
}

void store_begin(struct mf_client *c, mf_time now)
{
	MF_CYCLES(MF_CYCLES_CLIENT_BEGIN);
	struct store_client *s = c->store;

	while (s->local.count > 0 && top(s, &s->local)->done <= now) {
		struct query *q = top(s, &s->local);

		pop(s, &s->local);
		over(c, q, q->done, true);
	}
	if (!c->open)
		c->arrival.next = mf_time_max(now, c->start);
	for (;;) {
		if (s->todo.count > 0) {
			if (!submit(c, now))
				return;
		} else if (is_due(c, now)) {
			begin_query(c, now);
		} else {
			return;
		}
	}
}

static void phase_over(struct mf_client *c, struct query *q, mf_time at)
{
	if (q->kind != MF_QUERY_RMW || q->writing || q->failed) {
		over(c, q, at, false);
		return;
	}
	q->writing = true;
	q->submitted = 0;
	q->parts = q->left = 1;
	push(c->store, &c->store->todo, (uint32_t)(q - c->store->query));
}

/** A message of a query is over. */
static void part_over(struct mf_client *c, const struct slot *s, mf_time at)
{
	struct query *q = &c->store->query[s->expect];

	if (--q->left == 0)
		phase_over(c, q, at);
}

bool store_judge(struct mf_client *c, const struct slot *s, mf_time at)
{
	if (s->kind == MF_CLIENT_READ && c->verify) {
		bool good = store_verify(c, s);

		if (!good && client_older_write_busy(c, s))
			return false;
		c->stats.verified++;
		if (!good)
			client_mismatch(c, s);
	}
	part_over(c, s, at);
	return true;
}

void store_failed(struct mf_client *c, const struct slot *s, mf_time at)
{
	c->store->query[s->expect].failed = true;
	if (s->kind != MF_CLIENT_READ)
		store_forget(c, s);
	part_over(c, s, at);
}

mf_time store_next(const struct mf_client *c, mf_time now)
{
	const struct store_client *s = c->store;
	mf_time next = s->local.count > 0 ? top(s, &s->local)->done : MF_NEVER;

	if (c->waiting == NULL && s->free_count > 0 && store_has_more(c, now))
		next = mf_time_min(next, c->open ? c->arrival.next : c->start);
	return next;
}
