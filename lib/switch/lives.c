/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has been told of whose life, and has said so: see lives.h. */
#include <errno.h>
#include <stdlib.h>

#include "lives.h"

int lives_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	struct lives *l = calloc(1, sizeof(*l) + sw->ports * sizeof(l->of[0]));

	sw->lives = l;
	if (l == NULL)
		return -ENOMEM;
	l->again = config->take_again;
	l->tick = MF_NEVER;
	for (unsigned int i = 0; i < sw->ports; i++)
		l->of[i].number = config->twin && config->begins;
	return 0;
}

void lives_fini(struct mf_switch *sw)
{
	free(sw->lives);
}

static bool is_empty(const struct mf_switch *sw, const uint64_t *set)
{
	uint64_t any = 0;

	for (unsigned int w = 0; w <= (sw->ports - 1) / 64; w++)
		any |= set[w];
	return any == 0;
}

static void arm(struct mf_switch *sw, mf_time now)
{
	struct lives *l = sw->lives;

	if (l->again == 0)
		return;
	l->tick = mf_time_min(l->tick, now + l->again);
	due(sw, l->tick);
}

/**
 * A node is to say that it knows the life of another one. If it has no link, and no other switch, all that it
 * had for others is lost.
 */
static void expect(struct mf_switch *sw, uint16_t from, struct life *of)
{
	if (!(sw->standby != NULL ? sw->port[from].memory_enabled : test_bit(sw->reach_set, from)))
		return;
	sw->barring += is_empty(sw, of->unheard);
	set_bit(of->unheard, from);
	set_bit(of->untold, from);
}

/** It knows it, or nothing of before can come of it. */
static void believe(struct mf_switch *sw, uint16_t from, struct life *of)
{
	clear_bit(of->untold, from);
	if (!test_bit(of->unheard, from))
		return;
	clear_bit(of->unheard, from);
	sw->barring -= is_empty(sw, of->unheard);
}

void lives_begin(struct mf_switch *sw, uint16_t node, uint16_t number, bool news, mf_time now)
{
	struct lives *l = sw->lives;
	struct life *of = &l->of[node];

	of->number = number;
	of->news = news;
	of->since = ++l->begun;
	for (uint16_t i = 0; i < sw->ports; i++)
		if (i != node)
			expect(sw, i, of);
	arm(sw, now);
}

void lives_ignorant(struct mf_switch *sw, uint16_t node)
{
	for (uint16_t i = 0; i < sw->ports; i++)
		if (i != node && sw->lives->of[i].number != 0)
			expect(sw, node, &sw->lives->of[i]);
}

void lives_forget(struct mf_switch *sw)
{
	for (unsigned int i = 0; i < sw->ports; i++)
		sw->lives->of[i] = (struct life){0};
	sw->barring = 0;
	sw->lives->tick = MF_NEVER;
}

void lives_cut(struct mf_switch *sw, uint16_t node)
{
	for (unsigned int i = 0; i < sw->ports; i++)
		believe(sw, node, &sw->lives->of[i]);
}

void lives_doubt(struct mf_switch *sw, uint16_t node, mf_time now)
{
	for (unsigned int i = 0; i < sw->ports; i++)
		if (test_bit(sw->lives->of[i].unheard, node))
			set_bit(sw->lives->of[i].untold, node);
	arm(sw, now);
}

/** Whether a node may know another life of one than it has. */
static bool is_news(const struct lives *l, uint16_t to, uint16_t of)
{
	return l->of[of].news && l->of[of].since > l->of[to].since;
}

/** @return false: there is no room for all */
static bool say(struct mf_switch *sw, uint16_t to, uint16_t of, unsigned int times, mf_time now)
{
	enum mf_status status = is_news(sw->lives, to, of) ? MF_ERR_RESTARTED : MF_ERR_LIFE;

	return link_say(sw, to, of, status, sw->lives->of[of].number, times, now);
}

/*
 * News several times at first: who misses the word takes the first requests of the new life for copies of
 * what the one before has asked. Not where its own link is lost.
 */
static bool tell(struct mf_switch *sw, uint16_t to, uint16_t of, mf_time now)
{
	struct life *life = &sw->lives->of[of];

	if (!test_bit(life->untold, to) || !test_bit(sw->reach_set, to))
		return true;
	if (!say(sw, to, of, is_news(sw->lives, to, of) ? TOLD_TIMES : 1, now))
		return false;
	clear_bit(life->untold, to);
	return true;
}

bool lives_tell(struct mf_switch *sw, uint16_t node, mf_time now)
{
	for (uint16_t i = 0; i < sw->ports; i++)
		if (!tell(sw, i, node, now))
			return false;
	return true;
}

bool lives_tell_to(struct mf_switch *sw, uint16_t to, mf_time now)
{
	for (uint16_t i = 0; i < sw->ports; i++)
		if (!tell(sw, to, i, now))
			return false;
	return true;
}

void lives_heard(struct mf_switch *sw, uint16_t from, uint16_t of, uint16_t number)
{
	if (of < sw->ports && sw->lives->of[of].number == number)
		believe(sw, from, &sw->lives->of[of]);
}

/** Says the life of a node again to who has not heard, where there is room. @return whether any has not */
static bool say_again(struct mf_switch *sw, uint16_t of, mf_time now)
{
	const struct life *life = &sw->lives->of[of];
	bool any = false;

	for (uint16_t i = 0; i < sw->ports; i++) {
		if (!test_bit(life->unheard, i) || !test_bit(sw->reach_set, i))
			continue;
		any = true;
		if (!test_bit(life->untold, i))
			say(sw, i, of, 1, now);
	}
	return any;
}

mf_time lives_run(struct mf_switch *sw, mf_time now)
{
	struct lives *l = sw->lives;

	if (now < l->tick)
		return l->tick;
	l->tick = MF_NEVER;
	for (uint16_t i = 0; i < sw->ports; i++)
		if (test_bit(sw->reach_set, i) && !is_empty(sw, l->of[i].unheard) && say_again(sw, i, now))
			arm(sw, now);
	return l->tick;
}
