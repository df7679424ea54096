/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up: all memory that a scheduler will ever use. The large arrays are as large as their bound says
 * and are touched only as far as they are used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/** The keys of all lists are one array; each list has its room in it. */
static bool alloc_lists(struct mf_sched *s, size_t n)
{
	size_t room = sched_list_room(2 * n);
	sched_key *keys = mf_sched_alloc(s, n * room, sizeof(*keys));

	s->list = mf_sched_alloc(s, n, sizeof(*s->list));
	if (!keys || !s->list)
		return false;
	for (size_t i = 0; i < n; i++)
		s->list[i] = (struct sched_list){.room = keys + i * room, .size = room - SCHED_LIST_BEYOND};
	return true;
}

static bool alloc_queues(struct mf_sched *s, size_t n)
{
	bool by_pair = s->config.order == MF_ORDER_PAIR;
	size_t queues = by_pair ? n * n : 2 * n * n;

	s->direction = queues - n * n;
	s->queue = mf_sched_alloc(s, queues, sizeof(*s->queue));
	/* Grants of one direction leave in order anyway: they are of the same ports. */
	if (by_pair && s->config.ahead)
		s->queue_left = mf_sched_alloc(s, queues, sizeof(*s->queue_left));
	s->demand = mf_sched_alloc(s, 2 * s->config.x * n * n + 1, sizeof(*s->demand));
	s->depth = mf_sched_alloc(s, n, sizeof(*s->depth));
	s->order_array = mf_sched_alloc(s, 2 * n, s->words * sizeof(*s->order_array));
	return s->queue && (s->queue_left || !by_pair || !s->config.ahead) && s->demand && s->depth &&
	       s->order_array && alloc_lists(s, n);
}

static bool alloc_ports(struct mf_sched *s, size_t n)
{
	struct calendar_node *node = mf_sched_alloc(s, 2 * n + 1, sizeof(*node));

	s->port = mf_sched_alloc(s, n, sizeof(*s->port));
	s->peer = mf_sched_alloc(s, n, sizeof(*s->peer));
	s->charge = mf_sched_alloc(s, n, sizeof(*s->charge));
	s->matched = mf_sched_alloc(s, n, sizeof(*s->matched));
	if (!node || !s->port || !s->peer || !s->charge || !s->matched)
		return false;
	calendar_init(&s->release, node);
	for (size_t i = 0; i < n; i++) {
		s->port[i].period = s->config.period[i];
		sched_set(s->free[SCHED_SRC], i);
		sched_set(s->free[SCHED_DST], i);
	}
	return true;
}

static bool alloc_inbox(struct mf_sched *s, size_t n)
{
	size_t ring = 1;

	s->inbox.room = MF_SCHED_PENDING * n;
	while (ring < s->inbox.room)
		ring *= 2;
	s->inbox.mask = ring - 1;
	s->inbox.entry = mf_sched_alloc(s, ring, sizeof(*s->inbox.entry));
	s->instant = mf_sched_alloc(s, n, sizeof(*s->instant));
	return s->inbox.entry && s->instant;
}

/**
 * A port is not matched again before its grant has left, so at most N grants wait to leave; and as many
 * dismissed demands as messages can be handed in between two calls of run(), which lets all leave.
 */
static bool alloc_leaving(struct mf_sched *s, size_t n)
{
	struct calendar_node *node;

	s->grant_room = n + 2 * MF_SCHED_PENDING * n;
	s->grant = mf_sched_alloc(s, s->grant_room + 1, sizeof(*s->grant));
	node = mf_sched_alloc(s, s->grant_room + 1, sizeof(*node));
	calendar_init(&s->leaving, node);
	return s->grant && node;
}

void *mf_sched_new(const struct mf_sched_config *config, size_t size, void (*match)(struct mf_sched *))
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
	s->match = match;
	s->config = *config;
	s->ports = n;
	s->window = config->release == MF_RELEASE_WINDOW;
	s->chunk_blocks = (config->chunk + 7) / 8 + config->chunk_overhead;
	s->words = (n + 63) / 64;
	s->stats.memory = size;
	s->stats.memory_paper = (33 * n * n + 7) / 8;
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
	free(s);
}
