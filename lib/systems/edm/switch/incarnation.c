/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has been told of whose incarnation, and has said so: see incarnation.h. */
#include <errno.h>
#include <stdlib.h>

#include "systems/edm/switch/incarnation.h"

#define LONGER_MOST 6 /* doublings of the time after which an incarnation is said again */

int incarnation_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	struct incarnations *l = calloc(1, sizeof(*l) + sw->shell.ports * sizeof(l->of[0]));

	sw->incarnations = l;
	if (l == NULL)
		return -ENOMEM;
	l->again = config->take_again;
	l->tick = MF_NEVER;
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		l->of[i].number = config->redundant && config->begins;
	if (config->redundant)
		l->known = calloc((size_t)sw->shell.ports * sw->shell.ports, sizeof(*l->known));
	return config->redundant && l->known == NULL ? -ENOMEM : 0;
}

void incarnation_fini(struct mf_switch *sw)
{
	if (sw->incarnations != NULL)
		free(sw->incarnations->known);
	free(sw->incarnations);
}

static bool is_empty(const struct mf_switch *sw, const uint64_t *set)
{
	uint64_t any = 0;

	for (unsigned int w = 0; w <= (sw->shell.ports - 1) / 64; w++)
		any |= set[w];
	return any == 0;
}

static void arm(struct mf_switch *sw, const struct incarnation *of)
{
	struct incarnations *l = sw->incarnations;

	if (l->again == 0)
		return;
	l->tick = mf_time_min(l->tick, of->at);
	wake_at(sw, l->tick);
}

/** It is said again soon, and not later than it would have been: another one may hurry it all the time. */
static void hurry(struct mf_switch *sw, struct incarnation *of, mf_time now)
{
	of->pause = sw->incarnations->again;
	if (of->at <= now || of->at > now + of->pause)
		of->at = now + of->pause;
	arm(sw, of);
}

/**
 * A node is to say that it knows the incarnation of another one. If it has no link, and no other switch, all
 * that it had for others is lost.
 */
static void expect(struct mf_switch *sw, uint16_t from, struct incarnation *of, mf_time now)
{
	if (!(sw->standby != NULL ? sw->port[from].shell.memory_enabled : test_bit(sw->reach_set, from)))
		return;
	sw->barring += is_empty(sw, of->unheard);
	set_bit(of->unheard, from);
	set_bit(of->untold, from);
	hurry(sw, of, now);
}

/** What comes of a node answers that incarnation. */
static void unbar(struct mf_switch *sw, uint16_t from, struct incarnation *of)
{
	if (!test_bit(of->unheard, from))
		return;
	clear_bit(of->unheard, from);
	sw->barring -= is_empty(sw, of->unheard);
	if (sw->barring == 0)
		sw->incarnations->tick = MF_NEVER;
}

/** Who has said before that it knows this incarnation has answered it alone since. */
static void recall(struct mf_switch *sw, uint16_t node)
{
	struct incarnation *of = &sw->incarnations->of[node];
	uint16_t *known = &sw->incarnations->known[node * sw->shell.ports];

	for (uint16_t i = 0; i < sw->shell.ports; i++) {
		if (known[i] == of->number)
			unbar(sw, i, of);
		known[i] = 0;
	}
}

void incarnation_begin(struct mf_switch *sw, uint16_t node, uint16_t number, bool news, mf_time now)
{
	struct incarnations *l = sw->incarnations;
	struct incarnation *of = &l->of[node];

	of->number = number;
	of->news = news;
	of->since = ++l->begun;
	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (i != node)
			expect(sw, i, of, now);
	if (l->known != NULL)
		recall(sw, node);
}

void incarnation_ignorant(struct mf_switch *sw, uint16_t node, mf_time now)
{
	struct incarnations *l = sw->incarnations;

	for (uint16_t i = 0; i < sw->shell.ports; i++) {
		if (i != node && l->of[i].number != 0)
			expect(sw, node, &l->of[i], now);
		if (l->known != NULL)
			l->known[i * sw->shell.ports + node] = 0;
	}
}

void incarnation_forget(struct mf_switch *sw)
{
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		sw->incarnations->of[i] = (struct incarnation){0};
	if (sw->incarnations->known != NULL)
		memset(sw->incarnations->known, 0,
		       (size_t)sw->shell.ports * sw->shell.ports * sizeof(*sw->incarnations->known));
	sw->barring = 0;
	sw->incarnations->tick = MF_NEVER;
}

