/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own benchmark, over shared memory and over TCP on the loopback interface. ucp_am_lat prints half
 * a round trip: it is doubled here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

#define OUTPUT 4096
#define TRIES 100
#define PATIENCE 60.0

struct ucx_param {
	const char *tls; /**< "UCX_TLS=..." */
	const char *test, *size, *count, *count_quick;
	unsigned int field; /**< of the line of figures that it prints, from 0 */
	double scale;
};

struct ucx {
	const struct bench_env *env;
	const struct ucx_param *param;
	unsigned int port;
};

static void *ucx_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct ucx *u;

	if (env->cpus < 2) {
		snprintf(why, BENCH_REASON, "needs two CPUs");
		return NULL;
	}
	if (!child_there("ucx_perftest", why))
		return NULL;
	u = calloc(1, sizeof(*u));
	if (u == NULL)
		return NULL;
	u->env = env;
	u->param = line->param;
	u->port = 20000 + (unsigned int)getpid() % 10000;
	return u;
}

/** The last line of figures with commas between. @return the one that is asked for, 0: not there */
static double figure(const char *text, unsigned int field)
{
	double value = 0;

	for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		const char *at = line + (*line == '\n');

		line += *line == '\n';
		if (*line < '0' || *line > '9')
			continue;
		for (unsigned int i = 0; i < field && at != NULL; i++)
			at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL;
		if (at != NULL)
			value = strtod(at, NULL);
	}
	return value;
}

/** The server needs a moment until it listens. */
static int run_client(const struct ucx *u, const char *const argv[], const char *const set[],
		      struct child *client, char *text)
{
	int rc = -EIO;

	for (unsigned int i = 0; i < TRIES && rc == -EIO; i++) {
		usleep(20000);
		rc = child_start(client, u->env, (struct child_cpus){.first = 1, .n = 1}, argv, set);
		if (rc == 0)
			rc = child_wait(client, PATIENCE, text, OUTPUT);
	}
	return rc;
}

static int run_pair(struct ucx *u, struct bench_sample *out, char *text)
{
	const struct ucx_param *p = u->param;
	char port[16];
	const char *set[] = {p->tls, "UCX_WARN_UNUSED_ENV_VARS=n", "UCX_LOG_LEVEL=error", NULL};
	const char *server_argv[] = {"ucx_perftest", "-p", port, NULL};
	const char *client_argv[] = {"ucx_perftest",
				     "-p",
				     port,
				     "-t",
				     p->test,
				     "-s",
				     p->size,
				     "-n",
				     u->env->quick ? p->count_quick : p->count,
				     "-v",
				     "-f",
				     "127.0.0.1",
				     NULL};
	struct child server, client = {0};
	int rc;

	snprintf(port, sizeof(port), "%u", u->port++);
	rc = child_start(&server, u->env, (struct child_cpus){.first = 0, .n = 1}, server_argv, set);
	if (rc != 0)
		return rc;
	rc = run_client(u, client_argv, set, &client, text);
	child_kill(&server);
	out->got = client.cpu;
	out->wall = client.cpu + client.waited;
	return rc;
}

static int ucx_run(void *state, struct bench_sample *out, char *why)
{
	struct ucx *u = state;
	char text[OUTPUT] = "";
	int rc = run_pair(u, out, text);

	out->value = figure(text, u->param->field) * u->param->scale;
	if (rc == 0 && out->value > 0)
		return 0;
	child_reason("ucx_perftest", text, why);
	return rc != 0 ? rc : -EIO;
}

static const struct bench_ops ucx_ops = {.open = ucx_open, .run = ucx_run, .close = free};

#define SHM "UCX_TLS=posix,sysv,self"
#define TCP "UCX_TLS=tcp"
/* Fields: iterations, p50 and two means of the latency in us, two of MB/s (2^20), two of messages/s. */
#define P50 1
#define BANDWIDTH 5
#define RATE 7

void bench_ucx(struct bench_suite *s)
{
	static const struct ucx_param param[] = {
		{SHM, "ucp_am_lat", "64", "1000000", "200000", P50, 2e3},
		{TCP, "ucp_am_lat", "64", "40000", "10000", P50, 2e3},
		{SHM, "ucp_am_bw", "64", "4000000", "1000000", RATE, 1e-6},
		{TCP, "ucp_am_bw", "64", "1000000", "300000", RATE, 1e-6},
		{SHM, "ucp_am_bw", "4096", "1000000", "300000", BANDWIDTH, (1 << 20) * 8e-9},
		{TCP, "ucp_am_bw", "4096", "200000", "50000", BANDWIDTH, (1 << 20) * 8e-9}};
	static const struct bench_line line[] = {
		{.name = "reference.ucx.lat.shm", .what = "UCX ucp_am_lat 64 B, shared memory, doubled"},
		{.name = "reference.ucx.lat.tcp", .what = "UCX ucp_am_lat 64 B, TCP, doubled"},
		{.name = "reference.ucx.rate.shm", .what = "UCX ucp_am_bw 64 B, shared memory"},
		{.name = "reference.ucx.rate.tcp", .what = "UCX ucp_am_bw 64 B, TCP"},
		{.name = "reference.ucx.bw.shm", .what = "UCX ucp_am_bw 4 KiB, shared memory"},
		{.name = "reference.ucx.bw.tcp", .what = "UCX ucp_am_bw 4 KiB, TCP"},
	};
	static const char *const unit[] = {"ns", "M/s", "Gb/s"};

	for (unsigned int i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		struct bench_line l = line[i];

		l.unit = unit[i / 2];
		l.better = i < 2 ? BENCH_LOWER : BENCH_HIGHER;
		l.crosses = i < 2 ? 2 : -1;
		l.reference = true;
		l.ops = &ucx_ops;
		l.param = &param[i];
		bench_add(s, &l);
	}
}
