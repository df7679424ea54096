/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-doctor: looks at the machine, says what is wrong with it and what mends that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_version.h>

#include "built.h"
#include "options.h"
#include "outcome.h"
#include "output.h"
#include "program.h"
#include "roles.h"

const char program_name[] = "memfab-doctor";

/** @param json  NULL: none */
static int examine(const struct machine *m, const char *name, FILE *json)
{
	struct outcome o;
	json_t *all;
	int rc;

	outcome_init(&o);
	for (const struct check *const *check = checks; *check != NULL; check++) {
		struct finding f = {0};

		if ((*check)->wanted != NULL && !(*check)->wanted(m))
			continue;
		(*check)->run(m, &f);
		outcome_add(&o, stdout, *check, &f);
	}
	outcome_sum(&o, stdout);
	rc = o.count[FAIL] > 0 ? FAILED : SOUND;
	if (fflush(stdout) != 0 || ferror(stdout))
		rc = complain_of("standard output", output_error());
	all = outcome_json(&o, m);
	if (json != NULL && complain_of(name, output_json(all, json)) != SOUND)
		rc = FAILED;
	json_decref(all);
	outcome_free(&o);
	return rc;
}

static int open_and_examine(const struct options *o, const struct mf_config *config,
			    const struct mf_part *part)
{
	struct machine m = {
		.root = o->root,
		.noise = o->noise,
		.lcores = o->lcores,
		.given = o->lcores > 0,
		.chosen = o->cpus,
		.config = config,
		.part = *part,
		.whole = o->roles == NULL,
		.build = {.dpdk = MF_DPDK, .running = rte_version(), .left_out = MF_DRIVERS_LEFT_OUT},
	};
	char err[ERR_LEN];
	FILE *json = NULL;
	int rc;

	if (o->json != NULL && (json = fopen(o->json, "w")) == NULL) {
		snprintf(err, sizeof(err), "%s: %s", o->json, strerror(errno));
		return complain(USAGE, err);
	}
	machine_look(&m);
	rc = examine(&m, o->json, json);
	if (json != NULL && fclose(json) != 0 && rc == SOUND)
		rc = complain_of(o->json, output_error());
	return rc;
}

static int act(void *options, struct mf_config *config)
{
	const struct options *o = options;
	struct mf_part part = {.sw = true};
	char err[ERR_LEN];

	for (unsigned int i = 0; i < config->sw.ports; i++)
		part.node[i] = config->node[i].up;
	if (o->roles != NULL && roles_choose(config, o->roles, &part, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	return open_and_examine(o, config, &part);
}

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_LEN];

	output_hold();
	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	if (o.file == NULL && !o.help && !o.version)
		return open_and_examine(&o, NULL, &(struct mf_part){0});
	return program_run(
		&(struct request){.help = o.help, .version = o.version, .file = o.file, .options = &o},
		options_help, act);
}
