/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pointer chase: remote memory holds a list that visits every line once in random order; each read can only
 * begin when the one before has brought the address. So what is measured is latency, and nothing hides it.
 */
#include "example.h"

#define LINE 64
#define LINES 4096

/* A permutation that is one cycle (Sattolo), as addresses of the lines. */
static void make_list(uint64_t next[LINES])
{
	uint64_t order[LINES], random = 88172645463325252;

	for (uint64_t i = 0; i < LINES; i++)
		order[i] = i;
	for (uint64_t i = LINES - 1; i > 0; i--) {
		uint64_t k = example_random(&random) % i, swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (uint64_t i = 0; i < LINES; i++)
		next[order[i]] = order[(i + 1) % LINES] * LINE;
}

static int write_list(const struct example *e, struct memfab_queue *q)
{
	static uint64_t next[LINES];
	int rc = 0;

	make_list(next);
	for (uint64_t i = 0; i < LINES && rc == 0; i++)
		rc = memfab_write_ack(q, e->memory, i * LINE, &next[i], sizeof(next[i]));
	return rc;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Behind as many steps as there are lines it has to be where it began. */
static int chase(const struct example *e, struct memfab_queue *q, uint64_t *ns)
{
	uint64_t line[LINE / 8], at = 0, before = example_ns();

	for (unsigned long i = 0; i < e->number; i++) {
		uint64_t now;
		int rc = memfab_read(q, e->memory, at, line, sizeof(line));

		if (rc != 0)
			return complain_of(e, "read", rc);
		at = line[0];
		now = example_ns();
		ns[i] = now - before;
		before = now;
		if ((at == 0) != ((i + 1) % LINES == 0))
			return complain(e, "the list", "is not as it was written");
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct example e = {.name = "chase",
			    .what = "Latency of dependent 64 B reads of remote memory.",
			    .unit = "reads",
			    .number = 100000};
	int rc = example_open(&e, argc, argv);
	struct memfab_queue *q;
	uint64_t *ns;

	if (rc != 0)
		return rc;
	q = example_queue(&e, 1);
	ns = calloc(e.number, sizeof(*ns));
	if (ns == NULL)
		return complain(&e, "samples", "no memory");
	rc = write_list(&e, q);
	if (rc != 0)
		return complain_of(&e, "write", rc);
	rc = chase(&e, q, ns);
	if (rc == 0) {
		qsort(ns, e.number, sizeof(*ns), ascending);
		printf("reads %lu  p50 %" PRIu64 " ns  p99 %" PRIu64 " ns  max %" PRIu64 " ns\n", e.number,
		       ns[e.number / 2], ns[e.number * 99 / 100], ns[e.number - 1]);
	}
	free(ns);
	memfab_queue_free(q);
	memfab_close(e.fabric);
	return rc;
}
