/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rule by an example that can be followed by hand. */
#include <errno.h>

#include "steps.h"

/* D1: s1-d1 > s1-d2 > s2-d2 > s2-d3. */
static void four_pairs(const struct mf_sched_ops *ops, struct mf_sched *s)
{
	write_of(ops, s, 1, 1, 11, 0, 64);
	write_of(ops, s, 2, 1, 12, 0, 64);
	write_of(ops, s, 3, 2, 12, 0, 64);
	write_of(ops, s, 4, 2, 13, 0, 64);
}

Test(sched_rules, greedy_and_pim_differ)
{
	struct mf_sched_config c = fast_config(16);
	struct mf_sched_grant g[8];

	c.insert = 0;
	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);

		for (unsigned int p = 11; p <= 13; p++)
			control(ops, s, 0, MF_SCHED_HOLD, 0, p, 0, 0);
		four_pairs(ops, s);
		for (unsigned int p = 11; p <= 13; p++)
			control(ops, s, 10, MF_SCHED_UNHOLD, 0, p, 0, 0);
		cr_assert_eq(run(ops, s, 10, g, 8), 2);
		cr_assert(g[0].src == 1 && g[0].dst == 11 && g[1].src == 2);
		cr_assert_eq(g[1].dst, ops == &mf_sched_greedy ? 12 : 13);
		ops->destroy(s);
	}
}

Test(sched_rules, a_grant_of_iteration_k_leaves_k_iterations_later)
{
	struct mf_sched_config c = fast_config(16);
	struct mf_sched *s;
	struct mf_sched_grant g[8];

	c.insert = 700;
	c.iteration = 1000;
	s = mf_sched_pim.create(&c);
	write_of(&mf_sched_pim, s, 100, 1, 11, 0, 64); /* seen at 800, together with the next */
	write_of(&mf_sched_pim, s, 100, 2, 11, 0, 64);
	write_of(&mf_sched_pim, s, 100, 2, 12, 0, 64);
	write_of(&mf_sched_pim, s, 101, 3, 13, 0, 64); /* seen one too late for that matching */
	cr_assert_eq(run(&mf_sched_pim, s, 5000, g, 8), 3);
	cr_assert(g[0].src == 1 && g[0].at == 1800 && g[0].iteration == 1);
	cr_assert(g[1].src == 2 && g[1].dst == 12 && g[1].at == 1800 && g[1].iteration == 1);
	cr_assert(g[2].src == 3 && g[2].at == 2800 && g[2].iteration == 1 && g[2].since == 101);
	mf_sched_pim.destroy(s);
}

/* s1 is asked by d1 and d2, which then has s2: two iterations; a limit of one makes two matchings. */
Test(sched_rules, iterations_are_limited)
{
	for (unsigned int limit = 0; limit <= 1; limit++) {
		struct mf_sched_config c = fast_config(8);
		struct mf_sched_grant g[4];
		struct mf_sched_stats st;
		struct mf_sched *s;

		c.iterations = limit;
		c.iteration = 1000;
		s = mf_sched_pim.create(&c);
		write_of(&mf_sched_pim, s, 1, 1, 3, 0, 64);
		write_of(&mf_sched_pim, s, 1, 1, 4, 0, 64);
		write_of(&mf_sched_pim, s, 1, 2, 4, 0, 64);
		cr_assert_eq(run(&mf_sched_pim, s, 2500, g, 4), 2);
		cr_assert(g[0].at == 1001 && g[1].at == 2001 && g[1].src == 2);
		cr_assert_eq(g[1].iteration, limit ? 1 : 2);
		st = stats(&mf_sched_pim, s);
		cr_assert(st.matchings == 1 + limit && st.iterations == 2 && st.matched_max == 2 - limit);
		mf_sched_pim.destroy(s);
	}
}

