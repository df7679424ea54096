/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes by itself: floods, lies and garbage, as often as told, and in all their kinds. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fault/mf_fault.h"

#define PERIOD 2560
#define NODE 1
#define NODES 4
#define LONGEST 64 /* blocks of a message */

static const struct mf_proto proto;

static struct {
	unsigned int messages, blocks, bad;
	unsigned int of[MF_KINDS], status[MF_STATUSES], op[MF_TAKES], from[NODES], to[NODES], lost[NODES];
	unsigned int ids[MF_IDS], to_turn[NODES];
	uint64_t word[LONGEST];
	unsigned int have;
	uint32_t size_max, size_min;
	uint64_t addr_max;
	mf_time last;
	bool overlaps; /* a block with the one before it */
} seen;

static void see(const struct mf_msg *m)
{
	seen.messages++;
	seen.of[m->kind]++;
	if (m->kind == MF_TAKE) {
		seen.op[m->op]++;
		if (m->op == MF_TAKE_LOST)
			seen.lost[m->dst]++;
		return;
	}
	if (m->kind == MF_ERR)
		seen.status[m->status]++;
	seen.from[m->src]++;
	seen.to[m->dst]++;
	seen.ids[m->id]++;
	if (m->kind == MF_RREQ || m->kind == MF_NOTIFY) {
		seen.size_max = m->size > seen.size_max ? m->size : seen.size_max;
		seen.size_min = m->size < seen.size_min ? m->size : seen.size_min;
	}
	seen.addr_max = m->addr > seen.addr_max ? m->addr : seen.addr_max;
}

static void take(void *ctx, struct mf_span *s)
{
	const uint8_t *data;
	struct mf_msg m;

	(void)ctx;
	seen.overlaps |= seen.blocks > 0 && s->start < seen.last + PERIOD;
	seen.last = mf_span_at(s, s->count - 1U);
	for (unsigned int i = 0; i < s->count; i++) {
		uint8_t type = mf_block_type(s->word[i]);

		seen.blocks++;
		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_MS)
			seen.have = 0;
		if (seen.have < LONGEST)
			seen.word[seen.have++] = s->word[i];
		if (s->sync[i] != MF_SYNC_CTRL || type == MF_BT_MS)
			continue;
		if (type == MF_BT_MT && mf_proto_get(&proto, seen.word, seen.have, &m, &data) == 0)
			see(&m);
		else if (type != MF_BT_MT && mf_proto_get_single(s->word[i], &m) == 0)
			see(&m);
		else
			seen.bad++;
		seen.have = 0;
	}
}

static void run(const struct mf_fault_rule *rule, mf_time until)
{
	const struct mf_fault_config c = {.rule = rule,
					  .rules = 1,
					  .period = PERIOD,
					  .pace = PERIOD,
					  .seed = 1,
					  .proto = &proto,
					  .node = NODE,
					  .nodes = NODES};
	struct mf_fault *f = mf_fault_new(&c);

	cr_assert_not_null(f);
	memset(&seen, 0, sizeof(seen));
	seen.size_min = UINT32_MAX;
	for (mf_time at; (at = mf_fault_next(f)) < until;)
		mf_fault_run(f, at, take, NULL);
	if (rule->class == MF_FAULT_FLOOD)
		cr_expect_eq(mf_fault_fired(f, 0), seen.messages);
	cr_expect_not(seen.overlaps);
	mf_fault_free(f);
}

