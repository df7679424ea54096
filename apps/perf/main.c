/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-perf: parse, configure, run, print. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hgrm.h"
#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "period.h"
#include "program.h"
#include "result.h"
#include "session.h"
#include "table.h"

const char program_name[] = "memfab-perf";

/** Files that are written, opened before anything runs. */
struct files {
	FILE *json, *hgrm, *history;
};

/** What a line of the table needs to know. */
struct screen {
	struct run *run;
	bool gbits;
};

static int open_one(FILE **file, const char *name)
{
	char err[ERR_LEN];

	if (name == NULL)
		return SOUND;
	*file = fopen(name, "w");
	if (*file != NULL)
		return SOUND;
	snprintf(err, sizeof(err), "%s: %s", name, strerror(errno));
	return complain(USAGE, err);
}

static int close_one(FILE *file, const char *name)
{
	return file != NULL && fclose(file) != 0 ? complain_of(name, output_error()) : SOUND;
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int write_json(const struct options *o, const struct run *r, FILE *out)
{
	json_t *json = out != NULL ? result_json(r) : NULL;
	int rc = out != NULL ? complain_of(o->json, output_json(json, out)) : SOUND;

	json_decref(json);
	return rc;
}

/** In an open loop from the intended start: that is what users see. */
static int write_hgrm(const struct options *o, const struct run *r, FILE *out)
{
	struct mf_hist *h;
	int rc;

	if (out == NULL || r->done == 0)
		return SOUND;
	h = outcome_merged(&r->outcome[0], r->test.rate > 0);
	rc = complain_of(o->hgrm, h != NULL ? hgrm_write(out, h) : -ENOMEM);
	free(h);
	return rc;
}

static void each(void *ctx, const struct outcome *o)
{
	const struct screen *s = ctx;

	table_line(stdout, s->run, o, s->gbits);
}

/** One test, from the command line. */
static int run_once(const struct options *o, struct run *r, const struct files *files)
{
	struct screen screen = {.run = r, .gbits = o->gbits};
	struct watch watch;
	const char *why;
	int rc;

	r->test = o->test;
	r->each = each;
	r->ctx = &screen;
	r->history = files->history != NULL ? &o->history : NULL;
	r->history_out = files->history;
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
	rc = worse(rc, write_json(o, r, files->json));
	rc = worse(rc, write_hgrm(o, r, files->hgrm));
	return run_sound(r, &why) ? rc : complain(FAILED, why);
}

static int run(const struct options *o, struct mf_config *config, const struct files *files)
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

static int run_clock(const struct options *o, struct mf_config *config, const struct files *files)
{
	char err[ERR_LEN];
	int rc = eal_start(&o->eal, config, o->test.part, o->clock, err, sizeof(err));

	if (rc != 0)
		return complain(rc == -EINVAL && o->eal.given ? USAGE : FAILED, err);
	rc = run(o, config, files);
	eal_stop(o->clock);
	return rc;
}

static int open_and_run(const struct options *o, struct mf_config *config)
{
	struct files files = {0};
	int rc = open_one(&files.json, o->json);

	if (rc == SOUND)
		rc = open_one(&files.hgrm, o->hgrm);
	if (rc == SOUND && o->history.name[0] != '\0')
		rc = open_one(&files.history, o->history.name);
	if (rc == SOUND) {
		interrupt_catch();
		rc = run_clock(o, config, &files);
	}
	rc = worse(rc, close_one(files.json, o->json));
	rc = worse(rc, close_one(files.hgrm, o->hgrm));
	return worse(rc, close_one(files.history, o->history.name));
}

static int act(void *options, struct mf_config *config)
{
	struct options *o = options;
	char err[ERR_LEN];

	if (options_apply(o, config, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	return open_and_run(o, config);
}

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_LEN];

	output_hold();
	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	return program_run(&(struct request){.help = o.action == ACTION_HELP,
					     .version = o.action == ACTION_VERSION,
					     .file = o.file,
					     .options = &o},
			   options_help, act);
}
