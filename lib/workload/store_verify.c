/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reads of a store bring: whole values, and none older than what the reader itself wrote last. */
#include "workload/store_client.h"

static struct recent *recent_of(const struct store_client *s, uint64_t cell)
{
	return &s->recent[mf_hash64(cell) % STORE_RECENT];
}

/** Cells of a message, one after the other. */
struct cells {
	uint64_t key;
	uint32_t field;
	uint64_t octets; /**< of the message before this one */
};

static struct cells first_cell(const struct store_client *s, const struct slot *slot)
{
	const struct mf_store *store = &s->config.store;
	uint64_t within = slot->offset % mf_store_record(store);

	return (struct cells){.key = store_key(store, slot->region, slot->offset - within),
			      .field = (uint32_t)(within / store->field)};
}

static void next_cell(const struct mf_store *store, struct cells *at)
{
	at->octets += store->field;
	if (++at->field == store->fields) {
		at->field = 0;
		at->key += store_step(store);
	}
}

void store_wrote(struct mf_client *c, const struct slot *slot)
{
	const struct mf_store *store = &c->store->config.store;

	for (struct cells at = first_cell(c->store, slot); at.octets < slot->len; next_cell(store, &at)) {
		uint64_t cell = store_cell(store, at.key, at.field);

		*recent_of(c->store, cell) = (struct recent){.cell = cell, .number = client_number(slot)};
	}
}

void store_forget(struct mf_client *c, const struct slot *slot)
{
	const struct mf_store *store = &c->store->config.store;

	c->store->lost = true;
	for (struct cells at = first_cell(c->store, slot); at.octets < slot->len; next_cell(store, &at)) {
		uint64_t cell = store_cell(store, at.key, at.field);
		struct recent *r = recent_of(c->store, cell);

		if (r->cell == cell)
			r->cell = 0;
	}
}

void store_lose(struct mf_client *c, uint32_t target)
{
	const struct mf_store *store = &c->store->config.store;

	c->store->lost = true;
	c->store->emptied[target] = true;
	for (uint32_t i = 0; i < STORE_RECENT; i++) {
		struct recent *r = &c->store->recent[i];
		uint64_t offset;
		uint32_t at;

		if (r->cell == 0)
			continue;
		mf_store_find(store, store_cell_key(store, r->cell), &at, &offset);
		if (at == target)
			r->cell = 0;
	}
}

/** Whether a read has to find at least what the client itself wrote to the cell before, and which write. */
static bool expects(const struct mf_client *c, const struct slot *slot, uint64_t cell, uint64_t *number)
{
	const struct recent *r = recent_of(c->store, cell);

	*number = r->number;
	return c->order == MF_CLIENT_IN_ORDER && r->cell == cell && r->number < client_number(slot);
}

/** A whole value: of the start, or of the client itself, it may be older than what the client wrote. */
static bool is_stale(const struct mf_client *c, const struct slot *slot, uint64_t cell, uint64_t stamp)
{
	uint64_t number;

	if (!expects(c, slot, cell, &number))
		return false;
	return stamp == STORE_LOADED ||
	       (stamp >> STORE_NODE_SHIFT == c->node && stamp < store_stamp(c->node, number));
}

/**
 * Nobody else writes what the client has inserted, and its own writes are in order with its reads; but where
 * one failed or was lost, some of its pieces may be there.
 */
static bool may_be_torn(const struct mf_client *c, uint64_t key)
{
	const struct store_client *s = c->store;

	if (key < s->config.store.records)
		return s->tears;
	return s->tears_inserted &&
	       (s->lost || c->order != MF_CLIENT_IN_ORDER || !store_keys_own(&s->keys, key));
}

static bool check_cell(struct mf_client *c, const struct slot *slot, const struct cells *at)
{
	const struct store_client *s = c->store;
	uint64_t cell = store_cell(&s->config.store, at->key, at->field), stamp, number;
	const uint8_t *octets = (const uint8_t *)client_buffer(c, slot) + at->octets;
	bool loaded = at->key < s->config.store.records && !s->emptied[slot->region];

	switch (store_get(octets, s->config.store.field, cell, &stamp)) {
	case STORE_WHOLE:
		return !is_stale(c, slot, cell, stamp);
	case STORE_ABSENT:
		if (loaded || expects(c, slot, cell, &number))
			return false;
		c->stats.absent++;
		return true;
	default:
		if (!may_be_torn(c, at->key))
			return false;
		c->stats.torn++;
		return true;
	}
}

bool store_verify(struct mf_client *c, const struct slot *slot)
{
	const struct mf_store *store = &c->store->config.store;
	bool good = true;

	for (struct cells at = first_cell(c->store, slot); at.octets < slot->len; next_cell(store, &at))
		good &= check_cell(c, slot, &at);
	return good;
}
