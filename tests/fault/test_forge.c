/* SPDX-License-Identifier: BSD-3-Clause */
/* The forger: each request that it makes is right but for one thing; answers are judged; the spy. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/mf_rng.h"
#include "fault/mf_fault.h"
#include "memory/mf_region.h"

#define PERIOD 2560
#define NODE 0
#define MESSAGES 20000

/* By node and address. The second one is not aligned, and the third one begins where it ends. */
static const struct mf_fault_region region[] = {{.at = 0, .size = 4096, .node = NODE},
						{.at = 4100, .size = 100, .node = 1},
						{.at = 4200, .size = 4096, .node = 1},
						{.at = 0, .size = 4096, .node = 2}};
#define REGIONS (sizeof(region) / sizeof(region[0]))

static const struct mf_proto proto = {.ext = true};
static uint64_t epoch; /* of all keys */
static bool claimable, owned; /* all regions */

static uint64_t key_of(unsigned int i, unsigned int right, uint64_t of)
{
	return mf_hash64(of << 32 | i << 8 | right) | 1;
}

/** It may read the second region. */
static bool may(unsigned int i, unsigned int right)
{
	return owned || (i == 1 && right == MF_RIGHT_READ);
}

static struct mf_fault_secret look(void *ctx, unsigned int i, uint16_t node, unsigned int right)
{
	(void)ctx;
	cr_assert_eq(node, NODE);
	cr_assert(i < REGIONS && right < MF_RIGHTS);
	return (struct mf_fault_secret){.key = key_of(i, right, epoch),
					.may = may(i, right),
					.owns = owned,
					.claimable = claimable,
					.free = !owned};
}

/** What was sent: the last message. */
static struct {
	struct mf_fault *f;
	mf_time now;
	uint64_t word[MF_BLOCKS_MAX];
	unsigned int blocks;
	struct mf_msg m;
	bool any;
} sent;

static void take(void *ctx, struct mf_span *s)
{
	const uint8_t *data;

	(void)ctx;
	for (unsigned int i = 0; i < s->count; i++) {
		uint8_t type = mf_block_type(s->word[i]);

		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_MS)
			sent.blocks = 0;
		sent.word[sent.blocks++] = s->word[i];
		if (s->sync[i] != MF_SYNC_CTRL || type == MF_BT_MS)
			continue;
		if (type == MF_BT_MT)
			cr_assert_eq(mf_proto_get(&proto, sent.word, sent.blocks, &sent.m, &data), 0);
		else
			cr_assert_eq(mf_proto_get_single(s->word[i], &sent.m), 0);
		cr_assert_not(sent.any, "one message a turn");
		sent.any = true;
		sent.blocks = 0;
	}
}

static void start(void)
{
	const struct mf_fault_rule rule = {.class = MF_FAULT_FORGE, .rate = 1, .until = MF_NEVER};
	const struct mf_fault_secrets secrets = {.region = region, .regions = REGIONS, .look = look};
	const struct mf_fault_config c = {.rule = &rule,
					  .rules = 1,
					  .period = PERIOD,
					  .pace = PERIOD,
					  .seed = 1,
					  .proto = &proto,
					  .node = NODE,
					  .nodes = 3,
					  .secrets = &secrets};

	sent.f = mf_fault_new(&c);
	cr_assert_not_null(sent.f);
}

static void next_sent(void)
{
	sent.any = false;
	sent.now = mf_fault_next(sent.f);
	mf_fault_run(sent.f, sent.now, take, NULL);
	cr_assert(sent.any);
}

static void hear_single(const struct mf_msg *m)
{
	struct mf_span s = {.period = PERIOD};

	mf_span_put(&s, MF_SYNC_CTRL, mf_proto_put_single(m));
	mf_fault_hear(sent.f, &s);
}

