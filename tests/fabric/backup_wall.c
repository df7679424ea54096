/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches under the wall clock, all in one process: one is cut off again and again, or its lcore stalls
 * and the watchdog cuts it off. No operation fails, and no read finds wrong data. And among outages of the
 * file it is cut off at any time: what fails ends, and all links come back. It needs EAL: skipped where that
 * cannot start.
 */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mf_rng.h"
#include "measure/mf_live.h"
#include "run/mf_embed.h"
#include "run/mf_fabric.h"
#include "wall/link_end.h"
#include "wall/mf_eal.h"

#define PATIENCE 120 /* seconds that a busy machine may take for anything here */
#define DEPTH 4
#define BUSY MF_MS(100) /* without a turn: others have the CPUs, and timers of operations may end for that */

static const char fabric[] =
	"{\"seed\": %u, \"watchdog\": \"%s\","
	"\"clock\": {\"wall\": {\"warmup\": \"0\", \"duration\": \"300s\", \"drain\": \"30s\"}},"
	"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 3},"
	"            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
	"\"backup\": {}, \"link\": {\"ring\": 4},"
	"\"host\": {\"read_timeout\": \"%us\", \"write_timeout\": \"%us\"},"
	"\"workload\": [{\"mix\": {\"read\": 2, \"write\": 1, \"write_ack\": 1, \"cas\": 1, \"fadd\": 1},"
	"                \"size\": %u, \"depth\": %u, \"span\": \"64KiB\"}]}";

/* Plain writes may be lost without a word. Outages end long before the load does. */
#define OUTAGES_OVER MF_SEC(1)
#define CUT_EVERY MF_MS(10) /* on average; cuts by turns come in addition */
/* With depth 1: where nodes have lost different switches nobody promises the order of a pair (Limits). */
static const char outages[] =
	"{\"seed\": %u, \"watchdog\": \"0\","
	"\"clock\": {\"wall\": {\"warmup\": \"0\", \"duration\": \"60s\", \"drain\": \"30s\"}},"
	"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 3},"
	"            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
	"\"backup\": {}, \"link\": {\"ring\": 4},"
	"\"host\": {\"read_timeout\": \"50ms\", \"write_timeout\": \"50ms\", \"once\": true},"
	"\"workload\": [{\"mix\": {\"read\": 2, \"write_ack\": 1, \"cas\": 1, \"fadd\": 1},"
	"                \"size\": %u, \"depth\": 1, \"span\": \"64KiB\"}],"
	"\"faults\": ["
	"  {\"class\": \"link_down\", \"link\": \"*\", \"from\": \"0\", \"until\": \"1s\","
	"   \"every\": \"20ms\", \"for\": \"2ms\"},"
	"  {\"class\": \"link_down\", \"link\": \"*\", \"switch\": 1, \"from\": \"0\", \"until\": \"1s\","
	"   \"every\": \"20ms\", \"for\": \"2ms\"},"
	"  {\"class\": \"switch_crash\", \"from\": \"0\", \"until\": \"1s\","
	"   \"every\": \"30ms\", \"for\": \"3ms\"},"
	"  {\"class\": \"switch_crash\", \"switch\": 1, \"from\": \"0\", \"until\": \"1s\","
	"   \"every\": \"30ms\", \"for\": \"3ms\"},"
	"  {\"class\": \"node_crash\", \"node\": \"*\", \"from\": \"0\", \"until\": \"1s\","
	"   \"every\": \"50ms\", \"for\": \"5ms\"}]}";

/** Of operations, s. On a busy machine a run is made again with the next: what is lost fails with any. */
static const unsigned int timers[] = {1, 8};

