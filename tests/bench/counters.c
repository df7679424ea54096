/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that several clients add to: of an address space, by the client library, and beside it those of
 * redis and memcached over TCP on the loopback interface. Each thread has a connection, or a queue, sends as
 * many additions as the depth says, and waits for all of their answers. The servers have a CPU of their own,
 * and their clients another one. A fabric has one process on one CPU, whose threads turn it themselves.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mf_rng.h"
#include "child.h"
#include "program_lines.h"
#include "tcp.h"

#define COUNTERS 1024
#define THREADS_MAX 8
#define DEPTH_MAX 64
#define REQUEST 64 /* bytes, at most */

/** A server: how it is started, and what it is asked, a request of at most REQUEST bytes. */
struct store {
	const char *program;
	const char *const *argv; /**< but for the port, which follows */
	int (*set)(char *to, unsigned int counter); /**< makes a counter; NULL: there is no need to */
	const char *stored; /**< the answer to that */
	int (*add)(char *to, unsigned int counter);
	bool (*is_number)(char first); /**< how an answer to that begins */
};

struct counters_param {
	const struct store *store;
	unsigned int threads, depth;
};

struct counters {
	const struct counters_param *param;
	const struct bench_env *env;
	struct child server;
	unsigned int port;
	atomic_uint stage; /**< 0: warm-up, 1: counted, 2: ends */
};

struct client {
	struct counters *c;
	int fd; /**< < 0: it has failed */
	struct mf_rng rng;
	uint64_t n; /**< additions that are counted */
	struct bench_sample cost;
	pthread_t thread;
};

/* A server that is given several requests at once answers them in their order. */

static int redis_add(char *to, unsigned int counter)
{
	return snprintf(to, REQUEST, "*2\r\n$4\r\nINCR\r\n$5\r\nk%04u\r\n", counter);
}

static int memcached_set(char *to, unsigned int counter)
{
	return snprintf(to, REQUEST, "set k%04u 0 0 1\r\n0\r\n", counter);
}

static int memcached_add(char *to, unsigned int counter)
{
	return snprintf(to, REQUEST, "incr k%04u 1\r\n", counter);
}

static bool is_redis_number(char first)
{
	return first == ':';
}

static bool is_digit(char first)
{
	return first >= '0' && first <= '9';
}

/** Reads so many lines. @return false: the connection has ended, or a line is no number */
static bool take_answers(int fd, const struct store *store, unsigned int lines, int flags)
{
	char text[4096];
	bool at_begin = true;

	while (lines > 0) {
		ssize_t n = recv(fd, text, sizeof(text), flags);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		for (ssize_t i = 0; i < n; i++) {
			if (at_begin && !store->is_number(text[i]))
				return false;
			at_begin = text[i] == '\n';
			lines -= at_begin;
		}
	}
	return true;
}

static bool batch(struct client *k)
{
	const struct counters_param *p = k->c->param;
	char text[DEPTH_MAX * REQUEST];
	size_t len = 0;

	for (unsigned int i = 0; i < p->depth; i++)
		len += (size_t)p->store->add(text + len, (unsigned int)mf_rng_below(&k->rng, COUNTERS));
	/* A thread that has a CPU polls, as a client of a fabric does. */
	return send(k->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len &&
	       take_answers(k->fd, p->store, p->depth, p->threads == 1 ? MSG_DONTWAIT : 0);
}

static void *count(void *arg)
{
	struct client *k = arg;
	struct bench_watch w;
	bool good = true;

	while (good && atomic_load_explicit(&k->c->stage, memory_order_relaxed) == 0)
		good = batch(k);
	bench_start(&w);
	while (good && atomic_load_explicit(&k->c->stage, memory_order_relaxed) == 1) {
		good = batch(k);
		k->n += good ? k->c->param->depth : 0;
	}
	bench_stop(&w, &k->cost);
	close(k->fd);
	if (!good)
		k->fd = -EIO;
	return NULL;
}

static bool start(struct client *k, struct counters *c, unsigned int seed)
{
	*k = (struct client){.c = c, .fd = tcp_connect(c->port)};
	mf_rng_init(&k->rng, seed, "counters", 0);
	return k->fd >= 0 && pthread_create(&k->thread, NULL, count, k) == 0;
}

/** @return threads that have begun */
static unsigned int run_threads(struct counters *c, struct client client[THREADS_MAX], double *seconds)
{
	unsigned int n = 0;
	double begin;

	atomic_store(&c->stage, 0);
	while (n < c->param->threads && start(&client[n], c, n))
		n++;
	usleep((useconds_t)(c->env->seconds * 1e5));
	atomic_store(&c->stage, 1);
	begin = bench_seconds();
	usleep((useconds_t)(c->env->seconds * 1e6));
	*seconds = bench_seconds() - begin;
	atomic_store(&c->stage, 2);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(client[i].thread, NULL);
	return n;
}

static int store_run(void *state, struct bench_sample *out, char *why)
{
	struct counters *c = state;
	struct client client[THREADS_MAX];
	double seconds;
	unsigned int n = run_threads(c, client, &seconds);
	bool good = n == c->param->threads;

	for (unsigned int i = 0; i < n; i++) {
		good = good && client[i].fd >= 0;
		out->value += (double)client[i].n / seconds / 1e6;
		out->got += client[i].cost.got;
		out->wall += client[i].cost.wall;
	}
	if (c->param->threads > 1) /* they wait for answers, asleep */
		out->got = out->wall;
	if (good)
		return 0;
	snprintf(why, BENCH_REASON, "%s: a wrong answer, or none", c->param->store->program);
	return -EIO;
}

/** All counters are there. */
static bool set_all(const struct counters *c, int fd)
{
	const struct store *s = c->param->store;
	char text[REQUEST], answer[REQUEST];

	for (unsigned int i = 0; s->set != NULL && i < COUNTERS; i++) {
		size_t len = (size_t)s->set(text, i), stored = strlen(s->stored);

		if (send(fd, text, len, MSG_NOSIGNAL) != (ssize_t)len ||
		    recv(fd, answer, stored, MSG_WAITALL) != (ssize_t)stored ||
		    memcmp(answer, s->stored, stored) != 0)
			return false;
	}
	return true;
}

static void store_close(void *state)
{
	struct counters *c = state;

	child_kill(&c->server);
	free(c);
}

static bool start_server(struct counters *c)
{
	const char *argv[24];
	char number[16];
	unsigned int n = 0;
	bool good;
	int fd;

	for (; c->param->store->argv[n] != NULL; n++)
		argv[n] = c->param->store->argv[n];
	snprintf(number, sizeof(number), "%u", c->port);
	argv[n++] = number;
	argv[n] = NULL;
	if (child_start(&c->server, c->env, (struct child_cpus){.first = 1, .n = 1}, argv, NULL) != 0)
		return false;
	fd = tcp_connect(c->port);
	good = fd >= 0 && set_all(c, fd);
	if (fd >= 0)
		close(fd);
	return good;
}

static void *store_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	const struct counters_param *p = line->param;
	struct counters *c;

	if (env->cpus < 2) {
		snprintf(why, BENCH_REASON, "needs two CPUs");
		return NULL;
	}
	if (!child_there(p->store->program, why))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return NULL;
	c->param = p;
	c->env = env;
	c->port = tcp_port();
	if (start_server(c))
		return c;
	snprintf(why, BENCH_REASON, "%s does not answer", p->store->program);
	store_close(c);
	return NULL;
}

