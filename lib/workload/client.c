/* SPDX-License-Identifier: BSD-3-Clause */
/* A client from its making to its end; begin.c and complete.c are what it does meanwhile. */
#include <errno.h>
#include <stdlib.h>

#include "workload/churn.h"
#include "workload/store_client.h"
#include "workload/content.h"
#include "workload/history.h"
#include "base/mf_fetch.h"
#include "base/mf_table.h"

#define FETCH_MAX 16 /**< operations, ahead of their begin */

static const char *const kind_names[MF_CLIENT_KINDS] = {
	[MF_CLIENT_READ] = "read", [MF_CLIENT_WRITE] = "write", [MF_CLIENT_WRITE_ACK] = "write_ack",
	[MF_CLIENT_CAS] = "cas",   [MF_CLIENT_FADD] = "fadd",   [MF_CLIENT_SWAP] = "swap",
	[MF_CLIENT_OR] = "or",     [MF_CLIENT_AND] = "and",     [MF_CLIENT_CALL] = "call",
};

const char *mf_client_kind_name(enum mf_client_kind kind)
{
	return (unsigned int)kind < MF_CLIENT_KINDS ? kind_names[kind] : "?";
}

static bool target_ok(const struct mf_client_config *config, const struct mf_client_target *t)
{
	if (t->base > MF_ADDR_MAX || config->base > MF_ADDR_MAX - t->base ||
	    config->span - 1 > MF_ADDR_MAX - t->base - config->base)
		return false;
	return !choose_has_rmw(config) || (t->base + config->base) % 8 == 0;
}

/** Notes a target. @return whether it was noted before */
static bool target_known(uint64_t *known, uint16_t node)
{
	uint64_t bit = UINT64_C(1) << node % 64, before = known[node / 64];

	known[node / 64] |= bit;
	return before & bit;
}

/** TO_ONE: targets[first] is the only one. */
static int target_only(struct mf_client *c, const struct mf_client_config *config, bool is_own)
{
	c->target = &config->targets[config->first];
	c->targets = 1;
	return !is_own && target_ok(config, c->target) ? 0 : -EINVAL;
}

/**
 * All targets but the own node. A client has no list of its own: of many clients each has all others.
 * @param first  set to the number of targets[first], or of the next one if that is the own node
 */
static int targets_init(struct mf_client *c, const struct mf_client_config *config, uint32_t *first)
{
	uint64_t known[(UINT16_MAX + 1) / 64] = {0};

	c->target = config->targets;
	c->own = UINT32_MAX;
	c->base = config->base;
	*first = 0;
	if (config->pattern == MF_CLIENT_TO_ONE)
		return target_only(c, config,
				   config->targets[config->first].node == config->node &&
					   config->store == NULL);
	for (unsigned int i = 0; i < config->targets_count; i++) {
		const struct mf_client_target *t = &config->targets[i];

		if (target_known(known, t->node))
			return -EINVAL;
		if (t->node == config->node && config->store == NULL) {
			c->own = i;
			continue;
		}
		if (!target_ok(config, t))
			return -EINVAL;
		*first += i < config->first;
		c->targets++;
	}
	if (*first == c->targets)
		*first = 0;
	return c->targets > 0 ? 0 : -EINVAL;
}

/** In a closed loop a buffer is idle for a moment at most. */
static int data_init(struct mf_client *c, const struct mf_client_config *config)
{
	uint64_t most = 0;

	if (config->store != NULL)
		most = store_size_max(config->store);
	else if (choose_has_data(config))
		most = choose_size_max(config);
	if (config->churn != NULL && most == 0)
		most = CLIENT_LINE; /* for what is answered of spaces */
	return buffers_init(&c->buffers, c->depth, choose_round_up(most),
			    config->interval != 0 || config->messages != NULL ? config->idle_max
									      : UINT64_MAX);
}

