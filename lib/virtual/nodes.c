/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of the virtual clock. Nodes of a class know of each other by the other class alone, so each is
 * called for all that is due in a stretch of time before the next one is: its state is in the caches then.
 * The order of a node's calls at one time: first what arrives, then what is sent, then what is decided. What
 * is decided and has to go at once goes at that time still. So the last block of a message leaves before it
 * is asked whether it has left, in whatever spans.
 */
#include <errno.h>

#include <rte_common.h>

#include "virtual/virtual.h"

#define FETCH_MAX 32

/** When a node that would send at t may do so: by both links, or by the one that there is. */
static mf_time sends(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct virtual_node *n = &v->node[i];
	mf_time first = virtual_outage_node_sends(v, i, n->out, t), second;

	if (n->mirror == NULL)
		return first;
	second = virtual_outage_node_sends(v, i, n->mirror, t);
	if (first == MF_NEVER || second == MF_NEVER)
		return mf_time_min(first, second);
	return mf_time_max(first, second);
}

/** Where a stage of faults is on a link: what it held back may go before `next`. */
static __attribute__((noinline)) mf_time held(const struct virtual *v, unsigned int i, mf_time next)
{
	const struct virtual_node *n = &v->node[i];
	bool hangs = wire_hangs(n->out);

	next = mf_time_min(next, wire_held(n->out));
	if (n->mirror != NULL) {
		next = mf_time_min(next, wire_held(n->mirror));
		hangs |= wire_hangs(n->mirror);
	}
	return hangs ? mf_time_min(next, mf_node_tx_next_block(v->f->node[i].host, v->now)) : next;
}

/** When a node may send, or what a fault held back goes. */
static mf_time tx_next(const struct virtual *v, unsigned int i)
{
	const struct virtual_node *n = &v->node[i];
	mf_time next;

	if (__builtin_expect(n->apart, 0))
		return virtual_ends_next(v, i);
	next = mf_node_tx_next(v->f->node[i].host, v->now);
	if (__builtin_expect(n->out->fault != NULL || n->mirror != NULL, 0))
		next = held(v, i, next);
	next = mf_time_max(v->now, next);
	return __builtin_expect(v->outages != NULL, 0) ? sends(v, i, next) : next;
}

/** When something arrives. */
static inline mf_time arrives(const struct virtual *v, unsigned int i)
{
	const struct virtual_node *n = &v->node[i];
	unsigned int end;

	return __builtin_expect(n->ends > 1, 0) ? virtual_ends_arrive(v, i, &end) : wire_due(n->in);
}

/** Something came to a node or left it: when must it be called, when may it send? */
static inline void after(struct virtual *v, unsigned int i)
{
	struct virtual_node *n = &v->node[i];

	n->run = mf_time_min(n->run, mf_time_max(v->now, mf_below_next(&v->f->node[i].below)));
	n->tx = tx_next(v, i);
}

void virtual_node_after(struct virtual *v, unsigned int i)
{
	after(v, i);
}

static void run(struct virtual *v, unsigned int i)
{
	v->node[i].run = mf_time_max(v->now, node_run(&v->f->node[i], v->now));
	v->node[i].tx = tx_next(v, i);
}

/** By one of several links. */
static __attribute__((noinline)) void receive_by(struct virtual *v, unsigned int i, unsigned int end)
{
	struct wire *w = &v->node[i].in[end];

	virtual_receive(v, w, v->outage_next, &v->span);
	if (v->forging)
		virtual_fault_hear(v, i);
	mf_node_rx_by(v->f->node[i].host, end, v->now, &v->span);
	if (__builtin_expect(v->f->guards != NULL, 0))
		virtual_link_look(v, w);
	after(v, i);
}

static void receive(struct virtual *v, unsigned int i)
{
	const struct virtual_node *n = &v->node[i];
	struct wire *w = n->in;
	unsigned int end;

	if (__builtin_expect(n->ends > 1, 0)) { /* that by which something came first */
		virtual_ends_arrive(v, i, &end);
		receive_by(v, i, end);
		return;
	}
	virtual_receive(v, w, v->outage_next, &v->span);
	if (__builtin_expect(v->forging, 0))
		virtual_fault_hear(v, i);
	mf_node_rx(v->f->node[i].host, v->now, &v->span);
	if (__builtin_expect(v->f->guards != NULL, 0))
		virtual_link_look(v, w);
	after(v, i);
}

/** When node i is called that asks for t: not while it is down or stalled. */
static inline mf_time awake(const struct virtual *v, unsigned int i, mf_time t)
{
	return __builtin_expect(v->outages != NULL, 0) ? virtual_outage_node(v, i, t) : t;
}

