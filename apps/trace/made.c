/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric file of options: what they say is checked as what a file says. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "program.h"
#include "trace.h"

#define FOR_EVER "720h" /* the longest that there is */

static json_t *put_mix(const double *mix)
{
	json_t *json = json_object();

	for (unsigned int i = 0; i < MF_MIXES; i++)
		if (mix[i] > 0)
			json_object_set_new(json, mf_config_mix_name((enum mf_mix)i), json_real(mix[i]));
	return json;
}

static json_t *read_size(const char *s)
{
	if (*s >= '0' && *s <= '9')
		return s[strspn(s, "0123456789")] == '\0' ? json_integer(strtoll(s, NULL, 10))
							  : json_string(s);
	if (strchr(s, '/') != NULL || strchr(s, '.') != NULL)
		return json_pack("{s:s, s:s}", "dist", "cdf", "file", s);
	return json_pack("{s:s, s:s}", "dist", "app", "name", s);
}

static json_t *nodes(const struct made *m)
{
	if (!m->split)
		return json_pack("[{s:s, s:s, s:i}]", "name", "n", "role", "both", "count", (int)m->nodes);
	return json_pack("[{s:s, s:s, s:i}, {s:s, s:s, s:i}]", "name", "cn", "role", "compute", "count",
			 (int)(m->nodes / 2), "name", "mn", "role", "memory", "count",
			 (int)(m->nodes - m->nodes / 2));
}

/* Nothing of it is run: memory is there for any size, and data is not looked at. */
static json_t *make(const struct made *m, json_t *mix)
{
	json_t *workload = json_pack("{s:o, s:o, s:s, s:s, s:s, s:b}", "mix", mix, "size", read_size(m->size),
				     "span", "32MiB", "loop", "open", "arrival", m->arrival, "verify", 0);

	if (workload == NULL)
		return NULL;
	json_object_set_new(workload, m->load > 0 ? "load" : "rate",
			    json_real(m->load > 0 ? m->load : m->per_second));
	return json_pack("{s:o, s:{s:s}, s:{s:s}, s:{s:{s:s, s:s}, s:{s:s, s:s}}, s:[o]}", "nodes", nodes(m),
			 "memory", "size", "1TiB", "link", "rate", m->rate, "clock", "virtual", "warmup", "0",
			 "duration", FOR_EVER, "wall", "warmup", "0", "duration", FOR_EVER, "workload",
			 workload);
}

int make_fabric(const struct options *o, struct mf_config *config)
{
	char err[ERR_LEN], reason[ERR_LEN / 2], *text;
	double mix[MF_MIXES];
	json_t *json;
	int rc;

	if (argument_mix(o->made.mix, mix, reason, sizeof(reason)) != 0) {
		snprintf(err, sizeof(err), "--mix: %s", reason);
		return complain(USAGE, err);
	}
	json = make(&o->made, put_mix(mix));
	text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	if (text == NULL)
		return complain(FAILED, "no memory");
	rc = mf_config_parse(text, strlen(text), "options", config, err, sizeof(err));
	free(text);
	return rc == 0 ? SOUND : complain(USAGE, err);
}
