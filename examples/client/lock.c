/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock in remote memory: a word that is 0 while the lock is free. Threads take it by compare-and-swap,
 * read a counter, and write it back with one more. If two were ever inside at once, some of it would be
 * missing at the end.
 */
#include <pthread.h>

#include "example.h"

#define LOCK 0
#define COUNTER 64
#define THREADS_MAX 64

struct worker {
	struct example *e;
	pthread_t thread;
	uint64_t name; /* not 0 */
	unsigned long tries;
	int error;
};

static int lock(struct worker *w, struct memfab_queue *q)
{
	uint64_t holder;
	int rc;

	do {
		rc = memfab_cas(q, w->e->memory, LOCK, 0, w->name, &holder);
		w->tries++;
	} while (rc == 0 && holder != 0);
	return rc;
}

/* What was written inside has been acknowledged: whoever takes the lock next finds it. */
static int unlock(struct worker *w, struct memfab_queue *q)
{
	return memfab_cas(q, w->e->memory, LOCK, w->name, 0, NULL);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct memfab_queue *q = example_queue(w->e, 1);
	uint64_t counter = 0;

	for (unsigned long i = 0; i < w->e->number && w->error == 0; i++) {
		w->error = lock(w, q);
		if (w->error == 0)
			w->error = memfab_read(q, w->e->memory, COUNTER, &counter, sizeof(counter));
		counter++;
		if (w->error == 0)
			w->error = memfab_write_ack(q, w->e->memory, COUNTER, &counter, sizeof(counter));
		if (w->error == 0)
			w->error = unlock(w, q);
	}
	memfab_queue_free(q);
	return NULL;
}

static int run(struct example *e, struct worker *w, unsigned long *tries)
{
	int error = 0;

	for (unsigned long i = 0; i < e->threads; i++) {
		w[i] = (struct worker){.e = e, .name = i + 1};
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			exit(complain(e, "thread", "cannot be started"));
	}
	for (unsigned long i = 0; i < e->threads; i++) {
		pthread_join(w[i].thread, NULL);
		*tries += w[i].tries;
		error = error != 0 ? error : w[i].error;
	}
	return error;
}

int main(int argc, char **argv)
{
	struct example e = {
		.name = "lock",
		.what = "Threads count under a lock that is in remote memory; nothing may be missing.",
		.unit = "rounds of each thread",
		.number = 10000,
		.threads = 4};
	uint64_t zero[16] = {0}, counter = 0, begin;
	struct worker worker[THREADS_MAX];
	unsigned long tries = 0;
	struct memfab_queue *q;
	int rc = example_open(&e, argc, argv);

	if (rc != 0)
		return rc;
	if (e.threads > THREADS_MAX)
		return complain(&e, "--threads", "64 at most");
	q = example_queue(&e, 1);
	rc = memfab_write_ack(q, e.memory, LOCK, zero, sizeof(zero));
	begin = example_ns();
	if (rc == 0)
		rc = run(&e, worker, &tries);
	begin = example_ns() - begin;
	if (rc == 0)
		rc = memfab_read(q, e.memory, COUNTER, &counter, sizeof(counter));
	memfab_queue_free(q);
	memfab_close(e.fabric);
	if (rc != 0)
		return complain_of(&e, "operation", rc);
	printf("threads %lu  counted %" PRIu64 " of %lu  tries %lu  %.0f ns a round\n", e.threads, counter,
	       e.threads * e.number, tries, (double)begin / (double)(e.threads * e.number));
	return counter == e.threads * e.number ? 0 : complain(&e, "the counter", "is wrong");
}
