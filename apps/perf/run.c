/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "partners.h"
#include "program.h"
#include "telemetry/mf_telemetry.h"

#define TICK MF_US(10) /* virtual clock: the window of a peak, and how soon an end is seen */

int run_init(struct run *r, struct mf_config *config, enum mf_clock clock)
{
	pthread_condattr_t attr;

	*r = (struct run){.config = config, .clock = clock};
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	return counters_init(&r->last, config->slots);
}

static void forget(struct run *r)
{
	for (int i = 0; i < r->done; i++)
		outcome_fini(&r->outcome[i]);
	free(r->outcome);
	r->outcome = NULL;
	r->points = r->done = 0;
}

void run_fini(struct run *r)
{
	forget(r);
	counters_fini(&r->last);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
}

/** Payload that any node has received: read data at the compute nodes, written data at the memories. */
static uint64_t octets_received(const struct run *r)
{
	uint64_t sum = 0;

	struct mf_host_stats s;

	for (unsigned int i = 0; i < r->config->slots; i++)
		if (mf_fabric_host(r->fabric, i, &s))
			sum += s.rx_octets;
	return sum;
}

/** Windows lie after the warm-up, and none is so short that the end of a message in it looks fast. */
static void look_at_peak(struct run *r, mf_time now)
{
	uint64_t octets;

	if (now < r->config->clock[r->clock].warmup || (r->window_at != 0 && now < r->window_at + TICK))
		return;
	octets = octets_received(r);
	if (r->window_at != 0) {
		double rate = (double)(octets - r->window_octets) * 1e12 / (double)(now - r->window_at);

		r->peak = rate > r->peak ? rate : r->peak;
	}
	r->window_at = now;
	r->window_octets = octets;
}

static void tick(void *ctx, mf_time now)
{
	struct run *r = ctx;

	look_at_peak(r, now);
	if (mf_fabric_clients_done(r->fabric))
		mf_fabric_stop(r->fabric);
}

static int run_fabric(struct run *r, bool stay)
{
	struct mf_run_options options = {
		.stay = stay,
		.say = partners_say,
		.device = partners_device,
		.waiting = partners_wait,
		.disabled = partners_disabled,
		.stalled = partners_stalled,
		.interrupt = &interrupted,
		.progress = r->silent ? NULL : progress_show,
		.progress_ctx = &r->progress,
		.tick = tick,
		.tick_ctx = r,
		.tick_period = TICK,
		.history = r->history != NULL ? r->history->capacity : 0,
	};
	int rc = mf_telemetry_add(r->fabric, NULL);

	if (rc == 0)
		rc = mf_fabric_run(r->fabric, &options);
	progress_end(&r->progress);
	if (rc != 0)
		snprintf(r->err, sizeof(r->err), "the run failed: %s",
			 mf_fabric_error(r->fabric) != NULL ? mf_fabric_error(r->fabric) : strerror(-rc));
	return rc;
}

