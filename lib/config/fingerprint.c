/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes of the effective configuration. What processes that play one fabric must have the same is all of it
 * but what each may have its own way (where its ports are, how long it runs, what its clients do) and what a
 * handshake compares by itself, so that it can say what differs (the rates).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "config/cfg.h"

static void drop(json_t *object, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		json_object_del(object, *keys);
}

/** @param json  NULL: no memory; else its reference is given up @return 0 or -ENOMEM */
static int hash(json_t *json, uint64_t *out)
{
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	json_decref(json);
	if (text == NULL)
		return -ENOMEM;
	*out = XXH64(text, strlen(text), 0);
	free(text);
	return 0;
}

int mf_config_fingerprint(const struct mf_config *config, uint64_t *out)
{
	static const char *const own[] = {"seed",   "clock",         "ports",  "ethernet",  "workload",
					  "faults", "test_patterns", "report", "placement", "watchdog",
					  NULL};
	static const char *const of_link[] = {"rate", "ring", "carried", NULL};
	json_t *json = mf_config_to_json(config), *link;
	size_t i;

	drop(json, own);
	json_array_foreach(json_object_get(json, "links"), i, link)
		drop(link, of_link);
	json_array_foreach(json_object_get(json_object_get(json, "backup"), "links"), i, link)
		drop(link, of_link);
	return hash(json, out);
}

int mf_config_hash(const struct mf_config *config, uint32_t *out)
{
	uint64_t all = 0;
	int err = hash(mf_config_to_json(config), &all);

	if (err == 0)
		*out = (uint32_t)all;
	return err;
}
