/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch's side of the virtual clock. What arrives at a port, what is sent from one, the switch and the
 * scheduler are actors, each with one time at which it wants to be called. Actors of equal time are called
 * in the order of their numbers: first what arrives, then what is sent, then what is decided; and what is
 * decided and has to go at once goes at that time still.
 */
#include "virtual.h"

#define GRANTS 64

/* Actors, in the order of their calls. */
static uint32_t actor_rx(unsigned int i)
{
	return i;
}

static uint32_t actor_tx(const struct virtual *v, unsigned int i)
{
	return v->f->nodes + i;
}

static uint32_t actor_switch(const struct virtual *v)
{
	return 2 * v->f->nodes;
}

static uint32_t actor_sched(const struct virtual *v)
{
	return 2 * v->f->nodes + 1;
}

int virtual_switch_init(struct virtual *v)
{
	return event_init(&v->queue, 2 * v->f->nodes + 2);
}

void virtual_switch_hears(struct virtual *v, unsigned int i)
{
	event_set(&v->queue, actor_rx(i), wire_due(&v->up[i]));
}

/** Hands over what the switch has for the scheduler. */
static void tell(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	const struct mf_sched_msg *msg;
	unsigned int n;

	while ((msg = mf_switch_sched_peek(f->sw, &n)) != NULL) {
		for (unsigned int i = 0; i < n; i++)
			f->sched_ops->input(f->sched, &msg[i]);
		mf_switch_sched_advance(f->sw, n);
		event_set(&v->queue, actor_sched(v), f->sched_ops->next(f->sched));
	}
}

/** When a port may send. */
static void expect(struct virtual *v, unsigned int i)
{
	event_set(&v->queue, actor_tx(v, i), mf_time_max(v->now, mf_switch_tx_next(v->f->sw, i, v->now)));
}

/** The switch was called: what has it for the scheduler, which ports have something to send? */
static void after(struct virtual *v)
{
	uint64_t *set = mf_switch_tx_set(v->f->sw);

	tell(v);
	for (unsigned int w = 0; w <= (v->f->nodes - 1) / 64; w++)
		for (; set[w] != 0; set[w] &= set[w] - 1)
			expect(v, w * 64 + (unsigned int)__builtin_ctzll(set[w]));
	event_hasten(&v->queue, actor_switch(v), mf_time_max(v->now, mf_switch_next(v->f->sw)));
}

static void receive(struct virtual *v, unsigned int i)
{
	wire_receive(&v->up[i], &v->span);
	event_set(&v->queue, actor_rx(i), wire_due(&v->up[i]));
	mf_switch_rx(v->f->sw, i, v->now, &v->span);
	after(v);
}

static void run(struct virtual *v)
{
	event_set(&v->queue, actor_switch(v), MF_NEVER);
	mf_switch_run(v->f->sw, v->now);
	after(v);
}

static void run_sched(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	struct mf_sched_grant grant[GRANTS];
	unsigned int n;

	do {
		n = f->sched_ops->run(f->sched, v->now, grant, GRANTS);
		for (unsigned int i = 0; i < n; i++) {
			if (grant[i].first)
				f->sched_waited += grant[i].at - grant[i].since;
			mf_switch_grant(f->sw, v->now, &grant[i]);
		}
	} while (n == GRANTS);
	event_set(&v->queue, actor_sched(v), f->sched_ops->next(f->sched));
	after(v);
}

int virtual_port_tx(struct virtual *v, unsigned int i)
{
	int n = (int)mf_switch_tx(v->f->sw, i, v->now, v->max, &v->span);

	if (n > 0) {
		n = virtual_send(v, &v->down[i], v->nodes_done, PLACE_SWITCH, virtual_place(v, i));
		virtual_node_hears(v, i);
	}
	expect(v, i);
	if (v->f->config->bridge_ops != NULL)
		event_hasten(&v->queue, actor_switch(v), mf_time_max(v->now, mf_switch_next(v->f->sw)));
	if (v->f->link[i].backlog_k != 0) /* it may not be held any longer */
		tell(v);
	return n;
}

/** @return 0 or more, or -errno */
static int call(struct virtual *v, uint32_t actor)
{
	unsigned int n = v->f->nodes;

	if (actor < n)
		receive(v, actor);
	else if (actor < 2 * n)
		return virtual_port_tx(v, actor - n);
	else if (actor == actor_switch(v))
		run(v);
	else
		run_sched(v);
	return 0;
}

/** The next event, whose time is v->now. @return 0 or more, or -errno */
static int call_next(struct virtual *v)
{
	v->f->info.events++;
	return call(v, event_actor(&v->queue));
}

int virtual_switch_one(struct virtual *v, enum virtual_call what)
{
	int err;

	if (event_next(&v->queue) != v->now || (what == VIRTUAL_RX && event_actor(&v->queue) >= v->f->nodes))
		return 0;
	err = call_next(v);
	return err < 0 ? err : 1;
}

/** In a dense stretch every port is used: what the nodes have driven out of the caches is fetched at once. */
static void come_near(struct virtual *v)
{
	uint64_t spans = v->f->info.spans - v->spans_seen;

	v->spans_seen = v->f->info.spans;
	if (spans < v->f->nodes)
		return;
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		mf_switch_fetch(v->f->sw, i);
		wire_fetch_first(&v->up[i]);
		__builtin_prefetch(&v->down[i], 1);
	}
}

int virtual_switch(struct virtual *v, mf_time until)
{
	int err = 0;

	come_near(v);

	while (err >= 0 && event_next(&v->queue) <= until) {
		v->now = event_next(&v->queue);
		err = call_next(v);
	}
	v->switch_done = until;
	return err < 0 ? err : 0;
}
