/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores: places, values, keys, and clients that find out what a host does wrong. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "client_test.h"
#include "workload/store_keys.h"
#include "workload/store_value.h"

#define DRAWS 200000

/* Every record has a place of its own, whole, within the extent; the place says which record it is. */
static void places(const struct mf_store *s)
{
	uint64_t per = mf_store_extent(s) / mf_store_record(s), taken = 0;
	uint8_t *used = calloc(s->targets * per, 1);

	for (uint64_t key = 0; key < mf_store_room(s); key++) {
		uint64_t offset;
		uint32_t target;

		mf_store_find(s, key, &target, &offset);
		cr_assert_lt(target, s->targets);
		cr_assert_eq(offset % mf_store_record(s), 0);
		cr_assert_leq(offset + mf_store_record(s), mf_store_extent(s));
		cr_assert_eq(store_key(s, target, offset), key);
		cr_assert_eq(used[target * per + offset / mf_store_record(s)]++, 0);
		taken++;
	}
	cr_assert_geq(taken + s->targets * (s->place == MF_STORE_RANGE ? per : 1), s->targets * per);
	free(used);
}

/** All records of a scan, each once, and no part longer than the longest. */
static void scans(const struct mf_store *s, uint64_t key, uint32_t length)
{
	uint8_t *seen = calloc(length, 1);
	uint32_t parts = mf_store_scan_parts(s, length), found = 0;

	for (uint32_t i = 0; i < parts; i++) {
		uint64_t offset = 0, octets, k;
		uint32_t target = 0;

		octets = mf_store_scan_part(s, key, length, i, &target, &offset);
		cr_assert_leq(octets, mf_store_scan_octets(s, length));
		cr_assert_leq(offset + octets, mf_store_extent(s));
		k = store_key(s, target, offset);
		for (uint64_t at = 0; at < octets; at += mf_store_record(s), k += store_step(s)) {
			cr_assert(k >= key && k < key + length, "key %lu of %lu + %u", k, key, length);
			cr_assert_eq(seen[k - key]++, 0);
			found++;
		}
	}
	cr_assert_eq(found, length);
	free(seen);
}

Test(store, places_and_scans)
{
	static const uint32_t targets[] = {1, 2, 3, 7};

	for (unsigned int i = 0; i < 8; i++) {
		struct mf_store s = {.records = 1000,
				     .inserts = 13,
				     .fields = 3,
				     .field = 25,
				     .targets = targets[i / 2],
				     .clients = 5,
				     .place = (enum mf_store_place)(i % 2)};

		places(&s);
		for (uint64_t key = 0; key < 1000; key += 37)
			for (uint32_t length = 1; length <= 60; length += 7)
				scans(&s, key, length);
		scans(&s, 0, 1000);
	}
}

/* Any other octet anywhere, another cell, another stamp: not whole. */
Test(store, values)
{
	uint8_t field[100], other[100];
	uint64_t stamp = 0;

	for (uint32_t octets = MF_STORE_FIELD_MIN; octets <= sizeof(field); octets++) {
		memset(field, 0, sizeof(field));
		cr_assert_eq(store_get(field, octets, 5, &stamp), STORE_ABSENT);
		store_put(field, octets, 5, store_stamp(3, 77));
		cr_assert_eq(store_get(field, octets, 5, &stamp), STORE_WHOLE);
		cr_assert_eq(stamp, store_stamp(3, 77));
		cr_assert_eq(store_get(field, octets, 6, &stamp), STORE_BROKEN);
		for (uint32_t i = 0; i < octets; i++) {
			field[i] ^= 0x10;
			cr_assert_eq(store_get(field, octets, 5, &stamp), STORE_BROKEN, "octet %u", i);
			field[i] ^= 0x10;
		}
		store_put(other, octets, 5, store_stamp(3, 78));
		for (uint32_t cut = 9; cut < octets; cut++) {
			memcpy(other, field, cut);
			cr_assert_eq(store_get(other, octets, 5, &stamp), STORE_BROKEN, "cut at %u", cut);
			store_put(other, octets, 5, store_stamp(3, 78));
		}
	}
}

