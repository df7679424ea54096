/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory node with regions, and who tries what it may not: the answer is the same, bit by bit and at the
 * same time, whatever it is that is wrong.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "alone.h"
#include "base/mf_rng.h"

#define SEED 0x5eed0062
#define SIZE 65536
#define US 0 /**< who asks */
#define MEMORY 1
#define OTHER 2

#define OURS 0 /**< region of us */
#define THEIRS 8192 /**< of another one */
#define LEN 4096 /**< of each */
#define NOBODYS 20000 /**< in no region */

static struct mf_rng rng;

static bool draw(void *ctx, uint64_t *out, unsigned int words)
{
	(void)ctx;
	for (unsigned int i = 0; i < words; i++)
		out[i] = mf_rng_next(&rng);
	return true;
}

struct bench {
	struct mf_host *host;
	struct mf_memory *memory;
	struct mf_regions *regions;
};

static void start(struct bench *b)
{
	const struct mf_memory_config memory = {.size = SIZE, .numa_node = -1, .dram = MF_NS(82)};
	const struct mf_region_config region[] = {{.at = OURS, .size = LEN, .owner = US},
						  {.at = THEIRS, .size = LEN, .owner = OTHER}};
	struct mf_regions_config regions = {
		.region = region, .regions = 2, .memory_ops = &mf_memory_flat, .draw = draw};
	struct mf_host_config config = alone_config(MEMORY, 256);

	config.memory_ops = &mf_memory_regions;
	mf_rng_init(&rng, SEED, "access", 0);
	regions.memory = b->memory = mf_memory_flat.create(&memory);
	b->regions = mf_regions_new(&regions);
	config.memory = mf_regions_memory(b->regions);
	for (unsigned int i = 0; i < sizeof(config.timing.cost) / sizeof(config.timing.cost[0]); i++)
		config.timing.cost[i] = i % 3 * ALONE_PERIOD;
	b->host = mf_host_new(&config);
	cr_assert(b->memory != NULL && b->regions != NULL && b->host != NULL, "errno %d %p %p", errno,
		  (void *)b->memory, (void *)b->regions);
}

static void stop(struct bench *b)
{
	mf_host_free(b->host);
	mf_regions_free(b->regions);
	mf_memory_flat.destroy(b->memory);
}

#define ANSWER_MAX 64

/** What came back: blocks and when each began. */
struct answer {
	unsigned int n;
	uint64_t word[ANSWER_MAX];
	uint8_t sync[ANSWER_MAX];
	mf_time at[ANSWER_MAX];
};

static void collect(struct bench *b, mf_time now, struct answer *a)
{
	struct mf_span s;

	while (mf_host_tx(b->host, now, MF_SPAN_MAX, &s) > 0)
		for (unsigned int i = 0; i < s.count; i++) {
			cr_assert_lt(a->n, ANSWER_MAX);
			a->word[a->n] = s.word[i];
			a->sync[a->n] = s.sync[i];
			a->at[a->n++] = mf_span_at(&s, i);
		}
}

/** Gives a message to a new memory node, and sees what comes back. */
static struct answer ask(const struct mf_msg *m)
{
	const struct mf_proto proto = {.ext = true};
	static const uint8_t data[256] = {1, 2, 3};
	struct mf_span s = {.start = MF_US(1), .period = ALONE_PERIOD};
	struct answer a = {.n = 0};
	struct bench b;

	start(&b);
	if (m->kind == MF_RREQ || m->kind == MF_RMWREQ)
		s.count = (uint16_t)mf_proto_put_request(&proto, m, s.word);
	else
		s.count = (uint16_t)mf_proto_put_chunk(&proto, m, data, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx(b.host, s.start, &s);
	for (mf_time now = s.start; now < MF_US(3); now += ALONE_PERIOD) {
		collect(&b, now, &a);
		mf_host_run(b.host, now);
	}
	stop(&b);
	return a;
}

/** The keys that the node will have: they are of the seed. */
static uint64_t key_of(uint16_t node, enum mf_right right, uint64_t at)
{
	struct bench b;
	uint64_t key;

	start(&b);
	cr_assert_eq(mf_regions_attach(b.regions, node, right, at, &key), MF_OK);
	stop(&b);
	return key;
}

static bool same(const struct answer *a, const struct answer *b)
{
	return a->n == b->n && memcmp(a->word, b->word, a->n * sizeof(a->word[0])) == 0 &&
	       memcmp(a->sync, b->sync, a->n) == 0 && memcmp(a->at, b->at, a->n * sizeof(a->at[0])) == 0;
}

/** Whether it is one ERR that says that it is about the key, and nothing else. */
static bool is_refusal(const struct answer *a, uint8_t of)
{
	struct mf_msg m;

	return a->n == 1 && mf_proto_get_single(a->word[0], &m) == 0 && m.kind == MF_ERR &&
	       m.status == MF_ERR_KEY && m.of == of;
}

static enum mf_right right_of(uint8_t kind)
{
	return kind == MF_RREQ ? MF_RIGHT_READ : kind == MF_RMWREQ ? MF_RIGHT_RMW : MF_RIGHT_WRITE;
}

/** All that may be wrong with an access. */
static void every_refusal(struct mf_msg m)
{
	uint64_t key = key_of(US, right_of(m.kind), OURS);
	const struct {
		uint64_t addr, key;
		const char *what;
	} wrong[] = {
		{OURS, key + 1, "a key that is off by one"},
		{OURS, key ^ UINT64_C(1) << 63, "a key whose last bit is wrong"},
		{OURS, 0, "no key"},
		{OURS, key_of(US, (right_of(m.kind) + 1) % MF_RIGHTS, OURS), "the key of another right"},
		{OURS, key_of(OTHER, right_of(m.kind), THEIRS), "the key of another region"},
		{OURS + LEN - 4, key, "beyond the end"},
		{OURS + 4, key + 1, "not aligned, wrong key"},
		{THEIRS, key, "no right"},
		{THEIRS, key_of(OTHER, right_of(m.kind), THEIRS), "no right, but the key"},
		{NOBODYS, key, "no region"},
		{SIZE - 4, key, "across the end of the memory"},
		{SIZE, key, "outside the memory"},
		{MF_ADDR_MAX - 64, key, "far outside"},
	};
	struct answer first;

	m.addr = OURS;
	m.key = key;
	first = ask(&m);
	cr_assert(!is_refusal(&first, m.kind), "with key and right");
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct answer a;

		m.addr = wrong[i].addr;
		m.key = wrong[i].key;
		a = ask(&m);
		cr_expect(is_refusal(&a, m.kind), "%s", wrong[i].what);
		if (i == 0)
			first = a;
		cr_expect(same(&a, &first), "%s: another answer, or at another time", wrong[i].what);
	}
}

