/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduling problem is solved at once and for free, as EDM's 4.3 supposes: a demand takes the first
 * slot of the next 64 in which both its ends are free, in the order in which demands come. A pair that
 * finds none, or has had a frame full of slots, waits at its destination behind the others there; every
 * few slots those that wait are looked at again, in turn: so pairs share a destination slot by slot
 * (max-min).
 *
 * What costs is the arbiter's link. Each request frame is answered, by the slots that there are for its
 * node, as many as a frame can tell, or by a mere acknowledgement. Allocations that are not acknowledged
 * in time are lost: their slots have passed, and the demand is put back.
 */
#include <errno.h>
#include <stdlib.h>

#include "systems/fastpass/fastpass_arbiter.h"
#include "base/mf_table.h"

#define NIL UINT16_MAX
#define WINDOW 64 /* slots: a word */
#define UNACKED 64 /* allocation frames of a node */
#define OUT 256 /* slots that wait to be told to a node: more than can be busy */
#define TICK 8 /* slots from look to look at those that wait: the arbiter of the paper works in batches */
#define LOOKS 8 /* pairs of a destination that are looked at in a slot, in vain */

/** Of a source and a destination. */
struct pair {
	uint32_t seen, backlog; /**< slots: asked for, modulo 2^32; to be given */
	uint16_t next; /**< source that waits for the same destination */
	bool waits;
};

/** Slots that are taken, from a first one on. */
struct taken {
	uint64_t bits;
	uint32_t base;
};

struct told {
	mf_time at;
	uint8_t n;
	bool done;
	uint16_t node[FASTPASS_BATCH_MAX];
};

struct grant {
	uint32_t slot;
	uint16_t node;
};

struct end {
	struct taken tx, rx;
	uint16_t expected; /**< request frame */
	uint16_t sequence, acked; /**< allocation frames */
	uint16_t waiters, last_waiter; /**< sources, for this destination */
	uint16_t next; /**< in the list of nodes that are to be answered */
	bool listed, owed; /**< owed: an acknowledgement */
	mf_time ready;
	uint32_t out_head, out_tail;
	struct grant out[OUT];
	struct told told[UNACKED];
};

struct arbiter {
	struct arbiter_config config;
	struct end *end;
	struct pair *pair; /**< [source][destination] */
	uint32_t base; /**< first slot that can still be given */
	uint16_t answer, last_answer; /**< nodes */
	uint32_t answers;
	uint16_t *wait; /**< destinations that somebody waits for: a ring */
	uint32_t wait_head, wait_count;
	mf_time tick, check; /**< of those that wait, of what is not acknowledged */
	uint64_t requests, demanded, allocations, given, put_back, answers_max, drop_bad;
};

struct arbiter *arbiter_new(const struct arbiter_config *config)
{
	struct arbiter *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->config = *config;
	a->tick = a->check = MF_NEVER;
	a->end = mf_table_new(config->nodes, sizeof(*a->end));
	a->pair = mf_table_new((size_t)config->nodes * config->nodes, sizeof(*a->pair));
	a->wait = calloc(config->nodes, sizeof(*a->wait));
	if (a->end == NULL || a->pair == NULL || a->wait == NULL) {
		arbiter_free(a);
		errno = ENOMEM;
		return NULL;
	}
	for (unsigned int i = 0; i < config->nodes; i++)
		a->end[i].waiters = NIL;
	return a;
}

void arbiter_free(struct arbiter *a)
{
	mf_table_free(a->end);
	mf_table_free(a->pair);
	free(a->wait);
	free(a);
}

static struct pair *pair_of(const struct arbiter *a, uint16_t src, uint16_t dst)
{
	return &a->pair[(size_t)src * a->config.nodes + dst];
}

/** A node is to be sent a frame, not before ready. */
static void list_answer(struct arbiter *a, uint16_t node, mf_time ready)
{
	struct end *e = &a->end[node];

	if (e->listed || (!e->owed && (uint16_t)(e->sequence - e->acked) >= UNACKED))
		return;
	e->listed = true;
	e->ready = ready;
	if (a->answers++ == 0)
		a->answer = node;
	else
		a->end[a->last_answer].next = node;
	a->last_answer = node;
	if (a->answers > a->answers_max)
		a->answers_max = a->answers;
}

