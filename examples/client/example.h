/* SPDX-License-Identifier: BSD-3-Clause */
/* What the examples share: their arguments, and how they complain. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <memfab.h>

struct example {
	const char *name;
	const char *what; /* one sentence */
	const char *unit; /* of --number */
	unsigned long number;
	unsigned long threads; /* 0: it has one, and no option */
	int shares; /* a space with another compute node: share.h */
	const char *node, *target; /* names; NULL: the first */
	const char *with; /* name of the other compute node */
	const char *make, *join; /* file that the token goes through; NULL: this process is both nodes */
	struct memfab *fabric;
	int memory; /* number of the target */
};

/* One line on stderr. @return 1, for main() */
static inline int complain(const struct example *e, const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", e->name, what, why);
	return 1;
}

/* Of an operation that failed. */
static inline int complain_of(const struct example *e, const char *what, int error)
{
	return complain(e, what, memfab_strerror(error));
}

static inline void example_help(const struct example *e)
{
	printf("usage: %s [OPTIONS] FABRIC.json\n\n%s\n\n", e->name, e->what);
	printf("  --number N     %s (%lu)\n", e->unit, e->number);
	if (e->threads > 0)
		printf("  --threads N    threads, each with a queue of its own (%lu)\n", e->threads);
	if (e->shares)
		printf("  --with NAME    the other compute node (%s)\n"
		       "  --make FILE    makes the space, and writes FILE for the other node's process\n"
		       "  --join FILE    waits for FILE, and joins the space\n",
		       e->with);
	printf("  --node NAME    compute node to be (the first one)\n"
	       "  --target NAME  memory node (the first one)\n"
	       "  --only         the others are processes of their own (memfab-emu --run); needs --node%s\n"
	       "  --help         this\n",
	       e->shares ? ",\n                 and --make or --join" : "");
}

static inline unsigned long example_number(const struct example *e, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n == 0 || n > 100000000)
		exit(complain(e, text, "is no number from 1 to 100000000"));
	return n;
}

/* The target, by its name or as the first node that has memory. */
static inline int example_target(struct example *e)
{
	if (e->target != NULL)
		e->memory = memfab_node(e->fabric, e->target);
	else
		for (e->memory = 0; e->memory < 512 && memfab_memory(e->fabric, e->memory) == 0; e->memory++)
			;
	if (memfab_memory(e->fabric, e->memory) > 0)
		return 0;
	return complain(e, e->target != NULL ? e->target : "fabric", "no such memory node");
}

/* An option is not the argument of another one, and is given once. */
static inline int example_refuse(const struct example *e, const char *arg, const char *word, char *given)
{
	if (arg == word && strncmp(word, "--", 2) == 0)
		return complain(e, word, "is an option, and the one before it needs an argument");
	if (*given)
		return complain(e, arg, "this option is given twice");
	*given = 1;
	return 0;
}

/* What does not go together. */
static inline int example_check(const struct example *e, int arguments, int only)
{
	if (arguments != 1)
		return complain(e, "needs one fabric file", "see --help");
	if (only && e->node == NULL)
		return complain(e, "--only", "needs --node");
	if (e->make != NULL && e->join != NULL)
		return complain(e, "--make", "does not go with --join");
	if (e->shares && only != (e->make != NULL || e->join != NULL))
		return complain(e, "--only", "goes with --make or --join, and these with it");
	return 0;
}

/* One option. @return 0; or the status to exit with */
static inline int example_take(struct example *e, int option, int *only)
{
	switch (option) {
	case 'n':
		e->number = example_number(e, optarg);
		return 0;
	case 't':
		e->threads = example_number(e, optarg);
		return 0;
	case 'c':
		e->node = optarg;
		return 0;
	case 'm':
		e->target = optarg;
		return 0;
	case 'o':
		*only = 1;
		return 0;
	case 'w':
		e->with = optarg;
		return 0;
	case 'M':
		e->make = optarg;
		return 0;
	case 'J':
		e->join = optarg;
		return 0;
	case 'h':
		example_help(e);
		exit(0);
	default:
		return 1;
	}
}

/* Opens the fabric that the command line names. @return 0; or the status to exit with */
static inline int example_open(struct example *e, int argc, char **argv)
{
	struct option options[] = {
		{"number", required_argument, NULL, 'n'},
		{"threads", required_argument, NULL, 't'},
		{"node", required_argument, NULL, 'c'},
		{"target", required_argument, NULL, 'm'},
		{"only", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{e->shares ? "with" : NULL, required_argument, NULL, 'w'}, /* NULL: the list ends here */
		{"make", required_argument, NULL, 'M'},
		{"join", required_argument, NULL, 'J'},
		{NULL, 0, NULL, 0},
	};
	struct memfab_options how = {.only = NULL};
	char err[MEMFAB_ERR_LEN];
	int c, at = 0, only = 0;
	char given[sizeof(options) / sizeof(options[0])] = {0};

	while ((c = getopt_long(argc, argv, "", options, &at)) != -1) {
		if (optarg != NULL && c != '?' && example_refuse(e, optarg, argv[optind - 1], &given[at]))
			return 1;
		if (example_take(e, c, &only) != 0)
			return 1;
	}
	if (example_check(e, argc - optind, only) != 0)
		return 1;
	how.only = only ? e->node : NULL;
	if (memfab_open(argv[optind], &how, &e->fabric, err, sizeof(err)) != 0)
		return complain(e, "cannot open the fabric", err);
	if (only && memfab_wait_ready(e->fabric, 60000) != 0)
		return complain(e, "fabric", "a partner has not come within a minute");
	return example_target(e);
}

/* Of another node than --node. */
static inline struct memfab_queue *example_queue_at(struct example *e, const char *node, unsigned int entries)
{
	struct memfab_queue *q;
	char err[MEMFAB_ERR_LEN];

	if (memfab_queue_new(e->fabric, node, entries, &q, err, sizeof(err)) == 0)
		return q;
	exit(complain(e, "no queue", err));
}

static inline struct memfab_queue *example_queue(struct example *e, unsigned int entries)
{
	return example_queue_at(e, e->node, entries);
}

static inline uint64_t example_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* xorshift: good enough to be without a pattern. */
static inline uint64_t example_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
