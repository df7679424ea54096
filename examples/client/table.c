/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table in an address space that two compute nodes share, which nobody serves. A bucket has a lock:
 * the thread that holds it reads the bucket and changes an entry. Threads of both nodes count in the table.
 * Which keys a thread counts is known to all, so in the end each counter is compared with what it has to be.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "share.h"

#define THREADS_MAX 64 /* at each node */
#define BUCKETS 256
#define ENTRIES 15
#define KEYS 1000 /* 1 to KEYS */

struct entry {
	uint64_t key; /* 0: free, and all behind it */
	uint64_t value;
};

struct bucket {
	uint64_t lock;
	uint64_t spare;
	struct entry entry[ENTRIES];
};

struct table {
	struct head head;
	struct bucket bucket[BUCKETS];
};

struct worker {
	struct side *side;
	pthread_t thread;
	unsigned int number; /* among those of all nodes */
	int error;
};

static uint64_t address(const struct side *s, uint64_t bucket)
{
	return s->ticket.root + offsetof(struct table, bucket) + bucket * sizeof(struct bucket);
}

static uint64_t hash(uint64_t key)
{
	return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
}

/* With the lock of the bucket. What is written has been acknowledged: who takes the lock next finds it. */
static int add_locked(const struct side *s, struct memfab_queue *q, uint64_t bucket, uint64_t key,
		      uint64_t value)
{
	uint64_t entries = bucket + offsetof(struct bucket, entry);
	struct entry entry[ENTRIES];
	unsigned int i = 0;
	int rc = memfab_rread(q, s->space, entries, entry, sizeof(entry));

	while (i < ENTRIES && entry[i].key != key && entry[i].key != 0)
		i++;
	if (rc != 0 || i == ENTRIES)
		return rc != 0 ? rc : -ENOBUFS;
	entry[i].key = key;
	entry[i].value += value;
	return memfab_rwrite(q, s->space, entries + i * sizeof(entry[0]), &entry[i], sizeof(entry[0]));
}

/* Adds to the value of a key, which is 0 at first. @return 0; -ENOBUFS: its bucket is full; or -errno */
static int add(const struct side *s, struct memfab_queue *q, uint64_t key, uint64_t value)
{
	uint64_t bucket = address(s, hash(key) % BUCKETS);
	int rc = memfab_rlock(q, s->space, bucket, -1), error;

	if (rc != 0)
		return rc;
	rc = add_locked(s, q, bucket, key, value);
	error = memfab_runlock(q, s->space, bucket);
	return rc != 0 ? rc : error;
}

/* What a thread counts is known to all. */
static uint64_t next_key(uint64_t *random)
{
	return 1 + example_random(random) % KEYS;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct side *s = w->side;
	struct memfab_queue *q = example_queue_at(s->e, s->node, 1);
	uint64_t random = w->number + 1;

	for (uint64_t i = 0; i < s->ticket.number && w->error == 0; i++)
		w->error = add(s, q, next_key(&random), 1);
	if (w->error == 0)
		w->error = side_done(s, q);
	memfab_queue_free(q);
	return NULL;
}

static void run(struct side *s, struct worker *w)
{
	for (unsigned int i = 0; i < s->ticket.threads; i++) {
		w[i] = (struct worker){.side = s, .number = s->number * (unsigned int)s->ticket.threads + i};
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			exit(complain(s->e, "thread", "cannot be started"));
	}
}

static int join(const struct side *s, struct worker *w)
{
	int error = 0;

	for (unsigned int i = 0; i < s->ticket.threads; i++) {
		pthread_join(w[i].thread, NULL);
		error = error != 0 ? error : w[i].error;
	}
	return error;
}

/* Takes all entries off what was counted; nothing may be left. @return 0 or -errno */
static int check(const struct side *s, uint64_t *left, const char **wrong)
{
	struct bucket b;
	int rc = 0;

	for (uint64_t i = 0; i < BUCKETS && rc == 0; i++) {
		rc = memfab_rread(s->q, s->space, address(s, i), &b, sizeof(b));
		for (unsigned int k = 0; k < ENTRIES && rc == 0 && b.entry[k].key != 0; k++)
			if (b.entry[k].key <= KEYS)
				left[b.entry[k].key] -= b.entry[k].value;
			else
				*wrong = "an entry has a key that nobody has put there";
	}
	for (unsigned int k = 1; k <= KEYS && rc == 0; k++)
		if (left[k] != 0)
			*wrong = "a counter is wrong";
	return rc;
}

/* Waits for all threads, of both nodes. @return 0 or -errno */
static int verify(const struct side *s, const char **wrong)
{
	static uint64_t left[KEYS + 1];
	int rc = sides_wait(s);

	for (unsigned int w = 0; w < 2 * s->ticket.threads; w++) {
		uint64_t random = w + 1;

		for (uint64_t i = 0; i < s->ticket.number; i++)
			left[next_key(&random)]++;
	}
	return rc == 0 ? check(s, left, wrong) : rc;
}

int main(int argc, char **argv)
{
	static struct worker worker[2][THREADS_MAX];
	struct example e = {
		.name = "table",
		.what = "Threads of two nodes count in a remote hash table, with a lock for each bucket.",
		.unit = "increments of each thread",
		.number = 5000,
		.threads = 2,
		.shares = 1,
		.with = "cn1"};
	int rc = example_open(&e, argc, argv), error = 0;
	const char *wrong = NULL;
	struct side side[2];
	unsigned int n;
	uint64_t begin;

	if (rc != 0)
		return rc;
	n = sides_open(&e, sizeof(struct table), side);
	if (n == 0)
		return 1;
	if (e.threads > THREADS_MAX)
		return complain(&e, "--threads", "64 at most");
	begin = example_ns();
	for (unsigned int i = 0; i < n; i++)
		run(&side[i], worker[i]);
	for (unsigned int i = 0; i < n; i++) {
		error = join(&side[i], worker[i]);
		rc = rc != 0 ? rc : error;
	}
	begin = example_ns() - begin;
	if (rc == 0 && e.join == NULL)
		rc = verify(&side[0], &wrong);
	sides_close(side, n);
	if (rc != 0)
		return complain_of(&e, "operation", rc);
	if (wrong != NULL)
		return complain(&e, "the table", wrong);
	printf("threads %lu  increments %lu%s  %.0f ns an increment\n", n * e.threads,
	       n * e.threads * e.number, e.join == NULL ? ", none is missing" : "",
	       (double)begin / (double)(n * e.threads * e.number));
	return 0;
}
