/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "layer.h"

static struct mf_fabric *make(const char *text, struct mf_config *config, enum mf_clock clock,
			      struct toy_cache_counts *counts)
{
	struct mf_fabric *f;
	char err[256] = "";

	cr_assert_eq(mf_config_parse(text, strlen(text), "test", config, err, sizeof(err)), 0, "%s\n%s", err,
		     text);
	for (unsigned int i = 0; i < config->nodes && counts != NULL; i++)
		if (config->node[i].up && config->node[i].compute) {
			config->node[i].layer = &toy_cache;
			config->node[i].layer_param = counts;
		}
	f = mf_fabric_new(config, clock, err, sizeof(err));
	cr_assert_not_null(f, "%s\n%s", err, text);
	return f;
}

json_t *layer_run(const char *text, enum mf_clock clock, const struct mf_run_options *options, bool sound,
		  struct toy_cache_counts *counts)
{
	struct mf_config config;
	struct mf_fabric *f = make(text, &config, clock, counts);
	char err[256] = "";
	json_t *all, *result;

	cr_assert_eq(mf_fabric_run(f, options), 0, "%s", text);
	cr_assert(!sound || mf_fabric_sound(f, err, sizeof(err)), "%s\n%s", err, text);
	all = mf_fabric_result(f);
	result = json_incref(json_object_get(all, "result"));
	json_decref(all);
	mf_fabric_free(f);
	mf_config_free(&config);
	return result;
}

json_int_t layer_number(const json_t *result, const char *key)
{
	const json_t *v = json_object_get(json_object_get(result, "operations"), key);

	cr_assert_not_null(v, "no operations.%s", key);
	return json_integer_value(v);
}
