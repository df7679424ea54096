/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node of two fabrics at once, in one process, whose links are memifs: what a node writes it reads again,
 * in both by turns; one ends, and the other one goes on; it is opened again. A thread turns the first one.
 *
 *	two_fabrics FIRST.json SECOND.json SAME-DEVICE.json
 *
 * The third file names a device of the second one: refused while that has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <memfab.h>

#define WAIT 60000 /* ms */
#define WORDS 1000

struct open_fabric {
	struct memfab *fabric;
	struct memfab_queue *queue;
	int target;
};

static char err[MEMFAB_ERR_LEN];

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("%s: %s\n", what, err);
	exit(1);
}

static void open_one(struct open_fabric *f, const char *file, int thread)
{
	const struct memfab_options options = {.only = "cn0", .thread = thread};

	need(memfab_open(file, &options, &f->fabric, err, sizeof(err)) == 0, "open");
	need(memfab_wait_ready(f->fabric, WAIT) == 0, "ready");
	need(memfab_queue_new(f->fabric, "cn0", 1, &f->queue, err, sizeof(err)) == 0, "queue");
	f->target = memfab_node(f->fabric, "mn0");
}

static void close_one(struct open_fabric *f)
{
	memfab_queue_free(f->queue);
	memfab_close(f->fabric);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** In each of the n in turn, with content that tells them apart. @return the longest, seconds */
static double write_and_read(const struct open_fabric *f, unsigned int n, uint64_t round)
{
	double longest = 0;

	for (uint64_t i = 0; i < WORDS * n; i++) {
		const struct open_fabric *one = &f[i % n];
		uint64_t word = round << 40 | (i % n) << 32 | i, is = 0, at = i * 8;
		double begin = seconds(), took;

		need(memfab_write_ack(one->queue, one->target, at, &word, 8) == 0, "write");
		need(memfab_read(one->queue, one->target, at, &is, 8) == 0 && is == word, "read");
		took = seconds() - begin;
		longest = took > longest ? took : longest;
	}
	return longest;
}

int main(int argc, char **argv)
{
	const struct memfab_options options = {.only = "cn0"};
	struct open_fabric f[2];
	struct memfab *third;
	double longest;

	if (argc != 4)
		return 2;
	open_one(&f[0], argv[1], 1);
	open_one(&f[1], argv[2], 0);
	longest = write_and_read(f, 2, 1);
	need(memfab_open(argv[3], &options, &third, err, sizeof(err)) != 0, "a device of two fabrics");
	printf("refused: %s\n", err);
	longest += write_and_read(f, 2, 2);
	close_one(&f[0]);
	longest += write_and_read(&f[1], 1, 3);
	open_one(&f[0], argv[1], 1);
	longest += write_and_read(f, 2, 4);
	printf("longest %.3f s\n", longest);
	close_one(&f[1]);
	close_one(&f[0]);
	return 0;
}
