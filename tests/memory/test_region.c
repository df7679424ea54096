/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_region.h"

#define SEED 0x5eed0061
#define SIZE (1 << 20)
#define NODES 12

static struct mf_rng rng;
static bool dry, broken; /* no random bits are to be had; only zeros are */

static bool draw(void *ctx, uint64_t *out, unsigned int words)
{
	(void)ctx;
	for (unsigned int i = 0; i < words; i++)
		out[i] = broken ? 0 : mf_rng_next(&rng);
	return !dry;
}

static void begin(void)
{
	mf_rng_init(&rng, SEED, "region", 0);
}

TestSuite(region, .init = begin);

static struct mf_memory *memory;

static struct mf_regions *new_regions(const struct mf_region_config *region, unsigned int n, unsigned int max)
{
	const struct mf_memory_config m = {.size = SIZE, .numa_node = -1};
	const struct mf_regions_config c = {.region = region,
					    .regions = n,
					    .owned_max = max,
					    .memory_ops = &mf_memory_flat,
					    .memory = memory = mf_memory_flat.create(&m),
					    .draw = draw};

	return mf_regions_new(&c);
}

static void done(struct mf_regions *r)
{
	mf_regions_free(r);
	mf_memory_flat.destroy(memory);
}

static struct mf_region_nodes nodes_of(uint64_t bits)
{
	return (struct mf_region_nodes){{bits}};
}

static uint64_t key_of(struct mf_regions *r, uint16_t node, enum mf_right right, uint64_t addr)
{
	uint64_t key;

	cr_assert_eq(mf_regions_attach(r, node, right, addr, &key), MF_OK);
	return key;
}

Test(region, faulty_configurations)
{
	struct mf_region_config g[2] = {{.at = 0, .size = 64}, {.at = 63, .size = 64}};

	cr_assert_null(new_regions(g, 2, 0));
	cr_assert_eq(errno, EINVAL, "they overlap");
	mf_memory_flat.destroy(memory);
	g[1].at = SIZE - 63;
	cr_assert_null(new_regions(g, 2, 0));
	mf_memory_flat.destroy(memory);
	g[1] = (struct mf_region_config){.at = 64, .size = 0};
	cr_assert_null(new_regions(g, 2, 0));
	mf_memory_flat.destroy(memory);
	g[1] = (struct mf_region_config){.at = 64, .size = 64, .owner = MF_PORTS_MAX};
	cr_assert_null(new_regions(g, 2, 0));
	mf_memory_flat.destroy(memory);
	g[1] = g[0];
	g[0].size = 0;
	g[1].at = 64;
	cr_assert_null(new_regions(g, 2, 0), "the first one is faulty");
	mf_memory_flat.destroy(memory);
	cr_assert_null(new_regions(g, 0, 0));
	mf_memory_flat.destroy(memory);
	mf_regions_free(NULL);
}

/** However high a node's number is, it has what it was given, and no other one has. */
Test(region, nodes_of_all_numbers)
{
	struct mf_region_config g = {.size = 64, .owner = MF_REGION_FREE};
	struct mf_regions *r;

	for (uint16_t node = 0; node < MF_PORTS_MAX; node += 63) {
		mf_region_nodes_set(&g.readers, node, true);
		mf_region_nodes_set(&g.writers, node, true);
	}
	r = new_regions(&g, 1, 0);
	for (uint16_t node = 0; node < MF_PORTS_MAX; node++)
		for (int right = 0; right < MF_RIGHTS; right++) {
			uint64_t key;
			bool may = mf_regions_attach(r, node, (uint64_t)right, 0, &key) == MF_OK;

			if (may != (node % 63 == 0))
				cr_expect(false, "node %u, right %d", node, right);
		}
	done(r);
}

Test(region, as_many_as_there_may_be)
{
	static struct mf_region_config g[MF_REGIONS_MAX + 1];
	struct mf_regions *r;

	for (unsigned int i = 0; i <= MF_REGIONS_MAX; i++)
		g[i] = (struct mf_region_config){.at = i * 64, .size = 64, .owner = i % NODES};
	cr_assert_null(new_regions(g, MF_REGIONS_MAX + 1, 0));
	mf_memory_flat.destroy(memory);
	r = new_regions(g, MF_REGIONS_MAX, 0);
	cr_assert_not_null(r);
	for (uint16_t i = 0; i < MF_REGIONS_MAX; i++)
		key_of(r, i % NODES, MF_RIGHT_WRITE, i * 64 + 63);
	done(r);
}

