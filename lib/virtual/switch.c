/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch of the virtual clock, with its scheduler. What arrives at a port, what is sent from one, the
 * switch and the scheduler are actors, each with one time at which it wants to be called. Those of equal
 * time are called in the order of their numbers: first what arrives, then what is sent, then what is
 * decided. What is decided and has to go at once goes at that time still.
 */
#include <string.h>

#include "virtual/virtual.h"

#define GRANTS 64
#define DATED 64 /* descriptors at a time */
#define REVIVE MF_NS(10)
#define REQUEST_BLOCKS 2 /* of the shortest request */
#define NEAR 4 /* arrivals between the steps in which what they need is fetched */

/* Actors, in the order of their calls. */
static uint32_t actor_tx(unsigned int i)
{
	return i;
}

static uint32_t actor_switch(const struct virtual_switch *s)
{
	return s->ports;
}

static uint32_t actor_sched(const struct virtual_switch *s)
{
	return s->ports + 1;
}

/** When the scheduler wants to be called. */
static mf_time sched_next(const struct virtual_switch *s)
{
	mf_time next = mf_scheduler_next(s->sched);

	return __builtin_expect(s->outages != NULL, 0) ? virtual_outage_sched_next(s, next) : next;
}

/** Lets the scheduler match, and hands over its grants. */
static void match(struct virtual_switch *s)
{
	uint64_t grants[GRANTS * MF_ITEM_WORDS];
	unsigned int n;

	do {
		if (__builtin_expect(s->outages != NULL, 0))
			n = virtual_outage_sched_run(s, grants, GRANTS);
		else
			n = mf_scheduler_run(s->sched, s->v->now, grants, GRANTS);
		mf_sw_give(s->sw, s->v->now, grants, n);
	} while (n == GRANTS);
}

/**
 * Hands over as many of n items as the scheduler has room for. One that was stalled has a clock of its own.
 * @return how many
 */
static unsigned int hand_over(struct virtual_switch *s, const void *items, unsigned int n)
{
	uint64_t dated[DATED * MF_ITEM_WORDS];

	if (__builtin_expect(s->outages == NULL, 1))
		return mf_scheduler_give(s->sched, items, n);
	n = n < DATED ? n : DATED;
	memcpy(dated, items, n * (size_t)mf_scheduler_channel(s->sched)->in->size);
	virtual_outage_date_in(s, dated, n);
	return mf_scheduler_give(s->sched, dated, n);
}

/**
 * The scheduler takes nothing before then. What it is to be told waits in the switch, which takes no more
 * from its links than it has room for: so they push back, until a scheduler that takes time has taken all
 * that it can at a time.
 */
static __attribute__((noinline)) void push_back(struct virtual_switch *s, mf_time until)
{
	tournament_set(&s->queue, actor_sched(s), until);
	if (s->outages != NULL && !mf_sw_can_rx(s->sw))
		virtual_outage_close(
			s, mf_time_max(until,
				       s->v->now + 1 + s->v->f->sw[s->number].tier->config->sched.insert));
}

/** Hands over what the switch has for the scheduler. */
static void tell(struct virtual_switch *s)
{
	mf_time until = __builtin_expect(s->outages != NULL, 0) ? virtual_outage_sched_stalled(s) : 0;
	const mf_time *items; /* each begins with its time */
	unsigned int n;

	if (until != 0) {
		push_back(s, until);
		return;
	}
	while ((items = mf_sw_peek(s->sw, &n)) != NULL) {
		/* A switch that takes over tells what was asked before: it is matched from now on. */
		if (__builtin_expect(s->v->redundant, 0) && *items < s->v->now)
			match(s);
		n = hand_over(s, items, n);
		if (n == 0) { /* what it was told before has yet to take effect */
			push_back(s, sched_next(s));
			return;
		}
		mf_sw_advance(s->sw, n);
		tournament_set(&s->queue, actor_sched(s), sched_next(s));
	}
}