/* Property 4 of 3.1.1: an incast while its destination is held. */
Test(sched_rules, first_come_first_served_or_shortest_first)
{
	static const uint32_t size[] = {500, 100, 300, 200, 400};
	static const unsigned int fcfs[] = {0, 1, 2, 3, 4}, srpt[] = {1, 3, 2, 4, 0},
				  transfer[] = {1, 3, 4, 0, 2};

	EACH_POLICY(ops)
	{
		for (int mode = 0; mode < 3; mode++) {
			const unsigned int *want = mode == 0 ? fcfs : mode == 1 ? srpt : transfer;
			struct mf_sched_config c = fast_config(8);
			struct mf_sched_grant g[16];
			struct mf_sched *s;

			c.chunk = 512;
			c.priority = mode ? MF_SCHED_SRPT : MF_SCHED_FCFS;
			c.srpt_transfer = mode == 2;
			s = ops->create(&c);
			control(ops, s, 0, MF_SCHED_HOLD, 0, 7, 0, 0);
			for (unsigned int i = 0; i < 5; i++) {
				struct mf_sched_msg m = {
					.kind = MF_SCHED_DEMAND, .at = 1 + i, .src = i, .dst = 7};

				m.size = size[i];
				m.behind = i == 0 ? 1 : i == 2 ? 4096 : 0; /* 256 octets, 1 MiB */
				cr_assert_eq(ops->input(s, &m), 0);
			}
			control(ops, s, 10, MF_SCHED_UNHOLD, 0, 7, 0, 0);
			cr_assert_eq(run(ops, s, MF_US(1), g, 16), 5);
			for (unsigned int i = 0; i < 5; i++)
				cr_assert_eq(g[i].src, want[i], "mode %d, grant %u is of %u", mode, i,
					     g[i].src);
			ops->destroy(s);
		}
	}
}

/* D9: the pair's write is before its read, however short the read; by direction they are independent. */
Test(sched_rules, order_of_a_pair)
{
	EACH_POLICY(ops)
	{
		for (int order = MF_ORDER_PAIR; order <= MF_ORDER_DIRECTION; order++) {
			struct mf_sched_config c = fast_config(4);
			struct mf_sched_grant g[16];
			struct mf_sched *s;

			c.order = order;
			c.priority = MF_SCHED_SRPT;
			s = ops->create(&c);
			write_of(ops, s, 1, 0, 1, 5, 512);
			read_of(ops, s, 2, 0, 1, 5, 8);
			write_of(ops, s, 3, 0, 1, 6, 8);
			cr_assert_eq(run(ops, s, MF_US(1), g, 16), 4);
			if (order == MF_ORDER_PAIR) {
				cr_assert(!g[0].resp && !g[1].resp && g[1].last && g[1].id == 5);
				cr_assert(g[2].resp && g[2].first && g[2].cookie == 1005 && g[2].src == 1);
				cr_assert(!g[3].resp && g[3].id == 6);
			} else {
				cr_assert(g[1].resp && g[1].at == 2);
				cr_assert(g[2].id == 5 && g[2].last && g[3].id == 6);
			}
			ops->destroy(s);
		}
	}
}

/* Step (7) and D2: 256 + 2 control blocks, at the rate of the slower link; 3.1.1 counts the payload. */
Test(sched_rules, chunks_follow_each_other_at_line_rate)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[16];

	c.period[2] = 4 * BLOCK;
	for (int paper = 0; paper < 2; paper++) {
		const mf_time chunk = (paper ? 32 : 34) * BLOCK;
		struct mf_sched *s;

		c.release = paper ? MF_RELEASE_PAPER : MF_RELEASE_WIRE;
		s = mf_sched_pim.create(&c);
		write_of(&mf_sched_pim, s, 5, 0, 1, 1, 600);
		write_of(&mf_sched_pim, s, 5, 3, 2, 1, 257);
		cr_assert_eq(run(&mf_sched_pim, s, MF_US(1), g, 16), 5);
		cr_assert(g[0].at == 5 && g[0].first && !g[0].last && g[0].size == 256);
		cr_assert(g[1].at == 5 && g[1].src == 3);
		cr_assert(g[2].at == 5 + chunk && g[2].src == 0 && !g[2].first && !g[2].last);
		cr_assert(g[3].at == 5 + 2 * chunk && g[3].last && g[3].size == 88);
		cr_assert(g[4].at == 5 + 4 * chunk && g[4].src == 3 && g[4].size == 1 && g[4].last);
		mf_sched_pim.destroy(s);
	}
}