static struct mf_store_client client(enum mf_store_keys keys)
{
	return (struct mf_store_client){
		.store = {.records = 100, .inserts = 8, .fields = 4, .field = 40, .targets = 4, .clients = 3},
		.client = 1,
		.mix = {[MF_QUERY_READ] = 1},
		.keys = keys,
		.theta = 0.99,
		.read_all = true,
		.scan = 20,
		.whole = 4096,
	};
}

/* The popularity of a record is the sum of that of the items that fall on it, by the exact distribution. */
Test(store, zipfian_keys)
{
	struct mf_store_client c = client(MF_STORE_ZIPFIAN);
	static double share[100];
	static uint64_t count[100];
	double zeta = 26.46902820178302, head = 0, chi = 0; /* YCSB's own constant */
	struct store_keys k;
	struct mf_rng rng;

	c.store.inserts = 0;
	cr_assert_eq(store_keys_init(&k, &c), 0);
	cr_assert_float_eq(k.zipf.zeta, zeta, 1e-6);
	for (uint64_t i = 0; i < 1000000; i++) {
		share[store_fnv(i) % 100] += pow((double)(i + 1), -0.99) / zeta;
		head += pow((double)(i + 1), -0.99) / zeta;
	}
	for (int i = 0; i < 100; i++)
		share[i] += (1 - head) / 100; /* the others are spread evenly */
	mf_rng_init(&rng, 5, "test", 0);
	for (int i = 0; i < DRAWS; i++)
		count[store_keys_next(&k, &rng)]++;
	for (int i = 0; i < 100; i++)
		chi += ((double)count[i] - share[i] * DRAWS) * ((double)count[i] - share[i] * DRAWS) /
		       (share[i] * DRAWS);
	/* The generator is an approximation between its first items: a few percent. */
	cr_assert_lt(chi / 99, 20, "%g", chi / 99);
	for (int i = 0; i < 100; i++)
		cr_assert_float_eq((double)count[i] / DRAWS, share[i], 0.15 * share[i] + 0.0006, "record %d",
				   i);
}

/* Of YCSB's Utils.fnvhash64(), worked out octet by octet. */
Test(store, hash)
{
	for (uint64_t v = 0; v < 1000; v++) {
		uint64_t hash = 0xcbf29ce484222325, rest = v * 0x0123456789abcdef;
		int64_t sign;

		for (int i = 0; i < 8; i++) {
			hash ^= rest >> 8 * i & 0xff;
			hash *= 1099511628211;
		}
		sign = (int64_t)hash;
		cr_assert_eq(store_fnv(rest), (uint64_t)(sign < 0 ? -sign : sign));
	}
}

/* Only what is there: all first ones, and those that it has inserted itself, the last of them. */
Test(store, keys_are_there)
{
	static const enum mf_store_keys kinds[] = {MF_STORE_ZIPFIAN, MF_STORE_UNIFORM, MF_STORE_LATEST};

	for (int i = 0; i < 3; i++) {
		struct mf_store_client c = client(kinds[i]);
		static uint64_t count[124];
		struct store_keys k;
		struct mf_rng rng;

		cr_assert_eq(store_keys_init(&k, &c), 0);
		mf_rng_init(&rng, 6, "test", 0);
		for (int round = 0; round < 20; round++) {
			uint64_t newest = 0;

			memset(count, 0, sizeof(count));
			if (round > 0) {
				newest = store_keys_insert(&k);
				cr_assert_eq(newest, 101 + (uint64_t)(round - 1) % 8 * 3);
			}
			for (int n = 0; n < 20000; n++) {
				uint64_t key = store_keys_next(&k, &rng);

				cr_assert_lt(key, 124);
				cr_assert(key < 100 || store_keys_own(&k, key));
				count[key]++;
			}
			for (uint64_t key = 0; key < 124; key++) {
				cr_assert_eq(count[key] > 0, key < 100 || store_keys_own(&k, key), "%lu",
					     key);
				if (kinds[i] == MF_STORE_LATEST && round > 0 && key != newest)
					cr_assert_lt(count[key], count[newest]);
			}
		}
	}
}

