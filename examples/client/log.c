/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log in an address space that two compute nodes share. Writers at both nodes append records: a fetch-add
 * of the tail gives a writer its place, and one write fills it. A reader follows. A record has 64 octets and
 * does not cross a page, so a read finds all of it or nothing. Pages are zero at first: state 0 is a place
 * whose record has not been written yet.
 *
 * If a writer dies between its fetch-add and its write, the reader waits at that place.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "share.h"

#define THREADS_MAX 64 /* at each node */
#define BATCH 16 /* records that the reader reads at a time */
#define WRITTEN 1

struct record {
	uint64_t state; /* 0 or WRITTEN */
	uint64_t writer;
	uint64_t number; /* of this writer, from 0 on */
	char text[40];
};

struct log {
	struct head head;
	uint64_t tail; /* records */
	uint64_t spare[7];
	struct record record[];
};

struct writer {
	struct side *side;
	pthread_t thread;
	unsigned int number; /* among those of all nodes */
	int error;
};

static uint64_t address(const struct side *s, uint64_t record)
{
	return s->ticket.root + offsetof(struct log, record) + record * sizeof(struct record);
}

/* @return 0 or -errno */
static int append(const struct side *s, struct memfab_queue *q, struct record *r)
{
	uint64_t place;
	int rc = memfab_ratomic(q, s->space, MEMFAB_FETCH_ADD, s->ticket.root + offsetof(struct log, tail), 1,
				&place);

	r->state = WRITTEN;
	return rc == 0 ? memfab_rwrite(q, s->space, address(s, place), r, sizeof(*r)) : rc;
}

static void *work(void *arg)
{
	struct writer *w = arg;
	struct side *s = w->side;
	struct memfab_queue *q = example_queue_at(s->e, s->node, 1);
	struct record r = {.writer = w->number};

	for (; r.number < s->ticket.number && w->error == 0; r.number++) {
		snprintf(r.text, sizeof(r.text), "record %" PRIu64 " of writer %u", r.number, w->number);
		w->error = append(s, q, &r);
	}
	if (w->error == 0)
		w->error = side_done(s, q);
	memfab_queue_free(q);
	return NULL;
}

/* A record comes once, whole, and behind those that its writer has appended before. @return what is wrong */
static const char *check(const struct record *r, uint64_t *next, uint64_t writers)
{
	char text[sizeof(r->text)];

	if (r->state != WRITTEN || r->writer >= writers)
		return "a record is no record";
	if (r->number != next[r->writer]++)
		return "a record is missing, or was read twice";
	snprintf(text, sizeof(text), "record %" PRIu64 " of writer %" PRIu64, r->number, r->writer);
	return strcmp(text, r->text) == 0 ? NULL : "a record is not what was appended";
}

/* Reads what is there, and waits for what is not. @return 0 or -errno */
static int follow(const struct side *s, uint64_t records, const char **wrong)
{
	static uint64_t next[2 * THREADS_MAX];
	struct record r[BATCH];
	uint64_t at = 0;

	while (at < records && *wrong == NULL) {
		uint64_t n = records - at < BATCH ? records - at : BATCH;
		int rc = memfab_rread(s->q, s->space, address(s, at), r, n * sizeof(r[0]));

		if (rc != 0)
			return rc;
		if (r[0].state == 0)
			usleep(50); /* there is nothing new */
		for (uint64_t i = 0; i < n && r[i].state != 0 && *wrong == NULL; i++, at++)
			*wrong = check(&r[i], next, 2 * s->ticket.threads);
	}
	return 0;
}

static void start(struct side *s, struct writer *w)
{
	for (unsigned int i = 0; i < s->ticket.threads; i++) {
		w[i] = (struct writer){.side = s, .number = s->number * (unsigned int)s->ticket.threads + i};
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			exit(complain(s->e, "thread", "cannot be started"));
	}
}

static int join(const struct side *s, struct writer *w)
{
	int error = 0;

	for (unsigned int i = 0; i < s->ticket.threads; i++) {
		pthread_join(w[i].thread, NULL);
		error = error != 0 ? error : w[i].error;
	}
	return error;
}

int main(int argc, char **argv)
{
	static struct writer writer[2][THREADS_MAX];
	struct example e = {
		.name = "log",
		.what = "Threads of two nodes append to a log in remote memory; a reader follows.",
		.unit = "records of each thread",
		.number = 10000,
		.threads = 2,
		.shares = 1,
		.with = "cn1"};
	int rc = example_open(&e, argc, argv), error = 0;
	const char *wrong = NULL;
	uint64_t records, begin;
	struct side side[2];
	unsigned int n;

	if (rc != 0)
		return rc;
	records = 2 * e.threads * e.number;
	n = sides_open(&e, sizeof(struct log) + records * sizeof(struct record), side);
	if (n == 0)
		return 1;
	if (e.threads > THREADS_MAX)
		return complain(&e, "--threads", "64 at most");
	begin = example_ns();
	for (unsigned int i = 0; i < n; i++)
		start(&side[i], writer[i]);
	if (e.join == NULL)
		rc = follow(&side[0], records, &wrong);
	for (unsigned int i = 0; i < n; i++) {
		error = join(&side[i], writer[i]);
		rc = rc != 0 ? rc : error;
	}
	begin = example_ns() - begin;
	if (rc == 0 && e.join == NULL)
		rc = sides_wait(&side[0]);
	sides_close(side, n);
	if (rc != 0)
		return complain_of(&e, "operation", rc);
	if (wrong != NULL)
		return complain(&e, "the log", wrong);
	if (e.join != NULL)
		printf("appended %lu\n", e.threads * e.number);
	else
		printf("writers %lu  records %" PRIu64 ", each read once  %.0f ns a record\n", 2 * e.threads,
		       records, (double)begin / (double)records);
	return 0;
}
