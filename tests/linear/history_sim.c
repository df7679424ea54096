/* SPDX-License-Identifier: BSD-3-Clause */
#include "history_sim.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#define DEPTH 3 /* operations of a client that are under way */

struct under_way {
	bool busy, done; /**< done: it has taken effect */
	bool lost; /**< it never will */
	mf_time effect, ret;
	uint64_t number; /**< order of the client's calls */
	struct mf_history_record r;
	uint64_t place;
	uint64_t arg[2], found;
	uint8_t data[SIM_OCTETS];
};

static struct under_way way[SIM_CLIENTS][DEPTH];

static bool chance(struct sim *s, double share)
{
	return mf_rng_double(&s->rng) < share;
}

static void choose(struct sim *s, struct mf_history_record *r)
{
	r->node = (uint16_t)mf_rng_below(&s->rng, SIM_NODES);
	if (s->apart && r->client % 2 != 0)
		r->node = r->client / 2 % SIM_NODES;
	r->len = 1 + mf_rng_below(&s->rng, s->len_max);
	if (!s->unaligned)
		r->len = (r->len + 7) / 8 * 8;
	r->addr = mf_rng_below(&s->rng, (s->hot - r->len) / 8 + 1) * 8;
	if (chance(s, s->rmw)) {
		r->kind = (uint8_t)(MF_HISTORY_CAS + mf_rng_below(&s->rng, 5));
		r->addr = mf_rng_below(&s->rng, s->hot / 8) * 8;
		r->len = 8;
	} else if (chance(s, s->plain)) {
		r->kind = MF_HISTORY_WRITE;
	} else {
		r->kind = chance(s, .5) ? MF_HISTORY_READ : MF_HISTORY_WRITE_ACK;
	}
}

static void begin(struct sim *s, unsigned int client, struct under_way *w)
{
	const void *data = w->data;
	uint64_t word;

	w->r = (struct mf_history_record){.call = s->now, .client = (uint16_t)client};
	choose(s, &w->r);
	for (size_t i = 0; i < w->r.len; i += 8) {
		word = mf_hash64(++s->written);
		memcpy(w->data + i, &word, 8);
	}
	w->arg[0] = mf_rng_next(&s->rng);
	w->arg[1] = mf_rng_next(&s->rng);
	if (w->r.kind == MF_HISTORY_CAS && chance(s, .7))
		memcpy(&w->arg[0], s->memory[w->r.node] + w->r.addr, 8);
	if (w->r.kind >= MF_HISTORY_CAS)
		data = w->arg;
	w->busy = true;
	w->done = false;
	w->lost = w->r.kind == MF_HISTORY_WRITE && s->lost && chance(s, .2);
	w->number = s->written;
	w->effect = s->now + 1 + MF_NS(1 + mf_rng_below(&s->rng, 500));
	w->ret = w->effect + MF_NS(1 + mf_rng_below(&s->rng, 500));
	if (w->r.kind == MF_HISTORY_WRITE) /* it returns before, or behind it */
		w->ret = s->now + MF_NS(mf_rng_below(&s->rng, 600));
	w->place = mf_history_begin(mf_history_log(s->h, client), &w->r, data);
	cr_assert_neq(w->place, MF_HISTORY_NONE);
}

static void change(struct under_way *w, uint64_t *word)
{
	w->found = *word;
	switch (w->r.kind) {
	case MF_HISTORY_CAS:
		*word = *word == w->arg[0] ? w->arg[1] : *word;
		break;
	case MF_HISTORY_FADD:
		*word += w->arg[0];
		break;
	case MF_HISTORY_SWAP:
		*word = w->arg[0];
		break;
	case MF_HISTORY_OR:
		*word |= w->arg[0];
		break;
	default:
		*word &= w->arg[0];
	}
}

static void effect(struct sim *s, struct under_way *w)
{
	uint8_t *at = s->memory[w->r.node] + w->r.addr;
	uint64_t word;

	w->done = true;
	if (w->lost)
		return;
	if (w->r.kind == MF_HISTORY_READ) {
		memcpy(w->data, at, w->r.len);
	} else if (w->r.kind <= MF_HISTORY_WRITE_ACK) {
		memcpy(at, w->data, w->r.len);
	} else {
		memcpy(&word, at, 8);
		change(w, &word);
		memcpy(at, &word, 8);
	}
}

