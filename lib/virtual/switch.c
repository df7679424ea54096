/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch's side of the virtual clock. What arrives at a port, what is sent from one, the switch and the
 * scheduler are actors, each with one time at which it wants to be called. Actors of equal time are called
 * in the order of their numbers: first what arrives, then what is sent, then what is decided; and what is
 * decided and has to go at once goes at that time still.
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

static uint32_t actor_switch(const struct virtual *v)
{
	return v->f->nodes;
}

static uint32_t actor_sched(const struct virtual *v)
{
	return v->f->nodes + 1;
}

/** When the scheduler wants to be called. */
static mf_time sched_next(const struct virtual *v)
{
	mf_time next = mf_scheduler_next(v->sched);

	return __builtin_expect(v->events != NULL, 0) ? virtual_event_sched_next(v, next) : next;
}

/** Lets the scheduler match, and hands over its grants. */
static void match(struct virtual *v)
{
	uint64_t grants[GRANTS * MF_ITEM_WORDS];
	unsigned int n;

	do {
		if (__builtin_expect(v->events != NULL, 0))
			n = virtual_event_sched_run(v, grants, GRANTS);
		else
			n = mf_scheduler_run(v->sched, v->now, grants, GRANTS);
		mf_sw_give(v->sw, v->now, grants, n);
	} while (n == GRANTS);
}

/**
 * Hands over as many of n items as the scheduler has room for. One that was stalled has a clock of its own.
 * @return how many
 */
static unsigned int hand_over(struct virtual *v, const void *items, unsigned int n)
{
	uint64_t dated[DATED * MF_ITEM_WORDS];

	if (__builtin_expect(v->events == NULL, 1))
		return mf_scheduler_give(v->sched, items, n);
	n = n < DATED ? n : DATED;
	memcpy(dated, items, n * (size_t)mf_scheduler_channel(v->sched)->in->size);
	virtual_event_date_in(v, dated, n);
	return mf_scheduler_give(v->sched, dated, n);
}

/**
 * The scheduler takes nothing before then. What it is to be told waits in the switch, which takes no more
 * from its links than it has room for: so they push back, until a scheduler that takes time has taken all
 * that it can at a time.
 */
static __attribute__((noinline)) void push_back(struct virtual *v, mf_time until)
{
	event_set(&v->queue, actor_sched(v), until);
	if (v->events != NULL && !mf_sw_can_rx(v->sw))
		virtual_event_close(v, mf_time_max(until, v->now + 1 + v->f->config->sched.insert));
}

/** Hands over what the switch has for the scheduler. */
static void tell(struct virtual *v)
{
	mf_time until = __builtin_expect(v->events != NULL, 0) ? virtual_event_sched_stalled(v) : 0;
	const mf_time *items; /* each begins with its time */
	unsigned int n;

	if (until != 0) {
		push_back(v, until);
		return;
	}
	while ((items = mf_sw_peek(v->sw, &n)) != NULL) {
		/* A switch that takes over tells what was asked before: it is matched from now on. */
		if (__builtin_expect(v->nodes->twin != NULL, 0) && *items < v->now)
			match(v);
		n = hand_over(v, items, n);
		if (n == 0) { /* what it was told before has yet to take effect */
			push_back(v, sched_next(v));
			return;
		}
		mf_sw_advance(v->sw, n);
		event_set(&v->queue, actor_sched(v), sched_next(v));
	}
}

/** When a port may send. */
static void expect(struct virtual *v, unsigned int i)
{
	mf_time next = mf_time_min(mf_sw_tx_next(v->sw, i, v->now), wire_held(&v->down[i]));

	if (wire_hangs(&v->down[i]))
		next = mf_time_min(next, mf_sw_tx_next_block(v->sw, i, v->now));
	next = mf_time_max(v->now, next);
	if (__builtin_expect(v->events != NULL, 0))
		next = virtual_event_down(v, i, next);
	event_set(&v->queue, actor_tx(i), next);
}

/** The switch was deposed: it begins again, with nothing, at the links that there are. */
static __attribute__((noinline)) void begin_anew(struct virtual *v)
{
	mf_sw_crash(v->sw, v->now);
	v->reviving = true;
	v->revive_at = v->now + REVIVE;
}

/** As soon as all that it had for them is gone; at times that do not depend on what else it is called for. */
static __attribute__((noinline)) void revive(struct virtual *v)
{
	v->revive_at += REVIVE;
	v->reviving = false;
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL && (v->events == NULL || virtual_event_whole(v, i)))
			v->reviving |= !mf_sw_link_up(v->sw, i, v->now);
}

/** The standby collects messages, and the active one does not. */
static __attribute__((noinline)) void take_role(struct virtual *v, mf_time now)
{
	bool whole = !v->nodes->unsettled && !mf_sw_active(v->sw);

	if (v->whole == whole)
		return;
	v->whole = whole;
	v->arrivals.n = v->arrivals.next = 0;
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		wire_whole(&v->up[i], whole, now);
		if (wire_flights(&v->up[i]) > 0)
			virtual_switch_hears(v, i);
	}
}

