/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/idle.h"
#include "run/mf_fabric.h"
#include "run/mf_unloaded.h"
#include "virtual/mf_virtual_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64
#define REST MF_US(20) /**< between two messages, and what the line takes for each */
#define PATIENCE 4096 /**< times as much: what is not over then is never */

/** The messages in their order, and those of a client behind each other. */
struct script {
	struct unloaded_entry **entry; /**< [count]: what each measures */
	struct mf_client_message *message; /**< [count] */
	struct mf_client_target *target; /**< [count]: those of a client behind each other */
	uint32_t count;
	mf_time end;
};

/* The table */

static bool alike(const struct mf_config_node *a, const struct mf_config_node *b)
{
	return a->up && a->group == b->group && a->to == b->to && a->link.period == b->link.period &&
	       a->link.propagation == b->link.propagation && a->link.policy == b->link.policy &&
	       a->link.quantum == b->link.quantum && a->link.align8 == b->link.align8;
}

static void classify(struct unloaded *a, const struct mf_config *config)
{
	for (unsigned int i = 0; i < config->slots; i++) {
		unsigned int k = 0;

		while (k < i && !alike(&config->node[k], &config->node[i]))
			k++;
		a->link_class[i] = (uint16_t)k;
	}
}

/* What a key has: 1 bit of the kind, 12 + 12 of classes, 3 more of the kind, 26 of the size. */
#define KEY_KIND 26
#define KEY_TARGET (KEY_KIND + 3)
#define KEY_CLIENT (KEY_TARGET + 12)
#define KEY_KIND_HIGH (KEY_CLIENT + 12)

static uint64_t key_of(const struct unloaded *a, unsigned int client, const struct message *m)
{
	static_assert(MF_CONFIG_TRANSFER_MAX < 1 << KEY_KIND && MF_CLIENT_KINDS <= 16 &&
			      MF_NODES_MAX <= 1 << 12,
		      "fits");
	return (uint64_t)(m->kind >> 3) << KEY_KIND_HIGH | (uint64_t)a->link_class[client] << KEY_CLIENT |
	       (uint64_t)a->link_class[m->target] << KEY_TARGET | (uint64_t)(m->kind & 7) << KEY_KIND |
	       m->size;
}

static struct unloaded_entry *slot_of(const struct unloaded *a, uint64_t key)
{
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & a->mask;

	while (a->slot[i].key != key && a->slot[i].key != UNLOADED_NONE)
		i = (i + 1) & a->mask;
	return &a->slot[i];
}

static bool allocate(struct unloaded *a, uint32_t slots)
{
	a->slot = malloc(slots * sizeof(*a->slot));
	for (uint32_t i = 0; a->slot != NULL && i < slots; i++)
		a->slot[i].key = UNLOADED_NONE;
	a->mask = slots - 1;
	return a->slot != NULL;
}

static bool grow(struct unloaded *a)
{
	struct unloaded old = *a;

	if (!allocate(a, 2 * (old.mask + 1))) {
		*a = old;
		return false;
	}
	for (uint32_t i = 0; i <= old.mask; i++)
		if (old.slot[i].key != UNLOADED_NONE)
			*slot_of(a, old.slot[i].key) = old.slot[i];
	free(old.slot);
	return true;
}

static bool add(struct unloaded *a, unsigned int client, const struct message *m)
{
	uint64_t key = key_of(a, client, m);
	struct unloaded_entry *e;

	if (2 * a->count > a->mask && !grow(a))
		return false;
	e = slot_of(a, key);
	if (e->key == key)
		return true;
	*e = (struct unloaded_entry){.key = key, .client = (uint16_t)client, .target = m->target};
	a->count++;
	return true;
}

static bool collect(struct unloaded *a, const struct messages *log)
{
	for (unsigned int i = 0; i < log->nodes; i++) {
		const struct message_client *c = &log->client[i];
		struct message before = {.size = 0}; /* none has */

		for (uint32_t k = 0; k < c->count; k++) {
			struct message m = message_at(c, k);

			if (!message_whole(&m) ||
			    (before.kind == m.kind && before.size == m.size && before.target == m.target))
				continue;
			if (!add(a, i, &m))
				return false;
			before = m;
		}
	}
	return true;
}

