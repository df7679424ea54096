/* SPDX-License-Identifier: BSD-3-Clause */
/* "workload": what the clients do, and where in the targets' memories their regions lie. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_unit.h"
#include "config/cfg.h"
#include "config/mf_config_query.h"

#define DEPTH_OPEN 1024
#define THETA 0.99
#define RMW_SIZE 8
#define SPAN_UNIT 64
static_assert(MF_CONFIG_TRANSFER_MAX <= MF_SINK_RUN, "what a sink holds has one place for each operation");

const char *const cfg_mix_names[] = {
	[MF_MIX_READ] = "read", [MF_MIX_WRITE] = "write", [MF_MIX_WRITE_ACK] = "write_ack",
	[MF_MIX_CAS] = "cas",   [MF_MIX_FADD] = "fadd",   [MF_MIX_SWAP] = "swap",
	[MF_MIX_OR] = "or",     [MF_MIX_AND] = "and",     [MF_MIX_CALL] = "call",
	[MF_MIXES] = NULL};
const char *const cfg_pattern_names[] = {[MF_CONFIG_UNIFORM_TARGET] = "uniform",
					 [MF_CONFIG_INCAST_TARGET] = "incast",
					 [MF_CONFIG_PERMUTATION_TARGET] = "permutation",
					 [MF_CONFIG_ALL_TO_ALL_TARGET] = "all-to-all",
					 [MF_CONFIG_ZIPF_TARGET] = "zipf",
					 [MF_CONFIG_ZIPF_TARGET + 1] = NULL};
static const char *const address_names[] = {[MF_CONFIG_UNIFORM_ADDRESS] = "uniform",
					    [MF_CONFIG_ZIPF_ADDRESS] = "zipf",
					    [MF_CONFIG_SEQUENTIAL_ADDRESS] = "sequential",
					    [MF_CONFIG_SEQUENTIAL_ADDRESS + 1] = NULL};
static const char *const arrival_names[] = {
	[MF_CONFIG_POISSON] = "poisson", [MF_CONFIG_CONSTANT] = "constant", [MF_CONFIG_CONSTANT + 1] = NULL};

#define WORK(m) CFG_AT(struct mf_config_workload, m)
const struct cfg_field cfg_workload_fields[] = {
	{.key = "nodes", .kind = CFG_NESTED},
	{.key = "targets", .kind = CFG_NESTED},
	{.key = "mix", .kind = CFG_NESTED},
	{.key = "size", .kind = CFG_NESTED},
	{.key = "pattern", .kind = CFG_ENUM, WORK(pattern), .names = cfg_pattern_names},
	{.key = "address", .kind = CFG_ENUM, WORK(address), .names = address_names},
	{.key = "theta", .kind = CFG_REAL, WORK(theta), .rlo = 0, .rhi = 0.9999},
	{.key = "span", .kind = CFG_SIZE64, WORK(span), CFG_RANGE(64, UINT64_C(1) << 40), .multiple = 8},
	{.key = "loop", .kind = CFG_NESTED},
	{.key = "depth", .kind = CFG_U32, WORK(depth), CFG_RANGE(1, 65536)},
	{.key = "rate", .kind = CFG_REAL, WORK(rate), .rlo = 0.001, .rhi = 1e12},
	{.key = "load", .kind = CFG_REAL, WORK(load), .rlo = 1e-6, .rhi = 4},
	{.key = "arrival", .kind = CFG_ENUM, WORK(arrival), .names = arrival_names},
	{.key = "burst", .kind = CFG_U32, WORK(burst), CFG_RANGE(1, 65536)},
	{.key = "delay", .kind = CFG_TIME, WORK(delay), CFG_RANGE(0, MF_SEC(3600))},
	{.key = "operations", .kind = CFG_U64, WORK(operations), CFG_RANGE(0, UINT64_C(1) << 48)},
	{.key = "measured", .kind = CFG_U64, WORK(measured), CFG_RANGE(0, UINT64_C(1) << 48)},
	{.key = "verify", .kind = CFG_BOOL, WORK(verify)},
	{.key = "lost_is_empty", .kind = CFG_BOOL, WORK(lost_is_empty)},
	{0},
};

static int read_mix(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	struct cfg_field table[MF_MIXES + 1] = {{0}};
	int rc;

	for (size_t i = 0; i < MF_MIXES; i++)
		table[i] = (struct cfg_field){
			.key = cfg_mix_names[i], .kind = CFG_REAL, .offset = i * sizeof(double), .rhi = 1e9};
	memset(w->mix, 0, sizeof(w->mix));
	rc = cfg_object(c, json, table, w->mix);
	w->mix_sum = 0;
	for (int i = 0; i < MF_MIXES; i++)
		w->mix_sum += w->mix[i];
	return rc != 0 || w->mix_sum > 0 ? rc : cfg_fail(c, "has no weight above 0");
}

static bool only_atomics(const struct mf_config_workload *w)
{
	return w->mix[MF_MIX_READ] == 0 && w->mix[MF_MIX_WRITE] == 0 && w->mix[MF_MIX_WRITE_ACK] == 0 &&
	       w->mix[MF_MIX_CALL] == 0;
}

static int read_what(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const size[] = {"size", NULL};
	const json_t *mix = json_object_get(json, "mix"), *s = json_object_get(json, "size");
	int rc = 0;

	if (mix != NULL) {
		cfg_push(c, "mix");
		rc = read_mix(c, mix, w);
		cfg_pop(c);
	}
	if (rc == 0 && only_atomics(w)) {
		w->size = (struct mf_config_size){
			.n = 1, .size = {RMW_SIZE}, .max = RMW_SIZE, .mean = RMW_SIZE};
		return cfg_refuse(c, json, size, "all operations of mix have 8 octets");
	}
	if (rc == 0 && s != NULL) {
		cfg_push(c, "size");
		rc = cfg_size_dist(c, s, &w->size);
		cfg_pop(c);
	}
	return rc;
}

static int read_where(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const theta[] = {"theta", NULL};
	struct mf_config_node *node = c->config->node;
	int rc = cfg_set(c, json, "nodes", cfg_is_compute, "compute", &w->clients);

	if (rc == 0)
		rc = cfg_set(c, json, "targets", cfg_is_memory, "memory", &w->targets);
	for (unsigned int i = 0; i < w->clients.n && rc == 0; i++) {
		struct mf_config_node *n = &node[w->clients.node[i]];

		if (n->workload >= 0)
			rc = cfg_fail_key(c, "nodes", "node '%s' has a client already, of workload[%d]",
					  n->name, n->workload);
		else if (!cfg_set_other(&w->targets, w->clients.node[i]))
			rc = cfg_fail_key(c, "targets", "node '%s' would be its own target", n->name);
		n->workload = (int)(w - c->config->workload);
		n->client = i;
		for (unsigned int k = 0; k < w->targets.n && rc == 0 && c->config->tiers > 1; k++)
			rc = cfg_share_tier(c, "targets", w->clients.node[i], w->targets.node[k]);
	}
	if (rc == 0 && w->pattern == MF_CONFIG_INCAST_TARGET && w->targets.n != 1)
		rc = cfg_fail_key(c, "pattern", "incast needs one target, there are %u", w->targets.n);
	if (rc == 0 && json_object_get(json, "ycsb") == NULL && w->pattern != MF_CONFIG_ZIPF_TARGET &&
	    w->address != MF_CONFIG_ZIPF_ADDRESS) {
		w->theta = 0;
		rc = cfg_refuse(c, json, theta, "neither pattern nor address is \"zipf\"");
	}
	return rc;
}

/* Buffers and regions: what is under way at a time has to fit both. */
static int check_room(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	uint64_t fits = MF_CONFIG_BUFFER_MAX / w->size.max;
	uint64_t needed = w->open ? w->size.max : (uint64_t)w->depth * w->size.max;

	if (w->ycsb.on)
		return 0; /* has looked for itself */

	if (w->open && json_object_get(json, "depth") == NULL)
		w->depth = fits < DEPTH_OPEN ? (uint32_t)fits : DEPTH_OPEN;
	if (w->trace.message != NULL && json_object_get(json, "span") == NULL && w->span < needed)
		w->span = (needed + SPAN_UNIT - 1) / SPAN_UNIT * SPAN_UNIT;
	if (w->depth > fits)
		return cfg_fail_key(c, "depth", "%u operations of %u octets: at most %u octets at a time",
				    w->depth, w->size.max, MF_CONFIG_BUFFER_MAX);
	if (w->span < needed)
		return cfg_fail_key(c, "span",
				    "%" PRIu64 " octets do not hold the %" PRIu64
				    " octets that may be under way at a time",
				    w->span, needed);
	return 0;
}

