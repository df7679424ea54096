/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the result: what the watchdog has noticed. */
#include "result/mf_result.h"
#include "wall/mf_watchdog.h"

static json_t *counts_json(const struct watch_counts *c)
{
	json_t *o = json_object();

	result_count(o, "stalled", c->stalled);
	result_count(o, "asleep", c->asleep);
	result_count(o, "descheduled", c->descheduled);
	result_count(o, "longest_ps_max", c->longest);
	return o;
}

json_t *watch_json(const struct watch_log *log)
{
	json_t *o = json_object(), *roles = json_object();
	struct watch_counts all = {0};

	for (unsigned int i = 0; i < log->roles; i++) {
		const struct watch_counts c = log->role[i].counts;

		all.stalled += c.stalled;
		all.asleep += c.asleep;
		all.descheduled += c.descheduled;
		if (c.stalled + c.asleep + c.descheduled > 0)
			json_object_set_new(roles, log->role[i].name, counts_json(&c));
	}
	result_count(o, "time_ps", log->time);
	result_count(o, "stalled", all.stalled);
	result_count(o, "asleep", all.asleep);
	result_count(o, "descheduled", all.descheduled);
	result_count(o, "paused", log->paused);
	result_count(o, "paused_ps_max", log->paused_longest);
	json_object_set_new(o, "roles", roles);
	return o;
}
