/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings against each other and against the fabric, and how they read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "argument.h"
#include "base/mf_unit.h"
#include "plan.h"
#include "setting.h"

/** What would have no effect is refused, as in the fabric file. */
static int no_effect(const struct test *t, enum setting *at, char *reason, size_t capacity)
{
	double weights = 0;

	for (unsigned int i = 0; i < MF_MIXES; i++)
		weights += t->mix[i];
	*at = SETTING_MIX;
	if (weights > 0 && t->kind != TEST_MIXED)
		return argument_refuse(reason, capacity, "has no effect but in the test mixed");
	*at = SETTING_SIZE;
	if (test_atomic(t) && (t->all || (t->size != 0 && t->size != 8)))
		return argument_refuse(reason, capacity, "atomics have 8 octets");
	if (test_info(t->kind)->matrix && t->all)
		return argument_refuse(reason, capacity, "%s has one size", test_info(t->kind)->name);
	*at = SETTING_BURST;
	if (t->burst != 0 && t->rate == 0)
		return argument_refuse(reason, capacity, "has no effect without a rate: the loop is closed");
	*at = SETTING_RATE;
	if (t->rate != 0 && test_info(t->kind)->matrix)
		return argument_refuse(reason, capacity, "has no effect in %s", test_info(t->kind)->name);
	*at = SETTING_PATTERN;
	if (t->pattern != MF_CONFIG_UNIFORM_TARGET && t->kind == TEST_BANDWIDTH_MATRIX)
		return argument_refuse(reason, capacity, "has no effect in bandwidth_matrix");
	*at = SETTING_ITERATIONS;
	if (t->iterations != 0 && t->kind == TEST_LOADED_LATENCY)
		return argument_refuse(reason, capacity, "loaded_latency goes by time: see -D");
	return 0;
}

static int nodes(const struct test *t, const struct mf_config *config, enum setting *at, char *reason,
		 size_t capacity)
{
	uint16_t node[MF_NODES_MAX];
	unsigned int compute = test_compute_nodes(t->plays, config, node),
		     memory = test_memory_nodes(config, node);

	*at = SETTING_TEST;
	if (compute == 0 || memory == 0)
		return argument_refuse(reason, capacity, "%s no %s node",
				       compute == 0 && t->plays != NULL ? "this process plays"
									: "the fabric has",
				       compute == 0 ? "compute" : "memory");
	*at = SETTING_CLIENTS;
	if (test_clients(t, config) > compute)
		return argument_refuse(reason, capacity, "%u clients are more than the %u compute nodes",
				       t->clients, compute);
	return 0;
}

int setting_check(const struct test *t, const struct mf_config *config, enum setting *at, char *reason,
		  size_t capacity)
{
	int rc = no_effect(t, at, reason, capacity);

	if (rc == 0)
		rc = nodes(t, config, at, reason, capacity);
	*at = rc == 0 ? SETTING_SIZE : *at;
	return rc != 0 || t->all ? rc : plan_fits(t, config, test_size(t), reason, capacity);
}

static const char *put_mix(const struct test *t, enum mf_clock clock, char *text, size_t capacity)
{
	double mix[MF_MIXES];
	size_t len = 0;

	test_mix(t, clock, mix);
	for (unsigned int i = 0; i < MF_MIXES && len < capacity; i++)
		if (mix[i] > 0)
			len += (size_t)snprintf(text + len, capacity - len, "%s%s:%g", len > 0 ? "," : "",
						mf_config_mix_name((enum mf_mix)i), mix[i]);
	return text;
}

static const char *put_end(const struct test *t, bool iterations, enum mf_clock clock, char *text,
			   size_t capacity)
{
	char time[MF_UNIT_LEN];
	uint64_t n = test_iterations(t, t->all ? 1 : test_size(t));

	if (iterations != (n != 0) || t->forever)
		snprintf(text, capacity, "%s", t->forever ? "until stop" : "-");
	else if (iterations)
		snprintf(text, capacity, "%" PRIu64 " a client", n);
	else
		snprintf(text, capacity, "%s", mf_unit_put_time(time, test_duration(t, clock)));
	return text;
}

const char *setting_put(const struct test *t, enum setting s, const struct mf_config *config,
			enum mf_clock clock, char *text, size_t capacity)
{
	char size[MF_UNIT_LEN];

	switch (s) {
	case SETTING_TEST:
		snprintf(text, capacity, "%s", test_info(t->kind)->name);
		break;
	case SETTING_SIZE:
		snprintf(text, capacity, "%s", t->all ? "all" : mf_unit_put_size(size, test_size(t)));
		break;
	case SETTING_ITERATIONS:
	case SETTING_DURATION:
		return put_end(t, s == SETTING_ITERATIONS, clock, text, capacity);
	case SETTING_DEPTH:
		if (t->rate > 0 && t->depth == 0)
			snprintf(text, capacity, "up to 1024, or as many as fit");
		else
			snprintf(text, capacity, "%u", test_depth(t));
		break;
	case SETTING_CLIENTS:
		snprintf(text, capacity, "%u", test_clients(t, config));
		break;
	case SETTING_PATTERN:
		snprintf(text, capacity, "%s", mf_config_pattern_name(t->pattern));
		break;
	case SETTING_RATE:
		snprintf(text, capacity, t->rate > 0 ? "%.0f operations a second and client" : "closed loop",
			 t->rate);
		break;
	case SETTING_BURST:
		snprintf(text, capacity, "%u", t->burst > 1 ? t->burst : 1);
		break;
	default:
		return put_mix(t, clock, text, capacity);
	}
	return text;
}