static int slots_init(struct mf_client *c, unsigned int depth)
{
	c->depth = depth;
	while (c->slot_mask < depth - 1)
		c->slot_mask = c->slot_mask << 1 | 1;
	c->slot = mf_table_new((size_t)c->slot_mask + 1, sizeof(*c->slot));
	c->free = calloc(depth, sizeof(*c->free));
	c->busy = mf_table_new((size_t)c->slot_mask + 1, sizeof(*c->busy));
	if (c->slot == NULL || c->free == NULL || c->busy == NULL)
		return -ENOMEM;
	while (c->free_count < depth) {
		c->free[c->free_count] = depth - 1 - c->free_count;
		c->free_count++;
	}
	return 0;
}

static bool message_ok(const struct mf_client *c, const struct mf_client_config *config,
		       const struct mf_client_message *m)
{
	if (m->node >= MF_NODES_MAX || c->place[m->node] == c->targets)
		return false;
	if (m->kind >= MF_CLIENT_KINDS || !(config->mix[m->kind] > 0))
		return false;
	if (choose_is_rmw((enum mf_client_kind)m->kind))
		return m->octets == 8;
	return m->octets > 0 && m->octets <= config->size_max;
}

static bool address_ok(const struct mf_client_config *config, const struct mf_client_message *m,
		       uint64_t address)
{
	if (choose_is_rmw((enum mf_client_kind)m->kind) && address % 8 != 0)
		return false;
	return m->octets <= config->span && address <= config->span - m->octets;
}

static int messages_init(struct mf_client *c, const struct mf_client_config *config)
{
	mf_time last = 0;

	if (config->messages == NULL)
		return 0;
	c->place = calloc(MF_NODES_MAX, sizeof(*c->place));
	if (c->place == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < MF_NODES_MAX; i++)
		c->place[i] = (uint16_t)c->targets;
	for (uint32_t i = 0; i < c->targets; i++) /* less than 2^16: each is another node */
		c->place[client_target(c, i)->node] = (uint16_t)i;
	c->message = config->messages;
	c->message_end = c->message + config->messages_count;
	for (const struct mf_client_message *m = c->message; m < c->message_end; last = m->start, m++)
		if (m->start < last || !message_ok(c, config, m) ||
		    (config->addresses != NULL &&
		     !address_ok(config, m, config->addresses[m - config->messages])))
			return -EINVAL;
	if (config->addresses != NULL)
		c->address = config->addresses + config->messages_count;
	return 0;
}

static int parts_init(struct mf_client *c, const struct mf_client_config *config)
{
	uint32_t first;
	int err = targets_init(c, config, &first);

	if (!err)
		err = config->store != NULL ? store_init(c, config)
					    : choose_init(&c->chooser, config, c->targets, first);
	if (!err)
		err = messages_init(c, config);
	if (err || config->host == NULL)
		return err;
	err = slots_init(c, config->store != NULL ? (unsigned int)store_slots(config->store, config->depth)
						  : config->depth);
	if (!err)
		err = data_init(c, config);
	if (!err && config->churn != NULL)
		return churn_init(c, config);
	if (!err && config->store == NULL && !config->sink &&
	    (config->verify || config->mix[MF_CLIENT_CAS] > 0))
		err = shadow_init(&c->shadow, c->targets, config->span, config->order != MF_CLIENT_IN_ORDER);
	return err;
}

static bool config_ok(const struct mf_client_config *config)
{
	if (config->targets == NULL || config->first >= config->targets_count)
		return false;
	if (config->sink && (config->store != NULL || choose_has_rmw(config)))
		return false;
	return config->span > 0 && config->depth > 0 && config->depth <= CLIENT_DEPTH_MAX;
}

