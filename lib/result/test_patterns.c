/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the result: links that carried a test pattern. */
#include "fabric/mf_fabric_state.h"
#include "fabric/mf_link_test.h"
#include "result/mf_result.h"

static json_t *test_json(const struct mf_fabric *f, const struct link_test *t)
{
	const struct mf_config *config = f->config;
	const struct mf_test_counts *c = &t->rx.counts;
	json_t *o = json_object();

	json_object_set_new(o, "node", json_string(config->node[t->node].name));
	json_object_set_new(o, "switch", json_string(mf_config_switch_name(config, t->rule->sw)));
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