/* Latest: record n of the youngest with a weight of 1 / (n + 1)^theta. */
Test(store, latest_keys)
{
	struct mf_store_client c = client(MF_STORE_LATEST);
	static uint64_t count[100];
	struct store_keys k;
	struct mf_rng rng;
	double zeta = 0;

	c.store.inserts = 0;
	cr_assert_eq(store_keys_init(&k, &c), 0);
	mf_rng_init(&rng, 7, "test", 0);
	for (int i = 0; i < DRAWS; i++)
		count[99 - store_keys_next(&k, &rng)]++;
	for (int i = 1; i <= 100; i++)
		zeta += pow(i, -0.99);
	cr_assert_float_eq((double)count[0] / DRAWS, 1 / zeta, 0.004);
	cr_assert_float_eq((double)count[1] / DRAWS, pow(2, -0.99) / zeta, 0.004);
	cr_assert_float_eq((double)(count[10] + count[11] + count[12]) / DRAWS,
			   (pow(11, -0.99) + pow(12, -0.99) + pow(13, -0.99)) / zeta, 0.008);
}

static const struct mf_client_target targets[] = {{0, 64}, {1, 128}, {3, 0}, {4, 8}};

static struct mf_client_config store_config(struct mf_node *h, const struct mf_store_client *s)
{
	struct mf_client_config c = test_config(h);

	c.targets = targets;
	c.span = mf_store_extent(&s->store);
	c.store = s;
	c.operations = 3000;
	for (uint64_t key = 0; key < s->store.records; key++) {
		uint64_t offset;
		uint32_t target;

		mf_store_find(&s->store, key, &target, &offset);
		mf_store_fill(&s->store, key,
			      &h->memory[targets[target].node][targets[target].base + offset]);
	}
	memcpy(h->before, h->memory, sizeof(h->before));
	return c;
}

static const double mixes[][MF_QUERY_KINDS] = {
	{0.5, 0.5, 0, 0, 0},   {0.95, 0.05, 0, 0, 0}, {1, 0, 0, 0, 0}, {0.95, 0, 0.05, 0, 0},
	{0, 0, 0.05, 0.95, 0}, {0.5, 0, 0, 0, 0.5},   {1, 1, 1, 1, 1},
};

static uint64_t sum_of(const struct mf_client_stats *s)
{
	uint64_t sum = 0;

	for (int k = 0; k < MF_QUERY_KINDS; k++) {
		cr_assert_eq(s->query[k].begun, s->query[k].completed + s->query[k].failed);
		cr_assert_eq(s->query[k].latency.count, s->query[k].completed);
		cr_assert_eq(s->query[k].remote.count, s->query[k].completed - s->query[k].local);
		sum += s->query[k].completed;
	}
	return sum;
}

/* All of YCSB's mixes, both places, closed and open loop: each query is one of its kind, all is verified. */
Test(store, mixes)
{
	for (unsigned int i = 0; i < 7 * 4; i++) {
		struct mf_store_client s = client(i % 7 == 3 ? MF_STORE_LATEST : MF_STORE_ZIPFIAN);
		struct mf_node *h = fake_host_new();
		struct mf_client_config c;
		struct mf_client_stats *st;
		double sum = 0;

		memcpy(s.mix, mixes[i % 7], sizeof(s.mix));
		s.store.place = i % 2 ? MF_STORE_RANGE : MF_STORE_STRIPE;
		s.read_all = i % 3 != 0;
		s.acknowledge = i % 5 == 0;
		c = store_config(h, &s);
		c.interval = i % 4 < 2 ? 0 : MF_NS(150);
		st = test_run(&c);
		cr_assert_eq(sum_of(st), 3000);
		cr_assert_eq(st->mismatches, 0);
		cr_assert_eq(st->torn, 0);
		cr_assert_eq(st->failed_all + st->stray, 0);
		for (int k = 0; k < MF_QUERY_KINDS; k++)
			sum += s.mix[k];
		for (int k = 0; k < MF_QUERY_KINDS; k++)
			cr_assert_float_eq((double)st->query[k].begun / 3000, s.mix[k] / sum, 0.04);
		cr_assert_eq(st->kind[s.acknowledge ? MF_CLIENT_WRITE_ACK : MF_CLIENT_WRITE].begun,
			     st->query[MF_QUERY_UPDATE].begun + st->query[MF_QUERY_INSERT].begun +
				     st->query[MF_QUERY_RMW].begun);
		if (s.mix[MF_QUERY_SCAN] == 0)
			cr_assert_eq(st->kind[MF_CLIENT_READ].begun,
				     st->query[MF_QUERY_READ].begun + st->query[MF_QUERY_RMW].begun);
		free(st);
		free(h);
	}
}