struct scene {
	struct mf_fabric *f;
	struct mf_rng rng;
	unsigned int timer; /* s; when it is over, a switch that was cut off knows all again */
	mf_time looked, still; /* when it had its last turn; the longest time without one */
	unsigned int cuts, wanted;
	mf_time since; /* both switches are there; 0: they are not */
	bool watchdog; /* it cuts switches off, too */
	atomic_uint stalled, replaced, over;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct mf_fabric *make_of(struct mf_config *config, const char *text)
{
	struct mf_fabric *f;
	char err[256] = "";

	cr_assert_eq(mf_config_parse(text, strlen(text), "test", config, err, sizeof(err)), 0, "%s", err);
	f = mf_fabric_new(config, MF_CLOCK_WALL, err, sizeof(err));
	cr_assert_not_null(f, "%s", err);
	return f;
}

static struct mf_fabric *make(struct mf_config *config, unsigned int seed, const char *watchdog,
			      unsigned int timer, unsigned int size)
{
	char text[2048];

	snprintf(text, sizeof(text), fabric, seed, watchdog, timer, timer, size, DEPTH);
	return make_of(config, text);
}

static void start_one(void)
{
	struct mf_config config;
	struct mf_fabric *f = make(&config, 0, "0", timers[0], 8);

	if (mf_eal_start_one("backup_wall", &config) != 0)
		cr_skip_test("EAL does not start");
	mf_fabric_free(f);
	mf_config_free(&config);
}

/** So many lcores, on the CPUs that there are: each switch has one, and so has each scheduler. */
static void start_many(unsigned int lcores)
{
	char options[1024];
	cpu_set_t cpus;
	int n;

	n = snprintf(options, sizeof(options),
		     "--no-huge -m 512 --no-shconf --no-pci --no-telemetry --log-level lib.eal:error "
		     "--file-prefix memfab-%d --lcores (0-%u)@(",
		     (int)getpid(), lcores - 1);
	cr_assert_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (unsigned int i = 0; i < CPU_SETSIZE && n < 900; i++)
		if (CPU_ISSET(i, &cpus))
			n += snprintf(options + n, sizeof(options) - (size_t)n, "%u,", i);
	options[n - 1] = ')';
	if (mf_eal_start_line("backup_wall", options) != 0)
		cr_skip_test("EAL does not start");
}

static bool is_well(const struct wall_switch *s)
{
	return atomic_load(&s->cuts) == atomic_load(&s->crashed) && !atomic_load(&s->reviving);
}

/** Whether both switches know all. */
static bool all_is_new(struct scene *s, const struct wall *w, mf_time at)
{
	if (!is_well(&w->sw[0]) || !is_well(&w->sw[1]))
		s->since = 0;
	else if (s->since == 0)
		s->since = at;
	return s->since != 0 && at >= s->since + MF_SEC(s->timer) * 6 / 5;
}

/** Now and then one of the two is cut off: mostly the active one. */
static void cut_one(struct scene *s, struct wall *w, mf_time at)
{
	unsigned int active = mf_node_epoch(s->f->node[0].host) % 2;

	if (s->cuts == s->wanted || !all_is_new(s, w, at) || mf_rng_below(&s->rng, 4) != 0)
		return;
	s->cuts++;
	redundancy_cut(&w->sw[mf_rng_below(&s->rng, 4) == 0 ? !active : active]);
	s->since = 0;
}

/** It has a turn. */
static void look(struct scene *s, mf_time at)
{
	if (s->looked != 0)
		s->still = mf_time_max(s->still, at - s->looked);
	s->looked = at;
}

static json_int_t number(const json_t *o, const char *part, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(o, part), key));
}

/** Logs which kinds failed, and how many operations memory nodes dropped as overtaken. */
static void log_failed(const json_t *r)
{
	const json_t *kinds = json_object_get(json_object_get(r, "operations"), "kinds");
	const char *kind;
	json_t *o;

	json_object_foreach((json_t *)(uintptr_t)kinds, kind, o) {
		json_int_t failed = json_integer_value(json_object_get(o, "failed"));

		if (failed > 0)
			cr_log_error("%lld of %s failed, the longest after %lld ps", (long long)failed, kind,
				     (long long)json_integer_value(json_object_get(o, "failed_ps_max")));
	}
	cr_log_error("%lld overtaken, epoch %lld, %lld taken over", (long long)number(r, "once", "gaps"),
		     (long long)number(r, "backup", "epoch"), (long long)number(r, "backup", "take_overs"));
}