/** Two long writes, of source 0 and to destination 1. @return when a shorter one from 0 to 1 is granted */
static mf_time between_busy_ports(const struct mf_sched_ops *ops, bool slots, mf_time asked)
{
	static struct mf_sched_grant g[1024];
	struct mf_sched_config c = fast_config(4);
	unsigned int n, i = 0;
	struct mf_sched *s;

	c.priority = MF_SCHED_SRPT;
	c.slots = slots;
	s = ops->create(&c);
	write_of(ops, s, 0, 0, 2, 0, 60000);
	write_of(ops, s, 10 * BLOCK, 3, 1, 0, 60000);
	write_of(ops, s, asked, 0, 1, 1, 1000);
	n = run(ops, s, MF_US(20), g, 1024);
	while (i < n && g[i].id != 1)
		i++;
	cr_assert_lt(i, n);
	ops->destroy(s);
	return g[i].at;
}

/*
 * Step (2): both ports have to be free at one instant. To the letter the shortest message waits for the end
 * of a long one; where chunks end together it waits for the end of those under way.
 */
Test(sched_rules, ports_that_are_busy_in_turn)
{
	const mf_time chunk = 34 * BLOCK, asked = 20 * chunk + 5;

	EACH_POLICY(ops)
	{
		cr_assert_geq(between_busy_ports(ops, false, asked), 60000 / 256 * chunk);
		cr_assert_eq(between_busy_ports(ops, true, asked), 21 * chunk);
	}
}

/* A slot has 34 blocks. What begins 10 blocks late is cut to 24, what follows is whole; the last is free. */
Test(sched_rules, chunks_end_with_slots)
{
	static const struct {
		unsigned int late; /* blocks */
		uint32_t size[4], blocks[4]; /* until the next */
	} cases[] = {
		{0, {256, 256, 256, 232}, {34, 34, 34}},
		{10, {176, 256, 256, 256}, {24, 34, 34, 34}},
		{11, {160, 256, 256, 256}, {23, 34, 34, 34}}, /* one block rests */
		{28, {144, 144, 256, 256}, {20, 20, 34, 34}}, /* 6 are left: they are joined to the next 34 */
	};

	for (unsigned int k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct mf_sched_config c = fast_config(4);
		struct mf_sched_grant g[16];
		mf_time at = cases[k].late * BLOCK;
		struct mf_sched *s;

		c.slots = true;
		s = mf_sched_pim.create(&c);
		write_of(&mf_sched_pim, s, at, 0, 1, 0, 1000);
		cr_assert_geq(run(&mf_sched_pim, s, MF_US(1), g, 16), 4);
		for (unsigned int i = 0; i < 4; i++) {
			cr_assert_eq(g[i].at, at, "case %u, grant %u at %lu", k, i, g[i].at);
			cr_assert_eq(g[i].size, cases[k].size[i], "case %u, grant %u of %u", k, i, g[i].size);
			at += cases[k].blocks[i] * BLOCK;
		}
		mf_sched_pim.destroy(s);
	}
}

/* The memory node sends c octets first, whatever is left of the slot. */
Test(sched_rules, the_first_chunk_of_a_response_is_whole)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[16];
	struct mf_sched *s;

	c.slots = true;
	s = mf_sched_pim.create(&c);
	read_of(&mf_sched_pim, s, 10 * BLOCK, 0, 1, 0, 1000);
	cr_assert_eq(run(&mf_sched_pim, s, MF_US(1), g, 16), 5);
	cr_assert(g[0].size == 256 && g[0].at == 10 * BLOCK);
	cr_assert(g[1].size == 176 && g[1].at == 44 * BLOCK);
	cr_assert(g[2].size == 256 && g[2].at == 68 * BLOCK);
	mf_sched_pim.destroy(s);
}

