/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections that stand for themselves: clock, proto, switch, scheduler, report, placement. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "config/cfg.h"
#include "systems/mf_systems.h"

#define DAY MF_SEC(24 * 3600)

const struct cfg_field cfg_clock_fields[] = {
	{.key = "duration",
	 .kind = CFG_TIME,
	 CFG_AT(struct mf_config_clock, duration),
	 CFG_RANGE(1, MF_CONFIG_DURATION_MAX)},
	{.key = "warmup",
	 .kind = CFG_TIME,
	 CFG_AT(struct mf_config_clock, warmup),
	 CFG_RANGE(0, MF_CONFIG_DURATION_MAX)},
	{.key = "drain",
	 .kind = CFG_TIME,
	 CFG_AT(struct mf_config_clock, drain),
	 CFG_RANGE(0, MF_CONFIG_DURATION_MAX)},
	{0},
};

/* Who looks wakes up twice in that time, and takes a CPU for it. */
int cfg_watchdog(struct cfg *c)
{
	if (c->config->watchdog > 0 && c->config->watchdog < MF_MS(1))
		return cfg_fail_key(c, "watchdog", "is neither \"0\" nor at least 1ms");
	return 0;
}

int cfg_clock(struct cfg *c, const json_t *json)
{
	static const struct cfg_field table[] = {{.key = "wall"}, {.key = "virtual"}, {0}};
	int rc = cfg_known(c, json, table, NULL);

	for (int i = 0; i < MF_CLOCKS && rc == 0; i++) {
		const json_t *one = json_object_get(json, cfg_clock_names[i]);

		if (one == NULL)
			continue;
		cfg_push(c, cfg_clock_names[i]);
		rc = cfg_object(c, one, cfg_clock_fields, &c->config->clock[i]);
		cfg_pop(c);
	}
	return rc;
}

/** Whether the run has an end without its duration. A node that has crashed for good never gets there. */
static bool ends(const struct mf_config *config)
{
	for (unsigned int i = 0; i < config->workloads; i++)
		if (!mf_config_finite(&config->workload[i]))
			return false;
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && config->node[i].ethernet >= 0)
			return false;
	for (unsigned int i = 0; i < config->faults; i++)
		if (config->fault[i].class == MF_FAULT_NODE_CRASH)
			return false;
	return config->workloads > 0;
}

/** When the last message of a trace is intended; of other loads nobody knows it. */
static mf_time last_intended(const struct mf_config *config, bool *known)
{
	mf_time last = 0;

	*known = true;
	for (unsigned int i = 0; i < config->workloads; i++) {
		if (config->workload[i].trace.message == NULL)
			*known = false;
		else
			last = mf_time_max(last, config->workload[i].trace.last + 1);
	}
	return last;
}

/** At most: it is over when all that it has in it is. */
static mf_time trace_duration(const struct mf_config_clock *c, mf_time last)
{
	mf_time most = (last > c->warmup ? last - c->warmup : 0) + c->drain;

	return mf_time_min(mf_time_max(most, 1), MF_CONFIG_DURATION_MAX);
}

static bool has_warmup(const struct mf_config *config)
{
	for (unsigned int i = 0; i < config->workloads; i++)
		if (config->workload[i].measured != 0)
			return true;
	return false;
}

/*
 * What has an end is run to its end, and all of it counts. A trace beside what has none is run until its last
 * message has begun.
 */
void cfg_clock_finite(struct mf_config *config, const json_t *root)
{
	const json_t *clocks = json_object_get(root, "clock");
	bool finite = ends(config), known;
	mf_time last = last_intended(config, &known);

	for (int i = 0; i < MF_CLOCKS && (finite || last > 0); i++) {
		const json_t *one = json_object_get(clocks, cfg_clock_names[i]);
		struct mf_config_clock *clock = &config->clock[i];

		if (json_object_get(one, "warmup") == NULL && !has_warmup(config))
			clock->warmup = 0;
		if (json_object_get(one, "duration") != NULL)
			continue;
		if (finite)
			clock->duration = known ? trace_duration(clock, last) : MF_CONFIG_DURATION_MAX;
		else if (last > clock->warmup)
			clock->duration = last - clock->warmup;
	}
}

int cfg_proto(struct cfg *c, const json_t *json)
{
	static const struct cfg_field table[] = {{.key = "check", .kind = CFG_U32, CFG_RANGE(16, 32)}, {0}};
	uint32_t check = 16;
	int rc = cfg_object(c, json, table, &check);

	if (rc == 0 && check != 16 && check != 32)
		return cfg_fail_key(c, "check", "%u is neither 16 nor 32", check);
	c->tier->proto.check32 = check == 32;
	return rc;
}