/** Nothing is lost, and nothing is wrong. @return whether it can be said: not where timers were too short */
static bool judge(const struct scene *s, unsigned int seed)
{
	json_t *all = mf_fabric_result(s->f), *r = json_object_get(all, "result");

	if (number(r, "operations", "failed_all") != 0) {
		/* An error that is logged would be one of the program. */
		if (s->still >= BUSY && s->timer == timers[0]) {
			json_decref(all);
			return false;
		}
		log_failed(r);
	}
	cr_expect_eq(number(r, "operations", "failed_all"), 0,
		     "seed %u: %lld failed, %lld by timers, %lld unknown", seed,
		     number(r, "operations", "failed_all"),
		     number(json_object_get(r, "operations"), "failed_by_cause", "timeout"),
		     number(json_object_get(r, "operations"), "failed_by_cause", "unknown"));
	cr_expect_eq(number(r, "operations", "mismatches"), 0, "seed %u: %lld wrong", seed,
		     number(r, "operations", "mismatches"));
	cr_expect_gt(number(r, "operations", "verified"), 100, "seed %u", seed);
	cr_expect_eq(number(json_object_get(r, "phases"), "end", "under_way"), 0, "seed %u", seed);
	if (s->watchdog)
		cr_expect_geq(number(r, "backup", "fail_overs"), s->cuts, "seed %u", seed);
	else
		cr_expect_eq(number(r, "backup", "fail_overs"), s->cuts, "seed %u", seed);
	cr_expect_geq(number(r, "backup", "take_overs"), s->cuts / 2, "seed %u", seed);
	json_decref(all);
	return true;
}

static bool finished(const struct mf_fabric *f, mf_time at)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL && !mf_client_finished(f->node[i].client, at))
			return false;
	return true;
}

/** Turns the fabric until all is done. */
static void turn_and_cut(struct scene *s)
{
	double end = now() + PATIENCE;
	mf_time at;

	do {
		mf_fabric_turn(s->f);
		at = wall_now(s->f->embedded);
		look(s, at);
		cut_one(s, s->f->embedded, at);
		if (s->cuts == s->wanted && all_is_new(s, s->f->embedded, at))
			mf_fabric_stop(s->f);
	} while (!finished(s->f, at) && now() < end);
}

/** On one lcore, which is ours: cuts lie between any two turns. @return as judge() */
static bool run_one(unsigned int seed, unsigned int timer, unsigned int size)
{
	struct scene s = {.wanted = 3, .timer = timer};
	struct mf_run_options options = {0};
	struct mf_config config;
	bool judged;

	s.f = make(&config, seed, "0", timer, size);
	mf_rng_init(&s.rng, seed, "cuts", 0);
	cr_assert_eq(mf_fabric_start(s.f, &options), 0);
	turn_and_cut(&s);
	mf_fabric_end(s.f);
	judged = judge(&s, seed);
	if (judged)
		cr_expect_eq(s.cuts, s.wanted, "seed %u: %u cuts", seed, s.cuts);
	mf_fabric_free(s.f);
	mf_config_free(&config);
	return judged;
}

Test(backup_wall, cut_off_between_turns)
{
	static const unsigned int size[] = {8, 300, 3000};

	start_one();
	for (unsigned int seed = 1; seed <= 2; seed++)
		if (!run_one(seed, timers[0], size[seed % 3]))
			run_one(seed, timers[1], size[seed % 3]);
}

/** Whether both ends of all links are there, of the same connection, and both switches and all nodes know. */
static bool all_are_up(const struct mf_fabric *f, const struct wall *w)
{
	bool up = true;

	for (unsigned int k = 0; k < 2; k++) {
		up &= is_well(&w->sw[k]) && w->sw[k].gone == 0;
		for (unsigned int i = 0; i < f->nodes; i++) {
			const uint32_t *end = f->graph->link[fabric_link(f, k, i)].end;
			const struct wall_end *node = &w->end[end[0]], *sw = &w->end[end[1]];

			up &= wall_end_whole(node) && wall_end_whole(sw) &&
			      node->connection == sw->connection && node->role->links == 3;
		}
	}
	return up;
}

static uint64_t verified(const struct mf_fabric *f)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		if (mf_fabric_client(f, i) != NULL)
			n += mf_fabric_client(f, i)->verified;
	return n;
}