/* ---- against what the header says, literally ---- */

struct model {
	struct mf_region_config g[MF_REGIONS_MAX];
	unsigned int n;
};

static bool has_right(const struct mf_region_config *g, uint16_t node, enum mf_right right)
{
	bool reads = g->owner == node || mf_region_nodes_has(&g->readers, node);
	bool writes = g->owner == node || mf_region_nodes_has(&g->writers, node);

	return right == MF_RIGHT_READ ? reads : right == MF_RIGHT_WRITE ? writes : reads && writes;
}

static enum mf_refusal model_access(const struct model *m, uint16_t node, enum mf_right right, uint64_t addr,
				    uint64_t len)
{
	for (unsigned int i = 0; i < m->n; i++) {
		const struct mf_region_config *g = &m->g[i];

		if (addr < g->at || addr >= g->at + g->size)
			continue;
		if (len > g->size || addr - g->at > g->size - len)
			return MF_REFUSAL_END;
		return has_right(g, node, right) ? MF_REFUSAL_NONE : MF_REFUSAL_RIGHT;
	}
	return MF_REFUSAL_REGION;
}

static void random_model(struct model *m)
{
	uint64_t at = mf_rng_below(&rng, 64);

	m->n = 1 + (unsigned int)mf_rng_below(&rng, mf_rng_below(&rng, 4) ? 6 : MF_REGIONS_MAX);
	for (unsigned int i = 0; i < m->n; i++) {
		uint64_t size = 1 + mf_rng_below(&rng, 4000);

		m->g[i] = (struct mf_region_config){
			.at = at,
			.size = size,
			.owner = mf_rng_below(&rng, 4) ? (uint16_t)mf_rng_below(&rng, NODES) : MF_REGION_FREE,
			.readers = nodes_of(mf_rng_below(&rng, 1 << NODES)),
			.writers = nodes_of(mf_rng_below(&rng, 1 << NODES))};
		at += size + (mf_rng_below(&rng, 2) ? mf_rng_below(&rng, 90) : 0);
	}
}

static uint64_t some_address(const struct model *m)
{
	const struct mf_region_config *g = &m->g[mf_rng_below(&rng, m->n)];

	switch (mf_rng_below(&rng, 5)) {
	case 0:
		return g->at + g->size - 1 + mf_rng_below(&rng, 3);
	case 1:
		return g->at - (g->at > 0);
	case 2:
		return mf_rng_next(&rng) >> mf_rng_below(&rng, 64);
	default:
		return g->at + mf_rng_below(&rng, g->size);
	}
}

static uint64_t some_length(void)
{
	return mf_rng_below(&rng, 3) ? 1 + mf_rng_below(&rng, 64)
				     : 1 + (mf_rng_next(&rng) >> mf_rng_below(&rng, 64)) / 2;
}

/** One access with the right key where there is one, and then with a forged one. */
static void one_access(struct mf_regions *r, const struct model *m)
{
	const struct mf_regions_stats *st = mf_regions_stats(r);
	uint64_t addr = some_address(m), len = some_length(), key, forged;
	uint16_t node = (uint16_t)mf_rng_below(&rng, NODES);
	enum mf_right right = mf_rng_below(&rng, MF_RIGHTS);
	enum mf_refusal one = model_access(m, node, right, addr, 1),
			all = model_access(m, node, right, addr, len);
	uint64_t before = st->attach_refused[one], counted = st->refused[all];

	cr_assert_eq(mf_regions_attach(r, node, right, addr, &key), one ? MF_ERR_KEY : MF_OK);
	cr_assert_eq(st->attach_refused[one], before + 1);
	cr_assert_eq(key != 0, !one, "a key for whom it is refused");
	cr_assert_eq(mf_regions_check(r, node, right, addr, len, key), all ? MF_ERR_KEY : MF_OK);
	cr_assert_eq(st->refused[all], counted + 1);
	forged = mf_rng_below(&rng, 2) ? mf_rng_next(&rng) : key ^ UINT64_C(1) << mf_rng_below(&rng, 64);
	if (forged == key)
		return;
	cr_assert_eq(mf_regions_check(r, node, right, addr, len, forged), MF_ERR_KEY, "a forged key");
}

