/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a workload: whether its loop is open or closed, and what goes with that. */
#include "config/cfg.h"

int cfg_loop(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const loop_names[] = {"closed", "open", NULL};
	static const char *const open_keys[] = {"rate", "load", "arrival", "burst", NULL};
	static const char *const closed_keys[] = {"delay", NULL};
	const json_t *loop = json_object_get(json, "loop");
	uint32_t open = 0;
	int rc = 0;

	if (loop != NULL) {
		cfg_push(c, "loop");
		rc = cfg_enum(c, loop, loop_names, &open);
		cfg_pop(c);
	}
	w->open = open == 1;
	if (rc != 0)
		return rc;
	if (!w->open)
		return cfg_refuse(c, json, open_keys, "the loop is closed");
	rc = cfg_refuse(c, json, closed_keys, "the loop is open");
	if (rc != 0)
		return rc;
	if (w->rate == 0 && w->load == 0)
		return cfg_fail_key(c, "loop", "an open loop needs rate or load");
	if (w->rate != 0 && w->load != 0)
		return cfg_fail_key(c, "load", "has no effect beside rate");
	return 0;
}
