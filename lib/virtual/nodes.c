/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes' side of the virtual clock. Nodes know of each other by the switch alone, so each is called for
 * all that is due in a stretch of time before the next one is: its state is in the caches then. Of a node
 * at equal times: first what arrives, then what is sent, then what is decided; and what is decided and has
 * to go at once goes at that time still. So the last block of a message leaves before anybody asks whether
 * it has left, in whatever spans.
 */
#include <errno.h>

#include <rte_common.h>

#include "virtual/virtual.h"

#define FETCH_MAX 32

/** When a node that would send at t may do so: by both links, or by the one that there is. */
static mf_time sends(const struct virtual *v, unsigned int i, mf_time t)
{
	mf_time first = virtual_event_up(v, i, t), second;

	if (v->twin == NULL)
		return first;
	second = virtual_event_up(v->twin, i, t);
	if (first == MF_NEVER || second == MF_NEVER)
		return mf_time_min(first, second);
	return mf_time_max(first, second);
}

/** When a node may send, or what a fault held back goes. */
static mf_time tx_next(const struct virtual *v, unsigned int i)
{
	const struct mf_node *h = v->f->node[i].host;
	mf_time next = mf_time_min(mf_node_tx_next(h, v->now), wire_held(&v->up[i]));

	if (__builtin_expect(v->twin != NULL, 0))
		next = mf_time_min(next, wire_held(&v->twin->up[i]));
	if (wire_hangs(&v->up[i]) || (v->twin != NULL && wire_hangs(&v->twin->up[i])))
		next = mf_time_min(next, mf_node_tx_next_block(h, v->now));
	next = mf_time_max(v->now, next);
	return __builtin_expect(v->events != NULL, 0) ? sends(v, i, next) : next;
}

/** When something arrives. */
static inline mf_time arrives(const struct virtual *v, unsigned int i)
{
	mf_time due = wire_due(&v->down[i]);

	return __builtin_expect(v->twin != NULL, 0) ? mf_time_min(due, wire_due(&v->twin->down[i])) : due;
}

/** Something came to a node or left it: when must it be called, when may it send? */
static void after(struct virtual *v, unsigned int i)
{
	const struct mf_node *h = v->f->node[i].host;
	struct virtual_turn *t = &v->turn[i];

	t->run = mf_time_min(t->run, mf_time_max(v->now, mf_node_next(h)));
	t->tx = tx_next(v, i);
}

static void run(struct virtual *v, unsigned int i)
{
	v->turn[i].run = mf_time_max(v->now, node_run(&v->f->node[i], v->now));
	v->turn[i].tx = tx_next(v, i);
}

/** By the link to either switch. */
static __attribute__((noinline)) void receive_by(struct virtual *v, struct virtual *from, unsigned int i)
{
	virtual_receive(v, &from->down[i], v->event_next, &v->span);
	if (from->forging)
		virtual_fault_hear(v, i);
	mf_node_rx_by(v->f->node[i].host, from->number, v->now, &v->span);
	if (__builtin_expect(v->f->guards != NULL, 0)) {
		from->now = v->now;
		virtual_link_look(from, i);
	}
	after(v, i);
}

static void receive(struct virtual *v, unsigned int i)
{
	if (__builtin_expect(v->twin != NULL, 0)) { /* that by which something came first */
		receive_by(v, wire_due(&v->twin->down[i]) < wire_due(&v->down[i]) ? v->twin : v, i);
		return;
	}
	virtual_receive(v, &v->down[i], v->event_next, &v->span);
	if (__builtin_expect(v->forging, 0))
		virtual_fault_hear(v, i);
	mf_node_rx(v->f->node[i].host, v->now, &v->span);
	if (__builtin_expect(v->f->guards != NULL, 0))
		virtual_link_look(v, i);
	after(v, i);
}

/** When node i is called that asks for t: not while it is down or stalled. */
static inline mf_time awake(const struct virtual *v, unsigned int i, mf_time t)
{
	return __builtin_expect(v->events != NULL, 0) ? virtual_event_node(v, i, t) : t;
}

/** What a fault held back, on either link. */
static int release(struct virtual *v, unsigned int i)
{
	int n = 0;

	if (wire_held(&v->up[i]) <= v->now)
		n = virtual_fault_release(v, &v->up[i], v->switch_done);
	if (n == 0 && v->twin != NULL && wire_held(&v->twin->up[i]) <= v->now) {
		v->twin->now = v->now;
		n = virtual_fault_release(v->twin, &v->twin->up[i], v->twin->switch_done);
	}
	return n;
}