/* Lays the regions behind those of the workloads before. */
static int place(struct cfg *c, struct mf_config_workload *w)
{
	const struct mf_config *config = c->config;
	uint64_t end;

	w->base = 0;
	for (const struct mf_config_workload *before = config->workload; before < w; before++) {
		bool shared = false;

		for (unsigned int i = 0; i < w->targets.n; i++) {
			unsigned int t = w->targets.node[i];
			bool both = mf_config_has(&before->targets, t);

			if (both && (mf_config_has_all_memory(before) || mf_config_has_all_memory(w)))
				return cfg_fail_key(
					c, "targets",
					"a trace with addresses has all of the memory of '%s', and "
					"workload[%d] has it, too",
					config->node[t].name, (int)(before - config->workload));
			shared |= both;
		}
		end = before->base + before->clients.n * before->span;
		if (shared && end > w->base)
			w->base = end;
	}
	if (w->trace.addr != NULL || w->spaces.spaces > 0)
		return 0; /* has looked for itself */
	end = w->base + w->clients.n * w->span;
	for (unsigned int i = 0; i < w->targets.n; i++) {
		const struct mf_config_node *n = &config->node[w->targets.node[i]];

		if (end > n->memory_config.size)
			return cfg_fail_key(c, w->ycsb.on ? "records" : "span",
					    "%u clients need memory up to %" PRIu64
					    ", node '%s' has %" PRIu64,
					    w->clients.n, end, n->name, n->memory_config.size);
	}
	return 0;
}

