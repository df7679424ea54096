/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up: all memory that a scheduler will ever use. The large arrays are as large as their bound says
 * and are touched only as far as they are used.
 */
#include <errno.h>
#include <stdlib.h>

#include "core.h"

#define CACHE_LINE 64

static bool valid(const struct mf_sched_config *c)
{
	if (c->ports < 2 || c->ports > SCHED_PORTS_MAX || !c->x || c->x > SCHED_X_MAX)
		return false;
	if (!c->chunk || c->chunk % 16 || c->chunk > SCHED_SIZE_MAX)
		return false;
	if ((unsigned int)c->priority > MF_SCHED_SRPT || (unsigned int)c->order > MF_ORDER_DIRECTION ||
	    (unsigned int)c->release > MF_RELEASE_WINDOW)
		return false;
	if (c->release == MF_RELEASE_WINDOW)
		return c->window;
	for (unsigned int i = 0; i < c->ports; i++)
		if (!c->period[i])
			return false;
	return true;
}

void *mf_sched_alloc(struct mf_sched *s, size_t n, size_t size)
{
	char *raw = calloc(1, n * size + CACHE_LINE - 1);

	if (!raw)
		return NULL;
	assert(s->blocks < sizeof(s->block) / sizeof(s->block[0]));
	s->block[s->blocks++] = raw;
	s->stats.memory += n * size + CACHE_LINE - 1;
	return raw + (-(uintptr_t)raw & (CACHE_LINE - 1));
}

static bool alloc_agenda(struct mf_sched *s, struct agenda *a, size_t room)
{
	a->room = room;
	a->node = mf_sched_alloc(s, room + 1, sizeof(*a->node));
	return a->node;
}

static bool alloc_queues(struct mf_sched *s, size_t n)
{
	size_t queues = s->config.order == MF_ORDER_PAIR ? n * n : 2 * n * n;

	s->direction = queues - n * n;
	s->queue = mf_sched_alloc(s, queues, sizeof(*s->queue));
	s->demand = mf_sched_alloc(s, 2 * s->config.x * n * n + 1, sizeof(*s->demand));
	s->depth = mf_sched_alloc(s, n, sizeof(*s->depth));
	s->wanted = mf_sched_alloc(s, 2 * n, s->words * sizeof(*s->wanted));
	s->order_array = mf_sched_alloc(s, 2 * n, s->words * sizeof(*s->order_array));
	s->key = mf_sched_alloc(s, 2 * n * n, sizeof(*s->key));
	return s->queue && s->demand && s->depth && s->wanted && s->order_array && s->key;
}

static bool alloc_ports(struct mf_sched *s, size_t n)
{
	s->port[SCHED_SRC] = mf_sched_alloc(s, n, sizeof(*s->port[0]));
	s->port[SCHED_DST] = mf_sched_alloc(s, n, sizeof(*s->port[0]));
	s->release = mf_sched_alloc(s, 2 * n, sizeof(*s->release));
	s->charge = mf_sched_alloc(s, n, sizeof(*s->charge));
	s->matched = mf_sched_alloc(s, n, sizeof(*s->matched));
	return s->port[SCHED_SRC] && s->port[SCHED_DST] && s->release && s->charge && s->matched;
}

/**
 * A port is not matched again before its grant has left, so at most N grants wait to leave; and as many
 * dismissed demands as messages can be handed in between two calls of run(), which lets all leave.
 */
static bool alloc_agendas(struct mf_sched *s, size_t n)
{
	size_t pending = MF_SCHED_PENDING * n;

	s->msg = mf_sched_alloc(s, pending + 1, sizeof(*s->msg));
	s->grant = mf_sched_alloc(s, n + 2 * pending + 1, sizeof(*s->grant));
	return s->msg && s->grant && alloc_agenda(s, &s->pending, pending) &&
	       alloc_agenda(s, &s->leaving, n + 2 * pending);
}

void *mf_sched_new(const struct mf_sched_config *config, size_t size, void (*match)(struct mf_sched *))
{
	struct mf_sched *s;
	size_t n = config->ports;

	if (!valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	s = calloc(1, size);
	if (!s)
		return NULL;
	s->match = match;
	s->config = *config;
	s->ports = n;
	s->chunk_blocks = (config->chunk + 7) / 8 + config->chunk_overhead;
	s->words = (n + 63) / 64;
	s->stats.memory = size;
	s->stats.memory_paper = (33 * n * n + 7) / 8;
	if (!alloc_queues(s, n) || !alloc_ports(s, n) || !alloc_agendas(s, n)) {
		mf_sched_destroy(s);
		errno = ENOMEM;
		return NULL;
	}
	for (unsigned int i = 0; i < n; i++) {
		sched_set(s->free[SCHED_SRC], i);
		sched_set(s->free[SCHED_DST], i);
	}
	return s;
}

void mf_sched_destroy(struct mf_sched *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->blocks; i++)
		free(s->block[i]);
	free(s);
}
