/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "argument.h"
#include "base/mf_unit.h"

#define LARGEST_OF_ALL (8u << 20) /* octets, as perftest's -a */
#define SPAN (1u << 20) /* octets of a client's region, where there is room */
#define LINE 64 /* addresses of operations are multiples of it */

/* As MLC's, but in nanoseconds. */
static const unsigned int delays[] = {0,   2,    8,    15,   50,   100,  200,  300,  400,  500,
				      700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000};
#define DELAYS (sizeof(delays) / sizeof(delays[0]))

static uint64_t smallest_memory(const struct mf_config *config, const char **name)
{
	uint16_t node[MF_NODES_MAX];
	unsigned int n = test_memory_nodes(config, node);
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < n; i++)
		if (config->node[node[i]].memory_config.size < least) {
			least = config->node[node[i]].memory_config.size;
			*name = config->node[node[i]].name;
		}
	return least;
}

/** Regions that have to fit into a memory. */
static unsigned int regions(const struct test *t, const struct mf_config *config)
{
	if (t->kind == TEST_BANDWIDTH_MATRIX)
		return 1;
	return test_clients(t, config) + (plan_probe(t, config) >= 0);
}

/** Operations of a client under way, at least. In an open loop later ones wait for room. */
static uint32_t at_a_time(const struct test *t)
{
	return t->rate > 0 && t->depth == 0 ? 1 : test_depth(t);
}

/** Octets of a region that the operations under way need. */
static uint64_t needed(const struct test *t, uint32_t size)
{
	uint64_t each = (size + LINE - 1ULL) / LINE * LINE;

	return t->rate > 0 ? each : each * test_depth(t);
}

int plan_fits(const struct test *t, const struct mf_config *config, uint32_t size, char *reason,
	      size_t capacity)
{
	const char *name = "";
	uint64_t memory = smallest_memory(config, &name), all = needed(t, size) * regions(t, config);
	char a[MF_UNIT_LEN], b[MF_UNIT_LEN];

	if ((uint64_t)size * at_a_time(t) > MF_CONFIG_BUFFER_MAX)
		return argument_refuse(
			reason, capacity, "%s at depth %u is more than %s, the buffers of a client",
			mf_unit_put_size(a, size), at_a_time(t), mf_unit_put_size(b, MF_CONFIG_BUFFER_MAX));
	if (all > memory)
		return argument_refuse(
			reason, capacity,
			"%s at depth %u is more than the memory of %s, %s, holds (clients: %u)",
			mf_unit_put_size(a, size), at_a_time(t), name, mf_unit_put_size(b, memory),
			regions(t, config));
	return 0;
}

int plan_probe(const struct test *t, const struct mf_config *config)
{
	uint16_t node[MF_NODES_MAX];
	unsigned int n = test_compute_nodes(t->plays, config, node);

	if (t->kind != TEST_LOADED_LATENCY || test_clients(t, config) >= n)
		return -1;
	return node[n - 1];
}

/** 2, 4, 8 octets and so on, as far as they fit. */
static int all_sizes(const struct test *t, const struct mf_config *config, struct point *points)
{
	char reason[256];
	int n = 0;

	for (uint32_t size = 2; size <= LARGEST_OF_ALL; size *= 2)
		if (plan_fits(t, config, size, reason, sizeof(reason)) == 0)
			points[n++] = (struct point){.size = size, .compute = -1, .memory = -1};
	return n;
}

static int all_pairs(const struct test *t, const struct mf_config *config, struct point *points)
{
	uint16_t compute[MF_NODES_MAX], memory[MF_NODES_MAX];
	unsigned int memories = test_memory_nodes(config, memory);
	int n = 0;

	test_compute_nodes(t->plays, config, compute);
	for (unsigned int i = 0; i < test_clients(t, config); i++)
		for (unsigned int k = 0; k < memories; k++)
			if (compute[i] != memory[k])
				points[n++] = (struct point){
					.size = test_size(t), .compute = compute[i], .memory = memory[k]};
	return n;
}

int plan_points(const struct test *t, const struct mf_config *config, struct point **points)
{
	size_t most = t->kind == TEST_BANDWIDTH_MATRIX ? (size_t)config->nodes * config->nodes : 32;

	*points = calloc(most, sizeof(**points));
	if (*points == NULL)
		return -ENOMEM;
	if (t->kind == TEST_BANDWIDTH_MATRIX)
		return all_pairs(t, config, *points);
	if (t->all)
		return all_sizes(t, config, *points);
	(*points)[0] = (struct point){.size = test_size(t), .compute = -1, .memory = -1};
	if (t->kind != TEST_LOADED_LATENCY)
		return 1;
	for (unsigned int i = 0; i < DELAYS; i++) {
		(*points)[i] = (*points)[0];
		(*points)[i].delay = MF_NS((mf_time)delays[i]);
	}
	return DELAYS;
}

/* The workload, as the fabric file would say it: so it is checked as if it did */

static json_t *names(const struct mf_config *config, const uint16_t *node, unsigned int n)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(array, json_string(config->node[node[i]].name));
	return array;
}