/** What a fault held back, on either link. */
static int release(struct virtual *v, const struct virtual_node *n)
{
	int sent = 0;

	if (wire_held(n->out) <= v->now)
		sent = virtual_fault_release(v, n->out);
	if (sent == 0 && n->mirror != NULL && wire_held(n->mirror) <= v->now)
		sent = virtual_fault_release(v, n->mirror);
	return sent;
}

/** The same on the second link, too: before the first one scrambles it. @return 0 or -errno */
static __attribute__((noinline)) int mirror(struct virtual *v, const struct virtual_node *node)
{
	struct mf_span *copy = &v->copy;
	int n;

	copy->start = v->span.start;
	copy->period = v->span.period;
	copy->count = v->span.count;
	copy->flags = v->span.flags;
	mf_blocks_copy(copy->word, copy->sync, v->span.word, v->span.sync, v->span.count);
	n = virtual_send(v, node->mirror, copy);
	return n < 0 ? n : 0;
}

/** How many blocks a node may give out at once: what goes on both links ends where it does on either. */
static inline unsigned int blocks(const struct virtual *v, const struct virtual_node *n)
{
	unsigned int first = v->max, second;

	if (__builtin_expect(v->outages == NULL, 1))
		return first;
	first = virtual_outage_blocks(v, n->out);
	second = n->mirror != NULL ? virtual_outage_blocks(v, n->mirror) : first;
	return first < second ? first : second;
}

static int transmit(struct virtual *v, unsigned int i)
{
	struct virtual_node *node = &v->node[i];
	bool more = false;
	int n = 0;

	if (__builtin_expect(node->apart, 0))
		return virtual_ends_tx(v, i);
	if (__builtin_expect(v->outages != NULL, 0) && sends(v, i, v->now) > v->now) {
		after(v, i);
		return 0;
	}
	if (__builtin_expect(wire_held(node->out) <= v->now || node->mirror != NULL, 0))
		n = release(v, node);
	if (n == 0)
		n = (int)mf_node_tx(v->f->node[i].host, v->now, blocks(v, node), &v->span);
	if (n > 0)
		more = wire_wants_all(node->out, &v->span);
	if (n > 0 && __builtin_expect(node->mirror != NULL, 0))
		n = mirror(v, node) < 0 ? -ENOMEM : n;
	if (n > 0)
		n = virtual_send(v, node->out, &v->span);
	after(v, i);
	if (__builtin_expect(more, 0))
		node->tx = v->now;
	return n;
}

static mf_time next(const struct virtual *v, unsigned int i)
{
	const struct virtual_node *n = &v->node[i];

	return awake(v, i, mf_time_min(arrives(v, i), mf_time_min(n->tx, n->run)));
}

/** What a node is called for at v->now. */
static enum virtual_call due(const struct virtual *v, unsigned int i)
{
	if (arrives(v, i) <= v->now)
		return VIRTUAL_RX;
	return v->node[i].tx <= v->now ? VIRTUAL_TX : VIRTUAL_RUN;
}