static const struct bench_ops store_ops = {.open = store_open, .run = store_run, .close = store_close};

static const struct store redis = {.program = "redis-server",
				   .argv = (const char *const[]){"redis-server", "--bind", "127.0.0.1",
								 "--save", "", "--appendonly", "no",
								 "--loglevel", "warning", "--port", NULL},
				   .add = redis_add,
				   .is_number = is_redis_number};
static const struct store memcached = {
	.program = "memcached",
	.argv = (const char *const[]){"memcached", "-l", "127.0.0.1", "-t", "1", "-u", "nobody", "-p", NULL},
	.set = memcached_set,
	.stored = "STORED\r\n",
	.add = memcached_add,
	.is_number = is_digit};

/** Threads and depths that all are measured with. */
static const struct {
	unsigned int threads, depth;
} load[] = {{1, 1}, {1, 16}, {8, 1}, {8, 16}};
#define LOADS (sizeof(load) / sizeof(load[0]))

static void name_of(char to[BENCH_TEXT], const char *who, unsigned int i)
{
	snprintf(to, BENCH_TEXT, "%.60s.%uthread.depth%u", who, load[i].threads, load[i].depth);
}

static struct bench_line line_of(const char *who, unsigned int i)
{
	struct bench_line l = {.unit = "M/s", .better = BENCH_HIGHER, .crosses = -1};

	name_of(l.name, who, i);
	return l;
}

void bench_counter_references(struct bench_suite *s)
{
	static const struct {
		const char *name, *what;
		const struct store *store;
	} who[] = {{"reference.memcached.incr", "memcached incr", &memcached},
		   {"reference.redis.incr", "redis INCR", &redis}};
	static struct counters_param param[sizeof(who) / sizeof(who[0])][LOADS];

	for (unsigned int k = 0; k < sizeof(who) / sizeof(who[0]); k++)
		for (unsigned int i = 0; i < LOADS; i++) {
			struct bench_line l = line_of(who[k].name, i);

			param[k][i] = (struct counters_param){who[k].store, load[i].threads, load[i].depth};
			snprintf(l.what, sizeof(l.what), "%s, TCP on loopback, %u counters", who[k].what,
				 COUNTERS);
			l.reference = true;
			l.ops = &store_ops;
			l.param = &param[k][i];
			bench_add(s, &l);
		}
}

void bench_counters(struct bench_suite *s)
{
	static struct program_param param[LOADS];
	static char beside[LOADS][2][BENCH_TEXT];

	for (unsigned int i = 0; i < LOADS; i++) {
		struct bench_line l = line_of("client.counters", i);

		name_of(beside[i][0], "reference.memcached.incr", i);
		name_of(beside[i][1], "reference.redis.incr", i);
		param[i] = (struct program_param){.test = "count",
						  .threads = load[i].threads,
						  .depth = load[i].depth,
						  .figure = program_first};
		snprintf(l.what, sizeof(l.what),
			 "%u counters of an address space, threads: %u, under way in each: %u", COUNTERS,
			 load[i].threads, load[i].depth);
		l.fabric = "counters.json";
		l.beside[0] = beside[i][0];
		l.beside[1] = beside[i][1];
		l.ops = &bench_program;
		l.param = &param[i];
		if (load[i].threads == 1) {
			l.goal_kind = BENCH_GOAL_RATIO;
			l.goal = 1;
		}
		bench_add(s, &l);
	}
}
