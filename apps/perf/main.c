/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-perf: parse, configure, run, print. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/mf_files.h"
#include "hgrm.h"
#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "period.h"
#include "program.h"
#include "report/mf_report.h"
#include "result.h"
#include "session.h"
#include "table.h"

const char program_name[] = "memfab-perf";

/** Files that are written, opened before anything runs. */
struct files {
	struct output json, hgrm, history;
};

/** What a line of the table needs to know. */
struct screen {
	struct run *run;
	bool gbits;
};

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int write_json(const struct run *r, struct output *out)
{
	json_t *json = out->to.open ? result_json(r) : NULL;
	int rc = output_write_json(out, json);

	json_decref(json);
	return rc;
}

/** In an open loop from the intended start: that is what users see. */
static int write_hgrm(const struct run *r, struct output *out)
{
	struct mf_hist *h;
	int rc;

	if (!out->to.open || r->done == 0)
		return SOUND;
	h = outcome_merged(&r->outcome[0], r->test.rate > 0);
	rc = output_written(out, h != NULL ? hgrm_write(output_file(out), h) : -ENOMEM);
	free(h);
	return rc;
}

static void each(void *ctx, const struct outcome *o)
{
	const struct screen *s = ctx;

	table_line(stdout, s->run, o, s->gbits);
}

/** One test, from the command line. */
static int run_once(const struct options *o, struct run *r, struct files *files)
{
	struct screen screen = {.run = r, .gbits = o->gbits};
	struct watch watch;
	const char *why;
	int rc;

	r->test = o->test;
	r->each = each;
	r->ctx = &screen;
	r->history = files->history.to.open ? &o->history : NULL;
	r->history_out = &files->history;
	table_head(stdout, r, o->gbits);
	rc = watch_begin(&watch, r, o->stats_period);
	if (rc == 0)
		rc = run_test(r, &o->test);
	else
		snprintf(r->err, sizeof(r->err), "--stats-period: %s", strerror(-rc));
	watch_end(&watch);
	if (r->done > 0)
		table_end(stdout, r);
	for (int i = 0; i < r->done; i++)
		mf_fabric_report_cycles(stdout, r->outcome[i].run);
	if (rc != 0)
		return complain(FAILED, r->err);
	rc = complain_of("standard output", ferror(stdout) ? output_error() : 0);
	rc = worse(rc, write_json(r, &files->json));
	rc = worse(rc, write_hgrm(r, &files->hgrm));
	return run_sound(r, &why) ? rc : complain(FAILED, why);
}

static int run(const struct options *o, struct mf_config *config, struct files *files)
{
	struct run r;
	int rc;

	if (o->interactive || o->commands != NULL)
		return session_run(o, config);
	rc = complain_of("the counters", run_init(&r, config, o->clock));
	if (rc == SOUND)
		rc = run_once(o, &r, files);
	run_fini(&r);
	return rc;
}

static int run_clock(const struct options *o, struct mf_config *config, struct files *files)
{
	char err[ERR_LEN];
	int rc = eal_start(&o->eal, config, o->test.plays, o->clock, err, sizeof(err));

	if (rc != 0)
		return complain(rc == -EINVAL && o->eal.given ? USAGE : FAILED, err);
	rc = run(o, config, files);
	eal_stop(o->clock);
	return rc;
}

/** Nothing is written that is read, and nothing twice. */
static int compare_files(const struct options *o, const struct mf_config *config)
{
	struct mf_files files = {.n = 0};
	char err[ERR_LEN];

	mf_files_streams(&files);
	mf_config_files(config, o->file, &files);
	mf_files_read(&files, "--cmdline-file", o->commands);
	mf_files_written(&files, "--out_json", o->json);
	mf_files_written(&files, "--hgrm", o->hgrm);
	mf_files_written(&files, "--history", history_option_name(&o->history));
	return mf_files_check(&files, err, sizeof(err)) == 0 ? SOUND : complain(USAGE, err);
}

static int open_and_run(const struct options *o, struct mf_config *config)
{
	struct files files = {0};
	int rc;

	interrupt_catch();
	rc = output_open(&files.json, o->json);
	if (rc == SOUND)
		rc = output_open(&files.hgrm, o->hgrm);
	if (rc == SOUND)
		rc = output_open(&files.history, history_option_name(&o->history));
	if (rc == SOUND)
		rc = run_clock(o, config, &files);
	return output_close_all((struct output *[]){&files.json, &files.hgrm, &files.history}, 3, rc);
}

static int act(void *options, struct mf_config *config)
{
	struct options *o = options;
	char err[ERR_LEN];

	if (options_apply(o, config, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	if (compare_files(o, config) != SOUND)
		return USAGE;
	return open_and_run(o, config);
}

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_LEN];

	output_begin();
	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	return program_run(&(struct request){.help = o.action == ACTION_HELP,
					     .version = o.action == ACTION_VERSION,
					     .file = o.file,
					     .options = &o},
			   options_help, act);
}