static void judge_outages(const struct mf_fabric *f, unsigned int seed)
{
	json_t *all = mf_fabric_result(f), *r = json_object_get(all, "result");

	cr_expect_eq(number(r, "operations", "mismatches"), 0, "seed %u: %lld wrong", seed,
		     number(r, "operations", "mismatches"));
	cr_expect_gt(number(r, "operations", "verified"), 0, "seed %u", seed);
	cr_expect_eq(number(json_object_get(r, "phases"), "end", "under_way"), 0, "seed %u", seed);
	cr_expect_gt(number(r, "faults", "link_down"), 10, "seed %u", seed);
	cr_expect_gt(number(r, "faults", "switch_crash"), 10, "seed %u", seed);
	cr_expect_gt(number(r, "faults", "node_crash"), 10, "seed %u", seed);
	json_decref(all);
}

Test(backup_wall, cut_off_among_outages)
{
	double end = now() + PATIENCE;

	start_one();
	for (unsigned int seed = 1; seed <= 3; seed++) {
		struct mf_run_options options = {0};
		struct mf_config config;
		unsigned int cuts = 0;
		mf_time due = 0;
		struct mf_fabric *f;
		struct mf_rng rng;
		char text[4096];
		mf_time at;
		bool up;

		snprintf(text, sizeof(text), outages, seed, seed == 1 ? 64 : 1500);
		f = make_of(&config, text);
		mf_rng_init(&rng, seed, "cuts", 0);
		cr_assert_eq(mf_fabric_start(f, &options), 0);
		do {
			mf_fabric_turn(f);
			at = wall_now(f->embedded);
			/* Some turns, and some of every second: a busy machine has few turns. */
			if (at < OUTAGES_OVER && (mf_rng_below(&rng, 500) == 0 || at >= due)) {
				due = at + mf_rng_below(&rng, 2 * CUT_EVERY);
				redundancy_cut(&f->embedded->sw[mf_rng_below(&rng, 2)]);
				cuts++;
			}
			up = at > OUTAGES_OVER && all_are_up(f, f->embedded);
			/* While outages last a busy machine may complete no read. */
			if (up && verified(f) > 0)
				mf_fabric_stop(f);
		} while (!(up && finished(f, at)) && now() < end);
		cr_expect(up, "seed %u: all links come back", seed);
		cr_expect_gt(cuts, 10, "seed %u: %u cuts", seed, cuts);
		mf_fabric_end(f);
		judge_outages(f, seed);
		mf_fabric_free(f);
		mf_config_free(&config);
	}
}

/** In a tick, on the main lcore; the other roles are in the midst of something. */
static void cut_in_tick(void *ctx, mf_time at)
{
	struct scene *s = ctx;

	look(s, at);
	cut_one(s, s->f->running, at);
	if (s->cuts == s->wanted && all_is_new(s, s->f->running, at))
		mf_fabric_stop(s->f);
}

struct storm {
	struct mf_fabric *f;
	struct mf_rng rng;
	unsigned int cuts;
	bool up;
};

static void storm_in_tick(void *ctx, mf_time at)
{
	struct storm *s = ctx;

	if (at < OUTAGES_OVER) {
		redundancy_cut(&s->f->running->sw[mf_rng_below(&s->rng, 2)]);
		s->cuts++;
		return;
	}
	/* Words of other lcores, which do not change any more when all is well. */
	s->up = all_are_up(s->f, s->f->running);
	/* While outages last a busy machine may complete no read. */
	if (s->up && verified(s->f) > 0)
		mf_fabric_stop(s->f);
}

Test(backup_wall, cut_off_among_outages_on_several_lcores)
{
	start_many(5);
	for (unsigned int seed = 1; seed <= 2; seed++) {
		struct storm s = {0};
		struct mf_run_options options = {.tick = storm_in_tick, .tick_ctx = &s};
		struct mf_config config;
		char text[4096];

		snprintf(text, sizeof(text), outages, seed, seed == 1 ? 64 : 1500);
		s.f = make_of(&config, text);
		mf_rng_init(&s.rng, seed, "cuts", 0);
		cr_assert_eq(mf_fabric_run(s.f, &options), 0);
		cr_expect(s.up, "seed %u: all links come back", seed);
		cr_expect_gt(s.cuts, 0, "seed %u", seed);
		judge_outages(s.f, seed);
		mf_fabric_free(s.f);
		mf_config_free(&config);
	}
}

