/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_link_test.h"

#include "fabric/mf_fabric_state.h"
#include "result/result.h"

static unsigned int directions(const struct mf_config_test *rule)
{
	return rule->direction == MF_CONFIG_BOTH ? 2 : 1;
}

unsigned int link_tests_of(const struct mf_config *config)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < config->tests; k++)
		n += config->test[k].link.n * directions(&config->test[k]);
	return n;
}

void link_tests_init(struct link_test *t, const struct mf_config *config,
		     uint32_t (*period)(const void *ctx, unsigned int sw, unsigned int node), const void *ctx)
{
	for (unsigned int k = 0; k < config->tests; k++) {
		const struct mf_config_test *rule = &config->test[k];

		for (unsigned int i = 0; i < rule->link.n * directions(rule); i++, t++) {
			uint16_t node = rule->link.node[i / directions(rule)];

			*t = (struct link_test){.rule = rule,
						.node = node,
						.up = directions(rule) == 2 ? i % 2 == 0
									    : rule->direction == MF_CONFIG_UP,
						.period = period(ctx, rule->sw, node)};
			mf_test_generator_init(&t->tx, &rule->pattern);
			mf_test_checker_init(&t->rx, &rule->pattern);
		}
	}
}

/** Blocks that begin before a time. */
static uint64_t blocks_until(const struct link_test *t, mf_time until)
{
	return (mf_time_min(until, t->rule->until) - t->rule->from + t->period - 1) / t->period;
}

void link_test_run(struct link_test *t, mf_time until, struct mf_fault *fault, bool signal)
{
	uint64_t end = blocks_until(t, until);

	if (!signal && t->sent < end)
		mf_test_no_signal(&t->rx);
	for (; t->sent < end; t->sent++) {
		struct mf_block b = mf_test_generate(&t->tx);

		if (fault != NULL)
			t->wrong_bits += mf_fault_raw(fault, t->rule->from + t->sent * t->period, &b);
		if (signal)
			mf_test_check(&t->rx, &b);
		t->dark += !signal;
	}
}

static json_t *test_json(const struct mf_fabric *f, const struct link_test *t)
{
	const struct mf_config *config = f->config;
	const struct mf_test_counts *c = &t->rx.counts;
	json_t *o = json_object();

	json_object_set_new(o, "node", json_string(config->node[t->node].name));
	json_object_set_new(o, "switch",
			    json_string(t->rule->sw == 0 ? config->sw.name : config->backup.name));
	json_object_set_new(o, "direction", json_string(t->up ? "up" : "down"));
	json_object_set_new(o, "pattern", json_string(mf_test_names[t->rule->pattern.kind]));
	result_count(o, "from_ps", t->rule->from);
	result_count(o, "until_ps", t->rule->until);
	result_count(o, "sent", t->sent);
	result_count(o, "wrong_bits", t->wrong_bits);
	result_count(o, "no_signal", t->dark);
	result_count(o, "unlocked", c->unlocked);
	result_count(o, "locks_lost", c->locks_lost);
	result_count(o, "checked", c->blocks);
	result_count(o, "errors", c->errors);
	return o;
}

json_t *link_tests_json(const struct mf_fabric *f)
{
	json_t *all = json_array();

	for (unsigned int k = 0; k < f->tests; k++)
		json_array_append_new(all, test_json(f, &f->test[k]));
	return all;
}
