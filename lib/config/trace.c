/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A workload that is a trace. The file is read twice, so that its messages take no more memory than they
 * need: once to look at all of it, then to put each message behind the others of its client. What can be read
 * only once, such as a pipe, is copied meanwhile (mf_trace_open()).
 */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"
#include "config/mf_config_query.h"
#include "workload/mf_trace.h"

const char *const cfg_trace_format_names[] = {
	[MF_TRACE_MEMFAB] = "memfab", [MF_TRACE_EDM] = "edm",      [MF_TRACE_YCSB] = "ycsb",
	[MF_TRACE_HPCC] = "hpcc",     [MF_TRACE_LOG] = "ycsb-log", [MF_TRACE_FORMATS] = NULL};

#define TRACE(m) CFG_AT(struct mf_config_trace, m)
const struct cfg_field cfg_trace_fields[] = {
	{.key = "trace", .kind = CFG_NESTED},
	{.key = "format", .kind = CFG_ENUM, TRACE(format), .names = cfg_trace_format_names},
	{.key = "digest", .kind = CFG_NESTED},
	{.key = "time_scale", .kind = CFG_REAL, TRACE(time_scale), .rlo = 1e-6, .rhi = 1e6},
	{.key = "time_zero", .kind = CFG_TIME, TRACE(time_zero), CFG_RANGE(0, INT64_MAX)},
	{0},
};

/** One reading of a trace for a workload. */
struct reading {
	struct cfg *c;
	const char *path;
	struct mf_config_workload *w;
	struct mf_config_trace *trace;
	struct mf_trace *file;
	bool src[MF_NODES_MAX], dst[MF_NODES_MAX]; /* nodes that run a client of it, that are targets */
	uint64_t count[MF_NODES_MAX]; /* messages of a node */
	uint64_t taken; /* queries */
	uint64_t kinds[MF_MIXES];
	uint64_t min, max; /* octets of reads and writes */
	bool addressed; /* rows say where */
	bool changed[MF_NODES_MAX],
		shared[MF_NODES_MAX]; /* then: targets that are written, by several asked */
	uint32_t asker[MF_NODES_MAX]; /* and 1: who asked first; 0: nobody */
	uint64_t flows,
		parts; /* that are longer than an operation, and operations they became beside one each */
};

/* What the trace says is told as it is: its line counts, not that of the fabric file. */
static int fail(const struct reading *r)
{
	snprintf(r->c->err, r->c->errlen, "%s", mf_trace_error(r->file));
	return -EINVAL;
}

static int check_node(const struct reading *r, unsigned int node, const bool *set, const char *role,
		      bool (*able)(const struct mf_config_node *))
{
	const struct mf_config *config = r->c->config;
	const struct mf_config_node *n = &config->node[node];

	if (node < config->slots && set[node])
		return 0;
	if (node >= config->slots || !n->up)
		return mf_trace_fail(r->file, "there is no node %u", node);
	if (!able(n))
		return mf_trace_fail(r->file, "node %u, '%s', is not a %s node", node, n->name, role);
	return mf_trace_fail(r->file, "node %u, '%s', is not one of the workload's %s nodes", node, n->name,
			     role);
}

static int scale(const struct reading *r, mf_time *start)
{
	double scaled;

	if (*start < r->trace->time_zero)
		return mf_trace_fail(r->file, "%" PRIu64 " ps is before time_zero", *start);
	*start -= r->trace->time_zero;
	if (r->trace->time_scale == 1)
		return 0;
	scaled = (double)*start * r->trace->time_scale;
	if (scaled >= 0x1p62)
		return mf_trace_fail(r->file, "%" PRIu64 " ps is too late for this time_scale", *start);
	*start = (mf_time)llround(scaled);
	return 0;
}

