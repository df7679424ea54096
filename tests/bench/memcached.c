/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcached over the loopback interface: a get of 64 octets on one connection, by a client that polls its
 * socket. p50 of the round trips.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mf_hist.h"
#include "child.h"
#include "tcp.h"

#define SET_64 "set key 0 0 64\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n"
#define STORED "STORED\r\n"
#define GET "get key\r\n"
#define VALUE_OCTETS (sizeof("VALUE key 0 64\r\n") - 1 + 64 + sizeof("\r\nEND\r\n") - 1)

struct memcached {
	const struct bench_env *env;
	struct child server;
	int fd;
	struct mf_hist latency;
};

/** Sends a request and polls for an answer of so many octets. */
static int ask(int fd, const char *request, size_t len, size_t answer)
{
	char text[256];
	size_t got = 0;

	if (send(fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		return -EIO;
	while (got < answer) {
		ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return -EIO;
		got += n > 0 ? (size_t)n : 0;
	}
	return got == answer ? 0 : -EPROTO;
}

static int start_server(struct memcached *m, unsigned int port)
{
	char number[16];
	const char *argv[] = {"memcached", "-l", "127.0.0.1", "-p", number, "-t", "1", "-u", "nobody", NULL};

	snprintf(number, sizeof(number), "%u", port);
	return child_start(&m->server, m->env, (struct child_cpus){.first = 1, .n = 1}, argv, NULL);
}

static void memcached_close(void *state)
{
	struct memcached *m = state;

	if (m->fd >= 0)
		close(m->fd);
	child_kill(&m->server);
	free(m);
}

static void *memcached_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	unsigned int port = tcp_port();
	struct memcached *m;

	(void)line;
	if (env->cpus < 2) {
		snprintf(why, BENCH_REASON, "needs two CPUs");
		return NULL;
	}
	if (!child_there("memcached", why))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return NULL;
	m->env = env;
	m->fd = -1;
	if (start_server(m, port) == 0)
		m->fd = tcp_connect(port);
	if (m->fd >= 0 && ask(m->fd, SET_64, sizeof(SET_64) - 1, sizeof(STORED) - 1) == 0)
		return m;
	snprintf(why, BENCH_REASON, "memcached does not answer");
	memcached_close(m);
	return NULL;
}

static uint64_t memcached_step(void *ctx)
{
	struct memcached *m = ctx;

	for (unsigned int i = 0; i < 100; i++) {
		double from = bench_seconds();

		if (ask(m->fd, GET, sizeof(GET) - 1, VALUE_OCTETS) != 0)
			return 0;
		mf_hist_add(&m->latency, (uint64_t)((bench_seconds() - from) * 1e9));
	}
	return 100;
}

static int memcached_run(void *state, struct bench_sample *out, char *why)
{
	struct memcached *m = state;

	if (ask(m->fd, GET, sizeof(GET) - 1, VALUE_OCTETS) != 0) {
		snprintf(why, BENCH_REASON, "memcached: a wrong answer, or none");
		return -EIO;
	}
	mf_hist_reset(&m->latency);
	bench_loop(m->env, NULL, memcached_step, m, out);
	out->value = (double)mf_hist_percentile(&m->latency, 500000);
	return 0;
}

static const struct bench_ops memcached_ops = {
	.open = memcached_open, .run = memcached_run, .close = memcached_close};

void bench_memcached(struct bench_suite *s)
{
	struct bench_line l = {.name = "reference.memcached",
			       .what = "memcached, TCP on loopback, get of 64 B, p50",
			       .unit = "ns",
			       .reference = true,
			       .crosses = 2,
			       .ops = &memcached_ops};

	bench_add(s, &l);
}
