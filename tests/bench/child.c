/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

#define CANNOT_START 127

/**
 * Of the child. Forked, not spawned: the peak of its memory begins at what we have now, not at the most
 * that we ever had.
 */
static void become(const struct bench_env *env, struct child_cpus cpus, int out, const char *const argv[],
		   const char *const set[])
{
	cpu_set_t on;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&on);
	for (unsigned int i = 0; i < cpus.n; i++)
		CPU_SET(env->cpu[(cpus.first + i) % env->cpus], &on);
	sched_setaffinity(0, sizeof(on), &on);
	for (unsigned int i = 0; set != NULL && set[i] != NULL; i++)
		putenv((char *)(uintptr_t)set[i]);
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(CANNOT_START);
}

int child_start(struct child *c, const struct bench_env *env, struct child_cpus cpus,
		const char *const argv[], const char *const set[])
{
	int ends[2];

	*c = (struct child){.out = -1};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	c->pid = fork();
	if (c->pid == 0)
		become(env, cpus, ends[1], argv, set);
	close(ends[1]);
	c->out = ends[0];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	close(c->out);
	return -EAGAIN;
}

/** What it prints beyond the room is read and forgotten. @return false: it took too long */
static bool read_all(const struct child *c, double end, char *text, size_t room)
{
	struct pollfd p = {.fd = c->out, .events = POLLIN};
	char spill[4096];
	size_t len = 0;

	for (;;) {
		double left = end - bench_seconds();
		bool keep = len + 1 < room;
		ssize_t n;

		text[len] = '\0';
		if (left <= 0 || poll(&p, 1, (int)(left * 1e3) + 1) == 0)
			return false;
		n = read(c->out, keep ? text + len : spill, keep ? room - 1 - len : sizeof(spill));
		if (n == 0 || (n < 0 && errno != EINTR))
			return true;
		if (n > 0 && keep)
			len += (size_t)n;
	}
}

/**
 * Of a process that has ended, before it is reaped. A program that sleeps while it is set up and then
 * polls has got its share of the CPU if it never had to wait for it.
 */
static void read_waits(struct child *c)
{
	unsigned long long ran = 0, waited = 0;
	char path[64];
	siginfo_t info;
	FILE *file;

	while (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)c->pid);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	if (fscanf(file, "%llu %llu", &ran, &waited) == 2) {
		c->cpu = (double)ran * 1e-9;
		c->waited = (double)waited * 1e-9;
	}
	fclose(file);
}

static void reap(struct child *c)
{
	read_waits(c);
	while (wait4(c->pid, &c->status, 0, &c->usage) < 0 && errno == EINTR)
		;
	close(c->out);
	c->pid = 0;
}

int child_wait(struct child *c, double seconds, char *text, size_t room)
{
	if (!read_all(c, bench_seconds() + seconds, text, room)) {
		child_kill(c);
		return -ETIMEDOUT;
	}
	reap(c);
	return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0 ? 0 : -EIO;
}

void child_kill(struct child *c)
{
	if (c->pid == 0)
		return;
	kill(c->pid, SIGKILL);
	reap(c);
}

bool child_there(const char *program, char *why)
{
	char *path = getenv("PATH"), *copy = strdup(path != NULL ? path : "/usr/bin:/bin"), *rest = NULL;
	bool there = false;

	for (char *dir = strtok_r(copy, ":", &rest); dir != NULL && !there;
	     dir = strtok_r(NULL, ":", &rest)) {
		char full[4096];

		snprintf(full, sizeof(full), "%s/%s", dir, program);
		there = access(full, X_OK) == 0;
	}
	free(copy);
	if (!there)
		snprintf(why, BENCH_REASON, "%s is not installed", program);
	return there;
}

void child_reason(const char *program, const char *text, char *why)
{
	size_t end = strlen(text), from;

	while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	from = end;
	while (from > 0 && text[from - 1] != '\n')
		from--;
	snprintf(why, BENCH_REASON, "%s: %.*s", program, (int)(end - from < 200 ? end - from : 200),
		 text + from);
}