static void hear_response(const struct mf_msg *to, const void *data, uint32_t size, bool last)
{
	const struct mf_msg m = {.kind = MF_RRES,
				 .src = to->dst,
				 .dst = NODE,
				 .id = to->id,
				 .ext = true,
				 .epoch = to->epoch,
				 .size = size,
				 .last = last};
	struct mf_span s = {.period = PERIOD};

	s.count = (uint16_t)mf_proto_put_chunk(&proto, &m, data, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1U == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_fault_hear(sent.f, &s);
}

static void grant(const struct mf_msg *n, uint32_t size, bool resp)
{
	hear_single(
		&(struct mf_msg){.kind = MF_GRANT, .dst = n->dst, .id = n->id, .size = size, .resp = resp});
}

static const struct mf_forge_stats *stats(void)
{
	return mf_fault_forged(sent.f);
}

/** The region that an address is in; REGIONS: none. */
static unsigned int region_of(const struct mf_msg *m)
{
	unsigned int i = 0;

	while (i < REGIONS && (region[i].node != m->dst || m->addr < region[i].at ||
			       m->addr >= region[i].at + region[i].size))
		i++;
	return i;
}

static unsigned int right_of(const struct mf_msg *m)
{
	return m->kind == MF_RREQ ? MF_RIGHT_READ : m->kind == MF_RMWREQ ? MF_RIGHT_RMW : MF_RIGHT_WRITE;
}

enum { RANDOM, NONE, BIT, LOW, HIGH, RIGHT, REGION, FORMER, BORDER, OUTSIDE, RIGHTLESS, KINDS };

/** What is wrong with a key. */
static unsigned int wrong_key(const struct mf_msg *m, unsigned int i, unsigned int right)
{
	uint64_t good = key_of(i, right, epoch), differs = m->key ^ good;

	if (m->key == 0)
		return NONE;
	if (__builtin_popcountll(differs) == 1)
		return BIT;
	if ((uint32_t)differs == 0)
		return LOW;
	if (differs >> 32 == 0)
		return HIGH;
	for (unsigned int k = 0; k < MF_RIGHTS; k++)
		if (k != right && m->key == key_of(i, k, epoch))
			return RIGHT;
	for (unsigned int k = 0; k < REGIONS; k++)
		if (k != i && m->key == key_of(k, right, epoch))
			return REGION;
	return epoch > 0 && m->key == key_of(i, right, epoch - 1) ? FORMER : RANDOM;
}

/** What is wrong with an access. */
static unsigned int wrong(const struct mf_msg *m)
{
	unsigned int i = region_of(m), right = right_of(m);
	uint32_t size = m->kind == MF_RMWREQ ? 8 : m->size;

	cr_assert_eq(m->src, NODE);
	cr_assert_neq(m->dst, NODE, "nobody asks himself");
	if (i == REGIONS) {
		cr_assert_eq(m->addr % 8, 0);
		return OUTSIDE;
	}
	if (m->addr + size > region[i].at + region[i].size) {
		cr_assert_eq(m->key, key_of(i, right, epoch), "the key is right");
		cr_assert_neq(m->kind, MF_RMWREQ);
		return BORDER;
	}
	cr_assert(size == 8 && m->addr % 8 == 0);
	if (m->key != key_of(i, right, epoch))
		return wrong_key(m, i, right);
	cr_assert_not(may(i, right), "what is wrong with it?");
	return RIGHTLESS;
}

/** Of the requests that only an owner may make, or who has a right to a key. */
static void of_owners(const struct mf_msg *m, unsigned int *ops)
{
	unsigned int i = region_of(m);

	cr_assert_lt(i, REGIONS);
	ops[m->op]++;
	if (m->op == MF_RMW_ATTACH)
		cr_assert(m->arg[0] >= MF_RIGHTS || !may(i, (unsigned int)m->arg[0]));
	if (m->op == MF_RMW_RELEASE)
		cr_assert_eq(m->arg[0], 0);
	if (m->op == MF_RMW_SHARE)
		cr_assert(m->arg[0] == MF_REGION_SHARE(NODE, MF_RIGHT_READ, true) ||
			  m->arg[0] == MF_REGION_SHARE(NODE, MF_RIGHT_WRITE, true));
}

Test(forge, requests_are_right_but_for_one_thing)
{
	static const uint8_t kinds[] = {MF_RREQ, MF_WREQ, MF_WREQ_ACK, MF_RMWREQ};
	unsigned int found[KINDS] = {0}, ops[MF_RMW_ALL] = {0}, of[MF_KINDS] = {0}, at[REGIONS + 1] = {0};

	start();
	for (unsigned int n = 0; n < MESSAGES; n++) {
		epoch = n * 8 / MESSAGES;
		next_sent();
		if (sent.m.kind == MF_NOTIFY) { /* the chunk comes when it is granted, and in no other case */
			struct mf_msg asked = sent.m;

			cr_assert(asked.ext);
			grant(&asked, asked.size - 1, false);
			grant(&asked, asked.size, true);
			grant(&asked, asked.size, false);
			next_sent();
			cr_assert(sent.m.kind == MF_WREQ || sent.m.kind == MF_WREQ_ACK);
			cr_assert(sent.m.id == asked.id && sent.m.dst == asked.dst);
			cr_assert(sent.m.size == asked.size && sent.m.last && sent.m.offset == 0);
			grant(&asked, asked.size, true);
		}
		cr_assert_geq(sent.m.id, MF_FAULT_FORGE_ID);
		of[sent.m.kind]++;
		at[region_of(&sent.m)]++;
		if (sent.m.kind == MF_RMWREQ && sent.m.op >= MF_RMW_OPS)
			of_owners(&sent.m, ops);
		else
			found[wrong(&sent.m)]++;
	}
	for (unsigned int i = 0; i < KINDS; i++)
		cr_expect_gt(found[i], i == FORMER ? MESSAGES / 50 : MESSAGES / 25, "%u: %u", i, found[i]);
	for (unsigned int i = 0; i < sizeof(kinds); i++)
		cr_expect_gt(of[kinds[i]], MESSAGES / 10, "%s", mf_kind_name(kinds[i]));
	for (unsigned int i = 1; i < REGIONS; i++)
		cr_expect_gt(at[i], MESSAGES / 10, "region %u", i);
	cr_expect_gt(ops[MF_RMW_ATTACH], 100);
	cr_expect_gt(ops[MF_RMW_RELEASE], 100);
	cr_expect_gt(ops[MF_RMW_SHARE], 100);
	cr_expect_eq(ops[MF_RMW_CLAIM], 0, "there is nothing to claim");
	cr_expect_eq(stats()->sent, MESSAGES);
	mf_fault_free(sent.f);
}

static void hear_error(const struct mf_msg *to, enum mf_status status)
{
	hear_single(&(struct mf_msg){.kind = MF_ERR,
				     .src = to->dst,
				     .dst = NODE,
				     .id = to->id,
				     .epoch = to->epoch & ((1 << MF_ERR_USE_BITS) - 1),
				     .status = (uint8_t)status,
				     .of = mf_proto_of_incarnation((uint8_t)status) ? 0 : to->kind});
}

static void judged(uint64_t refused, uint64_t let_in, uint64_t told)
{
	cr_expect_eq(stats()->refused, refused);
	cr_expect_eq(stats()->let_in, let_in);
	cr_expect_eq(stats()->told, told);
}

static void until_read(void)
{
	do
		next_sent();
	while (sent.m.kind != MF_RREQ);
}

Test(forge, answers_are_judged)
{
	const uint64_t data[8] = {0};
	struct mf_msg other;

	start();
	until_read();
	judged(0, 0, 0);
	hear_error(&sent.m, MF_ERR_KEY);
	judged(1, 0, 0);
	hear_error(&sent.m, MF_ERR_RANGE);
	judged(1, 0, 1);
	hear_response(&sent.m, data, 8, true);
	judged(1, 1, 1);
	hear_error(&sent.m, MF_ERR_RESOURCE);
	hear_error(&sent.m, MF_ERR_RESTARTED);
	other = sent.m;
	other.epoch++; /* another use of the id */
	hear_error(&other, MF_ERR_KEY);
	hear_response(&other, data, 8, true);
	other = sent.m;
	other.dst = 3 - other.dst; /* another node */
	hear_error(&other, MF_ERR_KEY);
	other = sent.m;
	other.id -= MF_FAULT_FORGE_ID; /* the host's */
	hear_error(&other, MF_ERR_KEY);
	judged(1, 1, 1);
	mf_fault_free(sent.f);
}

Test(forge, acknowledged_writes_are_let_in)
{
	start();
	do {
		do
			next_sent();
		while (sent.m.kind != MF_NOTIFY);
		grant(&sent.m, sent.m.size, false);
		next_sent();
	} while (sent.m.kind != MF_WREQ_ACK);
	hear_single(&(struct mf_msg){.kind = MF_ACK,
				     .src = sent.m.dst,
				     .dst = NODE,
				     .id = sent.m.id,
				     .epoch = sent.m.epoch & ((1 << MF_ACK_USE_BITS) - 1)});
	judged(0, 1, 0);
	mf_fault_free(sent.f);
}

/** Whether a request is the spy's: all of it is right. */
static bool honest(const struct mf_msg *m)
{
	unsigned int i = region_of(m);

	if (m->kind == MF_RMWREQ && m->op >= MF_RMW_OPS)
		return true;
	return i < REGIONS && m->addr + m->size <= region[i].at + region[i].size && m->kind != MF_NOTIFY &&
	       may(i, right_of(m)) && m->key == key_of(i, right_of(m), epoch);
}

static void until_spy(void)
{
	unsigned int n = 0;

	do {
		next_sent();
		cr_assert_lt(n++, 1000, "it does not go on");
	} while (!honest(&sent.m));
}

/** One round. @param found  what is in the region */
static void spy(uint64_t found)
{
	uint64_t data[8] = {0, found}, was = 5;

	until_spy();
	cr_assert(sent.m.kind == MF_RMWREQ && sent.m.op == MF_RMW_CLAIM);
	owned = true;
	epoch++;
	hear_response(&sent.m, &epoch, 8, true);
	until_spy();
	cr_assert(sent.m.kind == MF_RREQ && sent.m.size == 64);
	hear_response(&sent.m, data, 64, true);
	until_spy();
	cr_assert(sent.m.kind == MF_RMWREQ && sent.m.op == MF_RMW_SWAP && sent.m.arg[0] != 0);
	hear_response(&sent.m, &was, 8, true);
	until_spy();
	cr_assert(sent.m.kind == MF_RMWREQ && sent.m.op == MF_RMW_RELEASE);
	owned = false;
	epoch++;
	hear_response(&sent.m, &epoch, 8, true);
}

Test(forge, the_spy_looks_for_what_a_former_owner_has_left)
{
	claimable = true;
	start();
	for (unsigned int n = 0; n < 20; n++)
		spy(0);
	cr_expect_eq(stats()->claimed, 20);
	cr_expect_eq(stats()->found, 0);
	spy(7);
	cr_expect_eq(stats()->claimed, 21);
	cr_expect_eq(stats()->found, 1);
	judged(0, 0, 0);
	mf_fault_free(sent.f);
}

/** It begins anew where it is refused, or where nothing comes; what it owns already it gives back. */
Test(forge, the_spy_begins_again)
{
	claimable = true;
	start();
	until_spy();
	cr_assert_eq(sent.m.op, MF_RMW_CLAIM);
	hear_error(&sent.m, MF_ERR_KEY);
	until_spy();
	cr_assert_eq(sent.m.op, MF_RMW_CLAIM);
	until_spy();
	cr_assert_eq(sent.m.op, MF_RMW_CLAIM, "no answer");
	owned = true;
	until_spy();
	cr_assert_eq(sent.m.op, MF_RMW_RELEASE);
	cr_expect_eq(stats()->claimed, 0);
	judged(0, 0, 0);
	mf_fault_free(sent.f);
}