/** Requests of a pair take effect in their order. */
static bool is_first(const struct under_way *own, const struct under_way *w)
{
	for (unsigned int i = 0; i < DEPTH; i++)
		if (own[i].busy && !own[i].done && own[i].r.node == w->r.node && own[i].number < w->number)
			return false;
	return true;
}

static void end(struct sim *s, unsigned int client, struct under_way *w)
{
	bool fails = w->r.kind != MF_HISTORY_WRITE && chance(s, s->fail);
	const void *data = w->r.kind == MF_HISTORY_READ ? (const void *)w->data : &w->found;

	mf_history_end(mf_history_log(s->h, client), w->place, s->now,
		       fails ? MF_HISTORY_FAILED : MF_HISTORY_OK, fails ? 6 : 0, fails ? NULL : data);
	w->place = MF_HISTORY_NONE;
}

/** What a client has under way at a node is over, done or not, and never answered; what waits may go on. */
static void give_up(struct sim *s, unsigned int client, unsigned int node, enum mf_history_outcome outcome)
{
	for (unsigned int i = 0; i < DEPTH; i++) {
		struct under_way *w = &way[client][i];
		bool waits = !w->done && w->place != MF_HISTORY_NONE;

		if (!w->busy || w->r.node != node || (waits && chance(s, .3)))
			continue;
		mf_history_end(mf_history_log(s->h, client), w->place, s->now, outcome, 8, NULL);
		w->busy = false;
	}
}

static void restart(struct sim *s)
{
	unsigned int node = (unsigned int)mf_rng_below(&s->rng, SIM_NODES);

	memset(s->memory[node], 0, SIM_OCTETS);
	for (unsigned int c = 0; c < SIM_CLIENTS; c++)
		s->untold[c][node] = true;
}

/** Answers of the life before may have come until now, or are lost. */
static void tell(struct sim *s, unsigned int client, unsigned int node)
{
	mf_history_cut(mf_history_log(s->h, client), (uint16_t)client, (uint16_t)node, s->now);
	give_up(s, client, node, MF_HISTORY_RESTARTED);
	s->untold[client][node] = false;
}

/** It knows nothing of any node, and what it has on its way is lost. */
static void unplug(struct sim *s, unsigned int client)
{
	for (unsigned int node = 0; node < SIM_NODES; node++) {
		mf_history_cut(mf_history_log(s->h, client), (uint16_t)client, (uint16_t)node, s->now);
		give_up(s, client, node, MF_HISTORY_FAILED);
	}
}

static void faults(struct sim *s, unsigned int client)
{
	if (s->restart > 0 && chance(s, s->restart))
		restart(s);
	if (s->unplug > 0 && chance(s, s->unplug))
		unplug(s, client);
	for (unsigned int node = 0; node < SIM_NODES; node++)
		if (s->untold[client][node] && chance(s, .05))
			tell(s, client, node);
}

static void turn(struct sim *s, unsigned int client, struct under_way *w, unsigned int *left)
{
	if (!w->busy && *left > 0) {
		begin(s, client, w);
		--*left;
		return;
	}
	if (!w->busy)
		return;
	if (!w->done && s->now >= w->effect && is_first(way[client], w) && !s->untold[client][w->r.node])
		effect(s, w);
	if (w->place != MF_HISTORY_NONE && s->now >= w->ret && (w->done || w->r.kind == MF_HISTORY_WRITE))
		end(s, client, w);
	if (w->place == MF_HISTORY_NONE && w->done)
		w->busy = false;
}

static bool any_busy(void)
{
	for (unsigned int i = 0; i < SIM_CLIENTS * DEPTH; i++)
		if (way[i / DEPTH][i % DEPTH].busy)
			return true;
	return false;
}

void sim_run(struct sim *s, unsigned int operations)
{
	unsigned int left = operations;
	uint64_t room = (uint64_t)operations * (sizeof(struct mf_history_record) + s->len_max + 40) + 65536;

	s->h = mf_history_new(&s->config, SIM_CLIENTS, room);
	cr_assert_not_null(s->h);
	memset(s->memory, 0, sizeof(s->memory));
	memset(way, 0, sizeof(way));
	while (left > 0 || any_busy()) {
		unsigned int i = (unsigned int)mf_rng_below(&s->rng, SIM_CLIENTS * DEPTH);

		s->now += MF_NS(1 + mf_rng_below(&s->rng, 100));
		faults(s, i / DEPTH);
		turn(s, i / DEPTH, &way[i / DEPTH][i % DEPTH], &left);
	}
}
