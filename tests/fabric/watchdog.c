/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles that get no turns under the wall clock. They need EAL: skipped where it cannot start. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "run/mf_fabric.h"
#include "wall/mf_eal.h"

#define PATIENCE 30 /* seconds that a busy machine may take for anything here */

static const char fabric[] = "{\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\"},"
			     "{\"name\": \"mn\", \"role\": \"memory\"}],"
			     "\"workload\": [{\"mix\": {\"read\": 1}, \"size\": 64}],"
			     "\"clock\": {\"wall\": {\"warmup\": \"0\", \"duration\": \"%s\"}}, %s}";

/**
 * What the main lcore does in its first tick, and what is said of its roles. The watchdog may wait for a
 * CPU between what it says of one role and of the next: an act goes on until it has been said of all of
 * them, and the run until all of them are over.
 */
struct scene {
	void (*act)(const struct scene *s);
	bool acted;
	atomic_bool done;
	atomic_uint stalled, asleep, over;
	atomic_bool too_short;
};

/** All roles are polled by the one lcore: cn, mn, the switch and the scheduler. */
#define ROLES 4

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void spin(const struct scene *s)
{
	double end = now() + PATIENCE;

	while (atomic_load(&s->stalled) < ROLES && now() < end)
		;
}

static void sleep_long(const struct scene *s)
{
	const struct timespec nap = {.tv_nsec = 500000000};
	double end = now() + PATIENCE;

	while (atomic_load(&s->asleep) < ROLES && now() < end)
		nanosleep(&nap, NULL);
}

static void tick(void *ctx, mf_time at)
{
	struct scene *s = ctx;

	(void)at;
	if (s->acted && atomic_load(&s->over) >= ROLES)
		atomic_store(&s->done, true);
	if (s->acted || s->act == NULL)
		return;
	s->acted = true;
	s->act(s);
}

static void stalled(void *ctx, const struct mf_stall *stall)
{
	struct scene *s = ctx;

	if (stall->time < MF_MS(20))
		atomic_store(&s->too_short, true);
	atomic_fetch_add(stall->over ? &s->over : stall->asleep ? &s->asleep : &s->stalled, 1);
}

/** @return the result's "watchdog"; the caller's. NULL: it has none */
static json_t *play(struct scene *s, const char *watchdog)
{
	struct mf_run_options options = {
		.tick = tick, .tick_ctx = s, .stalled = stalled, .say_ctx = s, .interrupt = &s->done};
	struct mf_config config;
	char text[1024], err[256] = "";
	struct mf_fabric *f;
	json_t *all, *found;
	const char *duration = s->act != NULL ? "60s" : "400ms"; /* an act is done long before */
	int n = snprintf(text, sizeof(text), fabric, duration, watchdog);

	cr_assert_eq(mf_config_parse(text, (size_t)n, "test", &config, err, sizeof(err)), 0, "%s", err);
	if (mf_eal_start_one("watchdog", &config) != 0)
		cr_skip_test("EAL does not start");
	f = mf_fabric_new(&config, MF_CLOCK_WALL, err, sizeof(err));
	cr_assert_not_null(f, "%s", err);
	cr_assert_eq(mf_fabric_run(f, &options), 0);
	all = mf_fabric_result(f);
	found = json_incref(json_object_get(json_object_get(all, "result"), "watchdog"));
	json_decref(all);
	mf_fabric_free(f);
	mf_config_free(&config);
	return found;
}

static json_int_t count(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

Test(watchdog, a_thread_that_runs_but_does_not_turn_its_roles)
{
	struct scene s = {.act = spin};
	json_t *o = play(&s, "\"watchdog\": \"20ms\"");

	cr_assert_eq(atomic_load(&s.stalled), ROLES);
	cr_assert_eq(atomic_load(&s.over), ROLES);
	cr_assert_eq(atomic_load(&s.asleep), 0);
	cr_assert_not(atomic_load(&s.too_short));
	cr_assert_eq(count(o, "stalled"), ROLES);
	cr_assert_eq(json_object_size(json_object_get(o, "roles")), ROLES);
	cr_assert_geq(count(json_object_get(json_object_get(o, "roles"), "scheduler"), "longest_ps_max"),
		      (json_int_t)MF_MS(20));
	json_decref(o);
}

Test(watchdog, a_thread_that_sleeps)
{
	struct scene s = {.act = sleep_long};
	json_t *o = play(&s, "\"watchdog\": \"20ms\"");

	cr_assert_eq(atomic_load(&s.asleep), ROLES);
	cr_assert_eq(atomic_load(&s.over), ROLES);
	cr_assert_eq(atomic_load(&s.stalled), 0);
	cr_assert_eq(count(o, "asleep"), ROLES);
	json_decref(o);
}

/** Even on a busy machine: who waits for a CPU is counted, and not blamed. */
Test(watchdog, nobody_is_blamed_for_nothing)
{
	struct scene s = {.act = NULL};
	json_t *o = play(&s, "\"watchdog\": \"20ms\"");

	cr_assert_eq(atomic_load(&s.stalled) + atomic_load(&s.asleep) + atomic_load(&s.over), 0);
	cr_assert_eq(count(o, "stalled") + count(o, "asleep"), 0);
	cr_assert_eq(count(o, "time_ps"), (json_int_t)MF_MS(20));
	json_decref(o);
}

Test(watchdog, none_is_wanted)
{
	struct scene s = {.act = NULL};

	cr_assert_null(play(&s, "\"watchdog\": \"0\""));
}
