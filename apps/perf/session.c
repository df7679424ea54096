/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "interrupt.h"
#include "program.h"
#include "setting.h"
#include "table.h"

void session_fault(struct session *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->fault, sizeof(s->fault), format, args);
	va_end(args);
	if (s->prompting)
		printf("memfab-perf: %s\n", s->fault);
}

/* The engine's side */

/** @return whether there is another test to run */
static bool next_test(struct session *s)
{
	bool asked;

	pthread_mutex_lock(&s->run.lock);
	while (!s->asked && !s->over)
		pthread_cond_wait(&s->run.changed, &s->run.lock);
	asked = s->asked;
	s->asked = false;
	pthread_mutex_unlock(&s->run.lock);
	return asked;
}

static void serve(struct session *s)
{
	while (next_test(s)) {
		int rc = run_test(&s->run, &s->asked_test);
		uint64_t one = 1;

		pthread_mutex_lock(&s->run.lock);
		s->rc = rc;
		s->running = false;
		s->unreported = true;
		pthread_cond_broadcast(&s->run.changed);
		/* Below the lock: who finds the report takes the wake-up with it. */
		if (write(s->wake, &one, sizeof(one)) < 0)
			s->rc = -errno;
		pthread_mutex_unlock(&s->run.lock);
	}
}

/* The console's side */

bool session_running(struct session *s)
{
	bool running;

	pthread_mutex_lock(&s->run.lock);
	running = s->running;
	pthread_mutex_unlock(&s->run.lock);
	return running;
}

void session_start(struct session *s)
{
	char reason[256];
	enum setting at;

	if (session_running(s)) {
		session_fault(s, "start: a test is running: stop it first");
		return;
	}
	session_report(s);
	if (setting_check(&s->test, s->run.config, &at, reason, sizeof(reason)) != 0) {
		session_fault(s, "start: %s: %s", setting_name(at), reason);
		return;
	}
	pthread_mutex_lock(&s->run.lock);
	s->asked_test = s->test;
	s->run.stop = false;
	s->asked = s->running = true;
	pthread_cond_broadcast(&s->run.changed);
	/* Until there is something to show. */
	while (s->running && s->run.fabric == NULL)
		pthread_cond_wait(&s->run.changed, &s->run.lock);
	pthread_mutex_unlock(&s->run.lock);
	printf("%s has been started\n", test_info(s->test.kind)->name);
}

bool session_report(struct session *s)
{
	const char *why;
	bool unreported;
	uint64_t n;

	pthread_mutex_lock(&s->run.lock);
	unreported = s->unreported;
	s->unreported = false;
	if (unreported && read(s->wake, &n, sizeof(n)) < 0)
		s->rc = -errno;
	pthread_mutex_unlock(&s->run.lock);
	if (!unreported)
		return false;
	if (s->run.done > 0)
		table_all(stdout, &s->run, s->options->gbits);
	if (s->rc != 0)
		why = s->run.err;
	if (s->rc == 0 && run_sound(&s->run, &why))
		return true;
	printf("memfab-perf: %s\n", why);
	s->status = s->status > FAILED ? s->status : FAILED;
	return true;
}

/** Until which moment of CLOCK_MONOTONIC, most picoseconds from now. */
static struct timespec later(mf_time most)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += (time_t)(most / MF_SEC(1));
	t.tv_nsec += (long)(most % MF_SEC(1) / 1000);
	if (t.tv_nsec >= 1000000000L) {
		t.tv_nsec -= 1000000000L;
		t.tv_sec++;
	}
	return t;
}

static void wait_over(struct session *s, mf_time most)
{
	struct timespec until = later(most);
	int rc = 0;

	pthread_mutex_lock(&s->run.lock);
	while (s->running && rc == 0)
		rc = most != 0 ? pthread_cond_timedwait(&s->run.changed, &s->run.lock, &until)
			       : pthread_cond_wait(&s->run.changed, &s->run.lock);
	pthread_mutex_unlock(&s->run.lock);
}

void session_wait(struct session *s, mf_time most)
{
	wait_over(s, most);
	session_report(s);
}

void session_stop(struct session *s)
{
	if (session_running(s))
		run_stop(&s->run);
	wait_over(s, 0);
	if (!session_report(s))
		session_fault(s, "stop: no test is running");
}

/* Both */

static int begin(struct session *s)
{
	if (s->options->clock == MF_CLOCK_WALL) /* away from the lcores' CPUs, where there are others */
		return rte_ctrl_thread_create(&s->console, "console", NULL, console_main, s);
	return -pthread_create(&s->console, NULL, console_main, s);
}

static void end(struct session *s)
{
	pthread_join(s->console, NULL);
	if (s->wake >= 0)
		close(s->wake);
}

int session_run(const struct options *o, struct mf_config *config)
{
	struct session s = {.options = o, .test = o->test, .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	int rc = run_init(&s.run, config, o->clock);

	s.run.silent = s.run.stays = true;
	if (rc == 0)
		rc = view_init(&s.view, &s.run);
	if (rc == 0)
		rc = s.wake >= 0 ? begin(&s) : -errno;
	if (rc == 0) {
		serve(&s);
		end(&s);
		if (!atomic_load_explicit(&interrupted, memory_order_relaxed) && run_goodbye(&s.run) != 0)
			s.status = complain(FAILED, s.run.err);
	} else {
		fprintf(stderr, "memfab-perf: the prompt: %s\n", strerror(-rc));
		s.status = FAILED;
	}
	view_fini(&s.view);
	run_fini(&s.run);
	return s.status;
}
