/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that use one fabric at once, each with queues of its own that come and go, while another one opens
 * and closes it; turned by its own thread, or by them. A program without a test framework, so that it can be
 * built with -Db_sanitize=thread.
 *
 *	threads FABRIC.json thread|users [ROUNDS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memfab.h>

#define THREADS 3
#define DEPTH 16
#define AREA 65536 /* of a thread, in the memory of a target */

struct worker {
	pthread_t thread;
	struct memfab *fabric;
	unsigned int number, rounds;
};

static atomic_bool over;
static atomic_uint wrong;

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/** Waits for all of a batch. */
static void finish(struct memfab_queue *q, unsigned int n)
{
	const struct memfab_cqe *c;

	need(memfab_submit(q) == n, "submit");
	for (; n > 0; n--) {
		need(memfab_wait_cqe(q, 1, -1) >= 0, "wait");
		c = memfab_peek_cqe(q);
		need(c != NULL && c->res >= 0, "an operation fails");
		memfab_cq_advance(q, 1);
	}
}

static void write_and_read(struct memfab_queue *q, int target, const struct worker *w, unsigned int round)
{
	uint64_t out[DEPTH], in[DEPTH], at = (uint64_t)w->number * AREA;

	for (unsigned int i = 0; i < DEPTH; i++) {
		out[i] = (uint64_t)w->number << 48 | (uint64_t)round << 16 | i;
		in[i] = 0;
		memfab_prep_write_ack(memfab_get_sqe(q), target, at + 8 * i, &out[i], 8);
	}
	finish(q, DEPTH);
	for (unsigned int i = 0; i < DEPTH; i++)
		memfab_prep_read(memfab_get_sqe(q), target, at + 8 * i, &in[i], 8);
	finish(q, DEPTH);
	atomic_fetch_add(&wrong, memcmp(in, out, sizeof(in)) != 0 || memfab_losses(q, target) != 0);
}

static void *work(void *arg)
{
	const struct worker *w = arg;
	struct memfab_queue *q = NULL;
	char err[MEMFAB_ERR_LEN];

	for (unsigned int round = 0; round < w->rounds; round++) {
		int target = memfab_node(w->fabric, round % 2 ? "mn0" : "mn1");

		if (q == NULL)
			need(memfab_queue_new(w->fabric, w->number % 2 ? "cn0" : "cn1", DEPTH, &q, err,
					      sizeof(err)) == 0,
			     "queue");
		write_and_read(q, target, w, round);
		if (round % 4 == 3) {
			memfab_queue_free(q);
			q = NULL;
		}
	}
	memfab_queue_free(q);
	return NULL;
}

/** The fabric is there as long as one has it. */
static void *come_and_go(void *file)
{
	struct memfab *m;
	char err[MEMFAB_ERR_LEN];

	while (!atomic_load(&over)) {
		need(memfab_open(file, NULL, &m, err, sizeof(err)) == 0, "opened again");
		need(memfab_wait_ready(m, -1) == 0, "ready");
		memfab_close(m);
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[THREADS];
	struct memfab_options options;
	struct memfab *m;
	pthread_t other;
	char err[MEMFAB_ERR_LEN];

	if (argc < 3)
		return 2;
	options = (struct memfab_options){.thread = strcmp(argv[2], "thread") == 0};
	if (memfab_open(argv[1], &options, &m, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return strstr(err, "EAL") != NULL ? 77 : 1;
	}
	need(pthread_create(&other, NULL, come_and_go, argv[1]) == 0, "thread");
	for (unsigned int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){
			.fabric = m, .number = i, .rounds = argc > 3 ? (unsigned int)atoi(argv[3]) : 100};
		need(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0, "thread");
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	atomic_store(&over, true);
	pthread_join(other, NULL);
	memfab_close(m);
	printf("%u wrong\n", atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}