static void times_init(struct mf_client *c, const struct mf_client_config *config)
{
	c->operations = config->operations != 0 ? config->operations : UINT64_MAX;
	c->measured = config->measured;
	c->stats.first_begun = c->stats.carried_done = MF_NEVER;
	c->delay = config->delay;
	c->burst = c->burst_left = config->burst != 0 ? config->burst : 1;
	c->start = config->start;
	c->stop = config->stop;
	c->measure = c->warmup_end = config->measure;
	mf_rng_init(&c->args, config->seed, "client.arguments", config->node);
	c->open = c->stats.open = config->interval != 0 || c->message != NULL;
	if (c->message != NULL) {
		c->arrival.next = c->message < c->message_end ? c->message->start : MF_NEVER;
	} else if (c->open) {
		mf_rng_init(&c->arrival.rng, config->seed, "client.arrival", config->node);
		arrival_start(&c->arrival, config->start, config->interval, config->poisson);
	} else if (c->delay > 0) {
		/* A phase keeps clients that start together from running in step. */
		mf_rng_init(&c->arrival.rng, config->seed, "client.phase", config->node);
		c->arrival.next = c->start = config->start + mf_rng_below(&c->arrival.rng, c->delay);
	}
}

struct mf_client *mf_client_new(const struct mf_client_config *config)
{
	struct mf_client *c;
	int err;

	if (!config_ok(config)) {
		errno = EINVAL;
		return NULL;
	}
	c = mf_table_new(1, sizeof(*c)); /* its histograms */
	if (c == NULL)
		return NULL;
	for (int k = 0; k < MF_CLIENT_KINDS; k++)
		c->kind[k] = &c->stats.kind[k];
	c->kind[CHURN_TASK] = &c->task;
	c->below = (struct mf_below){.host = config->host, .layer = config->layer};
	c->node = config->node;
	c->watch = config->watch;
	c->writer = content_writer(config->node);
	c->verify = config->verify;
	c->sink = config->sink;
	c->order = config->order;
	c->lost_is_empty = config->lost_is_empty && config->order == MF_CLIENT_IN_ORDER;
	c->constant = choose_reads_only(config);
	err = config->sink ? mf_sink_init() : 0;
	if (!err)
		err = parts_init(c, config);
	if (err) {
		mf_client_free(c);
		errno = -err;
		return NULL;
	}
	times_init(c, config);
	if (c->below.host != NULL)
		mf_below_on_restart(&c->below, client_restarted, c);
	return c;
}

void mf_client_free(struct mf_client *c)
{
	if (c == NULL)
		return;
	client_history_free(c->history);
	choose_fini(&c->chooser);
	store_fini(c->store);
	churn_fini(c->churn);
	shadow_fini(&c->shadow);
	free(c->place);
	mf_table_free(c->slot);
	free(c->free);
	mf_table_free(c->busy);
	buffers_fini(&c->buffers);
	mf_table_free(c);
}

/** What has happened so far. */
static struct mf_client_at so_far(const struct mf_client_stats *s)
{
	struct mf_client_at at = {.all = s->unmeasured};

	for (int k = 0; k < MF_CLIENT_KINDS; k++) {
		const struct mf_client_kind_stats *kind = &s->kind[k];

		at.done[k].operations = kind->completed + kind->unmeasured.operations;
		at.done[k].octets = kind->octets + kind->unmeasured.octets;
		at.all.octets_begun += kind->octets_begun;
		at.all.octets_completed += at.done[k].octets;
	}
	for (int k = 0; k < MF_QUERY_KINDS; k++)
		at.queries[k] = s->query[k].completed + s->query[k].unmeasured;
	at.all.begun = s->begun_all;
	at.all.completed = s->completed_all;
	at.all.failed = s->failed_all;
	return at;
}

static __attribute__((cold, noinline)) void phases_over(struct mf_client *c, mf_time now)
{
	mf_time stop = __atomic_load_n(&c->stop, __ATOMIC_RELAXED);
	const mf_time end[] = {mf_time_min(c->measure, stop), stop};

	for (; c->stats.phase < MF_CLIENT_DRAIN && now >= end[c->stats.phase]; c->stats.phase++)
		c->stats.at[c->stats.phase] = so_far(&c->stats);
	if (c->stats.phase != MF_CLIENT_WARMUP)
		c->warmup_end = MF_NEVER;
}

