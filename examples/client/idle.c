/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that sleeps between its reads of remote memory, in an event loop of its own, and keeps the links
 * of its node alive meanwhile. It prints what share of a CPU the sleep took, and what a read takes after it.
 */
#include <poll.h>
#include <sys/resource.h>

#include "example.h"

#define SIZE 64
#define BUSY 1000 /* reads one after the other, for comparison */
#define SLEEP_NS UINT64_C(1000000000)

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u); /* all threads, those of DPDK as well */
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/*
 * The event loop: it sleeps until the fabric needs a turn, or the own time has come. A real one has more
 * descriptors. @return 0 or -errno
 */
static int sleep_until(struct example *e, int fd, uint64_t until)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	uint64_t now;
	int64_t next;

	while ((now = example_ns()) < until) {
		next = memfab_next(e->fabric); /* a turn; the descriptor is set to the next one */
		if (next < 0)
			return (int)next;
		if (next > 0)
			poll(&wait, 1, (int)((until - now) / 1000000) + 1);
	}
	return 0;
}

/* One read, which has to bring what was written. @return ns; 0: error, which was printed */
static uint64_t timed_read(struct example *e, struct memfab_queue *q, const char *expected)
{
	char data[SIZE] = "";
	uint64_t begin = example_ns();
	int rc = memfab_read(q, e->memory, 0, data, sizeof(data));

	begin = example_ns() - begin;
	if (rc != 0)
		complain_of(e, "read", rc);
	else if (memcmp(data, expected, sizeof(data)) != 0)
		complain(e, "read", "is not what was written");
	else
		return begin;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median_us(uint64_t *ns, unsigned long n)
{
	qsort(ns, n, sizeof(*ns), compare);
	return (double)ns[n / 2] / 1000;
}

int main(int argc, char **argv)
{
	struct example e = {
		.name = "idle",
		.what = "Reads remote memory once a second, and sleeps in between.",
		.unit = "sleeps of a second",
		.number = 3,
	};
	int rc = example_open(&e, argc, argv), fd = rc == 0 ? memfab_fd(e.fabric) : -1;
	uint64_t *busy, *rested, cpu = 0, before;
	struct memfab_queue *q;
	char data[SIZE];

	if (rc != 0)
		return rc;
	if (fd < 0)
		return complain_of(&e, "descriptor", fd);
	q = example_queue(&e, 4);
	busy = calloc(BUSY, sizeof(*busy));
	rested = calloc(e.number, sizeof(*rested));
	if (busy == NULL || rested == NULL)
		return complain(&e, "memory", "there is none");
	memset(data, 'x', sizeof(data));
	rc = memfab_write_ack(q, e.memory, 0, data, sizeof(data));
	if (rc != 0)
		return complain_of(&e, "write", rc);
	for (unsigned long i = 0; i < BUSY; i++)
		if ((busy[i] = timed_read(&e, q, data)) == 0)
			return 1;
	for (unsigned long i = 0; i < e.number; i++) {
		before = cpu_ns();
		rc = sleep_until(&e, fd, example_ns() + SLEEP_NS);
		if (rc != 0)
			return complain_of(&e, "sleep", rc);
		cpu += cpu_ns() - before;
		if ((rested[i] = timed_read(&e, q, data)) == 0)
			return 1;
	}
	printf("asleep %lu s, with %.2f %% of a CPU; lost %u times\n", e.number,
	       (double)cpu / (double)(e.number * SLEEP_NS) * 100, memfab_losses(q, e.memory));
	printf("a read, us: %.1f when busy, %.1f after a sleep (medians)\n", median_us(busy, BUSY),
	       median_us(rested, e.number));
	free(busy);
	free(rested);
	memfab_queue_free(q);
	memfab_close(e.fabric);
	return 0;
}
