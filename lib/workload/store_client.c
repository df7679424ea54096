/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of a client of a store: which, about what, and of which messages they consist. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "workload/store_client.h"

static bool has(const struct mf_store_client *s, enum mf_query_kind kind)
{
	return s->queries != NULL || s->mix[kind] > 0;
}

uint64_t store_slots(const struct mf_store_client *s, uint32_t depth)
{
	return (uint64_t)depth * (has(s, MF_QUERY_SCAN) ? mf_store_scan_parts(&s->store, s->scan) : 1);
}

uint64_t store_size_max(const struct mf_store_client *s)
{
	uint64_t record = mf_store_record(&s->store),
		 scan = has(s, MF_QUERY_SCAN) ? mf_store_scan_octets(&s->store, s->scan) : 0;

	return scan > record ? scan : record;
}

static int mix_init(struct store_client *s)
{
	double sum = 0;

	for (int k = 0; k < MF_QUERY_KINDS; k++) {
		if (!(s->config.mix[k] >= 0))
			return -EINVAL;
		s->cum[k] = sum += s->config.mix[k];
	}
	for (int k = 0; k < MF_QUERY_KINDS; k++)
		s->cum[k] /= sum;
	return sum > 0 && !isinf(sum) ? 0 : -EINVAL;
}

static bool config_ok(const struct mf_store_client *s, const struct mf_client_config *config)
{
	const struct mf_store *store = &s->store;

	if (store->records == 0 || store->fields == 0 || store->field < MF_STORE_FIELD_MIN)
		return false;
	if (store->targets != config->targets_count || s->client >= store->clients)
		return false;
	if (has(s, MF_QUERY_SCAN) && (s->scan == 0 || s->scan > store->records))
		return false;
	if (s->mix[MF_QUERY_INSERT] > 0 && s->queries == NULL && store->inserts == 0)
		return false;
	return s->local >= 0 && s->local <= 1 && store_slots(s, config->depth) <= CLIENT_DEPTH_MAX;
}

static int arrays_init(struct store_client *s)
{
	s->query = calloc(s->depth, sizeof(*s->query));
	s->free = calloc(s->depth, sizeof(*s->free));
	s->todo.query = calloc(s->depth, sizeof(*s->todo.query));
	s->local.query = calloc(s->depth, sizeof(*s->local.query));
	s->recent = calloc(STORE_RECENT, sizeof(*s->recent));
	if (s->query == NULL || s->free == NULL || s->todo.query == NULL || s->local.query == NULL ||
	    s->recent == NULL)
		return -ENOMEM;
	while (s->free_count < s->depth) {
		s->free[s->free_count] = s->depth - 1 - s->free_count;
		s->free_count++;
	}
	return 0;
}

int store_init(struct mf_client *c, const struct mf_client_config *config)
{
	struct store_client *s;
	int err;

	if (!config_ok(config->store, config))
		return -EINVAL;
	c->store = s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->config = *config->store;
	s->depth = config->depth;
	s->own = UINT32_MAX;
	for (uint32_t i = 0; i < config->targets_count; i++)
		if (config->targets[i].node == config->node)
			s->own = i;
	s->tears_inserted = mf_store_record(&s->config.store) > s->config.whole;
	s->tears = s->config.write_all || s->config.queries != NULL ? s->tears_inserted
								    : s->config.store.field > s->config.whole;
	mf_rng_init(&s->rng, config->seed, "client.store", config->node);
	s->emptied = calloc(config->targets_count, sizeof(*s->emptied));
	err = s->emptied != NULL ? mix_init(s) : -ENOMEM;
	if (!err)
		err = store_keys_init(&s->keys, &s->config);
	if (!err && has(&s->config, MF_QUERY_SCAN))
		err = mf_zipf_init(&s->scan_zipf, s->config.scan, s->config.theta);
	if (!err)
		err = arrays_init(s);
	return err;
}

void store_fini(struct store_client *s)
{
	if (s == NULL)
		return;
	free(s->query);
	free(s->free);
	free(s->todo.query);
	free(s->local.query);
	free(s->recent);
	free(s->emptied);
	free(s);
}

static enum mf_query_kind draw_kind(struct store_client *s)
{
	double u = mf_rng_double(&s->rng);
	unsigned int k = 0;

	while (k < MF_QUERY_KINDS - 1 && u >= s->cum[k])
		k++;
	return (enum mf_query_kind)k;
}

