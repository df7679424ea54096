/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "clients.h"
#include "base/mf_rng.h"

#define REGION 80000
#define REGIONS 3200
#define CLIENTS 16

struct one {
	struct mf_op op;
	unsigned int node, done, region;
	uint64_t incarnation;
	uint8_t *data, *shadow; /* what is written or read; what the region holds */
	uint32_t known; /* octets of the region that are known */
	uint64_t word; /* what its own word holds, at the end of the region */
	bool word_known, counts;
	bool under_way;
};

struct clients {
	struct clients_config config;
	struct rig *rig;
	struct mf_rng rng;
	struct one one[CLIENTS];
	unsigned int count, regions;
	uint64_t begun[CLIENT_COUNTERS], ok[CLIENT_COUNTERS];
	uint8_t *told[CLIENT_COUNTERS]; /* which old values were told */
	struct clients_found found;
};

static uint64_t counter_at(unsigned int i)
{
	return i * 8;
}

static uint64_t region_at(const struct one *o)
{
	return 4096 + (uint64_t)o->region * REGION;
}

/** A region that nobody has touched: what was under way to the old one may still take effect there. */
static void new_region(struct clients *cs, struct one *o)
{
	o->region = cs->regions++;
	assert(cs->regions <= REGIONS);
	o->known = 0;
	o->word = 0;
	o->word_known = true;
}

static uint32_t random_size(struct clients *cs)
{
	uint64_t kind = mf_rng_below(&cs->rng, 100);

	if (kind == 0 && cs->config.large)
		return (uint32_t)(MF_MESSAGE_MAX + 1 + mf_rng_below(&cs->rng, 4096));
	if (kind < 8)
		return (uint32_t)(1 + mf_rng_below(&cs->rng, 3000));
	return (uint32_t)(1 + mf_rng_below(&cs->rng, kind < 50 ? 64 : 700));
}

static void choose_write(struct clients *cs, struct one *o)
{
	o->op.kind = cs->config.plain && mf_rng_below(&cs->rng, 3) == 0 ? MF_OP_WRITE : MF_OP_WRITE_ACK;
	o->op.len = random_size(cs);
	for (uint64_t i = 0; i < o->op.len; i += 8) {
		uint64_t word = mf_rng_next(&cs->rng);

		memcpy(o->data + i, &word, 8);
	}
}

static void choose_rmw(struct clients *cs, struct one *o)
{
	o->op.kind = MF_OP_RMW;
	o->counts = mf_rng_below(&cs->rng, 2) || !o->word_known;
	if (o->counts) {
		unsigned int i = (unsigned int)mf_rng_below(&cs->rng, CLIENT_COUNTERS);

		o->op.rmw = MF_RMW_FADD;
		o->op.addr = counter_at(i);
		o->op.arg[0] = 1;
		cs->begun[i]++;
	} else {
		o->op.rmw = MF_RMW_CAS;
		o->op.addr = region_at(o) + REGION - 8;
		o->op.addr -= o->op.addr % 8;
		o->op.arg[0] = o->word;
		o->op.arg[1] = mf_rng_next(&cs->rng);
	}
}

static void begin(struct clients *cs, struct one *o)
{
	uint64_t kind = mf_rng_below(&cs->rng, 10);

	if (o->done >= cs->config.ops || o->under_way)
		return;
	o->op = (struct mf_op){.node = RIG_MEMORY,
			       .addr = region_at(o),
			       .buf = o->data,
			       .user = o->incarnation << 8 | (uint64_t)(o - cs->one)};
	if (kind < 3 && o->known > 0) {
		o->op.kind = MF_OP_READ;
		o->op.len = 1 + mf_rng_below(&cs->rng, o->known);
		memset(o->data, 0xa5, o->op.len);
	} else if (kind < 7) {
		choose_write(cs, o);
	} else {
		choose_rmw(cs, o);
	}
	o->under_way = true;
	o->done++;
	assert(mf_host_submit(cs->rig->host[o->node], cs->rig->now, &o->op) == 0);
}

static void ended_count(struct clients *cs, struct one *o, const struct mf_completion *c)
{
	unsigned int i = (unsigned int)(o->op.addr / 8);

	cs->ok[i]++;
	if (c->result >= CLIENT_OPS_MAX || cs->told[i][c->result]++ > 0)
		cs->found.twice++;
}