static atomic_uint denials; /* of a switch that the watchdog would cut off */

/**
 * Roles on several lcores.
 * @param s  as each run of it begins; then as the one ended that was judged
 */
static void run_many(struct scene *s, const char *watchdog, unsigned int seed, unsigned int size,
		     struct mf_run_options *options)
{
	const struct scene as = *s;
	bool judged = false;

	options->tick_ctx = options->say_ctx = s;
	for (unsigned int i = 0; i < 2 && !judged; i++) {
		struct mf_config config;

		*s = as;
		atomic_store(&denials, 0);
		s->timer = timers[i];
		s->f = make(&config, seed, watchdog, s->timer, size);
		mf_rng_init(&s->rng, seed, "cuts", 0);
		cr_assert_eq(mf_fabric_run(s->f, options), 0);
		judged = judge(s, seed);
		mf_fabric_free(s->f);
		mf_config_free(&config);
	}
}

Test(backup_wall, cut_off_on_several_lcores)
{
	start_many(5);
	for (unsigned int seed = 1; seed <= 2; seed++) {
		struct mf_run_options options = {.tick = cut_in_tick};
		struct scene s = {.wanted = 3};

		run_many(&s, "0", seed, seed == 1 ? 64 : 3000, &options);
		cr_expect_eq(s.cuts, s.wanted, "seed %u: %u cuts", seed, s.cuts);
	}
}

/** The first switch is on the main lcore, alone: that is lost in something until somebody has noticed. */
static void stall_in_tick(void *ctx, mf_time at)
{
	struct scene *s = ctx;
	double end = now() + PATIENCE;

	look(s, at);
	if (!all_is_new(s, s->f->running, at))
		return;
	if (s->cuts == s->wanted) {
		mf_fabric_stop(s->f);
		return;
	}
	while (atomic_load(&s->replaced) == s->cuts && now() < end)
		;
	s->cuts++;
	s->since = 0;
	s->looked = 0; /* that was no want of a CPU */
}

static void stalled(void *ctx, const struct mf_stall *stall)
{
	struct scene *s = ctx;

	if (strcmp(stall->role, "sw0") != 0)
		return;
	atomic_fetch_add(stall->over ? &s->over : &s->stalled, 1);
	atomic_fetch_add(&s->replaced, stall->replaced);
}

/**
 * What the watchdog has told. On a busy machine the switch may get no CPU for longer than its time:
 * it stalls and is replaced more often than the test makes it.
 */
static void watched(struct scene *s, unsigned int stalls)
{
	cr_expect_eq(s->cuts, s->wanted);
	cr_expect_geq(atomic_load(&s->replaced), s->wanted);
	cr_expect_geq(atomic_load(&s->stalled), stalls);
	cr_expect_geq(atomic_load(&s->over), s->wanted);
	cr_expect_leq(atomic_load(&s->over), atomic_load(&s->stalled));
}

Test(backup_wall, the_watchdog_notices_a_switch_that_stalls)
{
	struct mf_run_options options = {.tick = stall_in_tick, .stalled = stalled};
	struct scene s = {.wanted = 2, .watchdog = true};

	start_many(5);
	run_many(&s, "20ms", 1, 64, &options);
	watched(&s, s.wanted);
}

/** The other switch is not well when it is asked for the first time. */
static bool fails_over_at_last(struct wall *w, const struct role *r)
{
	if (r == w->sw[0].sw && atomic_fetch_add(&denials, 1) == 0)
		return false;
	return redundancy_fail_over(w, r);
}

static void stall_and_deny(void *ctx, mf_time at)
{
	struct scene *s = ctx;

	s->f->running->fail_over = fails_over_at_last;
	stall_in_tick(ctx, at);
}

Test(backup_wall, the_watchdog_tries_again)
{
	struct mf_run_options options = {.tick = stall_and_deny, .stalled = stalled};
	struct scene s = {.wanted = 1, .watchdog = true};

	start_many(5);
	run_many(&s, "20ms", 1, 64, &options);
	cr_expect_geq(atomic_load(&denials), 2);
	watched(&s, 2); /* that it is, and that it is cut off */
}