/* Beside that: who shares a target with whom, where somebody writes. */
static int check_addr(struct reading *r, const struct mf_trace_row *row)
{
	const struct mf_config_node *n = &r->c->config->node[row->dst];
	uint64_t size = mf_config_is_virtual(n) ? UINT64_MAX : n->memory_config.size;
	bool within = row->octets <= size && row->addr <= size - row->octets;

	r->addressed = true;
	if (within && row->addr + row->octets > r->trace->end)
		r->trace->end = row->addr + row->octets;
	if (within && mf_config_is_virtual(n)) /* each client has spaces of its own there */
		return 0;
	r->changed[row->dst] |= row->kind != MF_MIX_READ;
	if (r->asker[row->dst] == 0)
		r->asker[row->dst] = row->src + 1U;
	else if (r->asker[row->dst] != row->src + 1U)
		r->shared[row->dst] = true;
	if (within)
		return 0;
	return mf_trace_fail(r->file,
			     "%" PRIu64 " octets at address %" PRIu64
			     " are not within the memory of node %u, "
			     "'%s', which has %" PRIu64,
			     row->octets, row->addr, row->dst, n->name, size);
}

static int check_row(struct reading *r, struct mf_trace_row *row)
{
	int rc = check_node(r, row->src, r->src, "compute", cfg_is_compute);

	if (rc == 0)
		rc = check_node(r, row->dst, r->dst, "memory", cfg_is_memory);
	if (rc == 0 && row->octets > MF_CONFIG_TRANSFER_MAX && r->trace->format != MF_TRACE_HPCC)
		rc = mf_trace_fail(r->file, "size %" PRIu64 " is more than %u, the most of one operation",
				   row->octets, MF_CONFIG_TRANSFER_MAX);
	if (rc == 0 && row->has_addr)
		rc = check_addr(r, row);
	return rc != 0 ? rc : scale(r, &row->start);
}

typedef int row_fn(struct reading *r, const struct mf_trace_row *row);

/* A flow is a stream: one that is longer than an operation may be becomes several, one after the other. */
static int take_row(struct reading *r, struct mf_trace_row *row, row_fn *fn)
{
	uint64_t left = row->octets;
	int rc = check_row(r, row);

	r->flows += left > MF_CONFIG_TRANSFER_MAX;
	while (rc == 0 && left > MF_CONFIG_TRANSFER_MAX) {
		row->octets = MF_CONFIG_TRANSFER_MAX;
		left -= row->octets;
		r->parts++;
		rc = fn(r, row);
	}
	row->octets = left;
	return rc == 0 ? fn(r, row) : rc;
}

static int open_trace(struct reading *r)
{
	int rc = mf_trace_open(&r->file, r->path, r->trace->format, true, r->c->err, r->c->errlen);

	if (rc != 0)
		return rc == -ENOMEM ? rc : -EINVAL;
	r->trace->format = mf_trace_format(r->file);
	if (mf_trace_keyed(r->trace->format) == r->w->ycsb.on)
		return 0;
	return mf_trace_fail(r->file, r->w->ycsb.on ? "a store needs a trace of keys"
						    : "a trace of keys needs a store: key \"ycsb\"");
}

/* Each row to fn, from the first on. */
static int read_rows(struct reading *r, row_fn *fn)
{
	int rc = r->file == NULL ? open_trace(r) : mf_trace_rewind(r->file), n = 0;
	struct mf_trace_row row;

	if (r->file == NULL)
		return rc;
	r->flows = r->parts = 0;
	while (rc == 0 && (n = mf_trace_next(r->file, &row)) > 0)
		rc = r->w->ycsb.on ? fn(r, &row) : take_row(r, &row, fn);
	return rc != 0 || n < 0 ? fail(r) : 0;
}

static int look(struct reading *r, const struct mf_trace_row *row)
{
	r->count[row->src]++;
	r->kinds[row->kind]++;
	if (row->kind < MF_MIX_CAS) {
		r->min = row->octets < r->min ? row->octets : r->min;
		r->max = row->octets > r->max ? row->octets : r->max;
	}
	r->trace->messages++;
	r->trace->last = row->start;
	return 0;
}

/* count: how many of the node's are still to come. */
static int take(struct reading *r, const struct mf_trace_row *row)
{
	const struct mf_config_node *n = &r->c->config->node[row->src];
	uint64_t at;

	if (r->count[row->src] == 0 || row->has_addr != (r->trace->addr != NULL))
		return mf_trace_fail(r->file, "has changed while it was read");
	at = r->trace->first[n->client + 1] - r->count[row->src]--;
	r->trace->message[at] = (struct mf_client_message){
		.start = row->start, .octets = (uint32_t)row->octets, .node = row->dst, .kind = row->kind};
	if (row->has_addr)
		r->trace->addr[at] = row->addr;
	return 0;
}

