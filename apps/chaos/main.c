/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-chaos: draws cases, runs them, judges them, and makes small what is wrong. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "campaign.h"
#include "ends.h"
#include "file/mf_files.h"
#include "interrupt.h"
#include "judge.h"
#include "linear/mf_history.h"
#include "options.h"
#include "output.h"
#include "print.h"
#include "program.h"
#include "shrink.h"
#include "wall/mf_eal.h"

#define TWICE 8 /* one in so many is run again, and must be the same */
#define CASE_LEN 1024 /* of the path of a case */
#define ENOUGH 100 /* runs of which each class should have fired */

const char program_name[] = "memfab-chaos";

/** What a fabric campaign draws from. */
struct base {
	const json_t *json;
	const struct classes *classes;
};

static int run_seed(const void *ctx, uint64_t seed, struct verdict *v)
{
	const struct base *b = ctx;
	json_t *json = generate(b->json, seed, b->classes);
	int rc = json != NULL ? judge_case(json, "case", seed % TWICE == 0, v) : -ENOMEM;

	json_decref(json);
	return rc;
}

static int run_given(const void *ctx, uint64_t seed, struct verdict *v)
{
	(void)seed;
	return judge_case(ctx, "case", true, v);
}

/** @return the object in a file, or NULL, complained */
static json_t *load(const char *path)
{
	char err[ERR_LEN];
	json_error_t why;
	FILE *in = fopen(path, "r");
	json_t *json = in != NULL ? json_loadf(in, 0, &why) : NULL;

	if (in == NULL || ferror(in))
		snprintf(err, sizeof(err), "%s: %s", path, strerror(errno));
	else if (json == NULL)
		snprintf(err, sizeof(err), "%s:%d:%d: %s", path, why.line, why.column, why.text);
	if (in != NULL)
		fclose(in);
	if (json != NULL && !json_is_object(json)) {
		snprintf(err, sizeof(err), "%s: not an object", path);
		json_decref(json);
		json = NULL;
	}
	if (json == NULL)
		complain(USAGE, err);
	return json;
}

static void case_path(char path[CASE_LEN], const char *folder, uint64_t seed)
{
	snprintf(path, CASE_LEN, "%s/chaos-%" PRIu64 ".json", folder, seed);
}

/** A case of a seed that may come is not to be written over the file that it is drawn from. */
static int compare_files(const struct options *o)
{
	struct mf_files files = {.n = 0};
	const char *name = strrchr(o->file, '/');
	char path[CASE_LEN], err[ERR_LEN];
	uint64_t seed;

	mf_files_streams(&files);
	mf_files_read(&files, "FABRIC", o->file);
	if (sscanf(name != NULL ? name + 1 : o->file, "chaos-%" SCNu64 ".json", &seed) == 1 &&
	    seed >= o->seed && (o->runs == 0 || seed - o->seed < o->runs) && o->action == ACTION_CAMPAIGN) {
		case_path(path, o->out, seed);
		mf_files_written(&files, "a case of --out", path);
	}
	return mf_files_check(&files, err, sizeof(err)) == 0 ? SOUND : complain(USAGE, err);
}

/** Writes a case that is wrong, and how to repeat it. */
static int keep(const struct options *o, uint64_t seed, const json_t *json)
{
	char path[CASE_LEN];
	struct output out;
	int rc, closed;

	case_path(path, o->out, seed);
	rc = output_open(&out, path);
	if (rc != SOUND)
		return FAILED;
	rc = output_write_json(&out, json);
	closed = output_close(&out);
	if (rc == SOUND && closed == SOUND)
		printf("memfab-chaos --case %s\n", path);
	return FAILED;
}

static int make_small(const struct options *o, const struct base *b, const struct tally *tally)
{
	char reason[REASON_LEN];
	json_t *json = generate(b->json, tally->seed, b->classes), *small;
	unsigned int runs;
	int rc;

	memcpy(reason, tally->reason, sizeof(reason));
	printf("\nseed %" PRIu64 ": %s\n", tally->seed, reason);
	fflush(stdout);
	small = shrink(json, o->smaller, reason, &runs);
	printf("made smaller in %u runs: %s\n", runs, reason);
	rc = keep(o, tally->seed, small);
	json_decref(small);
	json_decref(json);
	return rc;
}

static int conclude(const struct options *o, const struct trial *t, const struct tally *tally,
		    const struct base *b)
{
	const bool *on = b != NULL ? o->classes.on : NULL;
	const char *never = print_never(t, tally, on);

	print_tally(t, tally, on);
	if (tally->violated && b != NULL)
		return make_small(o, b, tally);
	if (tally->violated) {
		printf("\nseed %" PRIu64 ": %s\n", tally->seed, tally->reason);
		printf("memfab-chaos --link --runs 1 --seed %" PRIu64 "\n", tally->seed);
		return FAILED;
	}
	if (never == NULL || tally->runs < ENOUGH)
		return SOUND;
	fprintf(stderr, "%s: no fault of class '%s' has fired: nothing was tested of it\n", program_name,
		never);
	return FAILED;
}