/* What the clients do and when, drawn or given. */
static int read_doings(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const keys[] = {"format", "digest", "time_scale", "time_zero", NULL};
	int rc;

	if (json_object_get(json, "ycsb") != NULL)
		return cfg_ycsb(c, json, w);
	for (const struct cfg_field *f = cfg_ycsb_fields; f->key != NULL; f++)
		if (json_object_get(json, f->key) != NULL)
			return cfg_fail_key(c, f->key, "has no effect: there is no ycsb");
	if (json_object_get(json, "trace") != NULL)
		return cfg_trace(c, json, w);
	rc = cfg_refuse(c, json, keys, "there is no trace");
	if (rc == 0)
		rc = read_what(c, json, w);
	return rc != 0 ? rc : cfg_loop(c, json, w);
}

/* The first target whose memory is of another kind than that of the first one. */
static const char *other_kind(const struct mf_config_node *node, const struct mf_config_workload *w)
{
	unsigned int i = 1;

	while (mf_config_is_sink(&node[w->targets.node[i]]) == mf_config_is_sink(&node[w->targets.node[0]]))
		i++;
	return node[w->targets.node[i]].name;
}

/* What has no sense where the targets store nothing. */
static int check_sinks(struct cfg *c, const json_t *json, const struct mf_config_workload *w)
{
	static const char *const stored[] = {"ycsb", "lost_is_empty", NULL};
	const struct mf_config_node *node = c->config->node;
	unsigned int sinks = 0;

	for (unsigned int i = 0; i < w->targets.n; i++)
		sinks += mf_config_is_sink(&node[w->targets.node[i]]);
	if (sinks == 0)
		return 0;
	if (sinks < w->targets.n)
		return cfg_fail_key(c, "targets", "some are sinks, and some are not: '%s' and '%s' differ",
				    node[w->targets.node[0]].name, other_kind(node, w));
	for (int k = MF_MIX_CAS; k < MF_MIXES; k++)
		if (w->mix[k] > 0)
			return cfg_fail_key(c, w->trace.message != NULL ? "trace" : "mix",
					    "\"%s\" needs what is stored; node '%s' has a sink",
					    cfg_mix_names[k], node[w->targets.node[0]].name);
	return cfg_refuse(c, json, stored, "a sink stores nothing");
}