/** Makes the fabric known to the other threads, or takes it away from them. */
static void show_fabric(struct run *r, struct mf_fabric *f)
{
	if (f == NULL)
		mf_telemetry_remove(r->fabric);
	pthread_mutex_lock(&r->lock);
	if (f == NULL)
		counters_take(&r->last, r->fabric, r->config, r->generation);
	else
		r->generation++;
	r->fabric = f;
	if (f != NULL && r->stop)
		mf_fabric_stop(f);
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

bool run_counters(struct run *r, struct counters *c)
{
	pthread_mutex_lock(&r->lock);
	if (r->fabric != NULL)
		counters_take(c, r->fabric, r->config, r->generation);
	else
		counters_copy(c, &r->last);
	pthread_mutex_unlock(&r->lock);
	return c->generation > 0;
}

/** Some memory is of another process, and outlives a run of this one. */
static bool memory_elsewhere(const struct run *r)
{
	uint16_t node[MF_NODES_MAX];
	unsigned int n = r->test.plays != NULL ? test_memory_nodes(r->config, node) : 0;

	for (unsigned int i = 0; i < n; i++)
		if (!r->test.plays->node[node[i]])
			return true;
	return false;
}

/** Who begins expects memory that nobody has written to. */
static int plan(struct run *r, const struct point *p)
{
	double mix[MF_MIXES];
	int rc;

	r->test.unverified |= r->wrote;
	rc = plan_apply(&r->test, p, r->clock, r->config, r->err, sizeof(r->err));
	test_mix(&r->test, r->clock, mix);
	for (unsigned int i = 0; i < MF_MIXES; i++)
		r->wrote |= i != MF_MIX_READ && mix[i] > 0 && memory_elsewhere(r);
	return rc;
}

static int run_point(struct run *r, struct outcome *o, bool stay)
{
	bool counted = test_iterations(&r->test, o->point.size) > 0;
	struct mf_fabric *f;
	int rc = plan(r, &o->point);

	if (rc != 0)
		return rc;
	f = mf_fabric_new_process(r->config, r->clock, r->test.plays, r->err, sizeof(r->err));
	if (f == NULL)
		return -ENOMEM;
	r->window_at = 0;
	r->peak = 0;
	r->progress.open = counted || r->test.forever;
	r->progress.end = r->config->clock[r->clock].warmup + r->config->clock[r->clock].duration;
	show_fabric(r, f);
	rc = run_fabric(r, stay);
	show_fabric(r, NULL);
	if (rc == 0)
		rc = outcome_take(o, f, r->config, r->peak);
	o->offered = r->test.rate * test_clients(&r->test, r->config);
	o->burst = r->test.burst > 1 ? r->test.burst : 1;
	if (rc == 0 && r->history != NULL && history_option_write(f, r->history_out) != SOUND)
		rc = -EIO;
	mf_fabric_free(f);
	return rc;
}

static bool over(struct run *r)
{
	bool stop;

	pthread_mutex_lock(&r->lock);
	stop = r->stop;
	pthread_mutex_unlock(&r->lock);
	return stop || atomic_load_explicit(&interrupted, memory_order_relaxed);
}

int run_test(struct run *r, const struct test *t)
{
	struct point *points = NULL;
	int rc = 0;

	forget(r);
	r->test = *t;
	r->err[0] = '\0';
	r->points = plan_points(t, r->config, &points);
	r->outcome = r->points > 0 ? calloc((size_t)r->points, sizeof(*r->outcome)) : NULL;
	if (r->outcome == NULL)
		r->points = 0;
	progress_init(&r->progress, r->config, r->clock);
	for (int i = 0; i < r->points && rc == 0 && (i == 0 || !over(r)); i++) {
		struct outcome *o = &r->outcome[i];

		o->point = points[i];
		if (r->points > 1)
			snprintf(r->progress.what, sizeof(r->progress.what), "run %d of %d", i + 1,
				 r->points);
		rc = run_point(r, o, r->stays || i + 1 < r->points);
		if (rc != 0) {
			outcome_fini(o);
			break;
		}
		r->done++;
		if (r->each != NULL)
			r->each(r->ctx, o);
	}
	free(points);
	if (rc == 0 && r->done == 0)
		snprintf(r->err, sizeof(r->err), "no memory, or no size fits");
	return rc == 0 && r->done == 0 ? -ENOMEM : rc;
}

/** A run that ends as it begins. */
int run_goodbye(struct run *r)
{
	int rc;

	if (r->test.plays == NULL || r->generation == 0)
		return 0;
	r->fabric = mf_fabric_new_process(r->config, r->clock, r->test.plays, r->err, sizeof(r->err));
	if (r->fabric == NULL)
		return -ENOMEM;
	mf_fabric_stop(r->fabric);
	rc = run_fabric(r, false);
	mf_fabric_free(r->fabric);
	r->fabric = NULL;
	return rc;
}

void run_stop(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	if (r->fabric != NULL)
		mf_fabric_stop(r->fabric);
	pthread_mutex_unlock(&r->lock);
}

bool run_sound(const struct run *r, const char **why)
{
	*why = "no samples";
	for (int i = 0; i < r->done; i++)
		if (!r->outcome[i].sound) {
			*why = r->outcome[i].reason;
			return false;
		}
	return r->done > 0;
}