mf_time unloaded_latency(struct unloaded *a, unsigned int client, const struct message *m)
{
	uint64_t key = key_of(a, client, m);

	if (a->last == NULL || a->last->key != key)
		a->last = slot_of(a, key);
	return a->last->latency;
}

/* The script */

static uint32_t size_of(const struct unloaded_entry *e)
{
	return (uint32_t)(e->key & ((1U << KEY_KIND) - 1));
}

static int by_pair(const void *a, const void *b)
{
	const struct unloaded_entry *const *x = a, *const *y = b;

	if ((*x)->client != (*y)->client)
		return (*x)->client < (*y)->client ? -1 : 1;
	if ((*x)->target != (*y)->target)
		return (*x)->target < (*y)->target ? -1 : 1;
	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

/** Of each pair the first twice: what is learned by the first message of all is known to the others. */
static bool write_script(const struct unloaded *a, struct script *s)
{
	uint32_t n = 0;

	size_t most = 2 * (size_t)a->count + 1;

	*s = (struct script){.entry = calloc(most, sizeof(*s->entry)),
			     .message = calloc(most, sizeof(*s->message)),
			     .target = calloc(most, sizeof(*s->target))};
	if (s->entry == NULL || s->message == NULL || s->target == NULL)
		return false;
	for (uint32_t i = 0; i <= a->mask; i++)
		if (a->slot[i].key != UNLOADED_NONE)
			s->entry[n++] = &a->slot[i];
	qsort(s->entry, n, sizeof(*s->entry), by_pair);
	memmove(s->entry + n, s->entry, n * sizeof(*s->entry));
	for (uint32_t i = n; i < 2 * n; i++) {
		struct unloaded_entry *e = s->entry[i];

		if (i == n || e->client != s->entry[i - 1]->client || e->target != s->entry[i - 1]->target)
			s->entry[s->count++] = e;
		s->entry[s->count++] = e;
	}
	return true;
}

/** Picoseconds for a block on the slowest link of a node. */
static mf_time slowest(const struct mf_fabric *f, unsigned int node)
{
	mf_time period = 0;

	for (unsigned int end = 0; end < f->graph->role[node].ends; end++)
		period = mf_time_max(period, f->link[fabric_link(f, end, node)].period);
	return period;
}

static void set_times(const struct mf_fabric *f, struct script *s, mf_time slow)
{
	mf_time at = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct unloaded_entry *e = s->entry[i];
		mf_time period = mf_time_max(slowest(f, e->client), slowest(f, e->target));

		s->message[i] = (struct mf_client_message){.start = at,
							   .octets = size_of(e),
							   .node = e->target,
							   .kind = (uint8_t)(e->key >> KEY_KIND & 7)};
		at += slow * (REST + (size_of(e) + 7) / 8 * period * 4);
	}
	s->end = at;
}

/* The run */

static struct mf_client *new_client(const struct mf_fabric *f, const struct script *s, uint32_t from,
				    uint32_t to)
{
	uint16_t client = s->entry[from]->client;
	struct mf_client_target *target = s->target + from;
	struct mf_client_config c = {
		.host = f->node[client].host,
		.layer = f->node[client].layer,
		.node = client,
		.seed = f->config->seed,
		.size_dist = MF_CLIENT_SIZE_UNIFORM,
		.size_min = 1,
		.pattern = MF_CLIENT_TO_UNIFORM,
		.address = MF_CLIENT_AT_UNIFORM,
		.targets = target,
		.depth = 1,
		.idle_max = UINT64_MAX,
		.stop = f->stop,
		.messages = s->message + from,
		.messages_count = to - from,
		.watch = messages_watch(f->messages, client),
	};

	for (int k = 0; k < MF_CLIENT_KINDS; k++)
		c.mix[k] = 1;
	for (uint32_t i = from; i < to; i++) {
		if (i == from || s->entry[i]->target != s->entry[i - 1]->target)
			target[c.targets_count++] = (struct mf_client_target){.node = s->entry[i]->target};
		if (s->message[i].octets > c.size_max)
			c.size_max = s->message[i].octets;
	}
	c.span = (c.size_max + 7) & ~UINT64_C(7);
	return mf_client_new(&c);
}

