/* SPDX-License-Identifier: BSD-3-Clause */
#include "seeds.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "output.h"
#include "program.h"
#include "report/mf_report.h"
#include "run/mf_fabric.h"

/** A run: what it writes, and who does it. */
struct seed_run {
	FILE *out;
	pid_t pid; /**< 0: not begun, or over */
};

static int run_one(const struct options *o, const struct mf_config *config, FILE *out)
{
	struct mf_run_options options = {.block_by_block = o->block_by_block, .interrupt = &interrupted};
	char err[ERR_LEN], line[ERR_LEN + 64];
	struct mf_fabric *f = mf_fabric_new(config, o->clock, err, sizeof(err));
	int rc = f != NULL ? mf_fabric_run(f, &options) : -EINVAL;
	bool sound = rc == 0;
	json_t *result;

	if (f != NULL && rc != 0)
		snprintf(err, sizeof(err), "the run failed: %s", strerror(-rc));
	if (rc == 0) {
		result = mf_fabric_result(f);
		rc = output_json(result, out);
		json_decref(result);
		sound = mf_fabric_sound(f, err, sizeof(err));
	}
	mf_fabric_free(f);
	if (sound)
		return rc == 0 ? SOUND : complain_of("the result", rc);
	snprintf(line, sizeof(line), "seed %" PRIu64 ": %s", config->seed, err);
	return complain(FAILED, line);
}

/** @return 0 or -errno */
static int begin(struct seed_run *r, const struct options *o, const struct mf_config *config, uint64_t seed)
{
	struct mf_config own = *config;

	r->out = tmpfile();
	if (r->out == NULL)
		return -errno;
	fflush(NULL);
	r->pid = fork();
	if (r->pid < 0)
		return -errno;
	if (r->pid == 0) {
		own.seed = seed;
		_exit(run_one(o, &own, r->out));
	}
	return 0;
}

/** Waits for one of them. @return its exit status */
static int wait_one(struct seed_run *run, uint64_t n)
{
	int status;
	pid_t pid;

	do
		pid = wait(&status);
	while (pid < 0 && errno == EINTR);
	for (uint64_t i = 0; i < n; i++)
		if (run[i].pid == pid)
			run[i].pid = 0;
	if (pid >= 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	return complain(FAILED, "a run ended by a signal");
}

static unsigned int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned int)CPU_COUNT(&set) : 1;
}

static int run_all(struct seed_run *run, const struct options *o, const struct mf_config *config)
{
	uint64_t jobs = o->jobs != 0 ? o->jobs : cpus(), begun = 0, under_way = 0;
	int rc = SOUND, one = 0;

	while (under_way > 0 || (begun < o->seeds && one == 0)) {
		if (one == 0 && begun < o->seeds && under_way < jobs && !interrupted) {
			one = begin(&run[begun], o, config, config->seed + begun);
			under_way += one == 0;
			begun++;
		} else if (under_way > 0) {
			int status = wait_one(run, begun);

			rc = rc != SOUND ? rc : status;
			under_way--;
		} else {
			break;
		}
	}
	return one != 0 ? complain_of("a run", one) : rc;
}

/** In the order of the seeds; what failed has left nothing. */
static json_t *collect(const struct seed_run *run, uint64_t n)
{
	json_t *all = json_object(), *seeds = json_array();

	for (uint64_t i = 0; i < n && run[i].out != NULL; i++) {
		rewind(run[i].out);
		json_array_append_new(seeds, json_loadf(run[i].out, 0, NULL));
	}
	json_object_set_new(all, "over_seeds", mf_fabric_over_seeds(seeds));
	json_object_set_new(all, "seeds", seeds);
	return all;
}

int seeds_run(const struct options *o, const struct mf_config *config, struct output *json)
{
	struct seed_run *run = calloc(o->seeds, sizeof(*run));
	json_t *all;
	int rc, e = SOUND;

	if (run == NULL)
		return complain_of("the seeds", -ENOMEM);
	rc = run_all(run, o, config);
	all = collect(run, o->seeds);
	if (json_array_size(json_object_get(all, "seeds")) > 0) {
		int written;

		mf_fabric_report_seeds(stdout, all);
		e = complain_of("standard output",
				fflush(stdout) != 0 || ferror(stdout) ? output_error() : 0);
		written = output_write_json(json, all);
		e = e != SOUND ? e : written;
	}
	json_decref(all);
	for (uint64_t i = 0; i < o->seeds && run[i].out != NULL; i++)
		fclose(run[i].out);
	free(run);
	return rc != SOUND ? rc : e;
}