/* Of what was inserted only some pieces have arrived. */
static void tear_inserted(const struct mf_store *s, uint8_t *memory)
{
	for (uint64_t key = s->records; key < mf_store_room(s); key++) {
		uint64_t offset;
		uint32_t target;

		mf_store_find(s, key, &target, &offset);
		if (targets[target].node == 1)
			memset(memory + targets[target].base + offset + 64, 0, mf_store_record(s) - 64);
	}
}

/* A memory node comes back with what its store held at the start, or some time ago. */
static struct mf_client_stats *run_restarts(uint64_t seed, bool told, const double *mix)
{
	static uint8_t first[FAKE_MEMORY], image[FAKE_MEMORY];
	struct mf_store_client s = client(seed % 2 ? MF_STORE_LATEST : MF_STORE_ZIPFIAN);
	struct mf_node *h = fake_host_new();
	struct mf_client_stats *st = malloc(sizeof(*st));
	struct mf_client_config config;
	struct mf_client *c;
	mf_time now = 0;

	memcpy(s.mix, mix, sizeof(s.mix));
	s.whole = 64;
	config = store_config(h, &s);
	config.seed = seed;
	config.operations = 6000;
	c = mf_client_new(&config);
	memcpy(first, h->memory[1], sizeof(first));
	for (unsigned int i = 0; i < 10; i++) {
		memcpy(image, i % 3 == 0 ? first : h->memory[1], sizeof(image));
		now = test_drive(c, h, now, now + MF_US(5));
		if (i % 3 == 2) {
			memcpy(image, h->memory[1], sizeof(image));
			tear_inserted(&s.store, image);
		}
		fake_host_restart(h, 1, image, told);
	}
	test_drive(c, h, now, MF_NEVER);
	*st = *mf_client_stats(c);
	mf_client_free(c);
	free(h);
	return st;
}

Test(store, what_was_lost_is_nobody_s_fault)
{
	static const double mix[] = {4, 4, 1, 0, 2};
	uint64_t torn = 0;

	for (uint64_t seed = 0; seed < 10; seed++) {
		struct mf_client_stats *st = run_restarts(seed, true, mix);

		torn += st->torn;
		cr_assert_eq(st->mismatches, 0, "seed %lu", seed);
		cr_assert_eq(st->restarts, 10);
		cr_assert_gt(st->verified, 0);
		free(st);
		st = run_restarts(seed, false, mix);
		cr_assert_gt(st->mismatches, 0, "seed %lu", seed);
		free(st);
	}
	cr_assert_gt(torn, 0);
}

/* A read, then a write: twice the time of each. */
Test(store, read_modify_write_takes_both)
{
	struct mf_store_client s = client(MF_STORE_UNIFORM);
	struct mf_node *h = fake_host_new();
	struct mf_client_config c;
	struct mf_client_stats *st;

	memset(s.mix, 0, sizeof(s.mix));
	s.mix[MF_QUERY_RMW] = 1;
	c = store_config(h, &s);
	c.depth = 1;
	st = test_run(&c);
	cr_assert_eq(st->query[MF_QUERY_RMW].latency.min, 2 * h->latency);
	cr_assert_eq(st->query[MF_QUERY_RMW].latency.max, 2 * h->latency);
	cr_assert_eq(st->kind[MF_CLIENT_READ].completed, 3000);
	cr_assert_eq(st->kind[MF_CLIENT_WRITE].completed, 3000);
	free(st);
	free(h);
}

