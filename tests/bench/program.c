/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-bench-program TEST FABRIC SECONDS THREADS DEPTH; prints CPU seconds got and wanted, then figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program.h"

#define ARGS 6

static const struct {
	const char *name;
	void (*run)(struct program *p);
} test[] = {{"ralloc", program_ralloc},
	    {"neighbour", program_neighbour},
	    {"read", program_read},
	    {"read-apart", program_read},
	    {"count", program_count}};
#define TESTS (sizeof(test) / sizeof(test[0]))

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "memfab-bench-program: %s: %s\n", what, why);
	exit(1);
}

void program_must(int rc, const char *what)
{
	if (rc < 0)
		fail(what, memfab_strerror(rc));
}

struct memfab_queue *program_queue(struct program *p, const char *node, unsigned int entries)
{
	struct memfab_queue *q;
	char err[MEMFAB_ERR_LEN];

	if (memfab_queue_new(p->fabric, node, entries, &q, err, sizeof(err)) != 0)
		fail("no queue", err);
	return q;
}

double program_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double process_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void program_start(struct program *p, struct bench_watch *w)
{
	(void)p;
	w->wall = bench_seconds();
	w->got = process_seconds();
}

/** Who reads and who turns the fabric both poll. */
void program_stop(struct program *p, const struct bench_watch *w)
{
	p->cost.got = process_seconds() - w->got;
	p->cost.wall = (bench_seconds() - w->wall) * (p->apart ? 2 : 1);
}

static void open_fabric(struct program *p, const char *file)
{
	struct memfab_options how = {.thread = p->apart};
	char err[MEMFAB_ERR_LEN];

	if (memfab_open(file, &how, &p->fabric, err, sizeof(err)) != 0)
		fail(file, err);
	p->memory = memfab_node(p->fabric, "mn");
	program_must(p->memory, "node mn");
}

static void print(const struct program *p)
{
	printf("%.9f %.9f", p->cost.got, p->cost.wall);
	for (unsigned int i = 0; i < p->figures; i++)
		printf(" %.3f", p->figure[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct program p = {0};
	unsigned int i;

	if (argc != ARGS)
		fail("usage", "memfab-bench-program TEST FABRIC SECONDS THREADS DEPTH");
	p.seconds = strtod(argv[3], NULL);
	p.threads = strtoul(argv[4], NULL, 10);
	p.depth = strtoul(argv[5], NULL, 10);
	p.apart = strcmp(argv[1], "read-apart") == 0;
	for (i = 0; i < TESTS && strcmp(argv[1], test[i].name) != 0; i++)
		;
	if (i == TESTS || !(p.seconds > 0) || p.threads == 0 || p.depth == 0)
		fail(argv[1], "no such test, or a number that is not above 0");
	open_fabric(&p, argv[2]);
	test[i].run(&p);
	memfab_close(p.fabric);
	print(&p);
	return fflush(stdout) == 0 ? 0 : 1;
}