static json_t *targets(const struct test *t, const struct point *p, const struct mf_config *config)
{
	uint16_t node[MF_NODES_MAX], only = (uint16_t)p->memory;

	if (p->memory >= 0)
		return names(config, &only, 1);
	return names(config, node,
		     t->pattern == MF_CONFIG_INCAST_TARGET ? (test_memory_nodes(config, node), 1)
							   : test_memory_nodes(config, node));
}

static json_t *mix_json(const struct test *t, enum mf_clock clock)
{
	double mix[MF_MIXES];
	json_t *o = json_object();

	test_mix(t, clock, mix);
	for (unsigned int i = 0; i < MF_MIXES; i++)
		if (mix[i] > 0)
			json_object_set_new(o, mf_config_mix_name((enum mf_mix)i), json_real(mix[i]));
	return o;
}

static void set_loop(const struct test *t, const struct point *p, json_t *o)
{
	char text[MF_UNIT_LEN];
	uint64_t iterations = test_iterations(t, p->size);

	if (t->rate > 0) {
		json_object_set_new(o, "loop", json_string("open"));
		json_object_set_new(o, "rate", json_real(t->rate));
		json_object_set_new(o, "burst", json_integer(t->burst > 1 ? t->burst : 1));
	}
	if (t->rate == 0 || t->depth != 0)
		json_object_set_new(o, "depth", json_integer(test_depth(t)));
	if (p->delay > 0)
		json_object_set_new(o, "delay", json_string(mf_unit_put_time(text, p->delay)));
	if (iterations > 0)
		json_object_set_new(o, "measured", json_integer((json_int_t)iterations));
}

static json_t *workload_json(const struct test *t, const struct point *p, enum mf_clock clock,
			     const struct mf_config *config)
{
	uint16_t node[MF_NODES_MAX], only = (uint16_t)p->compute;
	const char *name = "";
	uint64_t capacity = smallest_memory(config, &name) / regions(t, config) / LINE * LINE;
	uint64_t span = needed(t, p->size) > SPAN ? needed(t, p->size) : SPAN;
	json_t *o = json_object();

	test_compute_nodes(t->plays, config, node);
	json_object_set_new(o, "nodes",
			    p->compute >= 0 ? names(config, &only, 1)
					    : names(config, node, test_clients(t, config)));
	json_object_set_new(o, "targets", targets(t, p, config));
	json_object_set_new(o, "mix", mix_json(t, clock));
	if (!test_atomic(t))
		json_object_set_new(o, "size", json_integer(p->size));
	json_object_set_new(o, "pattern", json_string(mf_config_pattern_name(t->pattern)));
	json_object_set_new(o, "span", json_integer((json_int_t)(span < capacity ? span : capacity)));
	json_object_set_new(o, "verify", json_boolean(!t->unverified));
	set_loop(t, p, o);
	return o;
}

/** The same operations, one at a time, without delay. */
static json_t *probe_json(const json_t *load, const struct mf_config *config, uint16_t node)
{
	json_t *o = json_deep_copy(load);

	json_object_set_new(o, "nodes", names(config, &node, 1));
	json_object_set_new(o, "depth", json_integer(1));
	json_object_del(o, "delay");
	return o;
}

/** The slowest link's time for 8 octets, ps. */
static mf_time slowest_block(const struct mf_config *config)
{
	mf_time slowest = 0;

	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up)
			slowest = mf_time_max(slowest, config->node[i].link.period);
	return slowest;
}

/**
 * A timer runs from the submission, and all that is under way may have to go over one link. Large operations
 * at the depth of a test would end by timers that are meant for small ones. So they have twice the time that
 * all of it takes there, if that is longer. A timer below the default was chosen, and stays.
 */
static void lengthen_timers(const struct test *t, const struct point *p, struct mf_config *config)
{
	uint64_t blocks = ((uint64_t)p->size + 7) / 8 * test_clients(t, config) * at_a_time(t);
	mf_time all = 2 * blocks * slowest_block(config);

	for (unsigned int i = 0; i < config->slots; i++) {
		struct mf_config_host *h = &config->node[i].host;
		mf_time *const timer[] = {&h->read_timeout[MF_CLOCK_VIRTUAL],
					  &h->write_timeout[MF_CLOCK_VIRTUAL]};

		for (size_t k = 0; k < sizeof(timer) / sizeof(timer[0]); k++)
			if (*timer[k] >= MF_CONFIG_TIMEOUT)
				*timer[k] = mf_time_max(*timer[k], all);
	}
}

int plan_apply(const struct test *t, const struct point *p, enum mf_clock clock, struct mf_config *config,
	       char *err, size_t errlen)
{
	bool counted = test_iterations(t, p->size) > 0;
	int probe = plan_probe(t, config), rc;
	json_t *all = json_array(), *load = workload_json(t, p, clock, config);

	config->report_series = 0; /* no table shows one, and a test may have more steps than there can be */
	config->clock[clock].duration =
		counted || t->forever ? MF_CONFIG_DURATION_MAX : test_duration(t, clock);
	if (probe >= 0)
		json_array_append_new(all, probe_json(load, config, (uint16_t)probe));
	json_array_insert_new(all, 0, load);
	rc = mf_config_set_workload(config, all, err, errlen);
	json_decref(all);
	lengthen_timers(t, p, config);
	return rc;
}