/*
 * D2: requests of 2 blocks go to memory node 1. When they make up a chunk, 4 blocks, they have taken the
 * place of one: behind the chunk that is on its way to the node.
 */
Test(sched_rules, forwarded_requests_are_charged)
{
	EACH_POLICY(ops)
	{
		struct mf_sched_config c = fast_config(4);
		struct mf_sched_grant g[16];
		struct mf_sched *s;

		c.chunk = 16;
		s = ops->create(&c);
		read_of(ops, s, 1, 0, 1, 0, 16);
		read_of(ops, s, 1, 2, 1, 0, 16);
		write_of(ops, s, 2, 3, 1, 0, 16);
		write_of(ops, s, 3, 0, 1, 0, 16);
		cr_assert_eq(run(ops, s, MF_US(1), g, 16), 4);
		cr_assert(g[0].at == 1 && g[0].resp && g[0].cookie == 1000);
		cr_assert(g[1].at == 2 && !g[1].resp && g[1].src == 3, "not charged yet");
		cr_assert(g[2].at == 1 + 4 * BLOCK && g[2].resp);
		cr_assert(g[3].at == 2 + 8 * BLOCK && g[3].src == 0, "charged");
		ops->destroy(s);
	}
}

/* 3.1.3: the next grant is decided before the release and leaves at the release. */
Test(sched_rules, matching_ahead)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[8];
	struct mf_sched *s;

	c.iteration = 1000;
	for (c.ahead = 0; c.ahead <= 3000; c.ahead += 3000) {
		const mf_time second = 1000 + 34 * BLOCK + (c.ahead ? 0 : 1000);

		s = mf_sched_pim.create(&c);
		write_of(&mf_sched_pim, s, 0, 0, 1, 0, 512);
		cr_assert_eq(run(&mf_sched_pim, s, MF_US(1), g, 8), 2);
		cr_assert(g[0].at == 1000 && g[1].at == second, "%lu", g[1].at);
		mf_sched_pim.destroy(s);
	}
}

/* D8. */
Test(sched_rules, a_mega_message_is_granted_whole)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched *s = mf_sched_pim.create(&c);
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .src = 1, .dst = 2, .size = 4000, .mega = true};
	struct mf_sched_grant g[8];

	cr_assert_eq(mf_sched_pim.input(s, &m), 0);
	write_of(&mf_sched_pim, s, 1, 1, 2, 1, 64);
	cr_assert_eq(run(&mf_sched_pim, s, MF_US(1), g, 8), 2);
	cr_assert(g[0].mega && g[0].size == 4000 && g[0].first && g[0].last);
	cr_assert_eq(g[1].at, 500 * BLOCK);
	mf_sched_pim.destroy(s);
}

/* D4: several grants of a pair may be outstanding, as far as they fit; alone, any fits. */
Test(sched_rules, window)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[16];

	c.release = MF_RELEASE_WINDOW;
	c.window = 600;
	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);

		write_of(ops, s, 1, 0, 1, 0, 1000);
		cr_assert_eq(run(ops, s, 1, g, 16), 2);
		cr_assert(g[0].at == 1 && g[1].at == 1 && g[0].first && !g[1].last);
		write_of(ops, s, 2, 2, 1, 0, 88); /* fits the 88 that are left */
		cr_assert_eq(run(ops, s, 2, g, 16), 1);
		control(ops, s, 3, MF_SCHED_FORWARDED, 0, 1, 0, 255);
		cr_assert_eq(run(ops, s, 3, g, 16), 0);
		control(ops, s, 4, MF_SCHED_FORWARDED, 0, 1, 0, 1);
		cr_assert_eq(run(ops, s, 4, g, 16), 1);
		control(ops, s, 5, MF_SCHED_FORWARDED, 0, 1, 0, 60000); /* more than there is: not below 0 */
		cr_assert_eq(run(ops, s, 5, g, 16), 1);
		cr_assert(g[0].last && g[0].size == 232);
		ops->destroy(s);
	}
	c.window = 1;
	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);

		write_of(ops, s, 1, 0, 1, 0, 512);
		cr_assert_eq(run(ops, s, 1, g, 16), 1);
		control(ops, s, 2, MF_SCHED_FORWARDED, 0, 1, 0, 256);
		cr_assert_eq(run(ops, s, 2, g, 16), 1);
		ops->destroy(s);
	}
}