/* Slots */

static void move_on(struct taken *t, uint32_t base)
{
	uint32_t by = base - t->base;

	t->bits = by < WINDOW ? t->bits >> by : 0;
	t->base = base;
}

/** The window begins where an allocation can reach its node in time, frames that wait before it included. */
static void find_base(struct arbiter *a, mf_time now)
{
	mf_time from = now + a->config.lead + a->answers * a->config.frame;
	uint32_t base = (uint32_t)(from / a->config.slot) + 1;

	if ((int32_t)(base - a->base) > 0)
		a->base = base;
}

/** Gives a pair the first slot that both are free in. @return false: there is none */
static bool give_slot(struct arbiter *a, uint16_t src, uint16_t dst)
{
	struct taken *tx = &a->end[src].tx, *rx = &a->end[dst].rx;
	struct end *e = &a->end[src];
	uint64_t free;
	unsigned int i;

	move_on(tx, a->base);
	move_on(rx, a->base);
	free = ~(tx->bits | rx->bits);
	if (free == 0 || e->out_tail - e->out_head == OUT)
		return false;
	i = (unsigned int)__builtin_ctzll(free);
	tx->bits |= UINT64_C(1) << i;
	rx->bits |= UINT64_C(1) << i;
	e->out[e->out_tail++ % OUT] = (struct grant){.slot = a->base + i, .node = dst};
	a->given++;
	return true;
}

static mf_time next_tick(const struct arbiter *a, mf_time now)
{
	mf_time every = TICK * a->config.slot;

	return (now / every + 1) * every;
}

/** Somebody waits for a destination: it is the last that is looked at. */
static void await(struct arbiter *a, uint16_t dst)
{
	a->wait[(a->wait_head + a->wait_count++) % a->config.nodes] = dst;
}

static uint16_t next_destination(struct arbiter *a)
{
	uint16_t dst = a->wait[a->wait_head];

	a->wait_head = (a->wait_head + 1) % a->config.nodes;
	a->wait_count--;
	return dst;
}

static void let_wait(struct arbiter *a, uint16_t src, uint16_t dst, mf_time now)
{
	struct pair *p = pair_of(a, src, dst);
	struct end *e = &a->end[dst];

	p->waits = true;
	p->next = NIL;
	if (e->waiters == NIL) {
		e->waiters = src;
		await(a, dst);
	} else {
		pair_of(a, e->last_waiter, dst)->next = src;
	}
	e->last_waiter = src;
	if (a->tick == MF_NEVER)
		a->tick = next_tick(a, now);
}

/** A pair has a demand: slots at once, up to a frame full, and the rest in turn with others. */
static void want(struct arbiter *a, uint16_t src, uint16_t dst, mf_time now)
{
	struct pair *p = pair_of(a, src, dst);

	if (p->waits)
		return;
	find_base(a, now);
	for (unsigned int n = 0; n < a->config.batch && p->backlog != 0 && a->end[dst].waiters == NIL; n++) {
		if (!give_slot(a, src, dst))
			break;
		p->backlog--;
	}
	if (p->backlog != 0)
		let_wait(a, src, dst, now);
	if (a->end[src].out_head != a->end[src].out_tail)
		list_answer(a, src, now);
}

/** Those that wait for a destination, in turn, a slot each. @return whether somebody still waits */
static bool look_again(struct arbiter *a, uint16_t dst, mf_time now)
{
	struct end *e = &a->end[dst];

	for (unsigned int vain = 0; vain < LOOKS && e->waiters != NIL;) {
		uint16_t src = e->waiters;
		struct pair *p = pair_of(a, src, dst);

		if (give_slot(a, src, dst)) {
			p->backlog--;
			list_answer(a, src, now);
		} else {
			vain++;
			if (~e->rx.bits == 0)
				break;
		}
		e->waiters = p->next;
		p->waits = p->backlog != 0;
		if (!p->waits)
			continue;
		p->next = NIL;
		if (e->waiters == NIL)
			e->waiters = src;
		else
			pair_of(a, e->last_waiter, dst)->next = src;
		e->last_waiter = src;
	}
	return e->waiters != NIL;
}

