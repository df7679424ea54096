/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay (D19): a role is given what its record says it was given, at the times that the record says,
 * and must give what it gave. Nothing of one role reaches another, so one fabric serves them all.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "fabric/mf_fabric_regions.h"
#include "record/mf_record.h"
#include "run/mf_fabric.h"
#include "wall/mf_wall_role.h"

struct replay {
	struct role *role;
	struct record_reader in;
	uint64_t outputs, octets; /**< identical ones */
	uint64_t differ;
	char first[256]; /**< what the first difference is */
	uint64_t items[RECORD_ITEMS_MAX * MF_ITEM_MAX / sizeof(uint64_t)]; /**< aligned as any of them */
};

#define CALL(call) (1u << RECORD_##call)

static const unsigned int calls_of[] = {
	[ROLE_NODE] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(GIVE) | CALL(TAKE) |
		      CALL(LINK_LOST) | CALL(LINK_BACK) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK),
	[ROLE_REDUNDANT] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(LINK_LOST) |
			   CALL(LINK_BACK) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK),
	[ROLE_ENDS] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(LINK_LOST) |
		      CALL(LINK_BACK) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK),
	[ROLE_SWITCH] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(GIVE) | CALL(TAKE) |
			CALL(LINK_LOST) | CALL(LINK_BACK) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK) |
			CALL(BEAR) | CALL(ROUTE),
	[ROLE_SCHED] = CALL(GIVE) | CALL(TAKE),
	[ROLE_SLOW] = CALL(GIVE) | CALL(TAKE),
};

/** Calls whose entries have data. */
#define WITH_DATA (CALL(RX) | CALL(TX) | CALL(GIVE) | CALL(TAKE) | CALL(BEAR) | CALL(ROUTE))

/** What crosses the channel of an entry, in its direction. @return NULL: the role has no such channel */
static const struct mf_item *crosses(const struct role *r, const struct record_entry *e)
{
	if (e->channel != ROLE_CHANNEL || r->channel == NULL)
		return NULL;
	return e->call == RECORD_GIVE ? r->channel->in : r->channel->out;
}

/** Whether a switch has a port with a switch, or a node of the file, at the other end. */
static bool has_port(const struct role *r, unsigned int port)
{
	const struct mf_topology *g = r->f->graph;
	const struct mf_vertex *peer;

	if (port >= g->role[r->f->nodes + r->index].ends)
		return false;
	peer = &g->role[mf_topology_peer(g, r->first_end + port)];
	return peer->kind == MF_VERTEX_SWITCH || r->f->config->node[peer->number].up;
}

/** Whether a role's link has a rate, so that it is asked for few blocks. @param port  of any number */
static bool has_shape(const struct role *r, unsigned int port)
{
	const struct mf_topology *g = r->f->graph;
	uint32_t end = r->first_end + (role_is_node(r) ? 0 : port);

	if (!role_is_node(r) && !has_port(r, port))
		return false;
	return r->f->link[g->end[end].link].shape != 0;
}

/** Whether the kind of a role has a pool, and a port one of its own. */
static bool has_pool(const struct role *r, unsigned int pool, unsigned int port)
{
	const struct mf_pool_desc *p = role_pools(r);

	for (unsigned int i = 0; p != NULL && p->key != NULL; p++, i++)
		if (i == pool)
			return p->by_end ? r->kind == ROLE_SWITCH && has_port(r, port) : port == 0;
	return false;
}

