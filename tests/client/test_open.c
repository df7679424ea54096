/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing; who turns the fabric; several threads. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_service.h>

#include "rig.h"

#define THREADS 4
#define ROUNDS 500

Test(client_open, refusals)
{
	struct memfab *m = NULL;
	struct memfab_queue *q;
	static const struct memfab_options nobody = {.only = "nobody"};

	cr_assert_eq(memfab_open("/no/such/file.json", NULL, &m, rig_err, sizeof(rig_err)), -ENOENT);
	cr_assert_not_null(strstr(rig_err, "/no/such/file.json"));
	cr_assert_null(strchr(rig_err, '\n'));
	rig_open(NULL);
	cr_assert_eq(memfab_open("/", NULL, &m, rig_err, sizeof(rig_err)), -EISDIR);
	cr_assert_eq(memfab_open(rig_file(), &nobody, &m, rig_err, sizeof(rig_err)), -EEXIST);
	cr_assert_eq(memfab_queue_new(rig, "mn0", 1, &q, rig_err, sizeof(rig_err)), -EINVAL);
	cr_assert_eq(memfab_queue_new(rig, "nobody", 1, &q, rig_err, sizeof(rig_err)), -ENOENT);
	cr_assert_not_null(strstr(rig_err, "nobody"));
	cr_assert_eq(memfab_node(rig, "nobody"), -ENOENT);
	cr_assert_eq(memfab_memory(rig, -ENOENT), 0);
	cr_assert_eq(memfab_memory(rig, 100000), 0);
	cr_assert_eq(memfab_memory(rig, memfab_node(rig, "cn0")), 0);
	cr_assert_eq(memfab_memory(rig, mn0), RIG_MEMORY);
	cr_assert_eq(memfab_wait_ready(rig, 0), 0);
	rig_fini();
	cr_assert_eq(memfab_open(rig_file(), &nobody, &m, rig_err, sizeof(rig_err)), -ENOENT);
	cr_assert_not_null(strstr(rig_err, "nobody"));
	memfab_close(NULL);
}

/** One fabric for all that open the file, by whatever path, until the last one closes it. */
Test(client_open, same_fabric)
{
	struct memfab *second;
	struct memfab_queue *a, *b;
	uint64_t word = 99, is = 0;
	char path[512];

	rig_open(NULL);
	snprintf(path, sizeof(path), "/proc/self/root%s", rig_file());
	cr_assert_eq(memfab_open(path, NULL, &second, rig_err, sizeof(rig_err)), 0, "%s", rig_err);
	a = rig_queue("cn0", 1);
	cr_assert_eq(memfab_write_ack(a, mn0, 0, &word, 8), 0);
	memfab_queue_free(a);
	memfab_close(rig);
	cr_assert_eq(memfab_queue_new(second, NULL, 1, &b, rig_err, sizeof(rig_err)), 0);
	cr_assert_eq(memfab_read(b, mn0, 0, &is, 8), 0);
	cr_assert_eq(is, word);
	memfab_queue_free(b);
	memfab_close(second);
	/* Begun anew, its memory is empty. */
	rig_open(NULL);
	a = rig_queue("cn0", 1);
	cr_assert_eq(memfab_read(a, mn0, 0, &is, 8), 0);
	cr_assert_eq(is, 0);
	memfab_queue_free(a);
	rig_fini();
}

Test(client_open, workload)
{
	static const struct memfab_options options = {.workload = true};
	struct memfab_queue *q;
	uint64_t word;

	rig_open(&options);
	cr_assert_eq(memfab_queue_new(rig, "worker", 1, &q, rig_err, sizeof(rig_err)), -EBUSY);
	cr_assert_not_null(strstr(rig_err, "worker"));
	q = rig_queue("cn0", 1);
	for (unsigned int i = 0; i < 1000; i++)
		cr_assert_eq(memfab_read(q, mn0, 0, &word, 8), 0);
	memfab_queue_free(q);
	rig_fini();
}

