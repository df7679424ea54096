/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/mf_watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "wall/wall.h"

#define LOOKS 2 /**< in the time in which a role must have had a turn */
#define SLEEPS 2 /**< looks that find a thread asleep before that counts: a page may be on its way */

/** What is known of a role. */
struct watched {
	uint64_t turns;
	mf_time since; /**< when these were seen first; not earlier than the last of them */
	mf_time cpu; /**< CPU time of its thread then */
	unsigned int asleep; /**< looks that have found it so */
	bool descheduled, reported; /**< counted */
	bool replaced; /**< its switch is cut off */
};

struct watch {
	struct wall *w;
	struct watch_log *log;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool stop; /**< below the lock */
	mf_time last_look;
	struct watched role[];
};

/** R: it has a CPU or waits for one; others: see proc(5). 0: nobody knows. */
static char thread_state(pid_t tid)
{
	char path[64], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	end = strrchr(text, ')'); /* of its name */
	return end != NULL && end[1] == ' ' ? end[2] : 0;
}

static mf_time cpu_time(const struct wall_lcore *l)
{
	struct timespec t;

	if (clock_gettime(l->cpu_clock, &t) != 0)
		return 0;
	return MF_SEC((mf_time)t.tv_sec) + MF_NS((mf_time)t.tv_nsec);
}

static void tell(const struct watch *watch, const struct mf_stall *stall)
{
	const struct mf_run_options *o = watch->w->options;

	if (o->stalled != NULL)
		o->stalled(o->say_ctx, stall);
}

static bool fails_over(const struct watch *watch, const struct role *r)
{
	return watch->w->fail_over != NULL && watch->w->fail_over(watch->w, r);
}

/** It has had a turn. */
static void begin_anew(struct watch *watch, struct role *r, struct watched *k, mf_time now, mf_time cpu)
{
	struct mf_stall over = {.role = role_name(r),
				.lcore = watch->w->lcore[r->lcore].id,
				.time = now - k->since,
				.over = true};

	if (k->reported)
		tell(watch, &over);
	*k = (struct watched){
		.turns = __atomic_load_n(&r->turns, __ATOMIC_RELAXED), .since = now, .cpu = cpu};
}

/** It is told once, and tried at each look: the other switch may be well by the next. */
static void report(struct watch *watch, struct role *r, struct watched *k, mf_time now, bool asleep)
{
	struct watch_counts *c = &watch->log->role[r - watch->w->role].counts;
	struct mf_stall stall = {.role = role_name(r),
				 .lcore = watch->w->lcore[r->lcore].id,
				 .time = now - k->since,
				 .asleep = asleep};

	if (!k->reported && asleep)
		c->asleep++;
	else if (!k->reported)
		c->stalled++;
	stall.replaced = k->replaced = fails_over(watch, r);
	if (!k->reported || k->replaced)
		tell(watch, &stall);
	k->reported = true;
}

/** It has had no turn for too long. */
static void judge(struct watch *watch, struct role *r, struct watched *k, mf_time now, mf_time cpu)
{
	struct watch_counts *c = &watch->log->role[r - watch->w->role].counts;
	char state;

	c->longest = now - k->since > c->longest ? now - k->since : c->longest;
	if (k->reported) {
		if (!k->replaced)
			report(watch, r, k, now, k->asleep >= SLEEPS);
		return;
	}
	if (cpu - k->cpu >= watch->log->time) {
		report(watch, r, k, now, false);
		return;
	}
	state = thread_state(watch->w->lcore[r->lcore].tid);
	k->asleep = state == 0 || state == 'R' ? 0 : k->asleep + 1;
	if (k->asleep >= SLEEPS) {
		report(watch, r, k, now, true);
	} else if (k->asleep == 0 && !k->descheduled) {
		k->descheduled = true;
		c->descheduled++;
	}
}