static int campaign(const struct options *o, const struct trial *t, const struct base *b)
{
	time_t shown = 0;
	const struct campaign c = {
		.seed = o->seed,
		.runs = o->runs,
		.seconds = (double)o->minutes * 60,
		.jobs = (unsigned int)(o->runs != 0 && o->runs < o->jobs ? o->runs : o->jobs),
		.interrupt = &interrupted,
		.progress = print_progress,
		.progress_ctx = &shown,
	};
	static struct tally tally;
	int err;

	interrupt_catch();
	err = campaign_run(&c, t, &tally);
	print_progress_end();
	if (err != 0)
		return complain_of("a run", err);
	if (tally.violated && verdict_is(tally.reason, "refused"))
		return complain(USAGE, tally.reason);
	return conclude(o, t, &tally, b);
}

static int link_campaign(const struct options *o)
{
	const struct trial t = {.run = ends_run, .classes = ends_classes};

	return campaign(o, &t, NULL);
}

/** Runs a case as it is. */
static int one_case(const json_t *json)
{
	const struct trial t = {.run = run_given, .ctx = json, .classes = mf_fault_names};
	struct verdict v;
	int err = campaign_one(&t, 0, &v);

	if (err != 0)
		return complain_of("the run", err);
	if (verdict_is(v.reason, "refused"))
		return complain(USAGE, v.reason);
	for (unsigned int i = 0; mf_fault_names[i] != NULL; i++)
		if (v.fired[i] > 0)
			printf("%-16s %12" PRIu64 "\n", mf_fault_names[i], v.fired[i]);
	printf("%s\n", v.reason[0] != '\0' ? v.reason : "nothing is wrong");
	return v.reason[0] != '\0' ? FAILED : SOUND;
}

static int print_case(const struct options *o, const struct base *b)
{
	json_t *json = generate(b->json, o->seed, b->classes);
	int rc = complain_of("standard output", output_json(json, stdout));

	json_decref(json);
	return rc;
}

/** Switches off the classes that the stack of the base cannot have. One that was asked for is refused. */
static int restrict_classes(struct options *o, const json_t *base)
{
	const struct mf_stack_ops *stack = generate_stack(base);
	char err[ERR_LEN];

	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++) {
		bool spaces = i == MF_FAULT_FORGE && generate_has_spaces(base);

		if (!o->classes.on[i] || (generate_takes(stack, i) && !spaces))
			continue;
		if (o->chosen) {
			snprintf(err, sizeof(err), "--classes: fabrics with %s '%s' have no '%s'",
				 spaces ? "memory of the type" : "stack", spaces ? "virtual" : stack->name,
				 mf_fault_names[i]);
			return complain(USAGE, err);
		}
		o->classes.on[i] = false;
	}
	return SOUND;
}

static int with_file(struct options *o)
{
	json_t *json = compare_files(o) == SOUND ? load(o->file) : NULL;
	const struct base b = {.json = json, .classes = &o->classes};
	const struct trial t = {.run = run_seed, .ctx = &b, .classes = mf_fault_names};
	int rc = SOUND;

	if (json == NULL)
		return USAGE;
	if (generate_has_graphs(json))
		generate_graph_classes(&o->classes);
	else if (o->action != ACTION_CASE)
		rc = restrict_classes(o, json);
	if (rc != SOUND)
		; /* said */
	else if (o->action == ACTION_CASE)
		rc = one_case(json);
	else if (o->action == ACTION_PRINT)
		rc = print_case(o, &b);
	else
		rc = campaign(o, &t, &b);
	json_decref(json);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_LEN];

	output_begin();
	interrupt_clean();
	if (argc > 1 && strcmp(argv[1], "--history") == 0)
		return output_end(mf_history_check_files(program_name, (const char *const *)argv + 2,
							 (unsigned int)argc - 2, stdout));
	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	if (o.action == ACTION_NOTHING)
		return output_end(SOUND);
	if (o.action == ACTION_HELP || o.action == ACTION_VERSION)
		return program_run(&(struct request){.help = o.action == ACTION_HELP,
						     .version = o.action == ACTION_VERSION},
				   options_help, NULL);
	if (generate_unknown() != NULL) {
		snprintf(err, sizeof(err), "nothing is known of faults of class '%s'", generate_unknown());
		return complain(FAILED, err);
	}
	mf_eal_choose_variants(true);
	return output_end(o.link ? link_campaign(&o) : with_file(&o));
}
