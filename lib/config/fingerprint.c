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

/**
 * Links between switches alike in what each process may have its own way, since links that are alike are
 * written as one entry.
 * @return the caller's; NULL: no memory
 */
static struct mf_config_trunk *plain_trunks(const struct mf_config *config)
{
	struct mf_config_trunk *t = calloc(config->trunks + 1, sizeof(*t));

	for (unsigned int i = 0; i < config->trunks && t != NULL; i++) {
		t[i] = config->trunk[i];
		cfg_llr_default(&t[i].link.llr);
		t[i].link.period = t[0].link.period;
		t[i].link.ring = t[0].link.ring;
	}
	return t;
}

int mf_config_fingerprint(const struct mf_config *config, uint64_t *out)
{
	static const char *const own[] = {"seed",   "clock",         "ports",  "ethernet",  "workload",
					  "faults", "test_patterns", "report", "placement", "watchdog",
					  NULL};
	static const char *const of_link[] = {"rate", "ring", "carried", NULL};
	struct mf_config plain = *config;
	json_t *json, *link;
	size_t i;

	plain.trunk = plain_trunks(config);
	if (plain.trunk == NULL)
		return -ENOMEM;
	json = mf_config_to_json(&plain);
	free(plain.trunk);
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