/* The keys of a workload are those of four tables. */
static int known(struct cfg *c, const json_t *json)
{
	struct cfg_field more[64] = {{0}};
	unsigned int n = 0;

	for (const struct cfg_field *f = cfg_trace_fields; f->key != NULL; f++)
		more[n++] = *f;
	for (const struct cfg_field *f = cfg_ycsb_fields; f->key != NULL; f++)
		more[n++] = *f;
	for (const struct cfg_field *f = cfg_spaces_fields; f->key != NULL; f++)
		more[n++] = *f;
	return cfg_known(c, json, cfg_workload_fields, more);
}

static int read_one(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const lost[] = {"lost_is_empty", NULL};
	int rc = known(c, json);

	if (rc == 0)
		rc = cfg_read(c, json, cfg_workload_fields, w);
	if (rc == 0)
		rc = cfg_read(c, json, cfg_trace_fields, &w->trace);
	if (rc == 0)
		rc = cfg_read(c, json, cfg_ycsb_fields, &w->ycsb);
	if (rc == 0)
		rc = cfg_read(c, json, cfg_spaces_fields, w);
	if (rc == 0)
		rc = read_where(c, json, w);
	if (rc == 0)
		rc = read_doings(c, json, w);
	if (rc == 0)
		rc = check_sinks(c, json, w);
	if (rc == 0)
		rc = cfg_workload_spaces(c, json, w);
	if (rc == 0 && (!w->verify || w->ycsb.on))
		rc = cfg_refuse(c, json, lost,
				w->verify ? "a store is found as it was left" : "nothing is verified");
	if (rc == 0)
		rc = check_room(c, json, w);
	return rc != 0 ? rc : place(c, w);
}

int cfg_workload(struct cfg *c, const json_t *json)
{
	static const struct mf_config_workload defaults = {
		.mix = {[MF_MIX_READ] = 1},
		.mix_sum = 1,
		.size = {.n = 1, .size = {64}, .max = 64, .mean = 64},
		.theta = THETA,
		.span = 1 << 20,
		.depth = 8,
		.burst = 1,
		.verify = true,
		.spaces = {.spaces = 1, .range = 64},
		.trace = {.time_scale = 1},
		.ycsb = {.records = 10000, .fields = 10, .field = 100, .read_all = true, .scan = 100},
	};
	struct mf_config *config = c->config;
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (json_array_size(json) > MF_CONFIG_WORKLOADS_MAX)
		return cfg_fail(c, "has %zu entries, at most %u", json_array_size(json),
				MF_CONFIG_WORKLOADS_MAX);
	config->workload = calloc(json_array_size(json) + 1, sizeof(*config->workload));
	if (config->workload == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		struct mf_config_workload *w = &config->workload[config->workloads++];

		*w = defaults;
		cfg_push_index(c, i);
		rc = read_one(c, entry, w);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}

void cfg_workload_free(struct mf_config *config)
{
	for (unsigned int i = 0; i < config->workloads; i++) {
		cfg_trace_free(&config->workload[i].trace);
		cfg_set_free(&config->workload[i].clients);
		cfg_set_free(&config->workload[i].targets);
	}
	free(config->workload);
	config->workload = NULL;
	config->workloads = 0;
}
