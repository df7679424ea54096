/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node that has all spaces and all pages of its memory node: spaces_lost.py kills it and starts it again,
 * then the memory node. What was before never prevents what comes now, and is never seen again.
 *
 *   spaces_lost FABRIC       Says "full" when node cn0 has all, and "full" again when it has lost them and
 *                            has all anew.
 *   spaces_lost FABRIC NODE  Says "ready", waits for a line, and says "full" when the node has all; then it
 *                            ends them.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memfab.h"

#define SPACES 16
#define PAGES 8 /* of each */
#define PAGE 4096

struct held {
	struct memfab_space *space;
	uint64_t ptr;
};

static void fail(const char *what, int rc)
{
	fprintf(stderr, "%s: %s\n", what, memfab_strerror(rc));
	exit(1);
}

/** What comes while a node is away, or while what was before ends. */
static int may_come(const char *what, int rc)
{
	if (rc != 0 && rc != -ENOBUFS && rc != -EACCES && rc != -ETIMEDOUT && rc != -EINPROGRESS &&
	    rc != -EHOSTDOWN)
		fail(what, rc);
	return rc;
}

/** A space with pages that are zero, and then have its number. */
static int take(struct memfab_queue *q, struct held *h, uint64_t number)
{
	int rc = may_come("new", memfab_space_new(q, NULL, 0, &h->space));
	uint64_t word = 0;

	if (rc != 0)
		return rc;
	h->ptr = 0;
	rc = may_come("alloc", memfab_ralloc(q, h->space, PAGES * PAGE, MEMFAB_POPULATE, &h->ptr));
	for (uint64_t at = 0; at < PAGES * PAGE && rc == 0; at += PAGE) {
		rc = may_come("read", memfab_rread(q, h->space, h->ptr + at, &word, sizeof(word)));
		if (rc == 0 && word != 0)
			fail("a page is not zero", 0);
		if (rc == 0)
			rc = may_come("write",
				      memfab_rwrite(q, h->space, h->ptr + at, &number, sizeof(number)));
	}
	if (rc == 0)
		rc = may_come("lock", memfab_rlock(q, h->space, h->ptr + 8, 0));
	if (rc != 0)
		may_come("end", memfab_space_end(q, h->space));
	return rc;
}

static void fill(struct memfab_queue *q, struct held *h)
{
	for (uint64_t i = 0; i < SPACES; i++)
		while (take(q, &h[i], i + 1) != 0)
			;
	printf("full\n");
	fflush(stdout);
}

/** Until they are lost. */
static void look(struct memfab_queue *q, const struct held *h)
{
	for (uint64_t i = 0;; i++) {
		const struct held *at = &h[i % SPACES];
		uint64_t word = 0;
		int rc = may_come("look", memfab_rread(q, at->space, at->ptr + i % PAGES * PAGE, &word, 8));

		if (rc == -EACCES)
			return;
		if (rc == 0 && word != i % SPACES + 1)
			fail("a word is not what was written", 0);
	}
}

/** It tries as long as another node has them. */
static void inherit(struct memfab *m, struct memfab_queue *q, struct held *h)
{
	struct pollfd line = {.fd = STDIN_FILENO, .events = POLLIN};

	printf("ready\n");
	fflush(stdout);
	while (poll(&line, 1, 0) == 0)
		(void)memfab_wait(m, 1000);
	fill(q, h);
	for (unsigned int i = 0; i < SPACES; i++)
		may_come("end", memfab_space_end(q, h[i].space));
}

/** Until they are lost, and once more. */
static void lose(struct memfab *m, struct memfab_queue *q, struct held *h)
{
	fill(q, h);
	look(q, h);
	if (memfab_losses(q, memfab_node(m, "mn0")) == 0)
		fail("nothing was lost", 0);
	for (unsigned int i = 0; i < SPACES; i++)
		may_come("end", memfab_space_end(q, h[i].space));
	fill(q, h);
	for (unsigned int i = 0; i < SPACES; i++)
		if (memfab_space_end(q, h[i].space) != 0)
			fail("end", -EIO);
}

int main(int argc, char **argv)
{
	const char *node = argc == 3 ? argv[2] : "cn0";
	const struct memfab_options options = {.only = node};
	static struct held held[SPACES];
	char err[MEMFAB_ERR_LEN];
	struct memfab_queue *q;
	struct memfab *m;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: spaces_lost FABRIC [NODE]\n");
		return 1;
	}
	if (memfab_open(argv[1], &options, &m, err, sizeof(err)) != 0 || memfab_wait_ready(m, 300000) != 0 ||
	    memfab_queue_new(m, node, 16, &q, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	if (argc == 3)
		inherit(m, q, held);
	else
		lose(m, q, held);
	memfab_queue_free(q);
	memfab_close(m);
	return 0;
}