/** When a port may send. */
static void expect(struct virtual_switch *s, unsigned int i)
{
	const struct virtual *v = s->v;
	mf_time next = mf_time_min(mf_sw_tx_next(s->sw, i, v->now), wire_held(s->out[i]));

	if (wire_hangs(s->out[i]))
		next = mf_time_min(next, mf_sw_tx_next_block(s->sw, i, v->now));
	next = mf_time_max(v->now, next);
	if (__builtin_expect(s->outages != NULL, 0))
		next = virtual_outage_port_sends(s, i, next);
	tournament_set(&s->queue, actor_tx(i), next);
}

/** The switch was demoted: it begins again, with nothing, at the links that there are. */
static __attribute__((noinline)) void begin_anew(struct virtual_switch *s)
{
	mf_sw_crash(s->sw, s->v->now);
	s->reviving = true;
	s->revive_at = s->v->now + REVIVE;
}

/** As soon as all that it had for them is gone; at times that do not depend on what else it is called for. */
static __attribute__((noinline)) void revive(struct virtual_switch *s)
{
	s->revive_at += REVIVE;
	s->reviving = false;
	for (unsigned int i = 0; i < s->ports; i++)
		if (virtual_port_is_used(s, i) &&
		    (s->outages == NULL || virtual_outage_whole(s->v, &s->in[i])))
			s->reviving |= !mf_sw_link_up(s->sw, i, s->v->now);
}

/** The standby collects messages, and the active one does not. */
static __attribute__((noinline)) void take_role(struct virtual_switch *s, mf_time now)
{
	bool whole = !s->v->unsettled && !mf_sw_active(s->sw);

	if (s->whole == whole)
		return;
	s->whole = whole;
	s->arrivals.n = s->arrivals.next = 0;
	for (unsigned int i = 0; i < s->ports; i++) {
		wire_whole(&s->in[i], whole, now);
		if (wire_flights(&s->in[i]) > 0)
			virtual_switch_hears(s, i);
	}
}

void virtual_switches_settle(struct virtual *v, bool settled)
{
	if (v->unsettled == !settled)
		return;
	v->unsettled = !settled;
	for (unsigned int k = 0; k < v->switches; k++)
		take_role(&v->sw[k], v->class[v->sw[k].class].done);
}

void virtual_switch_fini(struct virtual_switch *s)
{
	tournament_fini(&s->queue);
	tournament_fini(&s->step);
	arrivals_fini(&s->arrivals);
}

int virtual_switch_init(struct virtual_switch *s)
{
	int err = tournament_init(&s->queue, s->ports + 2);

	if (err == 0 && s->v->ahead == 0)
		err = tournament_init(&s->step, s->ports);
	if (err == 0 && s->v->redundant)
		take_role(s, s->v->now);
	return err;
}

/** The switch was called: what has it for the scheduler, which ports have something to send? */
static void after(struct virtual_switch *s)
{
	struct virtual *v = s->v;
	uint64_t *set = mf_sw_tx_set(s->sw);

	if (__builtin_expect(v->redundant, 0)) {
		if (mf_sw_demoted(s->sw))
			begin_anew(s);
		if (s->reviving)
			tournament_hasten(&s->queue, actor_switch(s), s->revive_at);
		take_role(s, v->now);
	}
	tell(s);
	for (unsigned int w = 0; w <= (s->ports - 1) / 64; w++)
		for (; set[w] != 0; set[w] &= set[w] - 1)
			expect(s, w * 64 + (unsigned int)__builtin_ctzll(set[w]));
	tournament_hasten(&s->queue, actor_switch(s), mf_time_max(v->now, mf_sw_next(s->sw)));
}

/** If not all of a span was taken the rest may come before all else that is known of. */
static void expect_rest(struct virtual_switch *s, unsigned int i)
{
	mf_time due = wire_due(&s->in[i]);

	if (!wire_is_begun(&s->in[i])) /* what comes next is among what was found */
		return;
	if (s->v->ahead != 0 && due < s->arrives)
		s->arrives = mf_time_min(due, arrivals_next(&s->arrivals));
}