/** Reads and demands of writes by turns, to who is to be flooded by turns, with ids of its own. */
Test(inject, floods)
{
	static const uint16_t to[] = {0, 2};
	struct mf_fault_rule rule = {
		.class = MF_FAULT_FLOOD, .rate = .5, .until = MF_NEVER, .to = to, .to_count = 2};

	run(&rule, MF_MS(5));
	cr_expect_eq(seen.bad, 0);
	cr_expect_gt(seen.messages, 500);
	cr_expect_leq(abs((int)seen.of[MF_RREQ] - (int)seen.of[MF_NOTIFY]), 1);
	cr_expect_eq(seen.of[MF_RREQ] + seen.of[MF_NOTIFY], seen.messages);
	cr_expect_leq(abs((int)seen.to[0] - (int)seen.to[2]), 2);
	cr_expect_eq(seen.to[0] + seen.to[2], seen.messages);
	for (unsigned int id = 0; id < MF_IDS; id++)
		cr_expect_eq(seen.ids[id] > 0, id >= MF_FAULT_FLOOD_ID, "id %u", id);
	cr_expect(seen.size_min == 1 && seen.size_max == 1024, "%u to %u", seen.size_min, seen.size_max);
	cr_expect(seen.addr_max > 65000 && seen.addr_max < 65536);
	/* At half the line. */
	cr_expect_float_eq((double)seen.blocks * PERIOD / (double)MF_MS(5), .5, .01);
}

Test(inject, as_long_and_as_often_as_told)
{
	static const uint16_t to[] = {0};
	struct mf_fault_rule rule = {.class = MF_FAULT_FLOOD,
				     .rate = 1,
				     .from = MF_US(10),
				     .until = MF_US(20),
				     .to = to,
				     .to_count = 1};

	run(&rule, MF_MS(1));
	cr_expect_geq(seen.last, MF_US(20) - 8 * PERIOD);
	cr_expect_lt(seen.last, MF_US(20) + 8 * PERIOD);
	cr_expect_float_eq((double)seen.blocks * PERIOD, (double)MF_US(10), 8. * PERIOD);
	rule.until = MF_NEVER;
	rule.count = 7;
	run(&rule, MF_MS(1));
	cr_expect_eq(seen.messages, 7);
}

/** Of all kinds that say whom they are from, from others, to others. */
Test(inject, lies)
{
	static const uint8_t kinds[] = {MF_RREQ, MF_WREQ, MF_WREQ_ACK, MF_RMWREQ,
					MF_RRES, MF_ACK,  MF_ERR,      MF_TAKE};
	static const uint8_t statuses[] = {MF_ERR_RANGE, MF_ERR_RESOURCE, MF_ERR_RESTARTED,
					   MF_ERR_INCARNATION};
	const struct mf_fault_rule rule = {.class = MF_FAULT_SPOOF, .rate = 1, .until = MF_NEVER};

	run(&rule, MF_MS(10));
	cr_assert_gt(seen.messages, 500);
	for (unsigned int i = 0; i < sizeof(kinds); i++)
		cr_expect_float_eq((double)seen.of[kinds[i]] / seen.messages, 1. / sizeof(kinds), .001,
				   "%s: %u", mf_kind_name(kinds[i]), seen.of[kinds[i]]);
	for (unsigned int i = 0; i < sizeof(statuses); i++)
		cr_expect_gt(seen.status[statuses[i]], seen.of[MF_ERR] / 8);
	cr_expect_gt(seen.op[MF_TAKE_TELL], seen.of[MF_TAKE] / 4);
	cr_expect_gt(seen.op[MF_TAKE_LOST], seen.of[MF_TAKE] / 4);
	for (unsigned int i = 0; i < NODES; i++) {
		cr_expect_eq(seen.from[i] > 0, i != NODE, "from %u", i);
		cr_expect_eq(seen.to[i] > 0, i != NODE, "to %u", i);
		cr_expect_eq(seen.lost[i] > 0, i != NODE, "%u has lost it", i);
	}
	for (unsigned int id = 0; id < MF_IDS; id++)
		cr_expect_gt(seen.ids[id], 0);
	cr_expect_eq(seen.bad, 0);
}

/** Blocks at random, of which some few are messages. */
Test(inject, garbage)
{
	const struct mf_fault_rule rule = {.class = MF_FAULT_GARBAGE, .rate = 1, .until = MF_NEVER};

	run(&rule, MF_MS(10));
	cr_expect_float_eq((double)seen.blocks * PERIOD / (double)MF_MS(10), 1, .01);
	cr_expect_gt(seen.bad, seen.blocks / 4);
	cr_expect_lt(seen.messages, seen.blocks / 100);
}
