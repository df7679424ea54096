/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-emu: parse, configure, run, print. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "capture_option.h"
#include "eal.h"
#include "file/mf_files.h"
#include "graph.h"
#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "partners.h"
#include "program.h"
#include "progress.h"
#include "report/mf_report.h"
#include "roles.h"
#include "run/mf_fabric.h"
#include "run/mf_record_files.h"
#include "seeds.h"
#include "telemetry/mf_telemetry.h"

const char program_name[] = "memfab-emu";

static int print_config(const struct mf_config *config)
{
	json_t *json = mf_config_to_json(config);
	int rc = output_json(json, stdout);

	json_decref(json);
	return complain_of("standard output", rc);
}

static int print_graph(const struct mf_config *config)
{
	graph_print(stdout, config);
	return complain_of("standard output", fflush(stdout) != 0 || ferror(stdout) ? output_error() : 0);
}

/** The files that a run writes, opened before it. */
struct outputs {
	struct output json, messages, history;
	struct mf_captures *captures;
	bool ran; /**< to its end, so that there is something to write */
};

static int report(const struct mf_fabric *f, struct outputs *out)
{
	json_t *result = mf_fabric_result(f);
	int text, json = SOUND, messages = SOUND;

	if (result == NULL)
		return complain_of("the result", -ENOMEM);
	mf_fabric_report(stdout, result);
	text = complain_of("standard output", fflush(stdout) != 0 || ferror(stdout) ? output_error() : 0);
	json = output_write_json(&out->json, result);
	if (out->messages.to.open)
		messages = output_written(&out->messages, mf_fabric_messages(f, output_file(&out->messages)));
	json_decref(result);
	if (text != SOUND)
		return text;
	return json != SOUND ? json : messages;
}

/** All of them; again: nothing. */
static int close_files(struct outputs *out, int rc)
{
	return output_close_all((struct output *[]){&out->json, &out->history, &out->messages}, 3, rc);
}

/** Whoever reads counters now and then reads the last ones, too. */
static void linger(mf_time most)
{
	const struct timespec nap = {.tv_nsec = 20000000};

	for (mf_time past = 0; past < most && !atomic_load(&interrupted); past += MF_MS(20))
		nanosleep(&nap, NULL);
}

static int run(const struct options *o, const struct mf_config *config, struct outputs *out)
{
	struct progress progress;
	struct mf_run_options options = {
		.block_by_block = o->block_by_block,
		.interrupt = &interrupted,
		.progress = progress_show,
		.progress_ctx = &progress,
		.record = o->record,
		.say = partners_say,
		.device = partners_device,
		.waiting = partners_wait,
		.disabled = partners_disabled,
		.stalled = partners_stalled,
		.captures = out->captures,
		.history = out->history.to.open ? o->history.capacity : 0,
	};
	char err[ERR_LEN], text[2 * ERR_LEN];
	struct mf_fabric *f = mf_fabric_new_process(config, o->clock, o->roles != NULL ? &o->plays : NULL,
						    err, sizeof(err));
	int rc;

	if (f == NULL) {
		snprintf(text, sizeof(text), "%s: %s", o->file, err);
		return complain(FAILED, text);
	}
	progress_init(&progress, config, o->clock);
	rc = mf_telemetry_add(f, o->file);
	if (rc == 0)
		rc = mf_fabric_run(f, &options);
	progress_end(&progress);
	if (rc != 0) {
		snprintf(err, sizeof(err), "the run failed: %s%s",
			 mf_fabric_error(f) != NULL ? mf_fabric_error(f) : strerror(-rc),
			 rc == -ENOMEM && o->eal.given ? " (EAL's -m gives more)" : "");
		rc = complain(FAILED, err);
	} else {
		int history;

		out->ran = true;
		rc = report(f, out);
		history = history_option_write(f, &out->history);
		rc = rc != SOUND ? rc : history;
		if (!mf_fabric_sound(f, err, sizeof(err)))
			rc = complain(FAILED, err);
		rc = close_files(out, rc); /* they are there while it lingers */
		linger(o->linger);
	}
	mf_telemetry_remove(f);
	mf_fabric_free(f);
	return rc;
}

