/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node whose target is killed and started again by losses.py: writes a word, reads it, all the time. What
 * it reads is what it has written, unless memfab_losses() says that this may be lost. Says at the end what
 * it saw.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "memfab.h"

struct seen {
	unsigned long rounds, timed_out, host_down, unknown, other, wrong, emptied;
};

static void count(struct seen *s, int rc)
{
	s->timed_out += rc == -ETIMEDOUT;
	s->host_down += rc == -EHOSTDOWN;
	s->unknown += rc == -EINPROGRESS;
	s->other += rc != 0 && rc != -ETIMEDOUT && rc != -EHOSTDOWN && rc != -EINPROGRESS;
}

/** Reads until somebody is there, so that a read is under way when the target is back. */
static void wait_for(struct memfab_queue *q, int target, struct seen *s)
{
	uint64_t found;
	int rc;

	do {
		rc = memfab_read(q, target, 64, &found, sizeof(found));
		count(s, rc);
	} while (rc != 0);
}

/** @param acknowledged  or a plain write */
static void one_round(struct memfab_queue *q, int target, uint64_t number, bool acknowledged, struct seen *s)
{
	unsigned int before = memfab_losses(q, target);
	uint64_t found = 0;
	int rc = acknowledged ? memfab_write_ack(q, target, 64, &number, sizeof(number))
			      : memfab_write(q, target, 64, &number, sizeof(number));

	count(s, rc);
	if (rc == 0) {
		rc = memfab_read(q, target, 64, &found, sizeof(found));
		count(s, rc);
	}
	if (rc != 0) {
		wait_for(q, target, s);
		return;
	}
	if (found == number)
		return;
	if (memfab_losses(q, target) == before)
		s->wrong++;
	else
		s->emptied += found == 0;
}

int main(int argc, char **argv)
{
	const struct memfab_options options = {.only = "cn0"};
	unsigned int losses = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;
	char err[MEMFAB_ERR_LEN];
	struct memfab_queue *q;
	struct seen s = {0};
	struct memfab *m;
	int target;

	if (losses == 0 || memfab_open(argv[1], &options, &m, err, sizeof(err)) != 0 ||
	    memfab_queue_new(m, NULL, 4, &q, err, sizeof(err)) != 0) {
		fprintf(stderr, "losses: %s\n", losses == 0 ? "FILE NUMBER" : err);
		return 1;
	}
	target = memfab_node(m, "mn0");
	memfab_wait_ready(m, -1);
	puts("ready");
	fflush(stdout);
	/* Some more rounds behind the last loss: it goes on. */
	for (unsigned long more = 0; more < 1000; s.rounds++, more += memfab_losses(q, target) >= losses)
		one_round(q, target, s.rounds + 1, s.rounds % 2, &s);
	printf("{\"rounds\": %lu, \"timed_out\": %lu, \"host_down\": %lu, \"unknown\": %lu, \"other\": %lu, "
	       "\"wrong\": %lu, \"emptied\": %lu, \"losses\": %u}\n",
	       s.rounds, s.timed_out, s.host_down, s.unknown, s.other, s.wrong, s.emptied,
	       memfab_losses(q, target));
	memfab_queue_free(q);
	memfab_close(m);
	return 0;
}
