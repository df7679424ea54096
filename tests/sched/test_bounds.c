/* SPDX-License-Identifier: BSD-3-Clause */
/* What is too much, too late, out of range or unknown. */
#include <errno.h>

#include "steps.h"

/* 3.1.2: at most X of a pair and kind, so at most 2 * X * N for a destination; and again, and again. */
Test(sched_bounds, queues_are_bounded)
{
	struct mf_sched_config c = fast_config(8);
	struct mf_sched *s = mf_sched_pim.create(&c);
	struct mf_sched_grant g[512];
	struct mf_sched_stats st;
	mf_time at = 0;

	for (int round = 1; round <= 5; round++) {
		for (unsigned int i = 0; i < 8 * 8 * (c.x + 1); i++) {
			at = mf_time_max(at, mf_sched_pim.next(s) == MF_NEVER ? 0 : mf_sched_pim.next(s));
			control(&mf_sched_pim, s, at, MF_SCHED_HOLD, 0, i % 8, 0, 0);
			write_of(&mf_sched_pim, s, at, i / 8 % 8, i % 8, i / 64, 8);
			read_of(&mf_sched_pim, s, at, i / 8 % 8, i % 8, i / 64, 8);
			/* both are one too many, and told so */
			cr_assert_eq(mf_sched_pim.run(s, at, g, 512), i / 64 == c.x ? 2 : 0);
			for (unsigned int k = 0; k < 2 && i / 64 == c.x; k++)
				cr_assert(g[k].size == 0 && g[k].refused);
		}
		st = stats(&mf_sched_pim, s);
		cr_assert_eq(st.entries, 2 * c.x * 64);
		cr_assert_eq(st.entries_max, 2 * c.x * 64);
		cr_assert_eq(st.queue_max, 2 * c.x * 8);
		cr_assert_eq(st.dropped_x, 2 * 64 * (uint64_t)round);
		for (unsigned int p = 0; p < 8; p++)
			control(&mf_sched_pim, s, at, MF_SCHED_UNHOLD, 0, p, 0, 0);
		cr_assert_eq(run(&mf_sched_pim, s, at += MF_US(10), g, 512), 2 * c.x * 64);
		cr_assert_eq(stats(&mf_sched_pim, s).entries, 0);
	}
	mf_sched_pim.destroy(s);
}

/** Beyond the share of its pair, too, where there are two switches: the other one has to be told. */
Test(sched_bounds, who_is_beyond_x_is_told)
{
	for (unsigned int excess = 0; excess < 3; excess++) {
		struct mf_sched_config c = fast_config(4);
		struct mf_sched *s;
		struct mf_sched_grant g[8];

		c.tells_excess = excess == 2;
		s = mf_sched_pim.create(&c);

		control(&mf_sched_pim, s, 0, MF_SCHED_HOLD, 0, 1, 0, 0);
		for (unsigned int i = 0; i <= c.x; i++) {
			const struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND,
						       .src = 0,
						       .dst = 1,
						       .id = (uint8_t)i,
						       .excess = excess > 0,
						       .size = 8,
						       .cookie = MF_SCHED_NO_COOKIE};

			cr_assert_eq(mf_sched_pim.input(s, &m), 0);
		}
		cr_assert_eq(mf_sched_pim.run(s, 0, g, 8), excess == 1 ? 0 : 1);
		cr_expect(excess == 1 || (g[0].size == 0 && g[0].refused && g[0].id == c.x));
		mf_sched_pim.destroy(s);
	}
}