static void begin_slot(struct arbiter *a, mf_time now)
{
	uint32_t n = a->wait_count;

	find_base(a, now);
	for (; n > 0; n--) {
		uint16_t dst = next_destination(a);

		if (look_again(a, dst, now))
			await(a, dst);
	}
	if (a->wait_count >
	    1) /* who comes first takes what is free of a source: next time another one does */
		await(a, next_destination(a));
	a->tick = a->wait_count != 0 ? next_tick(a, now) : MF_NEVER;
}

/* Acknowledgements of allocations */

static void acknowledge(struct arbiter *a, uint16_t node, uint16_t latest, uint32_t before)
{
	struct end *e = &a->end[node];

	for (uint16_t s = e->acked; s != e->sequence; s++) {
		uint16_t age = (uint16_t)(latest - s);

		if (age == 0 || (age <= 32 && (before >> (age - 1) & 1)))
			e->told[s % UNACKED].done = true;
	}
	while (e->acked != e->sequence && e->told[e->acked % UNACKED].done)
		e->acked++;
}

/** What was not acknowledged in time is asked for again, in the place of its node. */
static void put_back(struct arbiter *a, uint16_t node, mf_time now)
{
	struct end *e = &a->end[node];

	for (; e->acked != e->sequence; e->acked++) {
		struct told *t = &e->told[e->acked % UNACKED];

		if (!t->done && t->at + a->config.timeout > now)
			return;
		for (unsigned int i = 0; i < t->n && !t->done; i++) {
			pair_of(a, node, t->node[i])->backlog++;
			a->put_back++;
			want(a, node, t->node[i], now);
		}
	}
}

static void check_all(struct arbiter *a, mf_time now)
{
	bool more = false;

	for (uint16_t i = 0; i < a->config.nodes; i++) {
		struct end *e = &a->end[i];

		put_back(a, i, now);
		if (e->out_head != e->out_tail)
			list_answer(a, i, now);
		more |= e->acked != e->sequence;
	}
	a->check = more ? now + a->config.timeout / 4 + 1 : MF_NEVER;
}

/* Frames */

static void take_demand(struct arbiter *a, uint16_t src, const struct fastpass_demand *d, mf_time at)
{
	uint16_t dst = rte_be_to_cpu_16(d->node);
	uint32_t slots = rte_be_to_cpu_32(d->slots), more;
	struct pair *p;

	if (dst >= a->config.nodes || dst == src || dst == a->config.node) {
		a->drop_bad++;
		return;
	}
	p = pair_of(a, src, dst);
	more = slots - p->seen;
	if (more == 0 || more > INT32_MAX)
		return;
	p->seen = slots;
	p->backlog += more;
	a->demanded += more;
	want(a, src, dst, at);
}

bool arbiter_request(struct arbiter *a, mf_time at, const struct fastpass_frame *f)
{
	struct fastpass_control c;
	struct fastpass_demand d;
	struct end *e;

	if (f->len < sizeof(c) || f->src >= a->config.nodes || f->src == a->config.node)
		return false;
	memcpy(&c, f->payload, sizeof(c));
	if (c.kind != FASTPASS_REQUEST || c.records > FASTPASS_BATCH_MAX ||
	    f->len < sizeof(c) + c.records * sizeof(d))
		return false;
	e = &a->end[f->src];
	a->requests++;
	acknowledge(a, f->src, rte_be_to_cpu_16(c.ack), rte_be_to_cpu_32(c.word));
	if (c.records != 0) {
		e->expected += rte_be_to_cpu_16(c.sequence) == e->expected;
		e->owed = true;
	}
	for (unsigned int i = 0; i < c.records; i++) {
		memcpy(&d, f->payload + sizeof(c) + i * sizeof(d), sizeof(d));
		take_demand(a, f->src, &d, at);
	}
	if (e->owed || e->out_head != e->out_tail)
		list_answer(a, f->src, at);
	return true;
}