struct worker {
	pthread_t thread;
	unsigned int number;
};

/** A lock by compare-and-swap, and a counter that nobody guards but that lock. */
static void *count(void *arg)
{
	struct worker *w = arg;
	struct memfab_queue *q = rig_queue(w->number % 2 ? "cn0" : "cn1", 4);
	uint64_t old, value;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		do
			cr_assert_eq(memfab_cas(q, mn0, 0, 0, w->number + 1, &old), 0);
		while (old != 0);
		cr_assert_eq(memfab_read(q, mn0, 64, &value, 8), 0);
		value++;
		cr_assert_eq(memfab_write_ack(q, mn0, 64, &value, 8), 0);
		cr_assert_eq(memfab_atomic(q, MEMFAB_FETCH_ADD, mn1, 8, 1, NULL), 0);
		cr_assert_eq(memfab_cas(q, mn0, 0, w->number + 1, 0, &old), 0);
		cr_assert_eq(old, w->number + 1);
		if (i % 50 == 0) { /* queues come and go beside others */
			memfab_queue_free(q);
			q = rig_queue(i % 100 ? "cn0" : "cn1", 1);
		}
	}
	memfab_queue_free(q);
	return NULL;
}

static void count_all(void)
{
	struct memfab_queue *q;
	struct worker w[THREADS];
	uint64_t value[2];

	for (unsigned int i = 0; i < THREADS; i++) {
		w[i].number = i;
		cr_assert_eq(pthread_create(&w[i].thread, NULL, count, &w[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	q = rig_queue("cn0", 1);
	cr_assert_eq(memfab_read(q, mn0, 64, &value[0], 8), 0);
	cr_assert_eq(memfab_read(q, mn1, 8, &value[1], 8), 0);
	cr_assert_eq(value[0], THREADS * ROUNDS);
	cr_assert_eq(value[1], THREADS * ROUNDS);
	memfab_queue_free(q);
}

Test(client_open, threads_turn)
{
	rig_open(NULL);
	count_all();
	rig_fini();
}

Test(client_open, own_thread_turns)
{
	static const struct memfab_options options = {.thread = true};

	rig_open(&options);
	count_all();
	rig_fini();
}

/** A service lcore takes the turns over, and gives them back. */
Test(client_open, service_lcore_turns)
{
	struct memfab_options options;
	struct memfab_queue *q;
	char eal[256];
	uint32_t service;
	uint64_t word;

	snprintf(eal, sizeof(eal),
		 "--no-huge -m 512 --no-shconf --no-pci --no-telemetry --file-prefix memfab-client-%d "
		 "--log-level lib.eal:critical --lcores (0-1)@%d",
		 (int)getpid(), sched_getcpu());
	options = (struct memfab_options){.eal = eal};
	rig_open(&options);
	q = rig_queue("cn0", 1);
	cr_assert_eq(rte_service_get_by_name("memfab0", &service), 0);
	cr_assert_eq(memfab_read(q, mn0, 0, &word, 8), 0, "nobody serves yet");
	cr_assert_eq(rte_service_lcore_add(1), 0);
	cr_assert_eq(rte_service_map_lcore_set(service, 1, 1), 0);
	cr_assert_eq(rte_service_runstate_set(service, 1), 0);
	cr_assert_eq(rte_service_lcore_start(1), 0);
	for (unsigned int i = 0; i < 20; i++)
		cr_assert_eq(memfab_read(q, mn0, 0, &word, 8), 0);
	rte_service_runstate_set(service, 0);
	cr_assert_eq(memfab_read(q, mn0, 0, &word, 8), 0, "nor any more");
	rte_service_runstate_set(service, 1);
	cr_assert_eq(memfab_read(q, mn0, 0, &word, 8), 0);
	memfab_queue_free(q);
	rig_fini();
	cr_assert_neq(rte_service_get_by_name("memfab0", &service), 0);
	rte_service_lcore_stop(1);
}

Test(client_open, bad_options_of_eal)
{
	static const struct memfab_options options = {.eal = "--no-such-option"};
	struct memfab *m;

	cr_assert_neq(memfab_open(rig_file(), &options, &m, rig_err, sizeof(rig_err)), 0);
	cr_assert_not_null(strstr(rig_err, "--no-such-option"));
	cr_assert_null(strchr(rig_err, '\n'));
	/* EAL counts lcores before it fails, and is not taken for started. */
	rig_open(NULL);
	rig_fini();
}

/** It keeps the lcores of a failure, and does not take those of another try: which is said. */
Test(client_open, eal_is_lost)
{
	struct memfab_options options;
	struct memfab *m;
	char eal[128];

	snprintf(eal, sizeof(eal), "--huge-dir /nowhere --no-pci --no-shconf -l %d", sched_getcpu());
	options = (struct memfab_options){.eal = eal};
	cr_assert_neq(memfab_open(rig_file(), &options, &m, rig_err, sizeof(rig_err)), 0);
	cr_assert_not_null(strstr(rig_err, "no hugepages"), "%s", rig_err);
	cr_assert_neq(memfab_open(rig_file(), NULL, &m, rig_err, sizeof(rig_err)), 0);
	cr_assert_not_null(strstr(rig_err, "failed before"), "%s", rig_err);
}

/** What a process finds that was forked from one with a fabric. @return the line of the first surprise; 0 */
static int forked(struct memfab_queue *q)
{
	struct memfab *m;
	struct memfab_queue *other;
	uint64_t word = 1, old;

	if (memfab_read(q, mn0, 0, &word, 8) != -EPERM || memfab_write(q, mn0, 0, &word, 8) != -EPERM ||
	    memfab_cas(q, mn0, 0, 0, 1, &old) != -EPERM)
		return __LINE__;
	if (memfab_get_sqe(q) != NULL || memfab_peek_cqe(q) != NULL || memfab_wait_cqe(q, 1, -1) != -EPERM)
		return __LINE__;
	if (memfab_next(rig) != -EPERM || memfab_wait(rig, 0) != -EPERM || memfab_fd(rig) != -EPERM)
		return __LINE__;
	if (memfab_queue_new(rig, "cn0", 1, &other, rig_err, sizeof(rig_err)) != -EPERM ||
	    memfab_open(rig_file(), NULL, &m, rig_err, sizeof(rig_err)) != -EPERM ||
	    strchr(rig_err, '\n') != NULL)
		return __LINE__;
	memfab_queue_free(q);
	rig_fini();
	return 0;
}

/** Forks behind a read: one that is under way; or one that is known to have completed. */
static void forks(const struct memfab_options *options, bool completes)
{
	struct memfab_queue *q;
	uint64_t word = 17, is = 0;
	int status = -1;
	pid_t child;

	rig_open(options);
	q = rig_queue("cn0", 4);
	cr_assert_eq(memfab_write_ack(q, mn0, 0, &word, 8), 0);
	memfab_prep_read(rig_sqe(q), mn0, 0, &is, 8);
	memfab_submit(q);
	if (completes)
		cr_assert_eq(memfab_wait_cqe(q, 1, -1), 0);
	child = fork();
	if (child == 0) {
		alarm(20);
		_exit(forked(q) != 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert_eq(rig_take(q).res, 8);
	cr_assert_eq(is, word);
	for (unsigned int i = 0; i < 100; i++)
		cr_assert_eq(memfab_write_ack(q, mn0, 8 * i, &word, 8), 0);
	memfab_queue_free(q);
	rig_fini();
}

/** EAL's memory is shared with children: they leave it alone, and the parent goes on. */
Test(client_open, fork_with_users)
{
	forks(NULL, false);
}

Test(client_open, fork_behind_a_completion)
{
	forks(NULL, true);
}

Test(client_open, fork_with_thread)
{
	static const struct memfab_options options = {.thread = true};

	forks(&options, false);
}