#define SWITCH(m) CFG_AT(struct mf_config_switch, m)
const struct cfg_field cfg_switch_fields[] = {
	{.key = "name", .kind = CFG_NAME, SWITCH(name)},
	{.key = "ports", .kind = CFG_U32, SWITCH(ports), CFG_RANGE(2, MF_NODES_MAX)},
	{.key = "l2_latency", .kind = CFG_TIME, SWITCH(l2_latency), CFG_RANGE(0, MF_SEC(1))},
	{.key = "mac_table", .kind = CFG_U32, SWITCH(mac_table), CFG_RANGE(16, 1 << 20), .pow2 = true},
	{.key = "frames", .kind = CFG_U32, SWITCH(frames), CFG_RANGE(2, 65536), .pow2 = true},
	{.key = "frame_queue", .kind = CFG_SIZE32, SWITCH(frame_queue), CFG_RANGE(MF_FRAME_MTU, 256 << 20)},
	{.key = "requests", .kind = CFG_U32, SWITCH(requests), CFG_RANGE(0, 1 << 20)},
	{.key = "backlog_k", .kind = CFG_U32, SWITCH(backlog_k), CFG_RANGE(0, 1 << 20)},
	{.key = "source_w", .kind = CFG_U32, SWITCH(source_w), CFG_RANGE(0, 1 << 20)},
	{.key = "align", .kind = CFG_BOOL, SWITCH(align)},
	{.key = "grant_timeout",
	 .kind = CFG_TIME,
	 SWITCH(grant_timeout),
	 CFG_RANGE(0, DAY),
	 .per_clock = true},
	{.key = "bridge", .kind = CFG_NESTED},
	{.key = "hold_timeout", .kind = CFG_TIME, SWITCH(hold_timeout), CFG_RANGE(0, DAY), .per_clock = true},
	{0},
};

int cfg_switch(struct cfg *c, const json_t *json)
{
	unsigned int most = mf_config_tier_nodes_max(c->tier);
	int rc = cfg_object(c, json, cfg_switch_fields, &c->tier->sw);

	if (rc == 0 && c->tier->sw.ports > most)
		rc = cfg_fail_key(c, "ports", "%u: with stack \"%s\" a switch has at most %u",
				  c->tier->sw.ports, c->tier->stack.name, most);
	return rc;
}

static const char *const priority_names[] = {
	[MF_SCHED_FCFS] = "fcfs", [MF_SCHED_SRPT] = "srpt", [MF_SCHED_SRPT + 1] = NULL};
static const char *const order_names[] = {
	[MF_ORDER_PAIR] = "pair", [MF_ORDER_DIRECTION] = "direction", [MF_ORDER_DIRECTION + 1] = NULL};
static const char *const release_names[] = {
	[MF_RELEASE_WIRE] = "wire", [MF_RELEASE_PAPER] = "paper", [MF_RELEASE_PAPER + 1] = NULL};
static const char *const srpt_names[] = {"message", "transfer", NULL};
static const char *const time_names[] = {"none", "asic", NULL};

#define SCHED(m) CFG_AT(struct mf_config_sched, m)
const struct cfg_field cfg_sched_fields[] = {
	{.key = "policy", .kind = CFG_NESTED},
	{.key = "priority", .kind = CFG_ENUM, SCHED(priority), .names = priority_names},
	{.key = "srpt", .kind = CFG_NESTED},
	{.key = "order", .kind = CFG_ENUM, SCHED(order), .names = order_names},
	{.key = "release", .kind = CFG_ENUM, SCHED(release), .names = release_names},
	{.key = "chunk",
	 .kind = CFG_SIZE32,
	 SCHED(chunk),
	 CFG_RANGE(MF_CHUNK_UNIT, MF_MESSAGE_MAX),
	 .multiple = MF_CHUNK_UNIT,
	 .per_clock = true},
	{.key = "x", .kind = CFG_U32, SCHED(x), CFG_RANGE(1, 128)},
	{.key = "grant_window", .kind = CFG_SIZE32, SCHED(window), CFG_RANGE(MF_CHUNK_UNIT, 16 << 20)},
	{.key = "iterations", .kind = CFG_U32, SCHED(iterations), CFG_RANGE(0, 1024)},
	{.key = "slots", .kind = CFG_BOOL, SCHED(slots)},
	{.key = "time", .kind = CFG_NESTED},
	{0},
};
const struct cfg_field cfg_sched_time_fields[] = {
	{.key = "insert", .kind = CFG_U32, SCHED(insert_cycles), CFG_RANGE(0, 1000)},
	{.key = "select", .kind = CFG_U32, SCHED(select_cycles), CFG_RANGE(0, 1000)},
	{.key = "iteration", .kind = CFG_U32, SCHED(iteration_cycles), CFG_RANGE(0, 1000)},
	{.key = "ghz", .kind = CFG_REAL, SCHED(ghz), .rlo = 0.001, .rhi = 1000},
	{0},
};

/* A key with two values; *out stays where it is not there. */
static int choice(struct cfg *c, const json_t *json, const char *key, const char *const *names, bool *out)
{
	const json_t *v = json_object_get(json, key);
	uint32_t place = *out;
	int rc = 0;

	if (v != NULL) {
		cfg_push(c, key);
		rc = cfg_enum(c, v, names, &place);
		cfg_pop(c);
	}
	*out = place == 1;
	return rc;
}