static uint32_t draw_length(struct store_client *s)
{
	if (s->config.scan_zipfian)
		return 1 + (uint32_t)mf_zipf_next(&s->scan_zipf, &s->rng);
	return 1 + (uint32_t)mf_rng_below(&s->rng, s->config.scan);
}

/** A scan ends where the store does, and is no longer than the longest. */
static uint32_t cut(const struct store_client *s, uint64_t key, uint32_t length)
{
	uint64_t left = mf_store_room(&s->config.store) - key;

	length = length < s->config.scan ? length : s->config.scan;
	return length < left ? length : (uint32_t)left;
}

static void take_given(struct store_client *s, struct query *q)
{
	const struct mf_query *g = &s->config.queries[s->given++];

	q->kind = g->kind;
	q->key = g->key % s->config.store.records;
	q->length = g->length;
}

static void take_drawn(struct store_client *s, struct query *q)
{
	q->kind = (uint8_t)draw_kind(s);
	q->key =
		q->kind == MF_QUERY_INSERT ? store_keys_insert(&s->keys) : store_keys_next(&s->keys, &s->rng);
	q->length = 0;
}

void store_choose(struct store_client *s, struct query *q)
{
	if (s->config.queries != NULL)
		take_given(s, q);
	else
		take_drawn(s, q);
	q->field = (uint32_t)mf_rng_below(&s->rng, s->config.store.fields);
	q->parts = 1;
	if (q->kind == MF_QUERY_SCAN) {
		q->length = cut(s, q->key, q->length != 0 ? q->length : draw_length(s));
		q->parts = mf_store_scan_parts(&s->config.store, q->length);
	}
	q->writing = q->kind == MF_QUERY_UPDATE || q->kind == MF_QUERY_INSERT;
	q->submitted = 0;
	q->left = q->parts;
	q->failed = false;
}

/** One field of a record, or all of them. */
static void one_record(const struct store_client *s, const struct query *q, struct part *p)
{
	const struct mf_store *store = &s->config.store;
	bool all = q->kind == MF_QUERY_INSERT || (q->writing ? s->config.write_all : s->config.read_all);

	mf_store_find(store, q->key, &p->target, &p->offset);
	p->offset += all ? 0 : (uint64_t)q->field * store->field;
	p->len = all ? mf_store_record(store) : store->field;
}

void store_part(const struct store_client *s, const struct query *q, uint32_t i, struct part *p)
{
	if (q->kind == MF_QUERY_SCAN)
		p->len = mf_store_scan_part(&s->config.store, q->key, q->length, i, &p->target, &p->offset);
	else
		one_record(s, q, p);
	if (p->len > 0 && p->target == s->own)
		p->len = 0;
	p->kind = !q->writing             ? MF_CLIENT_READ
		  : s->config.acknowledge ? MF_CLIENT_WRITE_ACK
					  : MF_CLIENT_WRITE;
}

/** What comes behind the part that was drawn last, if that is of the same query. */
static bool more_of_it(struct query *q)
{
	if (q->submitted < q->parts)
		return true;
	if (q->kind != MF_QUERY_RMW || q->writing)
		return false;
	q->writing = true;
	q->submitted = 0;
	return true;
}

bool store_draw(struct mf_client *c, struct mf_client_message *out)
{
	struct store_client *s = c->store;
	struct query *q = &s->drawn;
	struct part p = {0};

	while (p.len == 0) {
		if (!more_of_it(q)) {
			if (!store_has_more(c, 0))
				return false;
			store_choose(s, q);
			q->intended = c->arrival.next;
			s->begun++;
			client_next_start(c);
			if (s->config.local > 0 && mf_rng_double(&s->rng) < s->config.local)
				q->submitted = q->parts, q->writing = true;
			continue;
		}
		store_part(s, q, q->submitted++, &p);
	}
	*out = (struct mf_client_message){.start = q->intended,
					  .octets = (uint32_t)p.len,
					  .node = client_target(c, p.target)->node,
					  .kind = p.kind};
	return true;
}

bool mf_client_draw_query(struct mf_client *c, struct mf_query *out)
{
	struct store_client *s = c->store;
	struct query *q;

	if (s == NULL || !store_has_more(c, 0))
		return false;
	q = &s->drawn;
	store_choose(s, q);
	s->begun++;
	*out = (struct mf_query){.key = q->key, .length = q->length, .kind = q->kind};
	return true;
}