void virtual_switch_settles(struct virtual *v, bool settled)
{
	if (v->unsettled == !settled)
		return;
	v->unsettled = !settled;
	for (struct virtual *net = v; net != NULL; net = net->twin)
		take_role(net, net->switch_done);
}

int virtual_switch_init(struct virtual *v)
{
	int err = event_init(&v->queue, v->f->nodes + 2);

	if (err == 0 && v->f->backup.sw != NULL)
		take_role(v, v->now);
	return err;
}

/** The switch was called: what has it for the scheduler, which ports have something to send? */
static void after(struct virtual *v)
{
	uint64_t *set = mf_sw_tx_set(v->sw);

	if (__builtin_expect(v->nodes->twin != NULL, 0)) {
		if (mf_sw_deposed(v->sw))
			begin_anew(v);
		if (v->reviving)
			event_hasten(&v->queue, actor_switch(v), v->revive_at);
		take_role(v, v->now);
	}
	tell(v);
	for (unsigned int w = 0; w <= (v->f->nodes - 1) / 64; w++)
		for (; set[w] != 0; set[w] &= set[w] - 1)
			expect(v, w * 64 + (unsigned int)__builtin_ctzll(set[w]));
	event_hasten(&v->queue, actor_switch(v), mf_time_max(v->now, mf_sw_next(v->sw)));
}

/** If not all of a span was taken the rest may come before all else that is known of. */
static void expect_rest(struct virtual *v, unsigned int i)
{
	mf_time due = wire_due(&v->up[i]);

	if (!wire_is_begun(&v->up[i])) /* what comes next is among what was found */
		return;
	if (v->ahead != 0 && due < v->arrives)
		v->arrives = mf_time_min(due, arrivals_next(&v->arrivals));
}

/** The next span to port i may hold requests that find no room: it matters when each of them comes. */
static bool may_overflow(const struct virtual *v, unsigned int i)
{
	return !mf_sw_has_requests(v->sw, i, wire_flight(&v->up[i], 0)->flight->count / REQUEST_BLOCKS);
}

/** Until when it is known that what is under way to port i arrives, and what the switch is then. */
static mf_time known(const struct virtual *v, unsigned int i)
{
	if (v->events == NULL)
		return MF_NEVER;
	if (v->nodes->unsettled || may_overflow(v, i))
		return v->now;
	if (v->nodes->twin != NULL) /* what else comes goes before or behind a whole message */
		return mf_time_min(wire_first_end(&v->up[i]), virtual_event_open(v));
	return virtual_event_open(v);
}

static void receive(struct virtual *v, unsigned int i)
{
	v->f->info.events++;
	virtual_receive(v, &v->up[i], known(v, i), &v->span);
	if (__builtin_expect(v->events != NULL, 0))
		expect_rest(v, i);
	mf_sw_rx(v->sw, i, v->now, &v->span);
	if (__builtin_expect(v->f->guards != NULL, 0))
		virtual_link_look(v, i);
	after(v);
}

/** What is still due waits until a stalled or slow scheduler is called: it is told something then. */
static __attribute__((noinline)) void await_sched(struct virtual *v)
{
	unsigned int left;

	if (mf_sw_peek(v->sw, &left) != NULL)
		event_set(&v->queue, actor_switch(v), MF_NEVER);
}

static void run(struct virtual *v)
{
	event_set(&v->queue, actor_switch(v), MF_NEVER);
	if (__builtin_expect(v->reviving, 0) && v->revive_at <= v->now)
		revive(v);
	mf_sw_run(v->sw, v->now);
	after(v);
	if (__builtin_expect(mf_sw_next(v->sw) <= v->now, 0))
		await_sched(v);
}

void virtual_switch_changed(struct virtual *v)
{
	after(v);
	event_set(&v->queue, actor_sched(v), sched_next(v));
}

static void run_sched(struct virtual *v)
{
	if (__builtin_expect(v->events != NULL, 0))
		tell(v);
	match(v);
	event_set(&v->queue, actor_sched(v), sched_next(v));
	after(v);
}

void virtual_port_part(struct virtual *v, unsigned int i)
{
	if (!wire_has_part(&v->up[i], v->now))
		return;
	receive(v, i);
	virtual_switch_hears(v->nodes, i);
}

/** How many blocks port i may give out at once. */
static inline unsigned int blocks(const struct virtual *v, unsigned int i)
{
	return __builtin_expect(v->events != NULL, 0) ? virtual_event_down_blocks(v, i) : v->max;
}

