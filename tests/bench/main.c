/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-bench: runs the lines, prints the table, writes the JSON. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "file/mf_files.h"
#include "file/mf_output.h"
#include "options.h"
#include "pcs/mf_pcs.h"
#include "systems/edm/proto/mf_proto.h"
#include "workload/mf_workload.h"

enum { GOOD = 0, FAILED = 1, USAGE = 2 };

#define SECONDS 0.2 /* of a repetition */
#define SECONDS_QUICK 0.05
#define PATH_LEN 4096

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static bool stopped(void)
{
	return interrupted;
}

static int complain(int status, const char *reason)
{
	fprintf(stderr, "memfab-bench: %s\n", reason);
	return status;
}

static void add_all(struct bench_suite *s)
{
	bench_references(s);
	bench_pcs(s);
	bench_proto(s);
	bench_mux(s);
	bench_link(s);
	bench_sched(s);
	bench_host(s);
	bench_switch(s);
	bench_memory(s);
	bench_program_lines(s);
	bench_fabric(s);
	bench_counters(s);
	bench_ports(s);
	bench_evaluation(s);
}

/** Those that were asked for, or all that we may run on. */
static unsigned int choose_cpus(const struct options *o, unsigned int *cpu)
{
	unsigned int n = 0;
	cpu_set_t set;

	if (o->cpus != NULL)
		return (unsigned int)options_cpus(o->cpus, cpu, BENCH_CPUS);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE && n < BENCH_CPUS; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = (unsigned int)i;
	return n;
}

/** memfab-emu of the build that this program is of. */
static const char *own_emu(char *path, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", path, room);
	char *slash;

	if (n <= 0 || (size_t)n >= room)
		return "memfab-emu";
	path[n] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash, room - (size_t)(slash - path), "/../../apps/emu/memfab-emu");
	return path;
}

static void list(const struct bench_suite *s, const char *only)
{
	for (unsigned int i = 0; i < s->lines; i++)
		if (!s->line[i]->reference && (only == NULL || bench_named(only, s->line[i]->name)))
			printf("%-40s %s, %s\n", s->line[i]->name, s->line[i]->what, s->line[i]->unit);
}

static void fabric_of(struct bench_result *r, const struct bench_env *env)
{
	char path[PATH_LEN];

	if (r->line->fabric == NULL)
		return;
	snprintf(path, sizeof(path), "%s/%s", env->fabrics, r->line->fabric);
	r->fabric = bench_fabric_info(path, strncmp(r->line->name, "virtual", strlen("virtual")) == 0);
}

/** Which line is measured, on a terminal, as far as it fits. */
static void show(const char *name)
{
	struct winsize size;
	int room = 80;

	if (!isatty(STDERR_FILENO))
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		room = size.ws_col;
	fprintf(stderr, "\r\033[K%.*s\r", room - 1, name);
}

/** One line and its place in the JSON. @return false: it failed */
static bool run_line(const struct bench_suite *s, const struct bench_line *line, const struct bench_env *env,
		     json_t *lines)
{
	static struct bench_result r;
	bool good;

	show(line->name);
	if (!bench_measure(s, line, env, &r))
		return true;
	fabric_of(&r, env);
	bench_print(stdout, &r);
	json_array_append_new(lines, bench_json(&r));
	good = r.tally.status != BENCH_FAILED;
	for (unsigned int i = 0; i < r.besides; i++)
		good = good && r.beside[i].status != BENCH_FAILED;
	json_decref(r.fabric);
	return good;
}

static int complain_of(int status, const char *name, int rc)
{
	fprintf(stderr, "memfab-bench: %s: %s\n", name, strerror(-rc));
	return status;
}

