/* SPDX-License-Identifier: BSD-3-Clause */
/* A workload put in the place of the file's: the same checks, and a run that is stopped from outside. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "measure/mf_live.h"
#include "run/mf_fabric.h"

static const char file[] = "{\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 2},"
			   "{\"name\": \"mn\", \"role\": \"memory\"}],"
			   "\"workload\": [{\"size\": 4096, \"nodes\": \"cn1\"}]}";

static void load(struct mf_config *config)
{
	char err[256];

	cr_assert_eq(mf_config_parse(file, strlen(file), "x", config, err, sizeof(err)), 0, "%s", err);
}

static int set(struct mf_config *config, const char *text, char *err, size_t errlen)
{
	json_t *json = json_loads(text, 0, NULL);
	int rc;

	cr_assert_not_null(json, "%s", text);
	rc = mf_config_set_workload(config, json, err, errlen);
	json_decref(json);
	return rc;
}

Test(replace, another_workload_takes_the_place)
{
	struct mf_config config;
	char err[256];

	load(&config);
	cr_assert_eq(config.node[0].workload, -1);
	cr_assert_eq(set(&config, "[{\"nodes\": \"cn0\", \"size\": 64, \"depth\": 3}]", err, sizeof(err)), 0);
	cr_assert_eq(config.workloads, 1);
	cr_assert_eq(config.workload[0].depth, 3);
	cr_assert_eq(config.node[0].workload, 0);
	cr_assert_eq(config.node[1].workload, -1);
	mf_config_free(&config);
}

Test(replace, what_the_file_may_not_say_is_refused)
{
	static const struct {
		const char *text, *reason;
	} bad[] = {
		{"{}", "workload: must be an array, is an object"},
		{"[{\"size\": 0}]", "workload[0].size: 0 is out of range"},
		{"[{\"sise\": 64}]", "workload[0].sise: "},
		{"[{\"nodes\": \"cn0\"}, {\"nodes\": \"cn0\"}]", "workload[1].nodes: "},
		{"[{\"span\": \"40MiB\"}]", "workload[0].span: 2 clients need memory up to "},
	};
	struct mf_config config;
	char err[256];

	load(&config);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(set(&config, bad[i].text, err, sizeof(err)), -EINVAL, "%s", bad[i].text);
		cr_assert_eq(strncmp(err, bad[i].reason, strlen(bad[i].reason)), 0, "%s", err);
		cr_assert_eq(config.workloads, 0);
		cr_assert_eq(config.node[0].workload, -1);
	}
	cr_assert_eq(set(&config, "[{}]", err, sizeof(err)), 0, "%s", err);
	mf_config_free(&config);
}

/* As the caller of a run sees it: ticks, counters that grow, and an end that is asked for. */
struct watch {
	struct mf_fabric *f;
	unsigned int ticks, stop_at; /**< 0: when the clients are done */
	uint64_t seen;
};

static void watch(void *ctx, mf_time now)
{
	struct watch *w = ctx;
	uint64_t begun = mf_fabric_client(w->f, 0)->begun_all;

	cr_assert_geq(begun, w->seen);
	cr_assert_eq(now, mf_fabric_now(w->f));
	w->seen = begun;
	w->ticks++;
	if (w->stop_at != 0 ? w->ticks == w->stop_at : mf_fabric_clients_done(w->f))
		mf_fabric_stop(w->f);
}

/** @param measures  it gets beyond its warm-up */
static void run(const char *workload, unsigned int stop_at, bool measures, struct watch *w,
		struct mf_client_stats *s, mf_time *end)
{
	struct mf_run_options options = {.tick = watch, .tick_ctx = w, .tick_period = MF_US(5)};
	struct mf_config config;
	char err[256];

	load(&config);
	cr_assert_eq(set(&config, workload, err, sizeof(err)), 0, "%s", err);
	*w = (struct watch){.f = mf_fabric_new(&config, MF_CLOCK_VIRTUAL, err, sizeof(err)),
			    .stop_at = stop_at};
	cr_assert_not_null(w->f, "%s", err);
	cr_assert_eq(mf_fabric_run(w->f, &options), 0);
	cr_assert_eq(mf_fabric_sound(w->f, err, sizeof(err)), measures, "%s", err);
	if (!measures)
		cr_assert_str_eq(err, "nothing was measured: stopped in the warm-up of 100us");
	*end = mf_fabric_window(w->f).to;
	*s = *mf_fabric_client(w->f, 0);
	mf_fabric_free(w->f);
	mf_config_free(&config);
}

Test(replace, a_run_ends_when_it_is_asked_to)
{
	struct mf_client_stats *s = malloc(sizeof(*s));
	struct watch w;
	mf_time end;

	run("[{\"nodes\": \"cn0\"}]", 50, true, &w, s, &end);
	cr_assert_eq(w.ticks, 50);
	cr_assert_eq(end, MF_US(250));
	cr_assert_eq(s->begun_all, s->completed_all);
	run("[{\"nodes\": \"cn0\"}]", 3, false, &w, s, &end); /* within the warm-up */
	cr_assert_eq(end, MF_US(15));
	cr_assert_eq(s->kind[MF_CLIENT_READ].begun, 0);
	cr_assert_gt(s->completed_all, 0);
	free(s);
}

Test(replace, a_run_ends_when_the_clients_are_done)
{
	struct mf_client_stats *s = malloc(sizeof(*s));
	struct watch w;
	mf_time end;

	run("[{\"nodes\": \"cn0\", \"measured\": 100, \"depth\": 5}]", 0, true, &w, s, &end);
	cr_assert_eq(s->kind[MF_CLIENT_READ].completed, 100);
	cr_assert_lt(end, MF_US(300));
	cr_assert_geq(end, s->last_done);
	free(s);
}