/** As many slots as the frame can tell. @return how many */
static unsigned int put_slots(struct arbiter *a, struct end *e, mf_time now, struct fastpass_control *c,
			      uint8_t *out)
{
	struct told *t = &e->told[e->sequence % UNACKED];
	uint32_t first = e->out_head != e->out_tail ? e->out[e->out_head % OUT].slot : 0;
	unsigned int n = 0;

	if ((uint16_t)(e->sequence - e->acked) >= UNACKED)
		return 0;
	for (uint32_t i = e->out_head; i != e->out_tail && i - e->out_head < a->config.batch; i++)
		if ((int32_t)(e->out[i % OUT].slot - first) < 0)
			first = e->out[i % OUT].slot;
	for (; n < a->config.batch && e->out_head != e->out_tail; n++) {
		const struct grant *g = &e->out[e->out_head++ % OUT];
		struct fastpass_slot s = {.node = rte_cpu_to_be_16(g->node),
					  .offset = rte_cpu_to_be_16((uint16_t)(g->slot - first))};

		memcpy(out + n * sizeof(s), &s, sizeof(s));
		t->node[n] = g->node;
	}
	c->word = rte_cpu_to_be_32(first);
	if (n == 0)
		return 0;
	t->n = (uint8_t)n;
	t->at = now;
	t->done = false;
	c->sequence = rte_cpu_to_be_16(e->sequence++);
	if (a->check == MF_NEVER)
		a->check = now + a->config.timeout;
	return n;
}

uint16_t arbiter_pull(struct arbiter *a, mf_time now, uint8_t *frame)
{
	struct fastpass_control c = {.kind = FASTPASS_ALLOCATION};
	uint16_t node = a->answer;
	struct end *e;
	unsigned int n;

	if (arbiter_ready(a) > now)
		return 0;
	e = &a->end[node];
	a->answer = e->next;
	a->answers--;
	e->listed = e->owed = false;
	n = put_slots(a, e, now, &c, frame + FASTPASS_HEADERS + sizeof(c));
	c.records = (uint8_t)n;
	c.ack = rte_cpu_to_be_16(e->expected);
	memcpy(frame + FASTPASS_HEADERS, &c, sizeof(c));
	if (e->out_head != e->out_tail)
		list_answer(a, node, now);
	a->allocations++;
	return fastpass_seal(frame, a->config.node, node, FASTPASS_CLASS_CONTROL, FASTPASS_CONTROL,
			     (uint16_t)(sizeof(c) + n * sizeof(struct fastpass_slot)));
}

mf_time arbiter_ready(const struct arbiter *a)
{
	return a->answers != 0 ? a->end[a->answer].ready : MF_NEVER;
}

void arbiter_run(struct arbiter *a, mf_time now)
{
	if (a->tick <= now)
		begin_slot(a, now);
	if (a->check <= now)
		check_all(a, now);
}

mf_time arbiter_next(const struct arbiter *a)
{
	return mf_time_min(a->tick, a->check);
}

unsigned int arbiter_counters(const struct arbiter *arbiter, struct mf_counter *out)
{
	static const struct arbiter none;
	const struct arbiter *a = arbiter != NULL ? arbiter : &none;
	const struct mf_counter all[] = {mf_counter_sum("arbiter_requests", a->requests),
					 mf_counter_sum("arbiter_demanded", a->demanded),
					 mf_counter_sum("arbiter_frames", a->allocations),
					 mf_counter_sum("arbiter_slots", a->given),
					 mf_counter_sum("arbiter_put_back", a->put_back),
					 mf_counter_max("arbiter_queue_max", a->answers_max),
					 mf_counter_sum("arbiter_drop_bad", a->drop_bad)};

	memcpy(out, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}