Test(region, as_the_model_says)
{
	for (int round = 0; round < 200; round++) {
		struct model m;
		struct mf_regions *r;

		random_model(&m);
		r = new_regions(m.g, m.n, 0);
		cr_assert_not_null(r, "round %d of seed %#x", round, SEED);
		for (int i = 0; i < 2000; i++)
			one_access(r, &m);
		done(r);
	}
}

/* The key is compared in all its bits, and is good for one right of one region. */
Test(region, a_key_is_good_for_one_thing)
{
	const struct mf_region_config g[2] = {{.at = 0, .size = 4096, .owner = 1},
					      {.at = 4096, .size = 4096, .owner = 1}};
	struct mf_regions *r;

	r = new_regions(g, 2, 0);
	for (unsigned int from = 0; from < 2 * MF_RIGHTS; from++) {
		uint64_t key = key_of(r, 1, from % MF_RIGHTS, from / MF_RIGHTS * 4096);

		for (unsigned int to = 0; to < 2 * MF_RIGHTS; to++)
			cr_assert_eq(mf_regions_check(r, 1, to % MF_RIGHTS, to / MF_RIGHTS * 4096, 8, key),
				     from == to ? MF_OK : MF_ERR_KEY);
		for (unsigned int bit = 0; bit < 64; bit++)
			cr_assert_eq(mf_regions_check(r, 1, from % MF_RIGHTS, from / MF_RIGHTS * 4096, 8,
						      key ^ UINT64_C(1) << bit),
				     MF_ERR_KEY, "bit %u", bit);
		cr_assert_eq(mf_regions_check(r, 2, from % MF_RIGHTS, from / MF_RIGHTS * 4096, 8, key),
			     MF_ERR_KEY, "the key of another node");
	}
	done(r);
}

Test(region, unknown_rights)
{
	const struct mf_region_config g = {.at = 0, .size = 4096, .owner = 1};
	struct mf_regions *r = new_regions(&g, 1, 0);
	const uint64_t wrong[] = {MF_RIGHTS, 255, 256, 257, UINT64_C(1) << 32, UINT64_MAX};
	uint64_t key;

	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_assert_eq(mf_regions_attach(r, 1, wrong[i], 0, &key), MF_ERR_KEY);
		cr_assert_eq(key, 0);
	}
	done(r);
}

/* ---- owners ---- */

static void expect_octet(uint64_t addr, uint8_t value)
{
	uint8_t octet;

	cr_assert_eq(mf_memory_read(&mf_memory_flat, memory, addr, 1, &octet), MF_OK);
	cr_assert_eq(octet, value, "at %lu", (unsigned long)addr);
}

