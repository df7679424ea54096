/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "campaign.h"

#define NAP_NS 5000000
#define PATIENCE 20 /* seconds of CPU time that a run may take: none takes one */

/** A worker: it writes, the parent reads. */
struct worker {
	pid_t pid;
	atomic_ulong seed; /**< of the run under way */
	_Atomic double begun; /**< in its CPU time: a busy machine is no violation */
	bool over;
	struct tally tally;
};

/** What parent and workers share. */
struct shared {
	atomic_ulong next; /**< how many have been begun */
	atomic_bool stop;
	struct worker worker[];
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** CPU time of a process; of one that has ended 0. */
static double cpu_seconds(pid_t pid)
{
	struct timespec t = {0};
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add_run(struct tally *t, const struct trial *trial, uint64_t seed, const struct verdict *v)
{
	t->runs++;
	for (unsigned int i = 0; trial->classes[i] != NULL; i++) {
		t->fired[i] += v->fired[i];
		t->fired_all += v->fired[i];
		t->cases[i] += v->fired[i] > 0;
	}
	for (unsigned int i = 0; i < SUMS; i++)
		t->sum[i] += v->sum[i];
	if (v->reason[0] == '\0')
		return;
	t->violated = true;
	t->seed = seed;
	memcpy(t->reason, v->reason, sizeof(t->reason));
}

static void work(struct shared *s, struct worker *w, const struct campaign *c, const struct trial *t,
		 double end)
{
	static struct verdict v;

	while (!atomic_load(&s->stop) && (end == 0 || seconds() < end)) {
		uint64_t n = atomic_fetch_add(&s->next, 1);

		if (c->runs != 0 && n >= c->runs)
			break;
		memset(&v, 0, sizeof(v));
		atomic_store(&w->begun, cpu_seconds(0));
		atomic_store(&w->seed, c->seed + n);
		if (t->run(t->ctx, c->seed + n, &v) != 0 && v.reason[0] == '\0')
			verdict_violation(&v, "failed", "cannot be run");
		add_run(&w->tally, t, c->seed + n, &v);
		if (w->tally.violated)
			atomic_store(&s->stop, true);
	}
}

static pid_t begin(struct shared *s, struct worker *w, const struct campaign *c, const struct trial *t,
		   double end)
{
	pid_t pid;

	fflush(NULL);
	atomic_store(&w->begun, 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_IGN); /* the parent says when, */
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* and if it does not any more, too */
		work(s, w, c, t, end);
		_exit(0);
	}
	return pid;
}

static void violated(struct worker *w, const char *kind, const char *what)
{
	struct verdict v = {.reason = ""};

	verdict_violation(&v, kind, "%s", what);
	w->tally.runs++;
	w->tally.violated = true;
	w->tally.seed = atomic_load(&w->seed);
	memcpy(w->tally.reason, v.reason, sizeof(v.reason));
}

/** Looks at a worker. @return whether it has ended */
static bool look(struct worker *w)
{
	int status;

	if (cpu_seconds(w->pid) - atomic_load(&w->begun) > PATIENCE) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, &status, 0);
		violated(w, "hang", "the run does not end");
		return true;
	}
	if (waitpid(w->pid, &status, WNOHANG) != w->pid)
		return false;
	if (WIFSIGNALED(status))
		violated(w, "crash", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		violated(w, "crash", "the process ended");
	return true;
}

static void tell(const struct shared *s, const struct campaign *c)
{
	uint64_t runs = 0, fired = 0;

	for (unsigned int i = 0; i < c->jobs; i++) {
		runs += s->worker[i].tally.runs;
		fired += s->worker[i].tally.fired_all;
	}
	if (c->progress != NULL)
		c->progress(c->progress_ctx, runs, fired);
}

static void wait_all(struct shared *s, const struct campaign *c)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	unsigned int left = 0;

	for (unsigned int i = 0; i < c->jobs; i++)
		left += !s->worker[i].over;
	while (left > 0) {
		nanosleep(&nap, NULL);
		tell(s, c);
		if (c->interrupt != NULL && atomic_load(c->interrupt))
			atomic_store(&s->stop, true);
		for (unsigned int i = 0; i < c->jobs; i++) {
			struct worker *w = &s->worker[i];

			if (w->over || !look(w))
				continue;
			w->over = true;
			left--;
			if (w->tally.violated)
				atomic_store(&s->stop, true);
		}
	}
}

/** Of several violations the one of the lowest seed. */
static void merge(struct tally *to, const struct tally *from)
{
	to->runs += from->runs;
	to->fired_all += from->fired_all;
	for (unsigned int i = 0; i < CLASSES_MAX; i++) {
		to->fired[i] += from->fired[i];
		to->cases[i] += from->cases[i];
	}
	for (unsigned int i = 0; i < SUMS; i++)
		to->sum[i] += from->sum[i];
	if (!from->violated || (to->violated && to->seed <= from->seed))
		return;
	to->violated = true;
	to->seed = from->seed;
	memcpy(to->reason, from->reason, sizeof(to->reason));
}

int campaign_run(const struct campaign *c, const struct trial *t, struct tally *out)
{
	size_t size = sizeof(struct shared) + c->jobs * sizeof(struct worker);
	struct shared *s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double start = seconds(), end = c->seconds > 0 ? start + c->seconds : 0;
	int err = 0;

	*out = (struct tally){0};
	if (s == MAP_FAILED)
		return -errno;
	for (unsigned int i = 0; i < c->jobs; i++) {
		struct worker *w = &s->worker[i];

		w->pid = err == 0 ? begin(s, w, c, t, end) : -1;
		err = w->pid < 0 && err == 0 ? -errno : err;
		w->over = w->pid < 0;
	}
	if (err != 0)
		atomic_store(&s->stop, true);
	wait_all(s, c);
	for (unsigned int i = 0; i < c->jobs; i++)
		merge(out, &s->worker[i].tally);
	out->seconds = seconds() - start;
	munmap(s, size);
	return err;
}

int campaign_one(const struct trial *t, uint64_t seed, struct verdict *v)
{
	const struct campaign c = {.seed = seed, .runs = 1, .jobs = 1};
	struct tally tally;
	int err = campaign_run(&c, t, &tally);

	*v = (struct verdict){.reason = ""};
	memcpy(v->reason, tally.reason, sizeof(v->reason));
	memcpy(v->fired, tally.fired, sizeof(v->fired));
	memcpy(v->sum, tally.sum, sizeof(v->sum));
	return err;
}