/* Queries go to the clients in turn. */
static int look_keys(struct reading *r, const struct mf_trace_row *row)
{
	(void)row;
	r->count[r->w->clients.node[r->trace->messages++ % r->w->clients.n]]++;
	return 0;
}

static int take_keys(struct reading *r, const struct mf_trace_row *row)
{
	unsigned int client = (unsigned int)(r->taken++ % r->w->clients.n);
	uint64_t *left = &r->count[r->w->clients.node[client]];

	if (*left == 0)
		return mf_trace_fail(r->file, "has changed while it was read");
	r->trace->query[r->trace->first[client + 1] - (*left)--] =
		(struct mf_query){.key = row->key, .length = (uint32_t)row->octets, .kind = row->kind};
	return 0;
}

static int allocate(struct reading *r)
{
	struct mf_config_trace *t = r->trace;

	t->first = calloc(r->w->clients.n + 1, sizeof(*t->first));
	if (r->w->ycsb.on)
		t->query = calloc(t->messages, sizeof(*t->query));
	else
		t->message = calloc(t->messages, sizeof(*t->message));
	if (r->addressed)
		t->addr = calloc(t->messages, sizeof(*t->addr));
	if (t->first == NULL || (t->message == NULL && t->query == NULL) || (r->addressed && t->addr == NULL))
		return cfg_fail_memory(r->c);
	for (unsigned int i = 0; i < r->w->clients.n; i++)
		t->first[i + 1] = t->first[i] + r->count[r->w->clients.node[i]];
	return 0;
}

/* What the trace has in it, as the other parts of a workload know it. */
static void describe(const struct reading *r)
{
	struct mf_config_workload *w = r->w;
	bool data = r->max > 0;

	w->open = true;
	for (unsigned int k = 0; k < MF_MIXES; k++)
		w->mix[k] = (double)r->kinds[k] / (double)r->trace->messages;
	w->mix_sum = 1;
	w->size = (struct mf_config_size){.dist = MF_CONFIG_UNIFORM, .n = 2};
	w->size.size[0] = data ? (uint32_t)r->min : 8;
	w->size.size[1] = w->size.max = data ? (uint32_t)r->max : 8;
}

static int read_twice(struct reading *r)
{
	uint64_t digest, left = 0;
	int rc = read_rows(r, r->w->ycsb.on ? look_keys : look);

	if (rc != 0)
		return rc;
	digest = mf_trace_digest(r->file);
	if (r->trace->digest[0] != '\0' && strtoull(r->trace->digest, NULL, 16) != digest)
		return cfg_fail_key(r->c, "digest", "the trace is another one: %016" PRIx64, digest);
	snprintf(r->trace->digest, sizeof(r->trace->digest), "%016" PRIx64, digest);
	rc = allocate(r);
	if (rc == 0)
		rc = read_rows(r, r->w->ycsb.on ? take_keys : take);
	for (unsigned int i = 0; i < MF_NODES_MAX; i++)
		left += r->count[i];
	if (rc == 0 && (left > 0 || mf_trace_digest(r->file) != digest)) {
		mf_trace_fail(r->file, "has changed while it was read");
		rc = fail(r);
	}
	return rc;
}

static int read_digest(struct cfg *c, const json_t *json, struct mf_config_trace *t)
{
	const json_t *v = json_object_get(json, "digest");
	const char *s = json_string_value(v);

	if (v == NULL)
		return 0;
	if (s == NULL || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16)
		return cfg_fail_key(c, "digest", "must be a string of 16 digits 0 to f");
	strcpy(t->digest, s);
	return 0;
}

char *cfg_path(const struct cfg *c, const char *path)
{
	char *file, *joined = NULL;

	if (c->file == NULL || path[0] == '/' || strcmp(path, "-") == 0 || strchr(c->file, '/') == NULL)
		return strdup(path);
	file = strdup(c->file);
	if (file != NULL && asprintf(&joined, "%s/%s", dirname(file), path) < 0)
		joined = NULL;
	free(file);
	return joined;
}