int virtual_port_tx(struct virtual *v, unsigned int i)
{
	bool more = false;
	int n = 0;

	if (__builtin_expect(v->events != NULL, 0) && virtual_event_down(v, i, v->now) > v->now) {
		expect(v, i);
		return 0;
	}
	if (__builtin_expect(wire_held(&v->down[i]) <= v->now, 0)) {
		n = virtual_fault_release(v, &v->down[i], v->nodes->nodes_done);
		virtual_node_hears(v, i);
	}
	if (n == 0)
		n = (int)mf_sw_tx(v->sw, i, v->now, blocks(v, i), &v->span);
	if (n > 0) {
		more = wire_wants_all(&v->down[i], &v->span);
		n = virtual_send(v, &v->down[i], v->nodes->nodes_done, PLACE_SWITCH, virtual_place(v, i));
		virtual_node_hears(v, i);
	}
	expect(v, i);
	if (__builtin_expect(more, 0))
		event_set(&v->queue, actor_tx(i), v->now);
	if (mf_sw_tx_makes_room(v->sw)) /* others may be told so */
		event_hasten(&v->queue, actor_switch(v), mf_time_max(v->now, mf_sw_next(v->sw)));
	if (v->f->link[i].backlog_k != 0) /* it may not be held any longer */
		tell(v);
	return n;
}

/** A port has sent something: of those that do next, what they look at is fetched, in two steps. */
static inline void send_soon(struct virtual *v, uint32_t actor)
{
	uint32_t i = event_soon(&v->queue, actor, 4), k = event_soon(&v->queue, actor, 2);

	if (i < v->f->nodes) {
		mf_sw_fetch_tx(v->sw, i);
		__builtin_prefetch(&v->down[i], 1);
	}
	if (k < v->f->nodes) {
		mf_sw_fetch_head(v->sw, k);
		__builtin_prefetch(&v->down[k].ring[v->down[k].tail & v->down[k].mask], 1);
	}
}

/** The actor whose time is v->now. @return 0 or more, or -errno */
static int call(struct virtual *v)
{
	uint32_t actor = event_actor(&v->queue);
	int n;

	v->f->info.events++;
	if (actor < v->f->nodes) {
		n = virtual_port_tx(v, actor);
		send_soon(v, actor);
		return n;
	}
	if (actor == actor_switch(v))
		run(v);
	else
		run_sched(v);
	return 0;
}

/** In step: takes what arrives at v->now by the first port. @return 1, or 0: nothing does */
static int receive_one(struct virtual *v)
{
	uint32_t i;

	if (event_next(&v->step) != v->now || (i = event_actor(&v->step)) >= v->f->nodes)
		return 0;
	receive(v, i);
	virtual_switch_hears(v, i);
	return 1;
}

int virtual_switch_one(struct virtual *v, enum virtual_call what)
{
	int err;

	if (what == VIRTUAL_RX)
		return receive_one(v);
	if (virtual_actor_next(v) != v->now)
		return 0;
	err = call(v);
	return err < 0 ? err : 1;
}

/** What will arrive is known: what it looks at is fetched, step by step. */
static void come_near(struct virtual *v)
{
	const struct arrivals *a = &v->arrivals;
	const struct arrival *x;

	if ((x = arrivals_ahead(a, 4 * NEAR)) != NULL)
		flight_fetch(x->flight);
	if (!mf_sw_foresees(v->sw))
		return;
	if ((x = arrivals_ahead(a, 3 * NEAR)) != NULL) {
		__builtin_prefetch(&v->up[arrival_port(x)], 1);
		mf_sw_fetch(v->sw, arrival_port(x), flight_words(x->flight)[0]);
	}
	if ((x = arrivals_ahead(a, 2 * NEAR)) != NULL)
		mf_sw_fetch_mux(v->sw, arrival_port(x), flight_words(x->flight)[0]);
	if ((x = arrivals_ahead(a, NEAR)) != NULL)
		mf_sw_fetch_items(v->sw, arrival_port(x), flight_words(x->flight)[0]);
}

/** What arrives until then is found when that begins; and again, where it was put off. */
static inline int find_arrivals(struct virtual *v, mf_time until)
{
	if (__builtin_expect(v->arrives > until, 1))
		return 0;
	return arrivals_find(&v->arrivals, v->up, v->f->nodes, v->arrives, until, &v->arrives);
}

int virtual_switch(struct virtual *v, mf_time until)
{
	struct arrivals *a = &v->arrivals;
	int err = 0;

	while (err >= 0 && (err = find_arrivals(v, until)) == 0) {
		mf_time arrives = arrivals_next(a), next = virtual_actor_next(v);

		v->now = mf_time_min(arrives, next);
		if (v->now > until)
			break;
		if (arrives <= next) {
			come_near(v);
			receive(v, arrival_port(&a->arrival[a->next++]));
		} else {
			err = call(v);
		}
	}
	v->switch_done = until;
	return err < 0 ? err : 0;
}