/** Whether a role can be called so. */
static bool makes_sense(const struct role *r, const struct record_entry *e)
{
	if (e->call >= RECORD_CALLS || !(calls_of[r->kind] & 1u << e->call))
		return false;
	if (e->size != 0 && !(WITH_DATA & 1u << e->call))
		return false;
	if (e->call == RECORD_CRASH && role_ops(r)->crash == NULL)
		return false;
	if (e->call == RECORD_GIVE)
		return crosses(r, e) != NULL && e->count == 0;
	if (e->call == RECORD_TAKE)
		return crosses(r, e) != NULL && e->count > 0 && e->count <= RECORD_ITEMS_MAX;
	if (e->call == RECORD_TAKE_AWAY || e->call == RECORD_GIVE_BACK)
		return has_pool(r, e->channel, e->count);
	if (e->channel != 0 && !(e->call == RECORD_TX && has_shape(r, e->count)))
		return false;
	switch (e->call) {
	case RECORD_RX:
	case RECORD_TX:
	case RECORD_SHORT_SPANS:
	case RECORD_LINK_LOST:
	case RECORD_LINK_BACK:
	case RECORD_BEAR:
		if (r->kind == ROLE_REDUNDANT || r->kind == ROLE_ENDS)
			return e->count < r->f->graph->role[r->index].ends;
		return r->kind == ROLE_NODE ? e->count == r->index : has_port(r, e->count);
	default:
		return e->count == 0;
	}
}

/** @param item  what crossed a channel; NULL: a span was sent, or none */
static void compare(struct replay *p, const struct mf_item *item, const void *is, size_t size)
{
	const struct record_buffer *was = &p->in.now;
	const struct record_entry *e = &was->entry;
	size_t capacity = sizeof(p->first);
	char *to = p->first;
	int n;

	if (size == e->size && memcmp(is, was->data, size) == 0) {
		p->outputs++;
		p->octets += size;
		return;
	}
	if (p->differ++ > 0)
		return;
	n = snprintf(to, capacity, "entry %" PRIu64 ", %s%s at %" PRIu64 " ps: ", p->in.number - 1,
		     item != NULL ? item->name : "blocks sent", item != NULL ? "s" : "", e->now);
	if (item != NULL)
		mf_item_differ(item, is, size, was->data, e->size, to + n, capacity - (size_t)n);
	else
		record_differ_span(is, size, was->data, e->size, to + n, capacity - (size_t)n);
}

static int give_span(struct replay *p)
{
	const struct record_buffer *b = &p->in.now;
	struct mf_span span;

	if (record_unpack_span(b->data, b->entry.size, &span) != 0)
		return -EINVAL;
	role_rx(p->role, b->entry.count, b->entry.now, &span);
	return 0;
}

static int give_item(struct replay *p)
{
	const struct record_buffer *b = &p->in.now;
	const struct mf_item *item = crosses(p->role, &b->entry);

	if (mf_item_unpack(item, b->data, b->entry.size, p->role->f->nodes, p->items) != 0 ||
	    !role_may_come(p->role, p->items))
		return -EINVAL;
	role_give(p->role, b->entry.now, p->items, 1);
	return 0;
}

static int give_bear(struct replay *p)
{
	const struct record_buffer *b = &p->in.now;
	mf_time by;

	if (b->entry.size != sizeof(by))
		return -EINVAL;
	memcpy(&by, b->data, sizeof(by));
	role_bear(p->role, b->entry.count, by, b->entry.now);
	return 0;
}

static int give_route(struct replay *p)
{
	const struct record_buffer *b = &p->in.now;
	struct role_route route;

	if (b->entry.size != sizeof(route))
		return -EINVAL;
	memcpy(&route, b->data, sizeof(route));
	if (p->role->f->sw[p->role->index].routes == NULL || route.link >= p->role->f->graph->links ||
	    route.up > 1)
		return -EINVAL;
	role_route(p->role, &route, b->entry.now);
	return 0;
}

static void take_span(struct replay *p, const struct record_entry *e)
{
	unsigned int most = e->channel != 0 ? e->channel : MF_SPAN_MAX;
	uint8_t packed[RECORD_SPAN_MAX];
	struct mf_span span;

	compare(p, NULL, packed,
		role_tx(p->role, e->count, e->now, most, &span) > 0 ? record_pack_span(&span, packed) : 0);
}

static void take_items(struct replay *p, const struct record_entry *e)
{
	const struct mf_item *item = crosses(p->role, e);
	uint8_t packed[RECORD_DATA_MAX];
	unsigned int n = role_take(p->role, e->now, p->items, e->count);

	compare(p, item, packed, mf_item_pack(item, p->items, n, packed));
}