/** The same on the second link, too: before the first one scrambles it. @return 0 or -errno */
static __attribute__((noinline)) int mirror(struct virtual *v, unsigned int i)
{
	struct virtual *t = v->twin;
	int n;

	t->now = v->now;
	t->span.start = v->span.start;
	t->span.period = v->span.period;
	t->span.count = v->span.count;
	t->span.flags = v->span.flags;
	mf_blocks_copy(t->span.word, t->span.sync, v->span.word, v->span.sync, v->span.count);
	n = virtual_send(t, &t->up[i], t->switch_done, virtual_place(v, i), PLACE_SWITCH);
	return n < 0 ? n : 0;
}

/** How many blocks node i may give out at once: what goes on both links ends where it does on either. */
static inline unsigned int blocks(const struct virtual *v, unsigned int i)
{
	unsigned int n = v->max, second;

	if (__builtin_expect(v->events == NULL, 1))
		return n;
	n = virtual_event_up_blocks(v, i, v->now);
	second = v->twin != NULL ? virtual_event_up_blocks(v->twin, i, v->now) : n;
	return n < second ? n : second;
}

static int transmit(struct virtual *v, unsigned int i)
{
	bool more = false;
	int n = 0;

	if (__builtin_expect(v->events != NULL, 0) && sends(v, i, v->now) > v->now) {
		after(v, i);
		return 0;
	}
	if (__builtin_expect(wire_held(&v->up[i]) <= v->now || v->twin != NULL, 0))
		n = release(v, i);
	if (n == 0)
		n = (int)mf_node_tx(v->f->node[i].host, v->now, blocks(v, i), &v->span);
	if (n > 0)
		more = wire_wants_all(&v->up[i], &v->span);
	if (n > 0 && __builtin_expect(v->twin != NULL, 0))
		n = mirror(v, i) < 0 ? -ENOMEM : n;
	if (n > 0)
		n = virtual_send(v, &v->up[i], v->switch_done, virtual_place(v, i), PLACE_SWITCH);
	after(v, i);
	if (__builtin_expect(more, 0))
		v->turn[i].tx = v->now;
	return n;
}

static mf_time next(const struct virtual *v, unsigned int i)
{
	const struct virtual_turn *t = &v->turn[i];

	return awake(v, i, mf_time_min(arrives(v, i), mf_time_min(t->tx, t->run)));
}

/** What a node is called for at v->now. */
static enum virtual_call due(const struct virtual *v, unsigned int i)
{
	if (arrives(v, i) <= v->now)
		return VIRTUAL_RX;
	return v->turn[i].tx <= v->now ? VIRTUAL_TX : VIRTUAL_RUN;
}

/** Part of the loop of a stretch: so its registers are saved once. @return 0 or more, or -errno */
static __rte_always_inline int call(struct virtual *v, unsigned int i)
{
	v->f->info.events++;
	switch (due(v, i)) {
	case VIRTUAL_RX:
		receive(v, i);
		return 0;
	case VIRTUAL_TX:
		return transmit(v, i);
	default:
		run(v, i);
		return 0;
	}
}

/** What the next flights of a wire look at is fetched: all of them at a time, step by step. */
static void look_ahead(const struct virtual *v, unsigned int i, mf_time until)
{
	const struct node *node = &v->f->node[i];
	const struct wire *w = &v->down[i];
	uint64_t first[FETCH_MAX];
	unsigned int n = 0, writer;

	if (!mf_node_foresees(node->host))
		return;
	while (n < FETCH_MAX && n < wire_flights(w) && wire_flight(w, n)->due <= until) {
		const struct flight *fl = wire_flight(w, n)->flight;
		const uint64_t *word = flight_words(fl);

		writer = mf_node_fetch_message(node->host, word[0], word[fl->count - 1]);
		if (writer < v->f->nodes)
			pending_fetch(&v->f->pending, (uint16_t)writer, (uint16_t)i);
		first[n++] = word[0];
	}
	if (node->client == NULL)
		return;
	mf_client_fetch_next(node->client, until);
	for (unsigned int k = 0; k < n; k++)
		mf_node_fetch_state(node->host, first[k]);
	for (unsigned int k = 0; k < n; k++)
		mf_node_fetch_op(node->host, first[k]);
	for (unsigned int k = 0; k < n; k++)
		mf_client_fetch_op(node->client, mf_node_fetch_data(node->host, first[k]));
}

static int run_until(struct virtual *v, unsigned int i, mf_time until)
{
	int err = 0;

	look_ahead(v, i, until);
	while (err >= 0 && (v->now = next(v, i)) <= until)
		err = call(v, i);
	v->next[i] = v->now;
	virtual_switch_hears(v, i);
	return err;
}

