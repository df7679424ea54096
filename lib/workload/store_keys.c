/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/store_keys.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(1099511628211)

uint64_t store_fnv(uint64_t value)
{
	uint64_t hash = FNV_BASIS;

	for (int i = 0; i < 8; i++, value >>= 8)
		hash = (hash ^ (value & 0xff)) * FNV_PRIME;
	/* Java's Math.abs(): the one number that has no opposite stays what it is, here without its sign. */
	return hash >> 63 != 0 ? -hash : hash;
}

int store_keys_init(struct store_keys *k, const struct mf_store_client *c)
{
	const struct mf_store *s = &c->store;

	*k = (struct store_keys){.store = s, .kind = c->keys, .client = c->client};
	if (c->keys == MF_STORE_UNIFORM)
		return 0;
	return mf_zipf_init(
		&k->zipf, c->keys == MF_STORE_ZIPFIAN ? STORE_ZIPF_ITEMS : s->records + s->inserts, c->theta);
}

/** Of its inserted records, how many are there. */
static uint64_t own_count(const struct store_keys *k)
{
	return k->inserted < k->store->inserts ? k->inserted : k->store->inserts;
}

static uint64_t own_key(const struct store_keys *k, uint64_t number)
{
	return k->store->records + number % k->store->inserts * k->store->clients + k->client;
}

bool store_keys_own(const struct store_keys *k, uint64_t key)
{
	uint64_t behind = key - k->store->records;

	return key >= k->store->records && behind % k->store->clients == k->client &&
	       behind / k->store->clients < own_count(k);
}

/** The records that the client knows: the first ones, then its own. */
static uint64_t known(const struct store_keys *k, uint64_t i)
{
	return i < k->store->records ? i : own_key(k, i - k->store->records);
}

static uint64_t draw_zipfian(const struct store_keys *k, struct mf_rng *rng)
{
	return store_fnv(mf_zipf_next(&k->zipf, rng)) % (k->store->records + k->store->inserts);
}

/** The records from the youngest on: its own, then the first ones from the last of them on. */
static uint64_t by_age(const struct store_keys *k, uint64_t age)
{
	uint64_t own = own_count(k);

	return age < own ? own_key(k, k->inserted - 1 - age) : k->store->records - 1 - (age - own);
}

/* What is not there is drawn again, as YCSB does. */
uint64_t store_keys_next(const struct store_keys *k, struct mf_rng *rng)
{
	uint64_t there = k->store->records + own_count(k), i;

	if (k->kind == MF_STORE_UNIFORM)
		return known(k, mf_rng_below(rng, there));
	do
		i = k->kind == MF_STORE_LATEST ? mf_zipf_next(&k->zipf, rng) : draw_zipfian(k, rng);
	while (i >= there);
	return k->kind == MF_STORE_LATEST ? by_age(k, i) : known(k, i);
}

uint64_t store_keys_insert(struct store_keys *k)
{
	return own_key(k, k->inserted++);
}
