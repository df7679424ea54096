/* SPDX-License-Identifier: BSD-3-Clause */
/* Another workload for a fabric that was read from a file: for programs that bring their own. */
#include "config/cfg.h"

static void forget_workload(struct mf_config *config)
{
	cfg_workload_free(config);
	for (unsigned int i = 0; i < config->slots; i++) {
		if (config->node[i].up)
			config->node[i].workload = -1;
		config->node[i].client = 0;
	}
}

int mf_config_set_workload(struct mf_config *config, const struct json_t *workload, char *err, size_t errlen)
{
	struct cfg c = {.err = err, .errlen = errlen, .config = config, .tier = config->tier};
	int rc;

	forget_workload(config);
	cfg_push(&c, "workload");
	rc = cfg_workload(&c, workload);
	if (rc != 0)
		forget_workload(config);
	return rc;
}
