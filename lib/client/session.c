/* SPDX-License-Identifier: BSD-3-Clause */
/* Open fabrics of this process, by file. */
#include "client/mf_session.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_pause.h>

#include "config/mf_config_query.h"
#include "file/mf_files.h"
#include "file/mf_output.h"
#include "linear/mf_history.h"
#include "telemetry/mf_telemetry.h"

#include "client/session_log.h"
#include "client/session_poller.h"

#define PATIENCE 100 /* looks at a lock that is taken before the CPU is given away */

struct mf_session {
	atomic_bool turn; /**< taken: who has it may turn, and change embedded clients */
	atomic_uint wanted; /**< threads that wait for it, before which nobody takes it for a turn */
	struct mf_fabric *fabric;
	struct session_poller *poller; /**< service or thread */
	struct mf_session *next;
	unsigned int users;
	char *path; /**< canonical */
	char *only; /**< NULL: all roles */
	bool workload;
	void (*ending)(struct mf_session *s); /**< NULL: nobody asked */
	struct mf_history_target history;
	struct mf_output history_out; /**< not open: there is no history */
	struct mf_config config;
} __attribute__((aligned(64)));

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mf_session *open_sessions;

/**
 * Memory of EAL is shared with who was forked: were the fabric turned there, too, it would be turned by two.
 * The threads that turn it, and those that may hold its lock, are not there.
 */
static bool forked;

static void on_fork(void)
{
	forked = forked || open_sessions != NULL;
}

static void register_on_fork(void)
{
	pthread_atfork(NULL, NULL, on_fork);
}

static void watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_on_fork);
}

bool mf_session_forked(void)
{
	return forked;
}

static bool try_lock(struct mf_session *s)
{
	return !atomic_load_explicit(&s->turn, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&s->turn, true, memory_order_acquire);
}

/**
 * Who has it may have lost its CPU within a turn; and those who turn have it nearly all the time, so they
 * leave it to who waits.
 */
void mf_session_lock(struct mf_session *s)
{
	atomic_fetch_add_explicit(&s->wanted, 1, memory_order_relaxed);
	for (unsigned int i = 0; !try_lock(s); i++)
		if (i < PATIENCE)
			rte_pause();
		else
			sched_yield();
	atomic_fetch_sub_explicit(&s->wanted, 1, memory_order_relaxed);
}

void mf_session_unlock(struct mf_session *s)
{
	atomic_store_explicit(&s->turn, false, memory_order_release);
}

unsigned int session_turn(struct mf_session *s)
{
	unsigned int work;

	if (unlikely(atomic_load_explicit(&s->wanted, memory_order_relaxed) != 0) || !try_lock(s))
		return 0;
	work = mf_fabric_turn(s->fabric);
	mf_session_unlock(s);
	return work;
}

unsigned int mf_session_poll(struct mf_session *s)
{
	return session_poller_has(s->poller) || forked ? 0 : session_turn(s);
}

#define OTHERS_PERIOD MF_MS(1) /**< where others turn it: how long what has completed may wait to be seen */

bool mf_session_turned(const struct mf_session *s)
{
	return session_poller_has(s->poller);
}

mf_time mf_session_next(struct mf_session *s)
{
	mf_time by;

	mf_session_lock(s);
	by = mf_session_turned(s) ? OTHERS_PERIOD : mf_fabric_next(s->fabric);
	mf_fabric_alarm(s->fabric, by);
	mf_session_unlock(s);
	return by;
}

int mf_session_wake_fd(struct mf_session *s)
{
	int fd;

	mf_session_lock(s);
	fd = mf_fabric_wake_fd(s->fabric);
	mf_session_unlock(s);
	return fd;
}