/** Repeats one call. @return 0, -EINVAL */
static int repeat(struct replay *p)
{
	const struct record_entry *e = &p->in.now.entry;

	if (!makes_sense(p->role, e))
		return -EINVAL;
	switch (e->call) {
	case RECORD_RX:
		return give_span(p);
	case RECORD_GIVE:
		return give_item(p);
	case RECORD_RUN:
		role_run(p->role, e->now);
		return 0;
	case RECORD_TX:
		take_span(p, e);
		return 0;
	case RECORD_SHORT_SPANS:
		role_short_spans(p->role, e->count);
		return 0;
	case RECORD_LINK_LOST:
		role_link_lost(p->role, e->count, e->now);
		return 0;
	case RECORD_LINK_BACK:
		role_link_back(p->role, e->count, e->now);
		return 0;
	case RECORD_BEAR:
		return give_bear(p);
	case RECORD_ROUTE:
		return give_route(p);
	case RECORD_CRASH:
		return role_crash(p->role, e->now);
	case RECORD_TAKE_AWAY:
	case RECORD_GIVE_BACK:
		role_exhaust(p->role, e->channel, e->count, e->call == RECORD_TAKE_AWAY, e->now);
		return 0;
	default:
		take_items(p, e);
		return 0;
	}
}

static int repeat_all(struct replay *p)
{
	int rc;

	while ((rc = record_next(&p->in)) > 0) {
		rc = repeat(p);
		if (rc != 0) {
			snprintf(p->in.err, sizeof(p->in.err), "entry %" PRIu64 " makes no sense",
				 p->in.number - 1);
			break;
		}
	}
	return rc;
}

static void say(const struct replay *p, const char *dir, int err, FILE *out)
{
	const char *name = role_name(p->role);

	if (err != 0) {
		fprintf(out, "%s/%s.rec %s\n", dir, name, p->in.err);
		return;
	}
	fprintf(out, "%s: %" PRIu64 " calls; %" PRIu64 " outputs, %" PRIu64 " octets identical", name,
		p->in.number, p->outputs, p->octets);
	if (p->differ > 0)
		fprintf(out, "; %" PRIu64 " outputs differ, the first in %s", p->differ, p->first);
	fputc('\n', out);
}

static int replay_role(struct role *role, const char *dir, uint32_t config, uint64_t *differ, FILE *out)
{
	struct replay *p = calloc(1, sizeof(*p));
	int err;

	if (p == NULL)
		return -ENOMEM;
	p->role = role;
	err = record_reader_open(&p->in, dir, role_name(role), config);
	if (err == 0)
		err = repeat_all(p);
	record_reader_close(&p->in);
	say(p, dir, err, out);
	*differ += p->differ;
	free(p);
	return err;
}

static int replay_all(struct mf_fabric *f, const char *dir, FILE *out)
{
	struct role *role = mf_table_new(role_max(f), sizeof(*role));
	uint32_t config = 0;
	uint64_t differ = 0;
	int err = role != NULL ? mf_config_hash(f->config, &config) : -ENOMEM;

	if (err == 0) {
		unsigned int roles = role_all(f, role);

		for (unsigned int i = 0; i < roles; i++) {
			int e = replay_role(&role[i], dir, config, &differ, out);

			err = err != 0 ? err : e;
		}
	}
	mf_table_free(role);
	if (err != 0)
		return err;
	return differ < INT_MAX ? (int)differ : INT_MAX;
}

int mf_fabric_replay(const struct mf_config *config, const char *dir, FILE *out)
{
	char err[512];
	struct mf_fabric *f = mf_fabric_new(config, MF_CLOCK_WALL, err, sizeof(err));
	int rc;

	if (f == NULL) {
		fprintf(out, "%s\n", err);
		return -ENOMEM;
	}
	regions_repeat(f);
	rc = virtual_memory_repeat(f, true);
	if (rc == 0)
		rc = replay_all(f, dir, out);
	mf_fabric_free(f);
	return rc;
}
