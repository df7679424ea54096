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
};

#define CALL(call) (1u << RECORD_##call)

static const unsigned int calls_of[] = {
	[ROLE_NODE] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(LINK_LOST) | CALL(CRASH) |
		      CALL(TAKE_AWAY) | CALL(GIVE_BACK),
	[ROLE_TWIN] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(LINK_LOST) |
		      CALL(LINK_BACK) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK),
	[ROLE_SWITCH] = CALL(RX) | CALL(RUN) | CALL(TX) | CALL(SHORT_SPANS) | CALL(TO_SCHED) | CALL(GRANT) |
			CALL(LINK_LOST) | CALL(LINK_BACK) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK) |
			CALL(BEAR),
	[ROLE_SCHED] = CALL(INPUT) | CALL(MATCH),
};

/** What only EDM's roles are called for: the configuration refuses these faults with other stacks. */
#define CALLS_OF_EDM (CALL(GRANT) | CALL(INPUT) | CALL(CRASH) | CALL(TAKE_AWAY) | CALL(GIVE_BACK))

static const char *const call_name[RECORD_CALLS] = {
	[RECORD_TX] = "blocks sent",
	[RECORD_TO_SCHED] = "descriptors for the scheduler",
	[RECORD_MATCH] = "grants",
};

/** Whether a role can be called so. */
static bool makes_sense(const struct role *r, const struct record_entry *e)
{
	const struct mf_config *config = r->f->config;

	if (e->call >= RECORD_CALLS || !(calls_of[r->kind] & 1u << e->call))
		return false;
	if (config->stack_ops != NULL && CALLS_OF_EDM & 1u << e->call)
		return false;
	switch (e->call) {
	case RECORD_RX:
	case RECORD_TX:
	case RECORD_SHORT_SPANS:
	case RECORD_LINK_LOST:
	case RECORD_LINK_BACK:
	case RECORD_BEAR:
		if (r->kind == ROLE_TWIN)
			return e->count < 2;
		return r->kind == ROLE_NODE ? e->count == r->index
					    : e->count < r->f->nodes && config->node[e->count].up;
	case RECORD_TAKE_AWAY:
	case RECORD_GIVE_BACK:
		return role_is_node(r) ? e->count <= MF_HOST_MUX
				       : e->count == ROLE_REQUESTS ||
						 (e->count < r->f->nodes && config->node[e->count].up);
	case RECORD_TO_SCHED:
	case RECORD_MATCH:
		return e->count > 0 && e->count <= RECORD_ITEMS_MAX;
	default:
		return true;
	}
}

static void compare(struct replay *p, const void *is, size_t size)
{
	const struct record_buffer *was = &p->in.now;
	const struct record_entry *e = &was->entry;
	int n;

	if (size == e->size && memcmp(is, was->data, size) == 0) {
		p->outputs++;
		p->octets += size;
		return;
	}
	if (p->differ++ > 0)
		return;
	n = snprintf(p->first, sizeof(p->first),
		     "entry %" PRIu64 ", %s at %" PRIu64 " ps: ", p->in.number - 1, call_name[e->call],
		     e->now);
	record_differ((enum record_call)e->call, is, size, was->data, e->size, p->first + n,
		      sizeof(p->first) - (size_t)n);
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

static int give_grant(struct replay *p)
{
	const struct record_buffer *b = &p->in.now;
	struct mf_sched_grant grant;

	if (record_unpack_grant(b->data, b->entry.size, &grant) != 0)
		return -EINVAL;
	if (grant.src >= p->role->f->nodes || grant.dst >= p->role->f->nodes)
		return -EINVAL;
	role_grant(p->role, b->entry.now, &grant);
	return 0;
}

static int give_msg(struct replay *p)
{
	const struct record_buffer *b = &p->in.now;
	struct mf_sched_msg msg;

	if (record_unpack_msg(b->data, b->entry.size, &msg) != 0)
		return -EINVAL;
	role_inputs(p->role, b->entry.now, &msg, 1);
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

static void take_span(struct replay *p, const struct record_entry *e)
{
	uint8_t packed[RECORD_SPAN_MAX];
	struct mf_span span;

	compare(p, packed,
		role_tx(p->role, e->count, e->now, &span) > 0 ? record_pack_span(&span, packed) : 0);
}

static void take_msgs(struct replay *p, const struct record_entry *e)
{
	struct mf_sched_msg msg[RECORD_ITEMS_MAX];
	uint8_t packed[RECORD_DATA_MAX];

	compare(p, packed, record_pack_msgs(msg, role_to_sched(p->role, e->now, msg, e->count), packed));
}

static void take_grants(struct replay *p, const struct record_entry *e)
{
	struct mf_sched_grant grant[RECORD_ITEMS_MAX];
	uint8_t packed[RECORD_DATA_MAX];

	compare(p, packed, record_pack_grants(grant, role_match(p->role, e->now, grant, e->count), packed));
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
	case RECORD_GRANT:
		return give_grant(p);
	case RECORD_INPUT:
		return give_msg(p);
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
	case RECORD_CRASH:
		return role_crash(p->role, e->now);
	case RECORD_TAKE_AWAY:
	case RECORD_GIVE_BACK:
		role_exhaust(p->role, e->count, e->call == RECORD_TAKE_AWAY, e->now);
		return 0;
	case RECORD_TO_SCHED:
		take_msgs(p, e);
		return 0;
	default:
		take_grants(p, e);
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
	struct role *role = mf_table_new(f->nodes + ROLES_BESIDE, sizeof(*role));
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
	rc = replay_all(f, dir, out);
	mf_fabric_free(f);
	return rc;
}
