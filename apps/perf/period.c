/* SPDX-License-Identifier: BSD-3-Clause */
#include "period.h"

#include <math.h>
#include <time.h>

#include <rte_lcore.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void period_init(struct period *p, mf_time length)
{
	p->length = (double)length * 1e-12;
	p->next = seconds() + p->length;
}

bool period_over(struct period *p)
{
	double now;

	if (p->length == 0)
		return false;
	now = seconds();
	if (now < p->next)
		return false;
	while (p->next <= now)
		p->next += p->length;
	return true;
}

/** Sleeps until the period is over. @return false: the test is, too */
static bool sleep_period(struct watch *w)
{
	struct timespec until = {.tv_sec = (time_t)w->period.next};
	bool over;

	until.tv_nsec = (long)((w->period.next - floor(w->period.next)) * 1e9);
	pthread_mutex_lock(&w->run->lock);
	while (!w->over && !period_over(&w->period))
		pthread_cond_timedwait(&w->run->changed, &w->run->lock, &until);
	over = w->over;
	pthread_mutex_unlock(&w->run->lock);
	return !over;
}

static void *watch_main(void *watch)
{
	struct watch *w = watch;

	while (sleep_period(w))
		if (run_counters(w->run, &w->view.now)) {
			show_port_stats(stdout, &w->view, -1);
			fflush(stdout);
		}
	return NULL;
}

int watch_begin(struct watch *w, struct run *r, mf_time length)
{
	int rc = 0;

	*w = (struct watch){.run = r};
	if (length == 0)
		return 0;
	rc = view_init(&w->view, r);
	period_init(&w->period, length);
	if (rc == 0 && r->clock == MF_CLOCK_WALL)
		rc = rte_ctrl_thread_create(&w->thread, "stats", NULL, watch_main, w);
	else if (rc == 0)
		rc = -pthread_create(&w->thread, NULL, watch_main, w);
	w->begun = rc == 0;
	return rc;
}

void watch_end(struct watch *w)
{
	if (w->begun) {
		pthread_mutex_lock(&w->run->lock);
		w->over = true;
		pthread_cond_broadcast(&w->run->changed);
		pthread_mutex_unlock(&w->run->lock);
		pthread_join(w->thread, NULL);
	}
	view_fini(&w->view);
}
