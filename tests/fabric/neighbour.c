/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process sees of a thread of another one: that it is the one that was told, its CPU time, its end. */
#include <criterion/criterion.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wall/ports/neighbour.h"

/** Another process, and what it tells of its second thread, which spins. */
struct other {
	pid_t pid;
	struct mf_link_place place;
};

static void *spin(void *unused)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
	return unused;
}

/** A thread that is not the first one of its process tells of itself, and spins. */
static void *tell_and_spin(void *fd)
{
	const struct mf_link_place place = neighbour_self();

	if (write(*(int *)fd, &place, sizeof(place)) != sizeof(place))
		_exit(1);
	return spin(NULL);
}

static void start(struct other *o)
{
	int fd[2];
	pthread_t t;

	cr_assert_eq(pipe(fd), 0);
	o->pid = fork();
	cr_assert_geq(o->pid, 0);
	if (o->pid == 0) {
		if (pthread_create(&t, NULL, tell_and_spin, &fd[1]) == 0)
			pthread_join(t, NULL);
		_exit(1);
	}
	cr_assert_eq(read(fd[0], &o->place, sizeof(o->place)), sizeof(o->place));
	close(fd[0]);
	close(fd[1]);
}

static void finish(struct other *o)
{
	kill(o->pid, SIGKILL);
	waitpid(o->pid, NULL, 0);
}

/** Until it has run for `more`, or for so many looks. @return what it has run in all */
static mf_time until(const struct neighbour *n, mf_time more, int looks)
{
	struct neighbour_cpu before, had;

	cr_assert_eq(neighbour_look(n, &before), NEIGHBOUR_LIVES);
	for (had = before; had.ran - before.ran < more && looks > 0; looks--) {
		usleep(10000);
		cr_assert_eq(neighbour_look(n, &had), NEIGHBOUR_LIVES);
	}
	cr_expect(more > 1 || had.slices == before.slices, "no slice without time");
	return had.ran - before.ran;
}

Test(neighbour, runs_is_stopped_and_ends)
{
	struct neighbour n = NEIGHBOUR_NONE;
	struct other o;
	struct neighbour_cpu had;

	start(&o);
	if (o.place.host == 0 || access("/proc/self/schedstat", R_OK) != 0) {
		finish(&o);
		cr_skip("this system does not say what a thread has run");
	}
	cr_assert(neighbour_find(&n, &o.place));
	cr_expect_geq(until(&n, MF_MS(20), 2000), MF_MS(20), "it spins");
	kill(o.pid, SIGSTOP);
	waitpid(o.pid, NULL, WUNTRACED);
	cr_expect_eq(until(&n, 1, 20), 0, "it is stopped");
	kill(o.pid, SIGCONT);
	cr_expect_geq(until(&n, MF_MS(20), 2000), MF_MS(20), "it goes on");
	kill(o.pid, SIGKILL);
	for (int i = 0; i < 1000 && neighbour_look(&n, &had) != NEIGHBOUR_GONE; i++)
		usleep(10000);
	cr_expect_eq(neighbour_look(&n, &had), NEIGHBOUR_GONE, "before its parent has asked for it");
	waitpid(o.pid, NULL, 0);
	cr_expect_eq(neighbour_look(&n, &had), NEIGHBOUR_GONE, "and behind that");
	neighbour_leave(&n);
	cr_expect(!neighbour_find(&n, &o.place), "nobody is found who has ended");
}

/** Of another host, of another PID namespace, or a number that somebody else has now: it is not it. */
Test(neighbour, what_was_told_of_somebody_else)
{
	struct neighbour n = NEIGHBOUR_NONE;
	struct mf_link_place wrong;
	struct other o;

	start(&o);
	wrong = o.place;
	wrong.host ^= 1;
	cr_expect(!neighbour_find(&n, &wrong));
	wrong = o.place;
	wrong.thread = (uint32_t)getpid();
	cr_expect(!neighbour_find(&n, &wrong), "that one began at another time");
	wrong = (struct mf_link_place){0};
	cr_expect(!neighbour_find(&n, &wrong));
	cr_expect_eq(n.stat, -1);
	cr_expect_eq(n.schedstat, -1);
	finish(&o);
}
