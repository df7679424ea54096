/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up: all memory that a scheduler will ever use. The large arrays are as large as their bound says
 * and are touched only as far as they are used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "systems/edm/sched/list.h"

#define CACHE_LINE 64
#define LARGE ((size_t)1 << 20) /* octets */

static bool valid(const struct mf_sched_config *c)
{
	if (c->ports < 2 || c->ports > SCHED_PORTS_MAX || !c->x || c->x > SCHED_X_MAX)
		return false;
	if (!c->chunk || c->chunk % 16 || c->chunk > SCHED_SIZE_MAX)
		return false;
	if ((unsigned int)c->priority > MF_SCHED_SRPT || (unsigned int)c->order > MF_ORDER_DIRECTION ||
	    (unsigned int)c->release > MF_RELEASE_WINDOW)
		return false;
	if (c->slots && c->release != MF_RELEASE_WIRE)
		return false;
	if (c->release == MF_RELEASE_WINDOW)
		return c->window;
	for (unsigned int i = 0; i < c->ports; i++)
		if (!c->period[i])
			return false;
	return true;
}

/** Large tables are in huge pages: a matching of 512 ports touches more small ones than a TLB has entries. */
static void *alloc_large(struct mf_sched *s, size_t n, size_t size)
{
	void *table = mf_table_new_dense(n, size);

	if (!table)
		return NULL;
	assert(s->tables < sizeof(s->table) / sizeof(s->table[0]));
	s->table[s->tables++] = table;
	s->stats.memory += n * size;
	return table;
}

void *mf_sched_alloc(struct mf_sched *s, size_t n, size_t size)
{
	char *raw;

	if (n * size >= LARGE)
		return alloc_large(s, n, size);
	raw = calloc(1, n * size + CACHE_LINE - 1);
	if (!raw)
		return NULL;
	assert(s->blocks < sizeof(s->block) / sizeof(s->block[0]));
	s->block[s->blocks++] = raw;
	s->stats.memory += n * size + CACHE_LINE - 1;
	return raw + (-(uintptr_t)raw & (CACHE_LINE - 1));
}

/** Times of ports, none yet. */
static bool alloc_times(struct mf_sched *s, struct sched_times *t)
{
	t->at = mf_sched_alloc(s, 64 * s->words, sizeof(*t->at));
	if (!t->at)
		return false;
	memset(t->at, 0xff, 64 * s->words * sizeof(*t->at));
	memset(t->group, 0xff, sizeof(t->group));
	t->first = MF_NEVER;
	static_assert(MF_NEVER == UINT64_MAX, "all bits are set");
	return true;
}

/** A room for so many keys: an odd number of cache lines, so that lists do not meet in a few sets. */
static size_t room_octets(size_t size)
{
	return (list_octets(size) / CACHE_LINE + 1) / 2 * 2 * CACHE_LINE + CACHE_LINE;
}

/** Lists, behind them their rooms, and the heads of so many queues. */
static bool alloc_lists(struct mf_sched *s, size_t n, size_t queues)
{
	size_t size = 2 * n + LIST_WANDER, octets = room_octets(size), lists = n * sizeof(*s->list);
	char *all = mf_sched_alloc(s, 1, lists + n * octets + queues * sizeof(*s->queue));

	if (!all)
		return false;
	s->queue = (uint32_t *)(void *)(all + lists + n * octets);
	s->list = (struct sched_list *)(void *)all;
	for (size_t i = 0; i < n; i++)
		list_begin(s->list + i, (lists + i * octets - i * sizeof(*s->list)) / sizeof(sched_key),
			   size);
	return true;
}

static bool alloc_queues(struct mf_sched *s, size_t n)
{
	size_t queues = s->config.order == MF_ORDER_PAIR ? n * n : 2 * n * n;

	s->direction = queues - n * n;
	s->tail = mf_sched_alloc(s, queues, sizeof(*s->tail));
	s->demand = mf_sched_alloc(s, 2 * s->config.x * n * n + 1, sizeof(*s->demand));
	s->depth = mf_sched_alloc(s, n, sizeof(*s->depth));
	while (1u << s->order_shift < s->words)
		s->order_shift++;
	s->order_array[0] = mf_sched_alloc(s, n << s->order_shift, sizeof(*s->order_array[0]));
	s->order_array[1] = mf_sched_alloc(s, n << s->order_shift, sizeof(*s->order_array[1]));
	return s->tail && s->demand && s->depth && s->order_array[0] && s->order_array[1] &&
	       alloc_lists(s, n, queues);
}