/** Part of the loop of a stretch: so its registers are saved once. @return 0 or more, or -errno */
static __rte_always_inline int call(struct virtual *v, unsigned int i)
{
	v->f->info.steps++;
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
	const struct wire *w = v->node[i].in;
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

/** A node may have sent something. */
static inline void told(struct virtual *v, unsigned int i)
{
	const struct virtual_node *n = &v->node[i];

	virtual_hears(v, n->out);
	if (__builtin_expect(n->ends > 1, 0))
		virtual_ends_tell(v, i);
}

static int run_until(struct virtual *v, unsigned int i, mf_time until)
{
	int err = 0;

	look_ahead(v, i, until);
	while (err >= 0 && (v->now = next(v, i)) <= until)
		err = call(v, i);
	v->next[i] = v->now;
	told(v, i);
	return err;
}

/* In step: what a node is called for is an actor, so that arrivals come first, then what is sent. */

static uint32_t actor(const struct virtual *v, unsigned int i, enum virtual_call what)
{
	return (uint32_t)what * v->f->nodes + i;
}

static void expect(struct virtual *v, unsigned int i)
{
	if (v->ahead != 0)
		return;
	tournament_set(&v->step, actor(v, i, VIRTUAL_RX), awake(v, i, arrives(v, i)));
	tournament_set(&v->step, actor(v, i, VIRTUAL_TX), awake(v, i, v->node[i].tx));
	tournament_set(&v->step, actor(v, i, VIRTUAL_RUN), awake(v, i, v->node[i].run));
}

int virtual_nodes_init(struct virtual *v)
{
	int err = tournament_init(&v->step, 3 * v->f->nodes);

	for (unsigned int i = 0; i < v->f->nodes && err == 0; i++)
		expect(v, i);
	return err;
}

/** The next event of node i may be the first of its class. */
static inline void hasten(struct virtual *v, unsigned int i)
{
	struct virtual_class *c = v->node[i].class;

	c->nodes_next = mf_time_min(c->nodes_next, v->next[i]);
}

/** Other nodes may know at once what one node did, without the network, but not before v->now. */
static void wake(struct virtual *v)
{
	int i;

	while ((i = fabric_woken(v->f)) >= 0) {
		after(v, (unsigned int)i);
		v->next[i] = next(v, (unsigned int)i);
		hasten(v, (unsigned int)i);
		expect(v, (unsigned int)i);
	}
}

/** A node has been called, and not by run_until(). */
static void called(struct virtual *v, unsigned int i)
{
	v->next[i] = next(v, i);
	hasten(v, i);
	expect(v, i);
	if (v->f->shares)
		wake(v);
	told(v, i);
}

void virtual_node_changed(struct virtual *v, unsigned int i)
{
	v->node[i].run = v->now;
	v->node[i].tx = tx_next(v, i);
	called(v, i);
}

void virtual_node_part(struct virtual *v, unsigned int i)
{
	for (unsigned int end = 0; end < v->graph->role[i].ends; end++) {
		if (!wire_has_part(&v->node[i].in[end], v->now))
			continue;
		receive_by(v, i, end);
		called(v, i);
	}
}

void virtual_node_hears(struct virtual *v, unsigned int i, const struct wire *w)
{
	mf_time due = awake(v, i, wire_due(w));

	v->next[i] = mf_time_min(v->next[i], due);
	hasten(v, i);
	if (v->ahead == 0)
		tournament_hasten(&v->step, actor(v, i, VIRTUAL_RX), due);
}

int virtual_node_begun(struct virtual *v, unsigned int i)
{
	int n;

	if (v->node[i].apart) {
		n = virtual_ends_begun(v, i);
		called(v, i);
		return n;
	}
	do {
		n = transmit(v, i);
		called(v, i);
	} while (n > 0);
	return n;
}

int virtual_node_one(struct virtual *v, enum virtual_call what)
{
	uint32_t first;
	unsigned int i;
	int err;

	if (tournament_next(&v->step) != v->now)
		return 0;
	first = tournament_actor(&v->step);
	i = first % v->f->nodes;
	if (first != actor(v, i, what))
		return 0;
	err = call(v, i);
	called(v, i);
	return err < 0 ? err : 1;
}

/** Nodes that are soon called, one after the other: what each of them looks at first. */
static void come_near(const struct virtual *v, const struct virtual_class *c, unsigned int k, mf_time until)
{
	unsigned int i;

	if (k + 4 < c->nodes && v->next[i = c->node[k + 4]] <= until) {
		mf_node_fetch(v->f->node[i].host);
		if (v->f->node[i].client != NULL)
			mf_client_fetch(v->f->node[i].client);
	}
	if (k + 3 < c->nodes && v->next[i = c->node[k + 3]] <= until) {
		mf_node_fetch_mux(v->f->node[i].host);
		__builtin_prefetch(v->node[i].in, 1);
		__builtin_prefetch(v->node[i].out, 1);
	}
	if (k + 2 < c->nodes && v->next[i = c->node[k + 2]] <= until) {
		mf_node_fetch_items(v->f->node[i].host);
		wire_fetch(v->node[i].in);
	}
}

int virtual_nodes(struct virtual *v, struct virtual_class *c, mf_time until)
{
	mf_time first = MF_NEVER;
	int err = 0;

	for (unsigned int k = 0; k < c->nodes && err >= 0; k++) {
		unsigned int i = c->node[k];

		come_near(v, c, k, until);
		if (v->next[i] <= until)
			err = run_until(v, i, until);
		first = mf_time_min(first, v->next[i]);
	}
	/* By links within the class nodes that had been called heard of something that comes later. */
	for (unsigned int k = 0; k < c->nodes && v->within != MF_NEVER; k++)
		first = mf_time_min(first, v->next[c->node[k]]);
	c->nodes_next = first;
	v->now = until;
	if (v->f->shares)
		wake(v);
	return err < 0 ? err : 0;
}