/** @param to  not open: there is none */
static int write_json(const char *path, struct mf_output *to, const json_t *all)
{
	int rc = 0;

	if (to->open && json_dumpf(all, to->file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0)
		rc = errno != 0 ? -errno : -EIO;
	rc = mf_output_close(to, rc);
	return rc == 0 ? GOOD : complain_of(FAILED, path, rc);
}

/** Neither the program that is run nor a fabric file is written over. */
static int compare_files(const struct options *o, const struct bench_suite *s, const struct bench_env *env)
{
	struct mf_files files = {.n = 0};
	char path[PATH_LEN], err[2 * PATH_LEN];

	mf_files_streams(&files);
	mf_files_read(&files, "--emu", env->emu);
	for (unsigned int i = 0; i < s->lines; i++)
		if (s->line[i]->fabric != NULL) {
			snprintf(path, sizeof(path), "%s/%s", env->fabrics, s->line[i]->fabric);
			mf_files_read(&files, "--fabrics", path);
		}
	mf_files_written(&files, "--json", o->json);
	return mf_files_check(&files, err, sizeof(err)) == 0 ? GOOD : complain(USAGE, err);
}

static int run(const struct options *o, const struct bench_suite *s, const struct bench_env *env,
	       struct mf_output *to)
{
	json_t *header = bench_header(env), *lines = json_array(), *all;
	unsigned int done = 0;
	int rc = GOOD, written;

	bench_pin(env, 0); /* the header has seen what we may use */
	bench_print_header(stdout, header);
	for (unsigned int i = 0; i < s->lines && !stopped(); i++) {
		if (s->line[i]->reference || (o->only != NULL && !bench_named(o->only, s->line[i]->name)))
			continue;
		done++;
		if (!run_line(s, s->line[i], env, lines))
			rc = FAILED;
	}
	all = json_pack("{s:o, s:o}", "run", header, "lines", lines);
	if (done == 0)
		rc = complain(USAGE, "--only names no line; --list names all");
	written = done > 0 ? write_json(o->json, to, all) : mf_output_close(to, -ECANCELED);
	json_decref(all);
	return rc != GOOD ? rc : written;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int run_in_scratch(const struct options *o, const struct bench_suite *s, struct bench_env *env)
{
	char scratch[] = "/tmp/memfab-bench-XXXXXX";
	struct mf_output to = {.file = NULL};
	int rc = compare_files(o, s, env);

	if (rc != GOOD)
		return rc;
	env->scratch = mkdtemp(scratch);
	if (env->scratch == NULL)
		return complain(FAILED, strerror(errno));
	rc = o->json != NULL ? mf_output_open(&to, o->json) : 0;
	rc = rc == 0 ? run(o, s, env, &to) : complain_of(USAGE, o->json, rc);
	nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
	struct bench_suite suite = {0};
	struct bench_env env;
	struct options o;
	char err[BENCH_REASON], emu[PATH_LEN];
	int rc = GOOD;

	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	if (o.help) {
		options_help();
		return fflush(stdout) == 0 ? GOOD : complain(FAILED, strerror(errno));
	}
	env = (struct bench_env){
		.repetitions = o.repetitions,
		.share = o.share / 100.0,
		.seconds = o.quick ? SECONDS_QUICK : SECONDS,
		.quick = o.quick,
		.stopped = stopped,
		.emu = o.emu != NULL ? o.emu : own_emu(emu, sizeof(emu)),
		.fabrics = o.fabrics != NULL ? o.fabrics : BENCH_FABRICS,
	};
	env.cpus = choose_cpus(&o, env.cpu);
	if (env.cpus == 0)
		return complain(FAILED, "there is no CPU to run on");
	if (o.nice != 0 && setpriority(PRIO_PROCESS, 0, o.nice) != 0)
		return complain(FAILED, "this priority is not allowed");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN) /* nohup; it may come twice */
		sigaction(SIGHUP, &(struct sigaction){.sa_handler = on_signal}, NULL);
	signal(SIGXFSZ, SIG_IGN);
	/* As memfab-emu does without --force-max-simd-bitwidth. */
	mf_pcs_select(UINT_MAX);
	mf_proto_select(UINT_MAX);
	mf_workload_select(UINT_MAX);
	add_all(&suite);
	if (o.list)
		list(&suite, o.only);
	else
		rc = run_in_scratch(&o, &suite, &env);
	bench_suite_free(&suite);
	if ((fflush(stdout) != 0 || ferror(stdout)) && rc == GOOD)
		rc = complain(FAILED, "standard output cannot be written");
	return rc;
}