/** The next span to port i may hold requests that find no room: it matters when each of them comes. */
static bool may_overflow(const struct virtual_switch *s, unsigned int i)
{
	return !mf_sw_has_requests(s->sw, i, wire_flight(&s->in[i], 0)->flight->count / REQUEST_BLOCKS);
}

/** Until when it is known that what is under way to port i arrives, and what the switch is then. */
static mf_time known(const struct virtual_switch *s, unsigned int i)
{
	const struct virtual *v = s->v;
	if (s->outages == NULL)
		return MF_NEVER;
	if (v->unsettled || may_overflow(s, i))
		return v->now;
	if (v->redundant) /* what else comes goes before or behind a whole message */
		return mf_time_min(wire_first_end(&s->in[i]), virtual_outage_open(s));
	return virtual_outage_open(s);
}

static void receive(struct virtual_switch *s, unsigned int i)
{
	struct virtual *v = s->v;
	v->f->info.steps++;
	virtual_receive(s->v, &s->in[i], known(s, i), &v->span);
	if (__builtin_expect(s->outages != NULL, 0))
		expect_rest(s, i);
	mf_sw_rx(s->sw, i, v->now, &v->span);
	if (__builtin_expect(v->f->guards != NULL, 0))
		virtual_link_look(s->v, &s->in[i]);
	after(s);
}

/** What is still due waits until a stalled or slow scheduler is called: it is told something then. */
static __attribute__((noinline)) void await_sched(struct virtual_switch *s)
{
	unsigned int left;

	if (mf_sw_peek(s->sw, &left) != NULL)
		tournament_set(&s->queue, actor_switch(s), MF_NEVER);
}

static void run(struct virtual_switch *s)
{
	struct virtual *v = s->v;
	tournament_set(&s->queue, actor_switch(s), MF_NEVER);
	if (__builtin_expect(s->reviving, 0) && s->revive_at <= v->now)
		revive(s);
	mf_sw_run(s->sw, v->now);
	after(s);
	if (__builtin_expect(mf_sw_next(s->sw) <= v->now, 0))
		await_sched(s);
}

void virtual_switch_changed(struct virtual_switch *s)
{
	after(s);
	tournament_set(&s->queue, actor_sched(s), sched_next(s));
}

static void run_sched(struct virtual_switch *s)
{
	if (__builtin_expect(s->outages != NULL, 0))
		tell(s);
	match(s);
	tournament_set(&s->queue, actor_sched(s), sched_next(s));
	after(s);
}

void virtual_port_part(struct virtual_switch *s, unsigned int i)
{
	if (!wire_has_part(&s->in[i], s->v->now))
		return;
	receive(s, i);
	virtual_switch_hears(s, i);
}

/** How many blocks port i may give out at once. */
static inline unsigned int blocks(const struct virtual_switch *s, unsigned int i)
{
	return __builtin_expect(s->outages != NULL, 0) ? virtual_outage_blocks(s->v, s->out[i]) : s->v->max;
}

int virtual_port_tx(struct virtual_switch *s, unsigned int i)
{
	struct virtual *v = s->v;
	struct wire *w = s->out[i];
	bool more = false;
	int n = 0;

	if (__builtin_expect(s->outages != NULL, 0) && virtual_outage_port_sends(s, i, v->now) > v->now) {
		expect(s, i);
		return 0;
	}
	if (__builtin_expect(wire_held(w) <= v->now, 0)) {
		n = virtual_fault_release(s->v, w);
		virtual_hears(s->v, w);
	}
	if (n == 0)
		n = (int)mf_sw_tx(s->sw, i, v->now, blocks(s, i), &v->span);
	if (n > 0) {
		more = wire_wants_all(w, &v->span);
		n = virtual_send(s->v, w, &v->span);
		virtual_hears(s->v, w);
	}
	expect(s, i);
	if (__builtin_expect(more, 0))
		tournament_set(&s->queue, actor_tx(i), v->now);
	if (mf_sw_tx_makes_room(s->sw)) /* others may be told so */
		tournament_hasten(&s->queue, actor_switch(s), mf_time_max(v->now, mf_sw_next(s->sw)));
	if (w->timing->backlog_k != 0) /* it may not be held any longer */
		tell(s);
	return n;
}

