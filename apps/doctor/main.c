/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-doctor: looks at the machine, says what is wrong with it and what mends that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_version.h>

#include "built.h"
#include "file/mf_files.h"
#include "interrupt.h"
#include "options.h"
#include "outcome.h"
#include "output.h"
#include "program.h"
#include "roles.h"

const char program_name[] = "memfab-doctor";

static int examine(const struct machine *m, struct output *json)
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
	if (output_write_json(json, all) != SOUND)
		rc = FAILED;
	json_decref(all);
	outcome_free(&o);
	return rc;
}

/** Nothing is written that is read. @param config  NULL: none */
static int compare_files(const struct options *o, const struct mf_config *config)
{
	struct mf_files files = {.n = 0};
	char err[ERR_LEN];

	mf_files_streams(&files);
	if (config != NULL)
		mf_config_files(config, o->file, &files);
	mf_files_written(&files, "--json", o->json);
	return mf_files_check(&files, err, sizeof(err)) == 0 ? SOUND : complain(USAGE, err);
}

static int open_and_examine(const struct options *o, const struct mf_config *config,
			    const struct mf_process_roles *plays)
{
	struct machine m = {
		.root = o->root,
		.noise = o->noise,
		.lcores = o->lcores,
		.given = o->lcores > 0,
		.chosen = o->cpus,
		.config = config,
		.plays = *plays,
		.whole = o->roles == NULL,
		.build = {.dpdk = MF_DPDK, .running = rte_version(), .left_out = MF_DRIVERS_LEFT_OUT},
	};
	struct output json;
	int rc, closed;

	if (compare_files(o, config) != SOUND || output_open(&json, o->json) != SOUND)
		return USAGE;
	machine_look(&m);
	rc = examine(&m, &json);
	closed = output_close(&json);
	return rc != SOUND ? rc : closed;
}

static int act(void *options, struct mf_config *config)
{
	const struct options *o = options;
	struct mf_process_roles plays = {0};
	char err[ERR_LEN];

	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		plays.sw[k] = true;
	for (unsigned int i = 0; i < config->slots; i++)
		plays.node[i] = config->node[i].up;
	if (o->roles != NULL && roles_choose(config, o->roles, &plays, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	return open_and_examine(o, config, &plays);
}

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_LEN];

	output_begin();
	interrupt_clean();
	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	if (o.file == NULL && !o.help && !o.version)
		return output_end(open_and_examine(&o, NULL, &(struct mf_process_roles){0}));
	return program_run(
		&(struct request){.help = o.help, .version = o.version, .file = o.file, .options = &o},
		options_help, act);
}
