/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lives: what a memory node with two switches makes of their word that another node has begun a new one,
 * and of what comes of the former one.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "bench.h"

static void count_restart(void *ctx, uint16_t node)
{
	unsigned int *n = ctx;

	*n += node == US;
}

static void tell_incarnation_of(struct bench *b, uint16_t node, unsigned int link, uint16_t incarnation)
{
	bench_tell_incarnation(b, node, link, incarnation, MF_ERR_RESTARTED);
}

static void tell_incarnation(struct bench *b, unsigned int link, uint16_t incarnation)
{
	tell_incarnation_of(b, US, link, incarnation);
}

static void begin_told(struct bench *b, unsigned int *restarts)
{
	bench_begin(b, MEMORY, true);
	*restarts = 0;
	mf_host_on_restart(b->host, count_restart, restarts);
	bench_tell_epoch(b, 0, 0);
	bench_tell_epoch(b, 1, 0);
}

/** Both switches tell of each incarnation: it begins with the first word, whichever that is by. */
Test(host_incarnations, a_incarnation_is_told_by_both_switches)
{
	static const struct {
		unsigned int link;
		uint16_t incarnation;
		unsigned int restarts;
	} word[] = {{1, 700, 1}, {1, 700, 1}, {0, 700, 1}, {0, 701, 2}, {0, 702, 3},
		    {1, 701, 3}, {1, 702, 3}, {1, 703, 4}, {0, 703, 4}};
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		tell_incarnation(&b, word[i].link, word[i].incarnation);
		cr_expect_eq(restarts, word[i].restarts, "word %u: %u", i, restarts);
		if (i == 1)
			bench_tell_epoch(&b, 1, 1); /* another switch is obeyed: lives are the same */
	}
	bench_stop(&b);
}

/** A slow switch tells a node that has just begun of an older incarnation first: both tell of the right one
 * last. */
Test(host_incarnations, a_incarnation_that_was_older)
{
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	cr_assert_eq(mf_host_restart(b.host, b.now, b.memory), 0);
	bench_tell_incarnation(&b, US, 0, 701, MF_ERR_INCARNATION);
	bench_tell_incarnation(&b, US, 1, 700, MF_ERR_INCARNATION);
	cr_expect_eq(restarts, 1);
	bench_tell_incarnation(&b, US, 1, 701, MF_ERR_RESTARTED);
	cr_expect_eq(restarts, 2, "it has the right one, and takes what comes of that");
	bench_tell_incarnation(&b, US, 0, 701, MF_ERR_RESTARTED);
	bench_tell_incarnation(&b, US, 1, 701, MF_ERR_RESTARTED);
	cr_expect_eq(restarts, 2);
	bench_stop(&b);
}

/**
 * A switch that was not there before knows which incarnation a node has, but not whether that is news: who
 * knows of another one takes it for news, and who knows of none does not.
 */
Test(host_incarnations, a_incarnation_that_is_no_news)
{
	static const struct {
		uint16_t incarnation;
		enum mf_status as;
		unsigned int restarts[2]; /**< for who does not know of an incarnation; who knows of 1 */
	} word[] = {{700, MF_ERR_INCARNATION, {0, 1}}, {700, MF_ERR_RESTARTED, {0, 1}},
		    {700, MF_ERR_INCARNATION, {0, 1}}, {701, MF_ERR_INCARNATION, {1, 2}},
		    {702, MF_ERR_RESTARTED, {2, 3}},   {701, MF_ERR_INCARNATION, {2, 3}}};

	for (unsigned int knows = 0; knows < 2; knows++) {
		unsigned int restarts;
		struct bench b;

		begin_told(&b, &restarts);
		if (knows == 0)
			cr_assert_eq(mf_host_restart(b.host, b.now, b.memory), 0);
		for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
			bench_tell_incarnation(&b, US, 0, word[i].incarnation, word[i].as);
			cr_expect_eq(restarts, word[i].restarts[knows], "%u, %u: %u", knows, i, restarts);
		}
		bench_stop(&b);
	}
}

/**
 * What was executed for an incarnation is forgotten with the word of the next one. What comes of it later, by
 * the other link, is not executed a second time.
 */
Test(host_incarnations, a_former_incarnation_is_not_executed_again)
{
	struct mf_msg old = bench_chunk(US, 3, 0, 32, true), new = bench_chunk(US, 4, 0, 32, true);
	uint8_t data[32];
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	memset(data, 1, sizeof(data));
	bench_give_by(&b, 0, &old, data);
	bench_expect(&b, 0, 32, 1);
	tell_incarnation(&b, 0, 2);
	memset(data, 2, sizeof(data));
	bench_give_by(&b, 0, &new, data);
	bench_expect(&b, 0, 32, 2);
	memset(data, 1, sizeof(data));
	bench_give_by(&b, 1, &old, data);
	bench_expect(&b, 0, 32, 2);
	cr_expect_eq(mf_host_stats(b.host)->drop_fenced, 1);
	tell_incarnation(&b, 1, 2);
	bench_give_by(&b, 1, &old, data);
	bench_expect(&b, 0, 32, 1);
	bench_stop(&b);
}

/** The word may be lost, and nothing would pass by that link for ever: so no longer than operations take. */
Test(host_incarnations, a_former_incarnation_is_over_in_time)
{
	struct mf_msg m = bench_chunk(US, 3, 0, 32, true);
	uint8_t data[32];
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	memset(data, 1, sizeof(data));
	tell_incarnation(&b, 0, 2);
	bench_give_by(&b, 1, &m, data);
	bench_expect(&b, 0, 32, 0);
	bench_run(&b, b.now + TIMEOUT);
	bench_give_by(&b, 1, &m, data);
	bench_expect(&b, 0, 32, 1);
	bench_stop(&b);
}

/** To the picosecond: by the date of its last block. */
Test(host_incarnations, a_former_incarnation_is_over_at_its_time)
{
	for (unsigned int over = 0; over < 2; over++) {
		struct mf_msg m = bench_chunk(US, 3, 0, 32, true);
		unsigned int restarts, blocks = mf_proto_chunk_blocks(&(struct mf_proto){.ext = true}, 32);
		uint8_t data[32];
		struct bench b;

		begin_told(&b, &restarts);
		memset(data, 1, sizeof(data));
		tell_incarnation(&b, 0, 2);
		b.now += TIMEOUT - (blocks - 1) * ALONE_PERIOD - 1 + over;
		bench_give_by(&b, 1, &m, data);
		bench_expect(&b, 0, 32, (uint8_t)over);
		bench_stop(&b);
	}
}