Test(sched_bounds, nonsense_is_dropped_and_counted)
{
	static const struct mf_sched_msg bad[] = {
		{.kind = MF_SCHED_DEMAND, .src = 4, .dst = 1, .size = 1},
		{.kind = MF_SCHED_DEMAND, .src = 1, .dst = 65535, .size = 1},
		{.kind = MF_SCHED_DEMAND, .src = 1, .dst = 2},
		{.kind = MF_SCHED_DEMAND, .src = 1, .dst = 2, .size = 65537},
		{.kind = MF_SCHED_DEMAND, .src = 1, .dst = 2, .size = UINT32_MAX, .mega = true},
		{.kind = MF_SCHED_CANCEL, .src = 1, .dst = 4},
		{.kind = MF_SCHED_FORWARDED, .src = 512, .dst = 2, .size = 1},
		{.kind = MF_SCHED_HOLD, .dst = 4},
		{.kind = MF_SCHED_UNHOLD_SRC, .src = 4},
		{.kind = MF_SCHED_FLUSH, .src = 4},
		{.kind = MF_SCHED_FLUSH + 1},
		{.kind = 255, .src = 1, .dst = 2, .size = 1},
	};
	const unsigned int n = sizeof(bad) / sizeof(bad[0]);
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[8];

	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);

		for (unsigned int i = 0; i < n; i++)
			cr_assert_eq(ops->input(s, &bad[i]), 0);
		cr_assert_eq(run(ops, s, 0, g, 8), 5, "the demands' cookies");
		cr_assert_eq(ops->next(s), MF_NEVER);
		cr_assert_eq(stats(ops, s).dropped_bad, n);
		write_of(ops, s, 1, 0, 0, 9, 1024); /* to itself is a pair like others */
		write_of(ops, s, 1, 0, 0, 9, 8); /* an id that is in use */
		write_of(ops, s, MF_NEVER, 0, 1, 9, 8);
		cr_assert_eq(run(ops, s, MF_US(1), g, 8), 4);
		cr_assert_eq(stats(ops, s).dropped_bad, n + 1);
		cr_assert_eq(ops->next(s), MF_NEVER);
		ops->destroy(s);
	}
}

Test(sched_bounds, a_late_message_counts_as_arriving_now)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched *s = mf_sched_pim.create(&c);
	struct mf_sched_grant g[8];

	cr_assert_eq(mf_sched_pim.run(s, 1000, g, 8), 0);
	write_of(&mf_sched_pim, s, 1001, 1, 0, 0, 64);
	write_of(&mf_sched_pim, s, 1, 2, 0, 0, 64);
	cr_assert_eq(mf_sched_pim.next(s), 1000);
	cr_assert_eq(run(&mf_sched_pim, s, MF_US(1), g, 8), 2);
	cr_assert(g[0].src == 2 && g[0].at == 1000 && g[0].since == 1 && g[1].src == 1);
	mf_sched_pim.destroy(s);
}

Test(sched_bounds, a_full_house_refuses)
{
	struct mf_sched_config c = fast_config(2);
	struct mf_sched *s = mf_sched_pim.create(&c);
	struct mf_sched_msg m = {.kind = MF_SCHED_FORWARDED, .at = 7};
	struct mf_sched_grant g[8];

	for (unsigned int i = 0; i < 2 * MF_SCHED_PENDING; i++)
		cr_assert_eq(mf_sched_pim.input(s, &m), 0);
	cr_assert_eq(mf_sched_pim.input(s, &m), -ENOBUFS);
	cr_assert_eq(stats(&mf_sched_pim, s).refused, 1);
	cr_assert_eq(mf_sched_pim.run(s, 7, g, 8), 0);
	cr_assert_eq(mf_sched_pim.input(s, &m), 0);
	mf_sched_pim.destroy(s);
}