Test(host_access, reads)
{
	every_refusal((struct mf_msg){
		.kind = MF_RREQ, .ext = true, .src = US, .dst = MEMORY, .id = 9, .epoch = 3, .size = 64});
	every_refusal((struct mf_msg){
		.kind = MF_RREQ, .ext = true, .src = US, .dst = MEMORY, .id = 9, .epoch = 3, .size = 2048});
}

Test(host_access, acknowledged_writes)
{
	every_refusal((struct mf_msg){.kind = MF_WREQ_ACK,
				      .ext = true,
				      .src = US,
				      .dst = MEMORY,
				      .id = 9,
				      .epoch = 3,
				      .size = 64,
				      .last = true});
}

Test(host_access, atomics)
{
	every_refusal((struct mf_msg){.kind = MF_RMWREQ,
				      .ext = true,
				      .src = US,
				      .dst = MEMORY,
				      .id = 9,
				      .epoch = 3,
				      .op = MF_RMW_FADD,
				      .arg = {1}});
}

/* Who asks for a key, or to be the owner, of what it may not have does not learn whether it is there. */
Test(host_access, what_is_asked_of_regions)
{
	static const uint8_t ops[] = {MF_RMW_ATTACH, MF_RMW_CLAIM, MF_RMW_RELEASE, MF_RMW_SHARE};
	static const uint64_t where[] = {THEIRS, NOBODYS, OURS + LEN, SIZE, MF_ADDR_MAX};

	for (unsigned int i = 0; i < sizeof(ops); i++) {
		struct mf_msg m = {.kind = MF_RMWREQ,
				   .ext = true,
				   .src = US,
				   .dst = MEMORY,
				   .id = 9,
				   .epoch = 3,
				   .op = ops[i]};
		struct answer first;

		for (unsigned int k = 0; k < sizeof(where) / sizeof(where[0]); k++) {
			struct answer a;

			m.addr = where[k];
			a = ask(&m);
			cr_expect(is_refusal(&a, MF_RMWREQ), "%s at %lu", mf_rmw_name(m.op),
				  (unsigned long)m.addr);
			if (k == 0)
				first = a;
			cr_expect(same(&a, &first), "%s at %lu", mf_rmw_name(m.op), (unsigned long)m.addr);
		}
	}
}

/* A write that is not acknowledged is refused without a word, and nothing of it is there. */
Test(host_access, writes_without_acknowledgement)
{
	struct mf_msg m = {.kind = MF_WREQ,
			   .ext = true,
			   .src = US,
			   .dst = MEMORY,
			   .id = 9,
			   .size = 64,
			   .addr = THEIRS,
			   .last = true};
	const struct answer none = ask(&m);

	cr_expect_eq(none.n, 0);
	m.addr = OURS;
	m.key = key_of(US, MF_RIGHT_WRITE, OURS) ^ 1;
	cr_expect_eq(ask(&m).n, 0);
}

/* Keys at random: none passes but the right one. */
Test(host_access, forged_keys)
{
	struct mf_msg m = {.kind = MF_RREQ, .ext = true, .src = US, .dst = MEMORY, .size = 64, .addr = OURS};
	const uint64_t key = key_of(US, MF_RIGHT_READ, OURS);
	struct mf_rng forger;

	mf_rng_init(&forger, SEED, "forger", 0);
	for (unsigned int i = 0; i < 300; i++) {
		struct answer a;

		m.key = i % 2 ? mf_rng_next(&forger)
			      : key ^ mf_rng_next(&forger) << mf_rng_below(&forger, 64);
		if (m.key == key)
			continue;
		a = ask(&m);
		cr_assert(is_refusal(&a, MF_RREQ), "%#lx for %#lx", (unsigned long)m.key, (unsigned long)key);
	}
}
