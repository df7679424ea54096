/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/ports/partner.h"

#include "config/mf_config.h"
#include "wall/ports/mf_port.h"

#define UNHEARD 2 /**< HELLO periods without a sign of life, after which a partner is looked at */
#define LOOKS 2 /**< in such a period */
#define LOOK_MIN MF_MS(5)
#define BEAR 10 /**< times of silence that a partner is borne that lives and says nothing */
/**
 * A thread that has a CPU for a tenth of the time has turns enough to say something. So does one whose time
 * the kernel counts late, as it does on CPUs without ticks.
 */
#define RUN_COUNTS 10

void partner_init(struct partner *p)
{
	*p = (struct partner){.seen = NEIGHBOUR_NONE, .recovers = MF_NEVER};
}

void partner_fini(struct partner *p)
{
	neighbour_leave(&p->seen);
	p->here = false;
}

void partner_told(struct partner *p, const struct mf_link_place *place)
{
	if (p->place.host == place->host && p->place.thread == place->thread)
		return;
	partner_fini(p);
	p->place = *place;
	p->here = neighbour_find(&p->seen, place);
	p->suspect = false;
}

/** The longest timer of an operation, and the shortest; 0: some have none, all have none. */
struct timers {
	mf_time longest, shortest;
};

static struct timers timers_of(const struct mf_config *config)
{
	struct timers t = {.shortest = MF_NEVER};
	bool endless = false;

	for (unsigned int i = 0; i < config->nodes; i++) {
		const mf_time each[] = {config->node[i].host.read_timeout[MF_CLOCK_WALL],
					config->node[i].host.write_timeout[MF_CLOCK_WALL]};

		for (unsigned int k = 0; k < RTE_DIM(each); k++) {
			endless |= each[k] == 0;
			t.longest = mf_time_max(t.longest, each[k]);
			t.shortest = each[k] != 0 ? mf_time_min(t.shortest, each[k]) : t.shortest;
		}
	}
	t.longest = endless ? 0 : t.longest;
	t.shortest = t.shortest == MF_NEVER ? 0 : t.shortest;
	return t;
}

/**
 * How long a partner that lives is waited for in all. With a second switch somebody else can do what it does
 * not: then no longer than operations can wait for, and a quarter of their time is left for that.
 */
static mf_time bear(const struct wall *w, mf_time silence)
{
	mf_time shortest = timers_of(w->f->config).shortest, all = BEAR * silence;

	if (w->redundant && shortest != 0)
		all = mf_time_min(all, shortest / 4 * 3);
	return mf_time_max(all, silence);
}

/**
 * What was granted to a node that cannot use it now is kept, but not for longer than an operation may wait
 * for that: others have less of the receiver meanwhile.
 */
static void keep_grants(const struct wall *w, struct port_end *e, mf_time silence, mf_time by, mf_time at)
{
	mf_time longest = timers_of(w->f->config).longest;

	if (!e->switch_end || e->of_node || !e->open || by == 0)
		return;
	if (longest != 0 && e->partner.held >= mf_time_max(longest, silence))
		return;
	e->partner.held += by;
	role_bear(e->in.to, e->in.port, by, at);
}

/**
 * Of `by` more of silence so much counts. Who polls in vain gives its CPU away after each turn, so it has
 * many of them and little time; and in each it says HELLO, if it has not for a period.
 */
static mf_time counts(struct partner *p, mf_time by, mf_time hello)
{
	const struct neighbour_cpu had = p->had;

	if (!p->here || neighbour_look(&p->seen, &p->had) != NEIGHBOUR_LIVES)
		return by;
	return mf_time_min(
		by, mf_time_max(RUN_COUNTS * (p->had.ran - had.ran), hello * (p->had.slices - had.slices)));
}

/** It begins to be looked at. */
static void suspect(struct partner *p, mf_time unheard)
{
	p->suspect = true;
	p->unheard = p->counted = unheard;
	p->held = 0;
	p->recovers = MF_NEVER;
	counts(p, 0, 0);
}

/** Nobody but its process can end the silence of one whose process is gone. */
static bool is_gone(struct partner *p)
{
	struct neighbour_cpu had;

	return p->here && neighbour_look(&p->seen, &had) == NEIGHBOUR_GONE;
}

static void judge(const struct wall *w, struct port_end *e, const struct mf_config_llr *llr, mf_time unheard,
		  mf_time at)
{
	struct partner *p = &e->partner;
	mf_time by = unheard - mf_time_min(p->unheard, unheard), counted = counts(p, by, llr->hello);

	p->unheard = unheard;
	p->counted += counted;
	/* Of a partner elsewhere nobody knows whether it had a turn: silence judges the link, and the grants.
	 */
	keep_grants(w, e, llr->silence, p->here ? by - counted : by, at);
	mf_link_excuse(e->link, mf_time_min(unheard - mf_time_min(p->counted, unheard),
					    bear(w, llr->silence) - llr->silence));
}

/**
 * Whatever was lost on the link comes again, or the link goes down. Until then what was granted is not late
 * by its node. Where processes get no CPU for long, or much is lost, that takes longer than a grant lasts.
 */
static void recover(const struct wall *w, struct port_end *e, mf_time silence, mf_time at)
{
	struct partner *p = &e->partner;
	mf_time since = p->recovers;

	p->recovers = mf_link_recovers(e->link) ? at : MF_NEVER;
	if (p->recovers == MF_NEVER)
		p->held = 0;
	else if (since < at)
		keep_grants(w, e, silence, at - since, at);
}

static void look(const struct wall *w, struct port_end *e, mf_time now, mf_time at)
{
	const struct mf_config_llr *llr = fabric_llr(w->f, port_end_link(w, e));
	mf_time unheard = mf_link_unheard(e->link, now);
	struct partner *p = &e->partner;

	if (likely(unheard < UNHEARD * llr->hello)) {
		if (p->suspect)
			mf_link_excuse(e->link, 0);
		p->suspect = false;
		recover(w, e, llr->silence, at);
		return;
	}
	if (is_gone(p))
		mf_link_gone(e->link);
	else if (!p->suspect)
		suspect(p, unheard);
	else
		judge(w, e, llr, unheard, at);
}

void partners_look(const struct wall *w, struct wall_port *p, mf_time now, mf_time at)
{
	const struct mf_link_place self = neighbour_self();
	mf_time period = MF_SEC(1);

	for (unsigned int i = 0; i < p->ends; i++) {
		struct port_end *e = &p->end[i];

		period = mf_time_min(period, fabric_llr(w->f, port_end_link(w, e))->hello / LOOKS);
		if (self.host != 0)
			mf_link_set_place(e->link, &self);
		look(w, e, now, at);
	}
	p->partners_at = now + mf_time_max(period, LOOK_MIN);
}

void partners_away(struct wall_port *p, mf_time now, mf_time by)
{
	for (unsigned int i = 0; i < p->ends; i++)
		mf_link_away(p->end[i].link, now, by);
}