static bool alloc_ports(struct mf_sched *s, size_t n)
{
	s->port = mf_sched_alloc(s, n, sizeof(*s->port));
	s->charge = mf_sched_alloc(s, n, sizeof(*s->charge));
	s->until[SCHED_SRC] = mf_sched_alloc(s, 64 * s->words, sizeof(mf_time));
	s->until[SCHED_DST] = mf_sched_alloc(s, 64 * s->words, sizeof(mf_time));
	if (!s->port || !s->charge || !s->until[SCHED_SRC] || !s->until[SCHED_DST] ||
	    !alloc_times(s, &s->release[SCHED_SRC]) || !alloc_times(s, &s->release[SCHED_DST]))
		return false;
	s->releases = MF_NEVER;
	s->period = s->config.period[0];
	for (size_t i = 0; i < n; i++) {
		s->period &= -(mf_time)(s->config.period[i] == s->config.period[0]);
		s->port[i].period = s->config.period[i];
		sched_set(&s->all, i);
	}
	s->free[SCHED_SRC] = s->free[SCHED_DST] = s->all;
	return true;
}

/** Rings, a power of two each. */
static bool alloc_inbox(struct mf_sched *s, size_t n)
{
	uint32_t room = MF_SCHED_PENDING;

	while (room < MF_SCHED_PENDING * n)
		room *= 2;
	s->inbox.mask = s->forwards.mask = room - 1;
	s->inbox.first = s->forwards.first = MF_NEVER;
	s->inbox.entry = mf_sched_alloc(s, room, sizeof(*s->inbox.entry));
	s->forwards.entry = mf_sched_alloc(s, room, sizeof(*s->forwards.entry));
	s->instant = mf_sched_alloc(s, n, sizeof(*s->instant));
	return s->inbox.entry && s->forwards.entry && s->instant;
}

/** Dismissed by run(): as many as may be pending. By input(): it takes as many. */
static bool alloc_leaving(struct mf_sched *s, size_t n)
{
	s->leaves = MF_NEVER;
	/* What may be refused at a time, and all that a flush may find: both ways, reads and writes. */
	s->dismissed_room = (2 * MF_SCHED_PENDING + 4 * s->config.x) * n + 1;
	s->flushed_at = MF_NEVER;
	s->dismissed = mf_sched_alloc(s, s->dismissed_room, sizeof(*s->dismissed));
	s->grant = mf_sched_alloc(s, n, sizeof(*s->grant));
	s->serial = mf_sched_alloc(s, n, sizeof(*s->serial));
	return s->dismissed && s->grant && s->serial && alloc_times(s, &s->leaving);
}

void *mf_sched_new(const struct mf_sched_config *config, size_t size)
{
	struct mf_sched *s;
	size_t n = config->ports;

	if (!valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	s = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	if (!s)
		return NULL;
	memset(s, 0, size);
	s->config = *config;
	s->ports = n;
	s->window = config->release == MF_RELEASE_WINDOW;
	s->prompt = s->window && !config->insert && !config->iteration;
	s->roomy = config->window > config->chunk ? config->window - config->chunk : 0;
	s->chunk_blocks = (config->chunk + 7) / 8 + config->chunk_overhead;
	s->words = (n + 63) / 64;
	s->stats.memory = size;
	s->stats.memory_paper = (33 * n * n + 7) / 8;
	s->stats.queue_bound = 2 * (uint64_t)config->x * n;
	if (!alloc_queues(s, n) || !alloc_ports(s, n) || !alloc_inbox(s, n) || !alloc_leaving(s, n)) {
		mf_sched_destroy(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

void mf_sched_destroy(struct mf_sched *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->blocks; i++)
		free(s->block[i]);
	for (unsigned int i = 0; i < s->tables; i++)
		mf_table_free(s->table[i]);
	free(s);
}
