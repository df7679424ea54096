/* SPDX-License-Identifier: BSD-3-Clause */
/* Which records the queries of a client are about: YCSB's generators. */
#ifndef STORE_KEYS_H
#define STORE_KEYS_H

#include "base/mf_zipf.h"
#include "workload/mf_workload.h"

/** Items of YCSB's scrambled zipfian, whatever the number of records: what its constant is the sum of. */
#define STORE_ZIPF_ITEMS UINT64_C(10000000000)

struct store_keys {
	const struct mf_store *store;
	enum mf_store_keys kind;
	uint32_t client;
	struct mf_zipf zipf;
	uint64_t inserted; /**< by this client, since the start */
};

/** @return 0 or -EINVAL */
int store_keys_init(struct store_keys *k, const struct mf_store_client *c);

/** Key of a record that is there: of the first ones, or one that the client has inserted itself. */
uint64_t store_keys_next(const struct store_keys *k, struct mf_rng *rng);

/** Key of the next record that the client inserts. */
uint64_t store_keys_insert(struct store_keys *k);

/** Whether the client has inserted this one. */
bool store_keys_own(const struct store_keys *k, uint64_t key);

/** YCSB's hash of a number: FNV-1a over its octets, without the sign. */
uint64_t store_fnv(uint64_t value);

#endif