/* What is not run as the file has it is told beside success: a line a trace. */
static void put_note(const struct reading *r)
{
	const char *left = mf_trace_note(r->file);
	size_t len = strnlen(r->c->err, r->c->errlen);

	if (left != NULL)
		len += (size_t)snprintf(r->c->err + len, r->c->errlen - len, "%s%s", len > 0 ? "\n" : "",
					left);
	if (r->flows > 0 && len < r->c->errlen)
		snprintf(r->c->err + len, r->c->errlen - len,
			 "%s%s: %" PRIu64 " flows of more than %u MiB are %" PRIu64 " writes of at most that",
			 len > 0 ? "\n" : "", r->path, r->flows, MF_CONFIG_TRANSFER_MAX >> 20,
			 r->flows + r->parts);
}

/* As it is told: from wherever the effective configuration is read. A pipe has a path only while it is there.
 */
static char *path_of(const char *path)
{
	char *real = strcmp(path, "-") == 0 ? NULL : realpath(path, NULL);

	return real != NULL ? real : strdup(path);
}

static int read_path(struct cfg *c, const json_t *json, struct reading *r)
{
	const json_t *v = json_object_get(json, "trace");
	char *path;
	int rc;

	if (!json_is_string(v) || json_string_length(v) == 0)
		return cfg_fail_key(c, "trace", "must be the path of a file");
	path = cfg_path(c, json_string_value(v));
	if (path == NULL)
		return cfg_fail_memory(c);
	r->path = path;
	rc = cfg_file(c, "trace", path);
	if (rc == 0)
		rc = read_twice(r);
	if (rc == 0) {
		put_note(r);
		r->trace->path = path_of(path);
	}
	mf_trace_close(r->file);
	free(path);
	return rc == 0 && r->trace->path == NULL ? cfg_fail_memory(c) : rc;
}

/*
 * The trace says where: in all of the memory, in which nobody has a region of his own. So what is found
 * there is known only where one client asks, or nobody writes. Where memory has spaces it is in the region
 * that each client has.
 */
static int place_given(struct cfg *c, const json_t *json, const struct reading *r)
{
	static const char *const where[] = {"address", "span", "theta", NULL};
	struct mf_config_workload *w = r->w;
	int rc = cfg_refuse(c, json, where, "the trace says where");

	w->span = 8;
	for (unsigned int i = 0; i < w->targets.n && rc == 0; i++) {
		unsigned int t = w->targets.node[i];
		const struct mf_config_node *n = &c->config->node[t];
		uint64_t size;

		size = mf_config_is_virtual(n) ? w->trace.end : n->memory_config.size;
		w->span = size > w->span ? size : w->span;
		if (w->verify && r->shared[t] && r->changed[t])
			rc = cfg_fail_key(
				c, "verify",
				"must be false: several nodes use '%s' by addresses of the trace, and "
				"write there, so what a read finds is not known",
				n->name);
	}
	return rc;
}

int cfg_trace(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const times[] = {"time_scale", "time_zero", NULL};
	static const char *const keys[] = {"mix",     "size",  "pattern", "loop",       "rate",     "load",
					   "arrival", "burst", "delay",   "operations", "measured", NULL};
	struct reading *r = calloc(1, sizeof(*r));
	int rc = w->ycsb.on ? cfg_refuse(c, json, times, "a trace of keys has no times")
			    : cfg_refuse(c, json, keys, "the trace says what is done and when");

	if (r == NULL)
		return cfg_fail_memory(c);
	*r = (struct reading){.c = c, .w = w, .trace = &w->trace, .min = UINT64_MAX};
	for (unsigned int i = 0; i < w->clients.n; i++)
		r->src[w->clients.node[i]] = true;
	for (unsigned int i = 0; i < w->targets.n; i++)
		r->dst[w->targets.node[i]] = true;
	if (rc == 0 && json_object_get(json, "format") == NULL)
		w->trace.format = MF_TRACE_AUTO;
	if (rc == 0)
		rc = read_digest(c, json, &w->trace);
	if (rc == 0)
		rc = read_path(c, json, r);
	if (rc == 0 && !w->ycsb.on)
		describe(r);
	if (rc == 0 && w->trace.addr != NULL)
		rc = place_given(c, json, r);
	free(r);
	return rc;
}

void cfg_trace_free(struct mf_config_trace *t)
{
	free(t->path);
	free(t->first);
	free(t->message);
	free(t->addr);
	free(t->query);
}