/** A port has sent something: of those that do next, what they look at is fetched, in two steps. */
static inline void send_soon(struct virtual_switch *s, uint32_t actor)
{
	uint32_t i = tournament_soon(&s->queue, actor, 4), k = tournament_soon(&s->queue, actor, 2);

	if (i < s->ports) {
		mf_sw_fetch_tx(s->sw, i);
		__builtin_prefetch(s->out[i], 1);
	}
	if (k < s->ports) {
		mf_sw_fetch_head(s->sw, k);
		__builtin_prefetch(&s->out[k]->ring[s->out[k]->tail & s->out[k]->mask], 1);
	}
}

/** The actor whose time is v->now. @return 0 or more, or -errno */
static int call(struct virtual_switch *s)
{
	struct virtual *v = s->v;
	uint32_t actor = tournament_actor(&s->queue);
	int n;

	v->f->info.steps++;
	if (actor < s->ports) {
		n = virtual_port_tx(s, actor);
		send_soon(s, actor);
		return n;
	}
	if (actor == actor_switch(s))
		run(s);
	else
		run_sched(s);
	return 0;
}

/** In step: takes what arrives at v->now by the first port. @return 1, or 0: nothing does */
static int receive_one(struct virtual_switch *s)
{
	uint32_t i;

	if (tournament_next(&s->step) != s->v->now)
		return 0;
	i = tournament_actor(&s->step);
	receive(s, i);
	virtual_switch_hears(s, i);
	return 1;
}

int virtual_switch_one(struct virtual_switch *s, enum virtual_call what)
{
	int err;

	if (what == VIRTUAL_RX)
		return receive_one(s);
	if (virtual_actor_next(s) != s->v->now)
		return 0;
	err = call(s);
	return err < 0 ? err : 1;
}

/** What will arrive is known: what it looks at is fetched, step by step. */
static void come_near(struct virtual_switch *s)
{
	const struct arrivals *a = &s->arrivals;
	const struct arrival *x;

	if ((x = arrivals_ahead(a, 4 * NEAR)) != NULL)
		flight_fetch(x->flight);
	if (!mf_sw_foresees(s->sw))
		return;
	if ((x = arrivals_ahead(a, 3 * NEAR)) != NULL) {
		__builtin_prefetch(&s->in[arrival_port(x)], 1);
		mf_sw_fetch(s->sw, arrival_port(x), flight_words(x->flight)[0]);
	}
	if ((x = arrivals_ahead(a, 2 * NEAR)) != NULL)
		mf_sw_fetch_mux(s->sw, arrival_port(x), flight_words(x->flight)[0]);
	if ((x = arrivals_ahead(a, NEAR)) != NULL)
		mf_sw_fetch_items(s->sw, arrival_port(x), flight_words(x->flight)[0]);
}

/** What arrives until then is found when that begins; and again, where it was put off. */
static inline int find_arrivals(struct virtual_switch *s, mf_time until)
{
	if (__builtin_expect(s->arrives > until, 1))
		return 0;
	return arrivals_find(&s->arrivals, s->in, s->ports, s->arrives, until, &s->arrives);
}

int virtual_switch(struct virtual_switch *s, mf_time until)
{
	struct virtual *v = s->v;
	struct arrivals *a = &s->arrivals;
	int err = 0;

	while (err >= 0 && (err = find_arrivals(s, until)) == 0) {
		mf_time arrives = arrivals_next(a), next = virtual_actor_next(s);

		v->now = mf_time_min(arrives, next);
		if (v->now > until)
			break;
		if (arrives <= next) {
			come_near(s);
			receive(s, arrival_port(&a->arrival[a->next++]));
		} else {
			err = call(s);
		}
	}
	return err < 0 ? err : 0;
}