/* Contents, rights and keys of one owner are gone when there is another; what is beside stays. */
Test(region, nothing_is_left_for_the_next_owner)
{
	const struct mf_region_config g = {.at = 4096, .size = 8192, .owner = 1, .readers = {{1 << 3}}};
	uint8_t octets[SIZE / 4];
	uint64_t old, epoch, next;
	struct mf_regions *r;

	r = new_regions(&g, 1, 0);
	memset(octets, 0xaa, sizeof(octets));
	mf_memory_write(&mf_memory_flat, memory, 0, sizeof(octets), octets);
	old = key_of(r, 3, MF_RIGHT_READ, 5000);
	cr_assert_eq(mf_regions_claim(r, 2, 5000, &epoch), MF_ERR_KEY, "it is another's");
	cr_assert_eq(epoch, 0);
	cr_assert_eq(mf_regions_release(r, 2, 5000, &epoch), MF_ERR_KEY);
	cr_assert_eq(mf_regions_release(r, 3, 5000, &epoch), MF_ERR_KEY, "a reader");
	expect_octet(5000, 0xaa);
	cr_assert_eq(mf_regions_release(r, 1, 5000, &epoch), MF_OK);
	for (uint64_t at = 4096; at < 4096 + 8192; at++)
		expect_octet(at, 0);
	expect_octet(4095, 0xaa);
	expect_octet(4096 + 8192, 0xaa);
	cr_assert_eq(mf_regions_check(r, 3, MF_RIGHT_READ, 5000, 8, old), MF_ERR_KEY);
	cr_assert_eq(mf_regions_release(r, 1, 5000, &epoch), MF_ERR_KEY, "twice");
	cr_assert_eq(mf_regions_claim(r, 2, 5000, &next), MF_OK);
	cr_assert_eq(next, 2, "one epoch without an owner, and one with");
	cr_assert_eq(mf_regions_check(r, 3, MF_RIGHT_READ, 5000, 8, old), MF_ERR_KEY, "of an old epoch");
	cr_assert_eq(mf_regions_share(r, 2, 5000, MF_REGION_SHARE(3, MF_RIGHT_READ, true)), MF_OK);
	cr_assert_eq(mf_regions_check(r, 3, MF_RIGHT_READ, 5000, 8, old), MF_ERR_KEY, "of an old epoch");
	cr_assert_eq(mf_regions_check(r, 3, MF_RIGHT_READ, 5000, 8, key_of(r, 3, MF_RIGHT_READ, 5000)),
		     MF_OK);
	cr_assert_eq(mf_regions_stats(r)->zeroed, 2 * 8192);
	done(r);
}

Test(region, an_owner_shares_and_takes_back)
{
	const struct mf_region_config g = {.at = 0, .size = 4096, .owner = 1};
	struct mf_regions *r = new_regions(&g, 1, 0);
	uint64_t key;

	cr_assert_eq(mf_regions_share(r, 2, 0, MF_REGION_SHARE(2, MF_RIGHT_READ, true)), MF_ERR_KEY);
	cr_assert_eq(mf_regions_share(r, 1, 0, MF_REGION_SHARE(2, MF_RIGHT_RMW, true)), MF_ERR_KEY);
	cr_assert_eq(mf_regions_share(r, 1, 0, MF_REGION_SHARE(MF_PORTS_MAX, MF_RIGHT_READ, true)),
		     MF_ERR_KEY);
	cr_assert_eq(mf_regions_share(r, 1, 4096, MF_REGION_SHARE(2, MF_RIGHT_READ, true)), MF_ERR_KEY);
	cr_assert_eq(mf_regions_share(r, 1, 0, MF_REGION_SHARE(2, MF_RIGHT_READ, true)), MF_OK);
	cr_assert_eq(mf_regions_attach(r, 2, MF_RIGHT_RMW, 0, &key), MF_ERR_KEY, "it only reads");
	cr_assert_eq(mf_regions_share(r, 1, 0, MF_REGION_SHARE(2, MF_RIGHT_WRITE, true)), MF_OK);
	key = key_of(r, 2, MF_RIGHT_RMW, 0);
	cr_assert_eq(mf_regions_check(r, 2, MF_RIGHT_RMW, 8, 8, key), MF_OK);
	cr_assert_eq(mf_regions_share(r, 1, 0, MF_REGION_SHARE(2, MF_RIGHT_READ, false)), MF_OK);
	cr_assert_eq(mf_regions_check(r, 2, MF_RIGHT_RMW, 8, 8, key), MF_ERR_KEY, "at once");
	cr_assert_eq(mf_regions_share(r, 1, 0, MF_REGION_SHARE(1, MF_RIGHT_READ, false)), MF_OK);
	key_of(r, 1, MF_RIGHT_READ, 0); /* an owner stays one */
	done(r);
}

Test(region, no_more_than_one_may_own)
{
	struct mf_region_config g[4];
	struct mf_regions *r;
	uint64_t epoch;

	for (unsigned int i = 0; i < 4; i++)
		g[i] = (struct mf_region_config){.at = i * 64, .size = 64, .owner = MF_REGION_FREE};
	r = new_regions(g, 4, 2);
	cr_assert_eq(mf_regions_claim(r, 7, 0, &epoch), MF_OK);
	cr_assert_eq(mf_regions_claim(r, 7, 64, &epoch), MF_OK);
	cr_assert_eq(mf_regions_claim(r, 7, 128, &epoch), MF_ERR_KEY);
	cr_assert_eq(mf_regions_stats(r)->owner_refused[MF_REFUSAL_LIMIT], 1);
	cr_assert_eq(mf_regions_claim(r, 8, 128, &epoch), MF_OK, "another one may");
	cr_assert_eq(mf_regions_release(r, 7, 0, &epoch), MF_OK);
	cr_assert_eq(mf_regions_claim(r, 7, 192, &epoch), MF_OK);
	done(r);
}