void incarnation_cut(struct mf_switch *sw, uint16_t node)
{
	for (unsigned int i = 0; i < sw->shell.ports; i++) {
		clear_bit(sw->incarnations->of[i].untold, node);
		unbar(sw, node, &sw->incarnations->of[i]);
	}
}

void incarnation_doubt(struct mf_switch *sw, uint16_t node, mf_time now)
{
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		if (test_bit(sw->incarnations->of[i].unheard, node)) {
			set_bit(sw->incarnations->of[i].untold, node);
			hurry(sw, &sw->incarnations->of[i], now);
		}
	if (!is_empty(sw, sw->incarnations->of[node].unheard)) /* not said while it had no link */
		hurry(sw, &sw->incarnations->of[node], now);
}

/** @return false: there is no room for all */
static bool say(struct mf_switch *sw, uint16_t to, uint16_t of, unsigned int times, mf_time now)
{
	enum mf_status status =
		incarnation_is_news(sw->incarnations, to, of) ? MF_ERR_RESTARTED : MF_ERR_INCARNATION;

	return link_say(sw, to, of, status, sw->incarnations->of[of].number, times, now);
}

/*
 * News several times at first: who misses the word takes the first requests of the new incarnation for copies
 * of what the one before has asked. Not where its own link is lost.
 */
static bool tell(struct mf_switch *sw, uint16_t to, uint16_t of, mf_time now)
{
	struct incarnation *incarnation = &sw->incarnations->of[of];

	if (!test_bit(incarnation->untold, to) || !test_bit(sw->reach_set, to))
		return true;
	if (!say(sw, to, of, incarnation_is_news(sw->incarnations, to, of) ? TOLD_TIMES : 1, now))
		return false;
	clear_bit(incarnation->untold, to);
	return true;
}

bool incarnation_tell(struct mf_switch *sw, uint16_t node, mf_time now)
{
	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (!tell(sw, i, node, now))
			return false;
	return true;
}

bool incarnation_tell_to(struct mf_switch *sw, uint16_t to, mf_time now)
{
	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (!tell(sw, to, i, now))
			return false;
	return true;
}

bool incarnation_foreseen(const struct mf_switch *sw, uint16_t from, uint16_t of, uint16_t number)
{
	return sw->incarnations->known[of * sw->shell.ports + from] == number;
}

bool incarnation_heard(struct mf_switch *sw, uint16_t from, uint16_t of, uint16_t number)
{
	struct incarnations *l = sw->incarnations;

	if (of >= sw->shell.ports)
		return false;
	if (l->of[of].number == number)
		unbar(sw, from, &l->of[of]);
	if (l->known == NULL || l->of[of].number == number || incarnation_foreseen(sw, from, of, number))
		return false;
	l->known[of * sw->shell.ports + from] = number;
	return true;
}

/** Whether a node has a link, and somebody who has one has not heard of its incarnation. */
static bool is_unheard(const struct mf_switch *sw, uint16_t of)
{
	uint64_t any = 0;

	for (unsigned int w = 0; w <= (sw->shell.ports - 1) / 64; w++)
		any |= sw->incarnations->of[of].unheard[w] & sw->reach_set[w];
	return any != 0 && test_bit(sw->reach_set, of);
}

/** Says the incarnation of a node again to who has not heard, where there is room. */
static void say_again(struct mf_switch *sw, uint16_t of, mf_time now)
{
	struct incarnation *incarnation = &sw->incarnations->of[of];

	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (test_bit(incarnation->unheard, i) && !test_bit(incarnation->untold, i) &&
		    test_bit(sw->reach_set, i))
			say(sw, i, of, 1, now);
	incarnation->pause = mf_time_min(2 * incarnation->pause, sw->incarnations->again << LONGER_MOST);
	incarnation->at = now + incarnation->pause;
}

mf_time incarnation_run(struct mf_switch *sw, mf_time now)
{
	struct incarnations *l = sw->incarnations;

	if (now < l->tick)
		return l->tick;
	l->tick = MF_NEVER;
	for (uint16_t i = 0; i < sw->shell.ports; i++) {
		if (!is_unheard(sw, i))
			continue;
		if (now >= l->of[i].at)
			say_again(sw, i, now);
		arm(sw, &l->of[i]);
	}
	return l->tick;
}