/**
 * What had happened at the begin and at the end of a phase.
 * @return false: it has not begun
 */
static bool phase_ends(const struct mf_client_stats *s, enum mf_client_phase phase,
		       struct mf_client_at *before, struct mf_client_at *after)
{
	if (phase > s->phase)
		return false;
	*before = phase > 0 ? s->at[phase - 1] : (struct mf_client_at){0};
	*after = phase < s->phase ? s->at[phase] : so_far(s);
	return true;
}

struct mf_client_done mf_client_steady(const struct mf_client_stats *s, enum mf_client_kind kind)
{
	struct mf_client_at before, after;

	if (!phase_ends(s, MF_CLIENT_STEADY, &before, &after))
		return (struct mf_client_done){0};
	return (struct mf_client_done){after.done[kind].operations - before.done[kind].operations,
				       after.done[kind].octets - before.done[kind].octets};
}

uint64_t mf_client_steady_queries(const struct mf_client_stats *s, enum mf_query_kind kind)
{
	struct mf_client_at before, after;

	return phase_ends(s, MF_CLIENT_STEADY, &before, &after) ? after.queries[kind] - before.queries[kind]
								: 0;
}

mf_time mf_client_last(const struct mf_client_stats *s)
{
	mf_time last = 0;

	for (int k = 0; k < MF_CLIENT_KINDS; k++)
		last = mf_time_max(last, s->kind[k].last);
	for (int k = 0; k < MF_QUERY_KINDS; k++)
		last = mf_time_max(last, s->query[k].last);
	return last;
}

struct mf_client_totals mf_client_totals(const struct mf_client_stats *s, enum mf_client_phase phase)
{
	struct mf_client_at b, a;

	if (!phase_ends(s, phase, &b, &a))
		return (struct mf_client_totals){0};

	struct mf_client_totals t = a.all, before = b.all;

	return (struct mf_client_totals){.begun = t.begun - before.begun,
					 .completed = t.completed - before.completed,
					 .failed = t.failed - before.failed,
					 .octets_begun = t.octets_begun - before.octets_begun,
					 .octets_completed = t.octets_completed - before.octets_completed,
					 .octets_failed = t.octets_failed - before.octets_failed};
}

static inline bool phase_is_over(const struct mf_client *c, mf_time now)
{
	return now >= mf_time_min(c->warmup_end, __atomic_load_n(&c->stop, __ATOMIC_RELAXED));
}

bool mf_client_waits(const struct mf_client *c, mf_time now)
{
	return c->waiting == NULL && c->store == NULL && !phase_is_over(c, now);
}

void client_phases(struct mf_client *c, mf_time now)
{
	if (__builtin_expect(phase_is_over(c, now), 0))
		phases_over(c, now);
}

mf_time mf_client_run(struct mf_client *c, mf_time now)
{
	client_phases(c, now);
	if (__builtin_expect(c->history != NULL, 0))
		client_history_turn(c, now);
	client_complete(c, now);
	client_begin(c, now);
	if (__builtin_expect(c->store != NULL, 0))
		return store_next(c, now);
	if (c->waiting != NULL || c->free_count == 0 || !client_has_more(c, now))
		return MF_NEVER;
	return c->open ? c->arrival.next : c->start;
}

void mf_client_stop(struct mf_client *c, mf_time at)
{
	if (at < __atomic_load_n(&c->stop, __ATOMIC_RELAXED))
		__atomic_store_n(&c->stop, at, __ATOMIC_RELAXED);
}

static void fetch_slot(const struct mf_client *c, uint32_t i)
{
	mf_fetch_only();
	__builtin_prefetch(&c->slot[i], 1);
	__builtin_prefetch(c->slot[i].line, 1);
}

void mf_client_fetch(const struct mf_client *c)
{
	mf_fetch_only();
	for (size_t at = 0; at < offsetof(struct mf_client, stats); at += 64)
		__builtin_prefetch((const uint8_t *)c + at, 1);
	__builtin_prefetch(&c->stats.begun_all, 1);
}

