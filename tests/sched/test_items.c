/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors and grants as items: their tables name every field once, and a grant has all of them set. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "role/mf_item.h"
#include "script.h"

#define PADDING 4 /* of each of the two */

static void assert_sound(const struct mf_item *item)
{
	uint8_t named[MF_ITEM_MAX] = {0};
	unsigned int bytes = 0;

	cr_assert_leq(item->size, MF_ITEM_MAX);
	for (const struct mf_item_field *f = item->field; f->name != NULL; f++) {
		cr_assert(f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8, "%s", f->name);
		cr_assert_leq(f->offset + f->size, item->size, "%s", f->name);
		cr_assert_eq(f->offset % f->size, 0, "%s", f->name);
		for (unsigned int i = 0; i < f->size; i++)
			cr_assert_eq(named[f->offset + i]++, 0, "%s is there already", f->name);
		bytes += f->size;
	}
	cr_assert_eq(bytes, item->packed, "%s: the size of what is packed", item->name);
	cr_assert_eq(bytes, item->size - PADDING, "%s: all of it but padding", item->name);
}

Test(sched_items, tables)
{
	assert_sound(&mf_sched_msg_item);
	assert_sound(&mf_sched_grant_item);
	cr_assert_eq(mf_sched_msg_item.size, sizeof(struct mf_sched_msg));
	cr_assert_eq(mf_sched_grant_item.size, sizeof(struct mf_sched_grant));
}

Test(sched_items, a_descriptor_comes_back)
{
	const struct mf_sched_msg m = {.at = 1,
				       .src = 2,
				       .dst = 3,
				       .kind = MF_SCHED_CANCEL,
				       .id = 5,
				       .resp = true,
				       .request_blocks = 6,
				       .excess = true,
				       .behind = 7,
				       .size = 8,
				       .cookie = 9};
	uint8_t packed[MF_ITEM_MAX];
	struct mf_sched_msg back;

	mf_item_pack(&mf_sched_msg_item, &m, 1, packed);
	cr_assert_eq(mf_item_unpack(&mf_sched_msg_item, packed, mf_sched_msg_item.packed, 4, &back), 0);
	cr_assert(back.at == 1 && back.src == 2 && back.dst == 3 && back.kind == MF_SCHED_CANCEL &&
		  back.id == 5 && back.resp && !back.mega && back.request_blocks == 6 && back.excess &&
		  back.behind == 7 && back.size == 8 && back.cookie == 9);
	cr_assert_neq(mf_item_unpack(&mf_sched_msg_item, packed, mf_sched_msg_item.packed, 3, &back), 0,
		      "there is no node 3");
}

/* Where it is written something else was before. */
static unsigned int run(const struct mf_sched_ops *ops, struct mf_sched *s, mf_time now, unsigned int ports)
{
	const struct mf_item *item = &mf_sched_grant_item;
	struct mf_sched_grant g[8], back;
	uint8_t packed[MF_ITEM_MAX];
	unsigned int n, all = 0;

	do {
		memset(g, 0xa5, sizeof(g));
		n = ops->run(s, now, g, 8);
		for (unsigned int i = 0; i < n; i++) {
			mf_item_pack(item, &g[i], 1, packed);
			if (mf_item_unpack(item, packed, item->packed, ports, &back) != 0)
				cr_assert_fail("a grant that the table forbids");
			if (back.refused && back.size != 0)
				cr_assert_fail("refused, though it is granted");
		}
		all += n;
	} while (n == 8);
	return all;
}

static unsigned int play_whole(const struct mf_sched_ops *ops, uint64_t seed)
{
	struct rng r = {seed};
	struct mf_sched_config c = random_config(&r, 2 + rng_below(&r, 30));
	struct messages script = random_messages(&r, &c, 500);
	struct mf_sched *s = ops->create(&c);
	unsigned int grants = 0;

	cr_assert_not_null(s);
	for (size_t i = 0; i < script.n; i++) {
		grants += run(ops, s, script.m[i].at, c.ports);
		if (script.m[i].src < c.ports &&
		    script.m[i].dst < c.ports) /* else a cookie comes back as it was sent */
			ops->input(s, &script.m[i]);
	}
	for (unsigned int i = 0; i < 1000 && ops->next(s) != MF_NEVER; i++)
		grants += run(ops, s, ops->next(s), c.ports);
	ops->destroy(s);
	free(script.m);
	return grants;
}

Test(sched_items, a_grant_is_written_whole)
{
	unsigned int grants = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		grants += play_whole(&mf_sched_pim, seed);
		grants += play_whole(&mf_sched_greedy, seed);
	}
	cr_assert_gt(grants, 10000);
}