static void ended_well(struct clients *cs, struct one *o, const struct mf_completion *c)
{
	cs->found.ok++;
	if (o->op.kind == MF_OP_READ) {
		cs->found.wrong += memcmp(o->data, o->shadow, o->op.len) != 0;
	} else if (o->op.kind == MF_OP_WRITE_ACK) {
		memcpy(o->shadow, o->data, o->op.len);
		o->known = (uint32_t)o->op.len;
	} else if (o->op.kind == MF_OP_WRITE) {
		o->known = 0; /* it may have been lost */
	} else if (o->counts) {
		ended_count(cs, o, c);
	} else {
		cs->found.wrong += c->result != o->word;
		o->word = o->op.arg[1];
	}
}

static void completed(void *ctx, unsigned int node, const struct mf_completion *c)
{
	struct clients *cs = ctx;
	struct one *o = &cs->one[c->user & 0xff];

	assert(o->node == node && o->under_way && c->user >> 8 == o->incarnation);
	o->under_way = false;
	if (c->status == MF_OK) {
		ended_well(cs, o, c);
	} else {
		cs->found.failed++;
		if (o->op.kind != MF_OP_READ)
			new_region(cs, o);
	}
	begin(cs, o);
}

struct clients *clients_new(const struct clients_config *config)
{
	struct clients *cs = calloc(1, sizeof(*cs));

	cs->config = *config;
	cs->rig = rig_new(&config->rig);
	cs->rig->completed = completed;
	cs->rig->ctx = cs;
	mf_rng_init(&cs->rng, config->rig.seed, "clients", 0);
	cs->count = config->depth * (RIG_NODES - 1);
	assert(cs->count <= CLIENTS);
	for (unsigned int i = 0; i < CLIENT_COUNTERS; i++)
		cs->told[i] = calloc(CLIENT_OPS_MAX, 1);
	for (unsigned int i = 0; i < cs->count; i++) {
		struct one *o = &cs->one[i];

		o->node = i % (RIG_NODES - 1);
		o->data = malloc(REGION);
		o->shadow = malloc(REGION);
		new_region(cs, o);
	}
	return cs;
}

void clients_free(struct clients *cs)
{
	for (unsigned int i = 0; i < cs->count; i++) {
		free(cs->one[i].data);
		free(cs->one[i].shadow);
	}
	for (unsigned int i = 0; i < CLIENT_COUNTERS; i++)
		free(cs->told[i]);
	rig_free(cs->rig);
	free(cs);
}

struct rig *clients_rig(struct clients *cs)
{
	return cs->rig;
}

const struct clients_found *clients_found(const struct clients *cs)
{
	return &cs->found;
}

void clients_start(struct clients *cs)
{
	for (unsigned int i = 0; i < cs->count; i++)
		begin(cs, &cs->one[i]);
}

void clients_restarted(struct clients *cs, unsigned int node)
{
	for (unsigned int i = 0; i < cs->count; i++) {
		struct one *o = &cs->one[i];

		if (o->node != node)
			continue;
		o->incarnation++;
		cs->found.failed += o->under_way;
		o->under_way = false;
		new_region(cs, o);
		begin(cs, o);
	}
}

/** What a counter holds lies between the atomics that completed and those that were begun. */
static void check_counter(struct clients *cs, unsigned int i)
{
	uint64_t value;

	memcpy(&value, mf_memory_flat.at(cs->rig->memory, counter_at(i), 8), 8);
	if (value < cs->ok[i])
		cs->found.lost += cs->ok[i] - value;
	if (value > cs->begun[i])
		cs->found.twice += value - cs->begun[i];
	if (cs->found.failed == 0 && value > cs->ok[i])
		cs->found.twice += value - cs->ok[i];
}

static void check_region(struct clients *cs, const struct one *o)
{
	const void *at = mf_memory_flat.at(cs->rig->memory, region_at(o), REGION);

	if (o->known > 0)
		cs->found.wrong += memcmp(at, o->shadow, o->known) != 0;
}

void clients_finish(struct clients *cs)
{
	struct mf_sched_stats s;

	rig_run(cs->rig, MF_NEVER - 1);
	rig_heal(cs->rig);
	rig_run(cs->rig, MF_NEVER - 1);
	for (unsigned int i = 0; i < CLIENT_COUNTERS; i++)
		check_counter(cs, i);
	for (unsigned int i = 0; i < cs->count; i++)
		check_region(cs, &cs->one[i]);
	for (unsigned int i = 0; i < RIG_NODES; i++)
		cs->found.under_way += mf_host_outstanding(cs->rig->host[i]);
	mf_sched_pim.stats(cs->rig->sched, &s);
	cs->found.demands = s.entries;
}