/* D3. */
Test(sched_rules, held_ports)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[16];

	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);

		control(ops, s, 0, MF_SCHED_HOLD, 0, 1, 0, 0);
		control(ops, s, 0, MF_SCHED_HOLD_SRC, 2, 0, 0, 0);
		write_of(ops, s, 1, 0, 1, 0, 64);
		write_of(ops, s, 1, 2, 3, 0, 64);
		write_of(ops, s, 1, 1, 2, 0, 64); /* 1 as source, 2 as destination: not held */
		cr_assert_eq(run(ops, s, MF_US(1), g, 16), 1);
		cr_assert_eq(g[0].src, 1);
		control(ops, s, MF_US(2), MF_SCHED_UNHOLD, 0, 1, 0, 0);
		cr_assert_eq(run(ops, s, MF_US(2), g, 16), 1);
		cr_assert_eq(g[0].dst, 1);
		control(ops, s, MF_US(3), MF_SCHED_UNHOLD_SRC, 2, 0, 0, 0);
		cr_assert_eq(run(ops, s, MF_US(3), g, 16), 1);
		cr_assert_eq(g[0].src, 2);
		ops->destroy(s);
	}
}

/* D5: the head, one behind it, one that is not there, one that is granted in part. */
Test(sched_rules, cancel)
{
	struct mf_sched_config c = fast_config(4);
	struct mf_sched_grant g[16];

	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);
		struct mf_sched_stats st;

		write_of(ops, s, 0, 0, 1, 0, 1000);
		write_of(ops, s, 0, 0, 1, 1, 100);
		write_of(ops, s, 0, 0, 1, 2, 100);
		cr_assert_eq(run(ops, s, 0, g, 16), 1);
		control(ops, s, 1, MF_SCHED_CANCEL, 0, 1, 0, 0);
		control(ops, s, 1, MF_SCHED_CANCEL, 0, 1, 2, 0);
		control(ops, s, 1, MF_SCHED_CANCEL, 0, 1, 3, 0);
		control(ops, s, 1, MF_SCHED_CANCEL, 1, 0, 1, 0);
		write_of(ops, s, 2, 0, 1, 2, 50); /* the id and the place are free again */
		cr_assert_eq(run(ops, s, MF_US(1), g, 16), 2);
		cr_assert(g[0].id == 1 && g[0].size == 100 && g[1].id == 2 && g[1].size == 50);
		st = stats(ops, s);
		cr_assert(st.cancelled == 2 && st.cancelled_octets == 744 + 100 && st.cancel_unknown == 2);
		cr_assert(st.entries == 0 && st.grants == 3);
		ops->destroy(s);
	}
}

