/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that sleep, on a fabric that is all in this process: what is due, and what ends a sleep. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "rig.h"

TestSuite(client_sleep, .init = rig_init, .fini = rig_fini);

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** Turns until nothing is due at once. */
static int64_t settle(void)
{
	int64_t next;

	do
		next = memfab_next(rig);
	while (next == 0);
	return next;
}

Test(client_sleep, an_idle_fabric_in_one_process_needs_no_turn_soon)
{
	struct memfab_queue *q = rig_queue("cn0", 1);
	uint64_t word = 7, back = 0;

	cr_assert_eq(memfab_write_ack(q, mn0, 0, &word, 8), 0);
	for (unsigned int i = 0; i < 10; i++) {
		cr_assert_geq(settle(), 1000);
		cr_assert_eq(memfab_read(q, mn0, 0, &back, 8), 0);
		cr_assert_eq(back, 7);
	}
	memfab_queue_free(q);
}

Test(client_sleep, an_idle_second_takes_little_of_a_cpu)
{
	struct memfab_queue *q = rig_queue("cn0", 1);
	double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	double took;

	while (seconds(CLOCK_MONOTONIC) - begin < 1)
		memfab_wait(rig, 100000);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	took = seconds(CLOCK_MONOTONIC) - begin;
	cr_log_info("%.3f %% of a CPU", cpu / took * 100);
	cr_assert_lt(cpu / took, 0.2, "%f s of %f s", cpu, took);
	memfab_queue_free(q);
}

Test(client_sleep, what_is_submitted_completes_within_waits)
{
	struct memfab_queue *q = rig_queue("cn0", 8);
	const struct memfab_cqe *c;
	uint64_t sum = 0, word;

	for (unsigned int i = 1; i <= 100; i++) {
		memfab_prep_atomic(rig_sqe(q), MEMFAB_FETCH_ADD, mn1, 64, i);
		memfab_submit(q);
		while ((c = memfab_peek_cqe(q)) == NULL)
			cr_assert_eq(memfab_wait(rig, -1), 0);
		cr_assert_eq(c->res, 0);
		cr_assert_eq(c->old, sum);
		memfab_cq_advance(q, 1);
		sum += i;
	}
	cr_assert_eq(memfab_read(q, mn1, 64, &word, 8), 0);
	cr_assert_eq(word, sum);
	memfab_queue_free(q);
}

Test(client_sleep, the_timeout_of_a_wait_ends_it)
{
	double begin;

	settle();
	cr_assert_eq(memfab_wait(rig, 0), -ETIMEDOUT);
	begin = seconds(CLOCK_MONOTONIC);
	cr_assert_eq(memfab_wait(rig, 20000), -ETIMEDOUT);
	cr_assert_geq(seconds(CLOCK_MONOTONIC) - begin, 0.02);
}

Test(client_sleep, the_descriptor_says_when_it_is_due)
{
	struct memfab_queue *q = rig_queue("cn0", 1);
	int fd = memfab_fd(rig);
	struct pollfd p = {.fd = fd, .events = POLLIN};

	cr_assert_geq(fd, 0);
	cr_assert_eq(memfab_fd(rig), fd, "one for all");
	settle();
	cr_assert_eq(poll(&p, 1, 0), 0, "nothing is due");
	memfab_prep_atomic(rig_sqe(q), MEMFAB_FETCH_ADD, mn0, 0, 1);
	memfab_submit(q);
	cr_assert_eq(memfab_next(rig), 0, "what was submitted begins");
	cr_assert_eq(poll(&p, 1, 1000), 1);
	memfab_wait_cqe(q, 1, -1);
	memfab_cq_advance(q, 1);
	settle();
	cr_assert_eq(poll(&p, 1, 0), 0, "set anew");
	memfab_queue_free(q);
}

static void nothing(int signal)
{
	(void)signal;
}

static void *wake(void *arg)
{
	const struct timespec soon = {.tv_nsec = 1000000};
	pthread_t *who = arg;

	/* Again and again: the first one may come before it sleeps. */
	for (unsigned int i = 0; i < 10000 && pthread_kill(*who, SIGUSR1) == 0; i++) {
		nanosleep(&soon, NULL);
		pthread_testcancel();
	}
	return NULL;
}

Test(client_sleep, a_signal_ends_a_wait)
{
	struct sigaction act = {.sa_handler = nothing};
	pthread_t self = pthread_self(), thread;

	sigaction(SIGUSR1, &act, NULL);
	settle();
	cr_assert_eq(pthread_create(&thread, NULL, wake, &self), 0);
	cr_assert_eq(memfab_wait(rig, -1), -EINTR);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

/** A thread turns the fabric: the program looks for completions now and then. */
Test(client_sleep_beside, a_thread)
{
	static const struct memfab_options options = {.thread = true};
	struct memfab_queue *q;
	const struct memfab_cqe *c;

	rig_open(&options);
	q = rig_queue("cn0", 1);
	cr_assert_eq(memfab_next(rig), 1000);
	memfab_prep_atomic(rig_sqe(q), MEMFAB_SWAP, mn0, 0, 5);
	memfab_submit(q);
	while ((c = memfab_peek_cqe(q)) == NULL)
		cr_assert_eq(memfab_wait(rig, -1), 0);
	cr_assert_eq(c->old, 0);
	memfab_cq_advance(q, 1);
	memfab_queue_free(q);
	rig_fini();
}