/* It changes with each hand-over, also to nobody: who gives a region away later gives no old key. */
Test(region, a_key_ends_with_its_owner)
{
	const struct mf_region_config g = {.at = 64, .size = 64, .owner = 1};
	struct mf_regions *r = new_regions(&g, 1, 0);
	uint64_t old, epoch;

	for (enum mf_right right = 0; right < MF_RIGHTS; right++) {
		old = mf_regions_look(r, 1, right, 64).key;
		cr_assert_eq(mf_regions_release(r, 1, 64, &epoch), MF_OK);
		cr_expect_neq(mf_regions_look(r, 1, right, 64).key, old, "released: right %d", right);
		old = mf_regions_look(r, 1, right, 64).key;
		cr_assert_eq(mf_regions_claim(r, 1, 64, &epoch), MF_OK);
		cr_expect_neq(mf_regions_look(r, 1, right, 64).key, old, "claimed: right %d", right);
	}
	done(r);
}

Test(region, the_operator_gives)
{
	const struct mf_region_config g = {.at = 64, .size = 64, .owner = 1};
	struct mf_regions *r = new_regions(&g, 1, 0);
	const struct mf_region_nodes none = {{0}}, readers = nodes_of(1 << 5);
	uint64_t word = 7, old = key_of(r, 1, MF_RIGHT_READ, 64);

	mf_memory_write(&mf_memory_flat, memory, 64, 8, &word);
	cr_assert_eq(mf_regions_give(r, 65, 2, &none, &none), -ENOENT);
	cr_assert_eq(mf_regions_give(r, 0, 2, &none, &none), -ENOENT);
	cr_assert_eq(mf_regions_give(r, 64, MF_PORTS_MAX, &none, &none), -ENOENT);
	cr_assert_eq(mf_regions_give(r, 64, 2, &readers, &none), 0);
	expect_octet(64, 0);
	cr_assert_eq(mf_regions_check(r, 1, MF_RIGHT_READ, 64, 8, old), MF_ERR_KEY);
	cr_assert_eq(mf_regions_check(r, 5, MF_RIGHT_READ, 64, 8, key_of(r, 5, MF_RIGHT_READ, 64)), MF_OK);
	done(r);
}

/* After a restart the keys of before are those of nobody; and without random bits nobody has one. */
Test(region, new_keys)
{
	const struct mf_region_config g = {.at = 0, .size = 64, .owner = 1};
	struct mf_regions *r = new_regions(&g, 1, 0);
	uint64_t old = key_of(r, 1, MF_RIGHT_WRITE, 0), key;

	mf_regions_renew(r, draw, NULL);
	cr_assert_eq(mf_regions_check(r, 1, MF_RIGHT_WRITE, 0, 8, old), MF_ERR_KEY);
	dry = true;
	mf_regions_renew(r, draw, NULL);
	cr_assert_eq(mf_regions_attach(r, 1, MF_RIGHT_WRITE, 0, &key), MF_ERR_KEY);
	cr_assert_eq(mf_regions_check(r, 1, MF_RIGHT_WRITE, 0, 8, 0), MF_ERR_KEY);
	cr_assert_gt(mf_regions_stats(r)->drawless, 0);
	dry = false;
	broken = true;
	mf_regions_renew(r, draw, NULL);
	cr_assert_eq(mf_regions_check(r, 1, MF_RIGHT_WRITE, 0, 8, 0), MF_ERR_KEY);
	done(r);
}

Test(region, names)
{
	cr_assert_str_eq(mf_refusal_name(MF_REFUSAL_KEY), "key");
	cr_assert_str_eq(mf_refusal_name(MF_REFUSALS), "?");
}