/* All demands of port 1, both ways; a grant of it that was issued and leaves later comes before that. */
Test(sched_rules, a_flush_drops_what_a_port_has_and_is_answered_last)
{
	struct mf_sched_config c = fast_config(16);
	struct mf_sched_grant g[16];

	c.insert = 0;
	c.iteration = 1000;
	EACH_POLICY(ops)
	{
		struct mf_sched *s = ops->create(&c);
		struct mf_sched_stats st;
		unsigned int n, cookies = 0;

		write_of(ops, s, 0, 1, 2, 0, 1024); /* granted a chunk of it */
		write_of(ops, s, 0, 1, 3, 1, 64);
		read_of(ops, s, 0, 1, 3, 7, 64); /* behind the write of its pair */
		read_of(ops, s, 0, 4, 1, 8, 64);
		write_of(ops, s, 0, 5, 2, 0, 64); /* not of port 1 */
		cr_assert_eq(ops->run(s, 0, g, 16), 0, "grants leave after an iteration");
		control(ops, s, 500, MF_SCHED_FLUSH, 1, 0, 0, 0);
		cr_assert_eq(ops->input(s, &(struct mf_sched_msg){.kind = MF_SCHED_FLUSH, .src = 2}),
			     -ENOBUFS, "one at a time");
		n = run(ops, s, MF_US(100), g, 16);
		for (unsigned int i = 0; i < n; i++) {
			bool of_port = g[i].src == 1 || g[i].dst == 1;

			cookies += g[i].size == 0 && g[i].cookie != MF_SCHED_NO_COOKIE;
			if (g[i].src == 1 && g[i].dst == 1) {
				cr_assert(g[i].size == 0 && g[i].cookie == MF_SCHED_NO_COOKIE &&
					  g[i].at >= 1000);
				for (unsigned int k = i + 1; k < n; k++)
					cr_assert(g[k].src != 1 && g[k].dst != 1);
				n = i;
			} else if (of_port) {
				cr_assert(g[i].size == 0 || g[i].first);
			}
		}
		cr_assert_eq(cookies, 2, "%s: the reads give theirs back", ops->name);
		st = stats(ops, s);
		cr_assert_eq(st.entries, 0);
		cr_assert_eq(st.demand_octets, st.granted_octets + st.flushed_octets);
		control(ops, s, MF_US(200), MF_SCHED_FLUSH, 1, 0, 0, 0);
		cr_assert_eq(run(ops, s, MF_US(200), g, 16), 1, "of a port that has nothing");
		write_of(ops, s, MF_US(300), 1, 2, 0, 64);
		cr_assert_eq(run(ops, s, MF_US(400), g, 16), 1, "and it goes on");
		ops->destroy(s);
	}
}

/*
 * The same where ports are taken ahead of their release: a grant is made, and leaves when the port is free.
 * Whenever the flush comes, no grant of the port that was made before comes behind its answer.
 */
Test(sched_rules, a_flush_waits_for_grants_that_are_still_to_leave)
{
	struct mf_sched_config c = fast_config(16);
	struct mf_sched_grant g[64];
	unsigned int waited = 0;

	c.insert = 0;
	c.iteration = 1000;
	c.ahead = 20000;
	EACH_POLICY(ops)
	{
		for (mf_time at = 1500; at < 90000; at += 250) {
			struct mf_sched *s = ops->create(&c);
			mf_time answered = MF_NEVER;
			unsigned int n;

			write_of(ops, s, 0, 1, 2, 0, 1024);
			write_of(ops, s, 0, 3, 1, 0, 1024);
			n = run(ops, s, at, g, 64);
			control(ops, s, at, MF_SCHED_FLUSH, 1, 0, 0, 0);
			n = run(ops, s, MF_US(200), g, 64);
			for (unsigned int i = 0; i < n; i++) {
				bool answer = g[i].src == 1 && g[i].dst == 1;

				if (answer)
					answered = g[i].at;
				else if (g[i].src == 1 || g[i].dst == 1)
					cr_assert_eq(answered, MF_NEVER,
						     "%s, flush at %lu: a grant of %lu behind", ops->name, at,
						     g[i].at);
			}
			cr_assert_neq(answered, MF_NEVER);
			waited += answered > at + c.iteration;
			ops->destroy(s);
		}
	}
	cr_assert_gt(waited, 0, "grants were still to leave");
}