/* A burst is taken up to the first that finds no room; bad ones are dropped, late ones put in order. */
Test(sched_bounds, a_burst_is_its_messages)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched *s = mf_sched_pim.create(&c);
	static struct mf_sched_msg m[4 * MF_SCHED_PENDING + 3];
	const unsigned int n = sizeof(m) / sizeof(m[0]);
	struct mf_sched_grant g[8];

	for (unsigned int i = 0; i < n; i++)
		m[i] = (struct mf_sched_msg){.kind = MF_SCHED_FORWARDED, .at = 7, .src = i % 4, .size = 1};
	m[1].dst = 4;
	m[2] = (struct mf_sched_msg){
		.kind = MF_SCHED_DEMAND, .at = 9, .src = 1, .dst = 2, .size = 64, .id = 1};
	m[3] = (struct mf_sched_msg){
		.kind = MF_SCHED_DEMAND, .at = 8, .src = 3, .dst = 2, .size = 64, .id = 2};
	m[4].at = 6;
	m[5].kind = MF_SCHED_UNHOLD_SRC;
	cr_assert_eq(mf_sched_pim.inputs(s, m, n), 4 * MF_SCHED_PENDING + 1, "one was dropped");
	cr_assert_eq(stats(&mf_sched_pim, s).refused, 0, "the others are not lost");
	cr_assert_eq(stats(&mf_sched_pim, s).dropped_bad, 1);
	cr_assert_eq(mf_sched_pim.next(s), 6);
	cr_assert_eq(run(&mf_sched_pim, s, MF_US(1), g, 8), 2);
	cr_assert(g[0].src == 3 && g[0].at == 8 && g[1].src == 1);
	cr_assert_eq(mf_sched_pim.inputs(s, m, 0), 0);
	cr_assert_eq(mf_sched_pim.inputs(s, m + n - 2, 2), 2);
	mf_sched_pim.destroy(s);
}

static void refuse(struct mf_sched_config c)
{
	EACH_POLICY(ops)
	{
		errno = 0;
		cr_assert_null(ops->create(&c));
		cr_assert_eq(errno, EINVAL);
	}
}

Test(sched_bounds, bad_configurations)
{
	const struct mf_sched_config good = fast_config(4);
	struct mf_sched_config c;

#define REFUSE(field, value) (c = good, c.field = value, refuse(c))
	REFUSE(ports, 1);
	REFUSE(ports, 513);
	REFUSE(priority, 2);
	REFUSE(order, 7);
	REFUSE(release, 3);
	REFUSE(chunk, 0);
	REFUSE(chunk, 100);
	REFUSE(chunk, 65552);
	REFUSE(x, 0);
	REFUSE(x, 129);
	REFUSE(release, MF_RELEASE_WINDOW); /* without a window */
	REFUSE(period[3], 0);
	c = good;
	c.slots = true;
	c.release = MF_RELEASE_PAPER; /* whose chunks leave out what slots are made of */
	refuse(c);
}

Test(sched_bounds, names_and_memory)
{
	struct mf_sched_config c = fast_config(512);
	struct mf_sched *s = mf_sched_pim.create(&c);
	struct mf_sched_stats st = stats(&mf_sched_pim, s);

	cr_assert(st.memory_paper > 1000000 && st.memory_paper < 1100000, "4.1: around 1 MB");
	cr_assert_gt(st.memory, st.memory_paper);
	mf_sched_pim.destroy(s);
	mf_sched_pim.destroy(NULL);
}

/* What ends before it is granted anything gives its cookie back: nothing of a request leaks. */
Test(sched_bounds, a_dismissed_demand_gives_its_cookie_back)
{
	EACH_POLICY(ops)
	{
		struct mf_sched_config c = fast_config(4);
		const struct mf_sched_msg cancel = {
			.at = 2, .src = 1, .dst = 0, .id = 2, .kind = MF_SCHED_CANCEL, .resp = true};
		struct mf_sched *s;
		struct mf_sched_grant g[16];

		c.x = 3;
		s = ops->create(&c);
		for (uint8_t id = 0; id < 4;
		     id++) /* the first is granted at once, the last is one too many */
			read_of(ops, s, 1, 0, 1, id, 4096);
		read_of(ops, s, 1, 0, 1, 1, 8); /* in use */
		cr_assert_eq(ops->input(s, &cancel), 0);
		cr_assert_eq(run(ops, s, 2, g, 16), 4);
		cr_assert(g[0].cookie == 1003 && g[0].size == 0 && g[0].resp && g[0].id == 3);
		cr_assert(g[1].cookie == 1001 && g[1].size == 0);
		cr_assert(g[2].cookie == 1000 && g[2].size == c.chunk && g[2].first);
		cr_assert(g[3].cookie == 1002 && g[3].size == 0);
		ops->destroy(s);
	}
}