static int new_clients(struct mf_fabric *f, const struct script *s)
{
	uint32_t to;

	for (uint32_t from = 0; from < s->count; from = to) {
		for (to = from; to < s->count && s->entry[to]->client == s->entry[from]->client; to++)
			;
		f->node[s->entry[from]->client].client = new_client(f, s, from, to);
		if (f->node[s->entry[from]->client].client == NULL)
			return -errno;
	}
	return 0;
}

/** @return 0; -EAGAIN: something was still under way when the next one began */
static int read_log(const struct messages *log, const struct script *s)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct message_client *c = &log->client[s->entry[i]->client];
		mf_time next = i + 1 < s->count ? s->message[i + 1].start : s->end;
		struct message m;
		mf_time over;

		k = i > 0 && s->entry[i]->client == s->entry[i - 1]->client ? k + 1 : 0;
		if (k >= c->count)
			return -EAGAIN;
		m = message_at(c, k);
		over = mf_time_max(m.last, m.done);
		if (!message_whole(&m) || m.start != s->message[i].start || over > next ||
		    over - m.start > next - over)
			return -EAGAIN;
		s->entry[i]->latency = m.last - m.start;
	}
	return 0;
}

static int run_script(const struct mf_config *config, struct script *s, mf_time slow,
		      const struct mf_run_options *options, char *err, size_t errlen)
{
	struct mf_fabric *f = fabric_new_idle(config, MF_CLOCK_VIRTUAL, false, NULL, err, errlen);
	int rc;

	if (f == NULL)
		return -EINVAL;
	set_times(f, s, slow);
	f->measure = 0;
	f->stop = s->end;
	rc = new_clients(f, s);
	if (rc == 0)
		rc = virtual_run(f, options);
	if (rc != 0)
		snprintf(err, errlen, "messages alone: %s", strerror(-rc));
	else if (f->info.interrupted)
		rc = -EINTR;
	else
		rc = read_log(f->messages, s);
	mf_fabric_free(f);
	return rc;
}

static int measure(const struct mf_fabric *f, struct script *s, const struct mf_run_options *options,
		   char *err, size_t errlen)
{
	const struct mf_run_options quiet = {.block_by_block = options->block_by_block,
					     .interrupt = options->interrupt};
	struct mf_config config = *f->config;
	int rc = -EAGAIN;

	config.report_stages = false;
	config.report_series = 0;
	config.faults = 0;
	config.tests = 0;
	for (mf_time slow = 1; rc == -EAGAIN && slow <= PATIENCE; slow *= 4)
		rc = run_script(&config, s, slow, &quiet, err, errlen);
	if (rc == -EAGAIN)
		snprintf(err, errlen, "a message does not complete even alone");
	return rc;
}

struct unloaded *unloaded_new(const struct mf_fabric *f, const struct mf_run_options *options, char *err,
			      size_t errlen)
{
	struct unloaded *a = calloc(1, sizeof(*a));
	struct script s = {0};
	bool ok = false;

	snprintf(err, errlen, "no memory");
	if (a == NULL)
		return NULL;
	a->link_class = calloc(f->nodes, sizeof(*a->link_class));
	if (a->link_class != NULL && allocate(a, SLOTS_MIN)) {
		classify(a, f->config);
		ok = collect(a, f->messages) && write_script(a, &s) &&
		     (s.count == 0 || measure(f, &s, options, err, errlen) == 0);
	}
	free(s.entry);
	free(s.message);
	free(s.target);
	if (ok)
		return a;
	unloaded_free(a);
	return NULL;
}

void unloaded_free(struct unloaded *a)
{
	if (a == NULL)
		return;
	free(a->link_class);
	free(a->slot);
	free(a);
}
