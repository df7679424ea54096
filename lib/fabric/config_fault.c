/* SPDX-License-Identifier: BSD-3-Clause */
/* "faults": what is broken on purpose, and where. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_put.h"

#define FAULTS_MAX MF_FAULT_RULES

static const char *const direction_names[] = {"both", "up", "down", NULL};

#define FAULT(m) CFG_AT(struct mf_config_fault, m)
static const struct cfg_field fault_fields[] = {
	{.key = "class", .kind = CFG_ENUM, FAULT(class), .names = mf_fault_names},
	{.key = "link", .kind = CFG_NESTED},
	{.key = "direction", .kind = CFG_ENUM, FAULT(direction), .names = direction_names},
	{.key = "rate", .kind = CFG_REAL, FAULT(rate), .rlo = 1e-18, .rhi = 1},
	{.key = "from", .kind = CFG_TIME, FAULT(from), CFG_RANGE(0, MF_NEVER - 1)},
	{.key = "until", .kind = CFG_TIME, FAULT(until), CFG_RANGE(1, MF_NEVER - 1)},
	{.key = "time", .kind = CFG_TIME, FAULT(time), CFG_RANGE(1, MF_SEC(1))},
	{.key = "count", .kind = CFG_U64, FAULT(count), CFG_RANGE(1, INT64_MAX)},
	{0},
};

static bool takes_time(const struct mf_config_fault *f)
{
	return f->class == MF_FAULT_DELAY || f->class == MF_FAULT_REORDER;
}

static int read_fault(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	static const char *const needed[] = {"class", "rate", NULL}, *const time[] = {"time", NULL};
	int rc = cfg_object(c, json, fault_fields, f);

	for (int i = 0; needed[i] != NULL && rc == 0; i++)
		if (json_object_get(json, needed[i]) == NULL)
			rc = cfg_fail_key(c, needed[i], "is missing");
	if (rc == 0)
		rc = cfg_set(c, json, "link", NULL, "", &f->link);
	if (rc == 0 && f->until <= f->from)
		rc = cfg_fail_key(c, "until", "is not behind 'from'");
	if (rc == 0 && takes_time(f) && f->time == 0)
		rc = cfg_fail_key(c, "time", "is missing");
	if (rc == 0 && !takes_time(f))
		rc = cfg_refuse(c, json, time, "only \"delay\" and \"reorder\" take time");
	return rc;
}

int cfg_faults(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (json_array_size(json) > FAULTS_MAX)
		return cfg_fail(c, "too many: %zu, at most %u", json_array_size(json), FAULTS_MAX);
	c->config->fault = calloc(json_array_size(json) + 1, sizeof(*c->config->fault));
	if (c->config->fault == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		struct mf_config_fault *f = &c->config->fault[c->config->faults];

		f->until = MF_NEVER;
		cfg_push_index(c, i);
		rc = read_fault(c, entry, f);
		cfg_pop(c);
		if (rc != 0)
			return rc;
		c->config->faults++;
	}
	return 0;
}

void cfg_put_faults(struct put *p, json_t *root)
{
	static const char *const until[] = {"until", NULL}, *const time[] = {"time", NULL},
				 *const count[] = {"count", NULL};
	json_t *array;

	if (p->config->faults == 0)
		return;
	array = cfg_put_set(p, root, "faults", json_array());
	for (unsigned int i = 0; i < p->config->faults; i++) {
		const struct mf_config_fault *f = &p->config->fault[i];
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_fields(p, json, fault_fields, f);
		cfg_put_set(p, json, "link", cfg_put_nodes(p, &f->link, NULL));
		if (f->until == MF_NEVER)
			cfg_put_drop(json, until);
		if (!takes_time(f))
			cfg_put_drop(json, time);
		if (f->count == 0)
			cfg_put_drop(json, count);
	}
}