static int node_of(const struct mf_config *config, const char *name)
{
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && strcmp(config->node[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

int mf_session_node(const struct mf_session *s, const char *name)
{
	if (s->only != NULL && strcmp(s->only, name) != 0)
		return -ENOENT;
	return node_of(&s->config, name);
}

const struct mf_config *mf_session_config(const struct mf_session *s)
{
	return &s->config;
}

const struct mf_fabric *mf_session_fabric(const struct mf_session *s)
{
	return s->fabric;
}

struct mf_history_log *mf_session_history(const struct mf_session *s, unsigned int node)
{
	return mf_fabric_history_log(s->fabric, node);
}

bool mf_session_ready(const struct mf_session *s)
{
	return mf_fabric_ready(s->fabric);
}

bool mf_session_link_up(const struct mf_session *s, unsigned int node)
{
	return mf_fabric_link_up(s->fabric, node);
}

int mf_session_attach(struct mf_session *s, unsigned int node, struct mf_embedded_client *g)
{
	int rc;

	mf_session_lock(s);
	rc = mf_fabric_attach(s->fabric, node, g);
	mf_session_unlock(s);
	return rc;
}

void mf_session_detach(struct mf_session *s, unsigned int node, struct mf_embedded_client *g)
{
	mf_session_lock(s);
	mf_fabric_detach(s->fabric, node, g);
	mf_session_unlock(s);
}

void mf_session_at_end(struct mf_session *s, void (*ending)(struct mf_session *s))
{
	s->ending = ending;
}

/** Closing returns no error, so what goes wrong here is printed. */
static void write_history(struct mf_session *s)
{
	const struct mf_history *h = mf_fabric_history(s->fabric);
	int rc;

	if (h == NULL)
		return;
	rc = mf_output_close(&s->history_out, mf_history_write(h, s->history_out.file));

	if (rc != 0)
		fprintf(stderr, "memfab: %s: %s\n", s->history.name, strerror(-rc));
	if (mf_history_full(h) != MF_NEVER)
		fprintf(stderr, "memfab: %s: its room was full; what began later is not in it\n",
			s->history.name);
}

static void destroy(struct mf_session *s)
{
	session_poller_stop(s->poller);
	if (s->ending != NULL)
		s->ending(s);
	if (s->fabric != NULL) {
		mf_telemetry_remove(s->fabric);
		mf_fabric_end(s->fabric);
		if (s->history_out.open)
			write_history(s);
		mf_fabric_free(s->fabric);
	}
	mf_output_close(&s->history_out, -ECANCELED); /* it has not come to a run */
	mf_config_free(&s->config);
	free(s->path);
	free(s->only);
	free(s);
}

static int build(struct mf_session *s, const struct mf_session_options *o, char *err, size_t errlen)
{
	struct mf_process_roles plays = {0}, *which = NULL;
	int node;

	if (o->only != NULL) {
		node = node_of(&s->config, o->only);
		if (node < 0) {
			snprintf(err, errlen, "%s: there is no node '%s'", s->path, o->only);
			return node;
		}
		plays.node[node] = true;
		which = &plays;
	}
	s->fabric = o->workload ? mf_fabric_new_process(&s->config, MF_CLOCK_WALL, which, err, errlen)
				: mf_fabric_new_embedded(&s->config, which, err, errlen);
	return s->fabric != NULL ? 0 : -EINVAL;
}

static int start(struct mf_session *s, const struct mf_session_options *o, char *err, size_t errlen)
{
	struct mf_run_options options = {.say = session_log_link,
					 .device = session_log_device,
					 .waiting = session_log_waiting,
					 .history = s->history_out.open ? s->history.capacity : 0};
	int rc = mf_fabric_start(s->fabric, &options);
	const char *why = mf_fabric_error(s->fabric);

	if (rc == 0)
		rc = session_poller_start(s, o->poller == MF_SESSION_THREAD, &s->poller);
	if (rc == 0)
		rc = mf_telemetry_add(s->fabric, s->path);
	if (rc != 0)
		snprintf(err, errlen, "%s: %s", s->path, why != NULL ? why : strerror(-rc));
	return rc;
}

static int open_history(struct mf_session *s, const char *target, char *err, size_t errlen)
{
	int rc = mf_history_target(target, &s->history, err, errlen);
	struct mf_files files = {.n = 0};

	if (rc != 0)
		return rc;
	mf_config_files(&s->config, s->path, &files);
	mf_files_written(&files, "MEMFAB_HISTORY", s->history.name);
	rc = mf_files_check(&files, err, errlen);
	if (rc != 0)
		return rc;
	rc = mf_output_open(&s->history_out, s->history.name);
	if (rc != 0)
		snprintf(err, errlen, "%s: %s", s->history.name, strerror(-rc));
	return rc;
}

/** A sink compares what is written with contents of its own: it is no memory for programs. */
static int check_memories(const struct mf_config *config, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < config->slots; i++)
		if (mf_config_is_sink(&config->node[i])) {
			snprintf(err, errlen,
				 "node '%s' has a sink, which stores nothing: programs need memory",
				 config->node[i].name);
			return -EINVAL;
		}
	return 0;
}

/** @param path  becomes the session's */
static int create(char *path, const struct mf_session_options *o, struct mf_session **out, char *err,
		  size_t errlen)
{
	struct mf_session *s = aligned_alloc(64, sizeof(*s));
	int rc;

	if (s == NULL) {
		free(path);
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	memset(s, 0, sizeof(*s));
	s->path = path;
	s->users = 1;
	s->workload = o->workload;
	s->only = o->only != NULL ? strdup(o->only) : NULL;
	rc = mf_config_load(path, &s->config, err, errlen);
	if (rc == 0)
		rc = check_memories(&s->config, err, errlen);
	if (rc == 0 && o->history != NULL)
		rc = open_history(s, o->history, err, errlen);
	if (rc == 0)
		rc = build(s, o, err, errlen);
	if (rc == 0)
		rc = start(s, o, err, errlen);
	if (rc != 0) {
		destroy(s);
		return rc;
	}
	s->next = open_sessions;
	open_sessions = s;
	*out = s;
	return 0;
}

/** Two nodes alone are two fabrics, as if each had a process of its own. */
static bool apart(const struct mf_session *s, const struct mf_session_options *o)
{
	return s->only != NULL && o->only != NULL && strcmp(s->only, o->only) != 0;
}

static bool agree(const struct mf_session *s, const struct mf_session_options *o)
{
	return s->workload == o->workload && (s->only != NULL) == (o->only != NULL);
}

static int open_path(char *path, const struct mf_session_options *o, struct mf_session **out, char *err,
		     size_t errlen)
{
	for (struct mf_session *s = open_sessions; s != NULL; s = s->next) {
		if (strcmp(s->path, path) != 0 || apart(s, o))
			continue;
		free(path);
		if (!agree(s, o)) {
			snprintf(err, errlen, "%s: is open already, with other options", s->path);
			return -EEXIST;
		}
		s->users++;
		*out = s;
		return 0;
	}
	return create(path, o, out, err, errlen);
}

int mf_session_open(const char *file, const struct mf_session_options *options, struct mf_session **out,
		    char *err, size_t errlen)
{
	char *path;
	int rc;

	if (forked) {
		snprintf(err, errlen, "%s: cannot be opened behind a fork: exec a program, or fork before",
			 file);
		return -EPERM;
	}
	path = realpath(file, NULL);
	if (path == NULL) {
		rc = -errno;
		snprintf(err, errlen, "%s: %s", file, strerror(errno));
		return rc;
	}
	watch_forks();
	pthread_mutex_lock(&open_lock);
	rc = open_path(path, options, out, err, errlen);
	pthread_mutex_unlock(&open_lock);
	return rc;
}

void mf_session_close(struct mf_session *s)
{
	struct mf_session **at = &open_sessions;

	if (s == NULL || forked)
		return;
	pthread_mutex_lock(&open_lock);
	if (--s->users == 0) {
		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
		destroy(s);
	}
	pthread_mutex_unlock(&open_lock);
}