/* Scheduling time (D6): none, or the cycles of the paper's ASIC. */
static int sched_time(struct cfg *c, const json_t *json, struct mf_config_sched *s)
{
	static const char *const keys[] = {"insert", "select", "iteration", "ghz", NULL};
	int rc = choice(c, json, "time", time_names, &s->timed);

	if (rc != 0)
		return rc;
	if (!s->timed)
		return cfg_refuse(c, json, keys, "time is \"none\"");
	s->insert_cycles = 2;
	s->select_cycles = 1;
	s->iteration_cycles = 3;
	s->ghz = 3;
	rc = cfg_read(c, json, cfg_sched_time_fields, s);
	if (rc != 0)
		return rc;
	s->insert = (mf_time)llround((s->insert_cycles + s->select_cycles) * 1000 / s->ghz);
	s->iteration = (mf_time)llround(s->iteration_cycles * 1000 / s->ghz);
	return 0;
}

int cfg_sched(struct cfg *c, const json_t *json)
{
	static const char *const srpt[] = {"srpt", NULL}, *const iterations[] = {"iterations", NULL},
				 *const slots[] = {"slots", NULL};
	struct mf_config_sched *s = &c->tier->sched;
	int rc = cfg_known(c, json, cfg_sched_fields, cfg_sched_time_fields);

	if (rc == 0)
		rc = cfg_read(c, json, cfg_sched_fields, s);
	if (rc == 0)
		rc = cfg_section(c, json, "policy", cfg_policy);
	if (rc == 0)
		rc = choice(c, json, "srpt", srpt_names, &s->srpt_transfer);
	if (rc == 0)
		rc = sched_time(c, json, s);
	if (rc == 0 && s->priority != MF_SCHED_SRPT)
		rc = cfg_refuse(c, json, srpt, "priority is not \"srpt\"");
	if (rc == 0 && !mf_policy_find(s->policy)->iterates)
		rc = cfg_refuse(c, json, iterations, "the policy does not iterate");
	if (rc == 0 && s->release != MF_RELEASE_WIRE)
		rc = cfg_refuse(c, json, slots, "release is not \"wire\"");
	if (rc == 0 && s->window < s->chunk[MF_CLOCK_WALL])
		rc = cfg_fail_key(c, "grant_window", "%u is less than one chunk of the wall clock, %u",
				  s->window, s->chunk[MF_CLOCK_WALL]);
	return rc;
}

const struct cfg_field cfg_report_fields[] = {
	{.key = "stages", .kind = CFG_BOOL, CFG_AT(struct mf_config, report_stages)},
	{.key = "messages", .kind = CFG_BOOL, CFG_AT(struct mf_config, report_messages)},
	{.key = "normalised", .kind = CFG_BOOL, CFG_AT(struct mf_config, report_normalised)},
	{.key = "series"},
	{0},
};

const struct cfg_field cfg_series_fields[] = {
	{.key = "every",
	 .kind = CFG_TIME,
	 CFG_AT(struct mf_config, report_series),
	 CFG_RANGE(MF_NS(1), MF_SEC(86400))},
	{0},
};

static int series(struct cfg *c, const json_t *report)
{
	const json_t *json = json_object_get(report, "series");
	int rc;

	if (json == NULL)
		return 0;
	cfg_push(c, "series");
	rc = cfg_object(c, json, cfg_series_fields, c->config);
	if (rc == 0 && c->config->report_series == 0)
		rc = cfg_fail(c, "every is missing");
	cfg_pop(c);
	return rc;
}

int cfg_report(struct cfg *c, const json_t *json)
{
	static const char *const of_one[] = {"stages", "normalised", NULL};
	const struct mf_stack_ops *stack = c->tier->stack_ops;
	int rc = cfg_object(c, json, cfg_report_fields, c->config);

	for (int i = 0; of_one[i] != NULL && c->config->tiers > 1 && rc == 0; i++)
		if (json_is_true(json_object_get(json, of_one[i])))
			rc = cfg_fail_key(c, of_one[i], "is for a file with one tier so far, there are %u",
					  c->config->tiers);
	for (int i = 0; of_one[i] != NULL && c->tier->several && rc == 0; i++)
		if (json_is_true(json_object_get(json, of_one[i])))
			rc = cfg_fail_key(c, of_one[i], "is for nodes with one end so far");
	if (rc == 0 && c->config->report_stages && stack != NULL && !stack->stages)
		return cfg_fail_key(c, "stages", "has no effect: the stack \"%s\" tells none", stack->name);
	return rc == 0 ? series(c, json) : rc;
}

int cfg_placement(struct cfg *c, const json_t *json)
{
	static const struct cfg_field table[] = {{.key = "scheduler_own_lcore"}, {0}};
	const json_t *own = json_object_get(json, "scheduler_own_lcore");
	const char *s = json_string_value(own);
	int rc = cfg_known(c, json, table, NULL);

	if (rc != 0 || own == NULL)
		return rc;
	if (json_is_boolean(own))
		c->config->scheduler_own_lcore = json_is_true(own) ? MF_YES : MF_NO;
	else if (s == NULL || strcmp(s, "auto") != 0)
		return cfg_fail_key(c, "scheduler_own_lcore", "must be true, false or \"auto\"");
	return 0;
}