static void fetch_messages(const struct mf_client *c, mf_time until)
{
	const struct mf_client_message *m = c->message;

	for (uint32_t i = 0; i < FETCH_MAX && i < c->free_count && m < c->message_end && m->start <= until;
	     i++, m++) {
		mf_node_fetch_peer(c->below.host, m->node);
		fetch_slot(c, c->free[c->free_count - 1 - i]);
	}
}

void mf_client_fetch_next(const struct mf_client *c, mf_time until)
{
	uint32_t target = c->chooser.target_next; /* where they are taken in turn; else it does no harm */
	mf_time at = c->arrival.next;

	if (c->store != NULL)
		return;
	if (c->message != NULL) {
		fetch_messages(c, until);
		return;
	}
	for (uint32_t i = 0; i < FETCH_MAX && i < c->free_count && at <= until;
	     i++, at += c->arrival.interval) {
		mf_node_fetch_peer(c->below.host, client_target(c, target)->node);
		fetch_slot(c, c->free[c->free_count - 1 - i]);
		if (c->shadow.regions > 0)
			shadow_fetch(&c->shadow, target);
		target = target + 1 < c->targets ? target + 1 : 0;
	}
}

void mf_client_fetch_op(const struct mf_client *c, uint64_t user)
{
	fetch_slot(c, (uint32_t)user & c->slot_mask);
}

bool mf_client_at_end(const struct mf_client *c)
{
	if (c->store == NULL)
		return c->stats.begun_all >= c->operations ||
		       (c->message != NULL && c->message == c->message_end);
	return c->store->begun >= c->operations ||
	       (c->store->config.queries != NULL && c->store->given == c->store->config.queries_count);
}

bool mf_client_under_way(const struct mf_client *c, uint64_t user)
{
	const struct slot *s = &c->slot[user & c->slot_mask];

	return s->user == user && (s->state == SLOT_BUSY || s->state == SLOT_FORMER);
}

bool mf_client_finished(const struct mf_client *c, mf_time now)
{
	if (c->store != NULL && c->store->free_count < c->store->depth)
		return false;
	return c->free_count + (c->waiting != NULL) == c->depth && !client_has_more(c, now);
}

const struct mf_client_stats *mf_client_stats(const struct mf_client *c)
{
	return &c->stats;
}

uint64_t mf_client_not_begun(const struct mf_client *c, mf_time from, mf_time to)
{
	uint64_t most = c->operations - c->stats.begun_all, seen = 0, n = 0;
	struct arrival a = c->arrival;
	uint32_t left = c->burst_left;

	to = mf_time_min(to, __atomic_load_n(&c->stop, __ATOMIC_RELAXED));
	if (!c->open || c->stats.submit_error != 0)
		return 0;
	if (c->message != NULL) {
		for (const struct mf_client_message *m = c->message; m < c->message_end && m->start < to; m++)
			n += m->start >= from;
		return n;
	}
	while (a.next < to && seen < most) {
		seen++;
		n += a.next >= from;
		if (--left == 0) {
			left = c->burst;
			arrival_advance(&a);
		}
	}
	return n;
}

uint64_t mf_client_not_reached(const struct mf_client *c)
{
	uint64_t begun = c->store != NULL ? c->store->begun : c->stats.begun_all, left = UINT64_MAX;
	uint64_t waited = mf_client_not_begun(c, 0, MF_NEVER);

	if (c->operations != UINT64_MAX)
		left = c->operations - begun;
	else if (c->measured != 0) /* none of them has begun, or there would be a last one */
		left = c->measured;
	if (c->message != NULL && (uint64_t)(c->message_end - c->message) < left)
		left = (uint64_t)(c->message_end - c->message);
	if (c->store != NULL && c->store->config.queries != NULL &&
	    c->store->config.queries_count - c->store->given < left)
		left = c->store->config.queries_count - c->store->given;
	return left != UINT64_MAX && left > waited ? left - waited : 0;
}