/** Under the clock that was asked for. */
static int run_clock(const struct options *o, const struct mf_config *config, struct outputs *out)
{
	char err[ERR_LEN];
	int rc = eal_start(&o->eal, config, o->roles != NULL ? &o->plays : NULL, o->clock, err, sizeof(err));

	if (rc != 0)
		return complain(rc == -EINVAL && o->eal.given ? USAGE : FAILED, err);
	rc = o->seeds != 0 ? seeds_run(o, config, &out->json) : run(o, config, out);
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
	mf_record_files(config, o->replay, false, &files);
	mf_files_written(&files, "--json", o->json);
	mf_files_written(&files, "--messages", o->messages);
	mf_files_written(&files, "--history", history_option_name(&o->history));
	capture_option_files(o->capture, o->captures, &files);
	mf_record_files(config, o->record, true, &files);
	return mf_files_check(&files, err, sizeof(err)) == 0 ? SOUND : complain(USAGE, err);
}

static int open_captures(const struct options *o, const struct mf_config *config, struct mf_captures **out)
{
	char err[ERR_LEN];

	return capture_option_open(config, o->capture, o->captures, out, err, sizeof(err)) == 0
		       ? SOUND
		       : complain(USAGE, err);
}

static int close_captures(const struct outputs *out)
{
	char err[ERR_LEN];

	return mf_captures_close(out->captures, out->ran, err, sizeof(err)) == 0 ? SOUND
										 : complain(FAILED, err);
}

static int close_outputs(struct outputs *out, int rc)
{
	int e = close_captures(out);

	return close_files(out, rc != SOUND ? rc : e);
}

static int open_and_run(const struct options *o, const struct mf_config *config)
{
	struct outputs out = {.ran = false};
	int rc;

	interrupt_catch();
	rc = output_open(&out.json, o->json);
	if (rc == SOUND)
		rc = output_open(&out.messages, o->messages);
	if (rc == SOUND)
		rc = output_open(&out.history, history_option_name(&o->history));
	if (rc == SOUND)
		rc = open_captures(o, config, &out.captures);
	if (rc == SOUND)
		rc = run_clock(o, config, &out);
	return close_outputs(&out, rc);
}

static int replay(const struct options *o, const struct mf_config *config)
{
	char err[ERR_LEN];
	int rc = eal_start(&o->eal, config, NULL, MF_CLOCK_VIRTUAL, err, sizeof(err)); /* no lcores */

	if (rc != 0)
		return complain(FAILED, err);
	rc = mf_fabric_replay(config, o->replay, stdout);
	if (rc > 0)
		return complain(FAILED, "the replay differs from the record");
	if (rc == 0)
		return fflush(stdout) == 0 ? SOUND : complain(FAILED, "cannot write what was found");
	snprintf(err, sizeof(err), "cannot replay all of %s: %s", o->replay, strerror(-rc));
	return complain(FAILED, err);
}

/** --check says of the machine what it is to play. */
static bool opens_ports(const struct options *o)
{
	if (o->action == ACTION_CHECK)
		return o->roles != NULL;
	return o->action == ACTION_RUN && o->clock == MF_CLOCK_WALL;
}

static int act(void *options, struct mf_config *config)
{
	struct options *o = options;
	char err[ERR_LEN];

	options_apply(o, config);
	if (o->seeds != 0 && config->seed > INT64_MAX - o->seeds)
		return complain(USAGE, "--seeds: there are not so many behind the seed");
	if (o->roles != NULL && roles_choose(config, o->roles, &o->plays, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	o->plays.recorded = o->record != NULL;
	if (o->roles != NULL && o->clock == MF_CLOCK_VIRTUAL && o->action == ACTION_RUN &&
	    roles_missing(config, &o->plays))
		return complain(USAGE, "--run: under the virtual clock one process plays all roles");
	if (compare_files(o, config) != SOUND)
		return USAGE;
	if (opens_ports(o) &&
	    mf_ports_check(config, o->roles != NULL ? &o->plays : NULL, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s: %s\n", o->file, err); /* as faults of the file are told */
		return USAGE;
	}
	switch (o->action) {
	case ACTION_CHECK:
		printf("%s: good\n", o->file);
		return SOUND;
	case ACTION_PRINT_CONFIG:
		return print_config(config);
	case ACTION_PRINT_GRAPH:
		return print_graph(config);
	case ACTION_REPLAY:
		return replay(o, config);
	default:
		return open_and_run(o, config);
	}
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