/* The share that is asked for stays at home and takes its time; own records always do. */
Test(store, local)
{
	struct mf_client_target with_own[] = {{0, 64}, {1, 128}, {TEST_NODE, 0}, {4, 8}};
	struct mf_store_client s = client(MF_STORE_UNIFORM);
	struct mf_node *h = fake_host_new();
	struct mf_client_config c;
	struct mf_client_stats *st;

	s.local = 0.34;
	s.local_time = MF_NS(82);
	c = store_config(h, &s);
	st = test_run(&c);
	cr_assert_eq(sum_of(st), 3000);
	cr_assert_float_eq((double)st->query[0].local / 3000, 0.34, 0.03);
	cr_assert_eq(st->query[0].latency.min, MF_NS(82));
	cr_assert_eq(st->query[0].remote.min, h->latency);
	cr_assert_eq(h->submitted, 3000 - st->query[0].local);
	free(st);
	h->submitted = 0;
	s.local = 0;
	s.mix[MF_QUERY_SCAN] = 0.5;
	c.targets = with_own;
	st = test_run(&c);
	cr_assert_eq(sum_of(st), 3000);
	cr_assert_float_eq((double)st->query[MF_QUERY_READ].local / (double)st->query[MF_QUERY_READ].begun,
			   0.25, 0.05);
	free(st);
	free(h);
}

/** A fault of the host, once in so many operations of a kind. */
struct plan {
	uint8_t kind;
	unsigned int every, n;
	struct fake_fault fault;
};

static void plant(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	struct plan *p = ctx;

	if (op->kind == p->kind && ++p->n % p->every == 0)
		*f = p->fault;
}

static struct mf_client_stats *run_faulty(struct plan p, bool unordered)
{
	struct mf_store_client s = client(MF_STORE_ZIPFIAN);
	struct mf_node *h = fake_host_new();
	struct mf_client_config c;
	struct mf_client_stats *st;

	memcpy(s.mix, mixes[0], sizeof(s.mix));
	c = store_config(h, &s);
	c.order = unordered ? MF_CLIENT_BY_DIRECTION : MF_CLIENT_IN_ORDER;
	h->hook = plant;
	h->hook_ctx = &p;
	st = test_run(&c);
	free(h);
	return st;
}

Test(store, faults_are_found)
{
	struct mf_client_stats *st;

	st = run_faulty((struct plan){MF_OP_READ, 100, 0, {.flip = true}}, false);
	cr_assert(st->mismatches > 10 && st->torn == 0, "a bit: %lu", st->mismatches);
	free(st);
	st = run_faulty((struct plan){MF_OP_WRITE, 10, 0, {.lost = true}}, false);
	cr_assert_gt(st->mismatches, 10, "writes that are lost are missed by who wrote them");
	free(st);
	st = run_faulty((struct plan){MF_OP_WRITE, 10, 0, {.status = MF_ERR_TIMEOUT, .lost = true}}, false);
	cr_assert(st->mismatches == 0 && st->query[MF_QUERY_UPDATE].failed > 100, "failed ones are not");
	sum_of(st);
	free(st);
	st = run_faulty((struct plan){MF_OP_WRITE, 10, 0, {.lost = true}}, true);
	cr_assert_eq(st->mismatches, 0, "nor where a read may pass a write");
	free(st);
	st = run_faulty((struct plan){MF_OP_READ, 10, 0, {.status = MF_ERR_TIMEOUT}}, false);
	cr_assert(st->mismatches == 0 && st->query[MF_QUERY_READ].failed > 100);
	sum_of(st);
	free(st);
}

/* Where a write takes several pieces a value that is not whole is torn; elsewhere it is wrong. */
Test(store, torn)
{
	for (uint32_t whole = 32; whole <= 64; whole += 32) {
		struct mf_store_client s = client(MF_STORE_UNIFORM);
		struct mf_node *h = fake_host_new();
		struct mf_client_config c;
		struct mf_client_stats *st;

		s.whole = whole;
		c = store_config(h, &s);
		h->memory[1][128 + 33] ^= 1;
		st = test_run(&c);
		cr_assert_eq(st->torn > 0, whole == 32);
		cr_assert_eq(st->mismatches > 0, whole == 64);
		free(st);
		free(h);
	}
}

