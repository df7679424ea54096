/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_link_test.h"

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