/* In step: what a node is called for is an actor, so that arrivals come first, then what is sent. */

static uint32_t actor(const struct virtual *v, unsigned int i, enum virtual_call what)
{
	return ((uint32_t)what + 1) * v->f->nodes + i;
}

static void expect(struct virtual *v, unsigned int i)
{
	if (v->ahead != 0)
		return;
	event_set(&v->step, actor(v, i, VIRTUAL_RX), awake(v, i, arrives(v, i)));
	event_set(&v->step, actor(v, i, VIRTUAL_TX), awake(v, i, v->turn[i].tx));
	event_set(&v->step, actor(v, i, VIRTUAL_RUN), awake(v, i, v->turn[i].run));
}

int virtual_nodes_init(struct virtual *v)
{
	int err = event_init(&v->step, 4 * v->f->nodes);

	for (unsigned int i = 0; i < v->f->nodes && err == 0; i++)
		expect(v, i);
	return err;
}

/** Other nodes may know at once what one node did, without the network, but not before v->now. */
static void wake(struct virtual *v)
{
	int i;

	while ((i = fabric_woken(v->f)) >= 0) {
		after(v, (unsigned int)i);
		v->next[i] = next(v, (unsigned int)i);
		v->nodes_next = mf_time_min(v->nodes_next, v->next[i]);
		expect(v, (unsigned int)i);
	}
}

/** A node has been called, and not by run_until(). */
static void called(struct virtual *v, unsigned int i)
{
	v->next[i] = next(v, i);
	v->nodes_next = mf_time_min(v->nodes_next, v->next[i]);
	expect(v, i);
	if (v->f->stack_shared != NULL)
		wake(v);
	virtual_switch_hears(v, i);
}

void virtual_node_changed(struct virtual *v, unsigned int i)
{
	v = v->nodes;
	v->turn[i].run = v->now;
	v->turn[i].tx = tx_next(v, i);
	called(v, i);
}

void virtual_node_part(struct virtual *v, unsigned int i)
{
	for (struct virtual *net = v; net != NULL; net = net->twin) {
		if (!wire_has_part(&net->down[i], v->now))
			continue;
		receive_by(v, net, i);
		called(v, i);
	}
}

void virtual_node_hears(struct virtual *v, unsigned int i)
{
	mf_time due;

	v = v->nodes;
	due = awake(v, i, arrives(v, i));
	v->next[i] = mf_time_min(v->next[i], due);
	v->nodes_next = mf_time_min(v->nodes_next, v->next[i]);
	if (v->ahead == 0)
		event_set(&v->step, actor(v, i, VIRTUAL_RX), due);
}

int virtual_node_tx(struct virtual *v, unsigned int i)
{
	int n = transmit(v, i);

	called(v, i);
	return n;
}

int virtual_node_one(struct virtual *v, enum virtual_call what)
{
	uint32_t first;
	unsigned int i;
	int err;

	if (event_next(&v->step) != v->now)
		return 0;
	first = event_actor(&v->step);
	i = first % v->f->nodes;
	if (first != actor(v, i, what))
		return 0;
	err = call(v, i);
	called(v, i);
	return err < 0 ? err : 1;
}

/** Nodes that are soon called, one after the other: what each of them looks at first. */
static void come_near(const struct virtual *v, unsigned int i, mf_time until)
{
	const struct node *node = &v->f->node[i];

	if (i + 4 < v->f->nodes && v->next[i + 4] <= until) {
		mf_node_fetch(node[4].host);
		if (node[4].client != NULL)
			mf_client_fetch(node[4].client);
	}
	if (i + 3 < v->f->nodes && v->next[i + 3] <= until) {
		mf_node_fetch_mux(node[3].host);
		__builtin_prefetch(&v->down[i + 3], 1);
		__builtin_prefetch(&v->up[i + 3], 1);
	}
	if (i + 2 < v->f->nodes && v->next[i + 2] <= until) {
		mf_node_fetch_items(node[2].host);
		wire_fetch(&v->down[i + 2]);
	}
}

mf_time virtual_nodes_first(struct virtual *v)
{
	return event_next(&v->step);
}

int virtual_nodes(struct virtual *v, mf_time until)
{
	mf_time first = MF_NEVER;
	int err = 0;

	for (unsigned int i = 0; i < v->f->nodes && err >= 0; i++) {
		come_near(v, i, until);
		if (v->next[i] <= until)
			err = run_until(v, i, until);
		first = mf_time_min(first, v->next[i]);
	}
	v->nodes_next = first;
	v->nodes_done = v->now = until;
	if (v->f->stack_shared != NULL)
		wake(v);
	return err < 0 ? err : 0;
}