/** @param late  nobody has looked for too long to judge */
static void look_at_roles(struct watch *watch, const struct wall_lcore *l, mf_time now, mf_time cpu,
			  bool late)
{
	for (unsigned int i = 0; i < watch->w->roles; i++) {
		struct role *r = &watch->w->role[i];
		struct watched *k = &watch->role[i];

		if (&watch->w->lcore[r->lcore] != l)
			continue;
		if (__atomic_load_n(&r->turns, __ATOMIC_RELAXED) != k->turns || (late && !k->reported))
			begin_anew(watch, r, k, now, cpu);
		else if (now - k->since >= watch->log->time)
			judge(watch, r, k, now, cpu);
	}
}

/** The process was stopped where neither the watchdog nor any lcore has had a CPU for most of the time. */
static void look(struct watch *watch, mf_time now)
{
	mf_time slept = now - watch->last_look;
	bool late = slept >= 2 * watch->log->time, paused = false;

	watch->last_look = now;
	for (unsigned int i = 0; i < watch->w->lcores; i++) {
		struct wall_lcore *l = &watch->w->lcore[i];
		mf_time cpu;

		if (!atomic_load_explicit(&l->runs, memory_order_acquire))
			continue;
		cpu = cpu_time(l);
		paused = (i == 0 || paused) && cpu - l->cpu_seen < slept / 4;
		l->cpu_seen = cpu;
		look_at_roles(watch, l, now, cpu, late);
	}
	if (!late || !paused)
		return;
	watch->log->paused++;
	if (slept > watch->log->paused_longest)
		watch->log->paused_longest = slept;
}

/** @return false: it is to end */
static bool wait_for_look(struct watch *watch)
{
	uint64_t ns = watch->log->time / LOOKS / 1000;
	struct timespec until;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000U);
	until.tv_nsec = (long)(ns % 1000000000U);
	pthread_mutex_lock(&watch->lock);
	while (!watch->stop && pthread_cond_timedwait(&watch->woken, &watch->lock, &until) == 0)
		;
	stop = watch->stop;
	pthread_mutex_unlock(&watch->lock);
	return !stop;
}

static void *watch_main(void *arg)
{
	struct watch *watch = arg;

	while (wait_for_look(watch))
		look(watch, wall_now(watch->w));
	return NULL;
}

static struct watch_log *new_log(const struct wall *w)
{
	struct watch_log *log = calloc(1, sizeof(*log) + w->roles * sizeof(log->role[0]));

	if (log == NULL)
		return NULL;
	log->time = w->f->config->watchdog;
	log->roles = w->roles;
	for (unsigned int i = 0; i < w->roles; i++)
		log->role[i].name = role_name(&w->role[i]);
	return log;
}

static struct watch *new_watch(struct wall *w)
{
	struct watch *watch = calloc(1, sizeof(*watch) + w->roles * sizeof(watch->role[0]));
	pthread_condattr_t attr;

	if (watch == NULL)
		return NULL;
	watch->w = w;
	for (unsigned int i = 0; i < w->roles; i++)
		watch->role[i].turns = UINT64_MAX; /* the first look finds another number */
	watch->log = new_log(w);
	if (watch->log == NULL) {
		free(watch);
		return NULL;
	}
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->woken, &attr);
	pthread_condattr_destroy(&attr);
	return watch;
}

static void free_watch(struct watch *watch)
{
	pthread_cond_destroy(&watch->woken);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

int watch_start(struct wall *w)
{
	struct watch *watch;
	int rc;

	if (w->f->config->watchdog == 0)
		return 0;
	watch = new_watch(w);
	if (watch == NULL)
		return -ENOMEM;
	rc = rte_ctrl_thread_create(&watch->thread, "memfab-watch", NULL, watch_main, watch);
	if (rc != 0) {
		free(watch->log);
		free_watch(watch);
		return rc;
	}
	w->watch = watch;
	pthread_mutex_lock(&w->f->readers);
	w->f->watched = watch->log;
	pthread_mutex_unlock(&w->f->readers);
	return 0;
}

void watch_stop(struct wall *w)
{
	struct watch *watch = w->watch;

	if (watch == NULL)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->stop = true;
	pthread_cond_signal(&watch->woken);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	free_watch(watch);
	w->watch = NULL;
}