/* Records that are missing, or at another one's place. */
Test(store, misplaced)
{
	struct mf_store_client s = client(MF_STORE_UNIFORM);
	struct mf_node *h = fake_host_new();
	struct mf_client_config c = store_config(h, &s);
	struct mf_client_stats *st;

	memset(&h->memory[0][64], 0, 160);
	st = test_run(&c);
	cr_assert_gt(st->mismatches, 0);
	cr_assert_eq(st->mismatch.node, 0);
	cr_assert_eq(st->mismatch.addr, 64);
	free(st);
	mf_store_fill(&s.store, 4, &h->memory[0][64]);
	st = test_run(&c);
	cr_assert_gt(st->mismatches, 0);
	free(st);
	free(h);
}

/* Queries that are given, in their order; a host without room makes them wait, and loses none. */
Test(store, given)
{
	static const struct mf_query q[] = {{.key = 7, .kind = MF_QUERY_READ},
					    {.key = 107, .kind = MF_QUERY_UPDATE},
					    {.key = 8, .length = 11, .kind = MF_QUERY_SCAN},
					    {.key = 9, .kind = MF_QUERY_RMW},
					    {.key = 3, .kind = MF_QUERY_INSERT}};
	struct mf_store_client s = client(MF_STORE_UNIFORM);
	struct mf_node *h = fake_host_new();
	static struct mf_op log[16];
	struct mf_client_config c;
	struct mf_client_stats *st;

	s.queries = q;
	s.queries_count = 5;
	c = store_config(h, &s);
	h->log = log;
	h->queue = 2;
	st = test_run(&c);
	cr_assert_eq(sum_of(st), 5);
	cr_assert_eq(h->submitted, 1 + 1 + 4 + 2 + 1);
	cr_assert_gt(st->refused, 0);
	for (int k = 0; k < MF_QUERY_KINDS; k++)
		cr_assert_eq(st->query[k].completed, 1);
	cr_assert(log[0].kind == MF_OP_READ && log[0].len == 160 && log[0].addr == 168 && log[0].node == 4);
	cr_assert(log[1].kind == MF_OP_WRITE && log[1].len == 40 && log[1].node == log[0].node,
		  "107 is 7 again");
	free(st);
	free(h);
}

/* What is drawn without a host is what a run does. */
Test(store, drawn)
{
	struct mf_store_client s = client(MF_STORE_ZIPFIAN);
	struct mf_node *h = fake_host_new();
	static struct mf_op log[2000];
	struct mf_client_config c;
	struct mf_client_message m;
	struct mf_client_stats *st;
	struct mf_client *draws;
	unsigned int n = 0;

	memcpy(s.mix, mixes[6], sizeof(s.mix));
	s.mix[MF_QUERY_RMW] = 0; /* whose writes come later in a run */
	c = store_config(h, &s);
	c.operations = 500;
	c.interval = MF_US(1);
	c.poisson = true;
	c.depth = 64;
	h->log = log;
	st = test_run(&c);
	c.host = NULL;
	draws = mf_client_new(&c);
	while (mf_client_draw(draws, &m, NULL)) {
		cr_assert(m.node == log[n].node && m.octets == log[n].len && m.kind == log[n].kind, "%u", n);
		n++;
	}
	cr_assert_eq(n, h->submitted);
	mf_client_free(draws);
	free(st);
	free(h);
}

Test(store, refuses_bad_configurations)
{
	struct mf_node *h = fake_host_new();
	struct mf_store_client good = client(MF_STORE_ZIPFIAN), s = good;
	struct mf_client_config c = store_config(h, &s);
	struct mf_client *made = mf_client_new(&c);

	cr_assert_not_null(made);
	mf_client_free(made);
	s.store.records = 0;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.store.field = MF_STORE_FIELD_MIN - 1;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.store.targets = 3;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.client = 3;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.theta = 1;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.mix[MF_QUERY_READ] = 0;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.mix[MF_QUERY_INSERT] = 1, s.store.inserts = 0;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	s = good, s.mix[MF_QUERY_SCAN] = 1, s.scan = 101;
	cr_assert(mf_client_new(&c) == NULL && errno == EINVAL);
	free(h);
}
