/* SPDX-License-Identifier: BSD-3-Clause */
#include "outcome.h"

void outcome_init(struct outcome *o)
{
	*o = (struct outcome){.checks = json_array()};
}

void outcome_add(struct outcome *o, FILE *out, const struct check *check, struct finding *f)
{
	json_t *json = json_pack("{s:s, s:s, s:s}", "check", check->name, "status", level_name[f->level],
				 "found", f->found);

	o->count[f->level]++;
	fprintf(out, "%s  %-13s  %s", level_name[f->level], check->name, f->found);
	if (f->level != PASS) {
		fprintf(out, "; mend: %s", f->mend);
		json_object_set_new(json, "mend", json_string(f->mend));
	}
	fputc('\n', out);
	fflush(out);
	if (f->detail != NULL)
		json_object_set_new(json, "detail", f->detail);
	json_array_append_new(o->checks, json);
}

void outcome_sum(const struct outcome *o, FILE *out)
{
	fprintf(out, "%u passed, %u warnings, %u failed\n", o->count[PASS], o->count[WARN], o->count[FAIL]);
}

json_t *outcome_json(const struct outcome *o, const struct machine *m)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:O}", "memfab", MF_VERSION, "dpdk", m->build.running,
			 "passed", (int)o->count[PASS], "warnings", (int)o->count[WARN], "failed",
			 (int)o->count[FAIL], "checks", o->checks);
}

void outcome_free(struct outcome *o)
{
	json_decref(o->checks);
}
