/* SPDX-License-Identifier: BSD-3-Clause */
/* "show sched": all rows of the tables, and what "clear sched" makes of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"
#include "show.h"

const char program_name[] = "test"; /* which every program has, for its messages */

#define NODES "\"nodes\": [{\"name\": \"n\", \"role\": \"both\", \"count\": 2}]"

static struct mf_config config;
static struct run run;
static struct view view;

static void begin(const char *file)
{
	char err[256];

	cr_assert_eq(mf_config_parse(file, strlen(file), "x", &config, err, sizeof(err)), 0, "%s", err);
	cr_assert_eq(run_init(&run, &config, MF_CLOCK_VIRTUAL), 0);
	cr_assert_eq(view_init(&view, &run), 0);
}

static void end(void)
{
	view_fini(&view);
	run_fini(&run);
	mf_config_free(&config);
}

/** What is shown of the counters that the last run has left. */
static char *shown(void)
{
	size_t len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	show_sched(out, &view);
	fclose(out);
	return text;
}

/** The value in a line of a block, or "": it is not there. @param inner  where lines are further in */
static const char *value_of(const char *text, const char *block, const char *inner, const char *name)
{
	static char value[64];
	char line[128];
	const char *from = strstr(text, block), *to;

	value[0] = '\0';
	cr_assert_not_null(from, "no block '%s' in\n%s", block, text);
	to = strstr(from, "\n  ####");
	if (inner != NULL) {
		snprintf(line, sizeof(line), "\n  %s\n", inner);
		from = strstr(from, line);
		cr_assert_not_null(from, "no '%s' in\n%s", inner, text);
		from += strlen(line) - 1;
	}
	snprintf(line, sizeof(line), "\n%s%s ", inner != NULL ? "    " : "  ", name);
	from = strstr(from, line);
	if (from != NULL && from < to)
		sscanf(from + strlen(line), "%63s", value);
	return value;
}

static void assert_value(const char *text, const char *block, const char *inner, const char *name,
			 uint64_t expected)
{
	const char *found = value_of(text, block, inner, name);
	char value[64];

	snprintf(value, sizeof(value), "%" PRIu64, expected);
	cr_expect_str_eq(found, value, "%s of '%s': %s, not %s", name, block, found, value);
}

static uint64_t *field(void *stats, uint16_t offset)
{
	return (uint64_t *)((uintptr_t)stats + offset);
}

/** Each counter of a table gets a number of its own. */
static void fill(const struct mf_counter_desc *table, void *stats, uint64_t from)
{
	for (const struct mf_counter_desc *row = table; row->key != NULL; row++)
		if (row->merge != MF_RATIO)
			*field(stats, row->offset) = from + (uint64_t)(row - table);
}

/** @param then  what was cleared, or NULL */
static void assert_table(const char *text, const char *block, const struct mf_counter_desc *table,
			 const void *now, const void *then)
{
	for (const struct mf_counter_desc *row = table; row->key != NULL; row++) {
		if (strstr(row->section, ".more") != NULL)
			continue;
		const char *inner = strcmp(row->section, table->section) != 0 ? row->section : NULL;
		uint64_t less = then != NULL && row->merge == MF_SUM ? mf_counter_at(then, row->offset) : 0;

		if (row->merge == MF_RATIO)
			cr_expect_str_neq(value_of(text, block, inner, row->key), "", "%s", row->key);
		else
			assert_value(text, block, inner, row->key, mf_counter_at(now, row->offset) - less);
	}
}

Test(show_sched, nothing_has_run)
{
	char *text;

	begin("{" NODES "}");
	text = shown();
	cr_expect_str_eq(text, "nothing has run yet: start a test\n");
	free(text);
	end();
}

Test(show_sched, every_row)
{
	char *text;

	begin("{" NODES "}");
	run.last.generation = 1;
	fill(mf_sched_counters, &run.last.sched, 100);
	fill(mf_switch_counters, &run.last.sw, 200);
	text = shown();
	assert_table(text, "# Scheduler statistics #", mf_sched_counters, &run.last.sched, NULL);
	assert_table(text, "# Switch statistics #", mf_switch_counters, &run.last.sw, NULL);
	free(text);
	end();
}

/* What happens counts from there on, and so does the quotient. Bounds, maxima and levels stay. */
Test(show_sched, cleared)
{
	struct mf_sched_stats sched;
	struct mf_switch_stats sw;
	char *text;

	begin("{" NODES "}");
	run.last.generation = 1;
	fill(mf_sched_counters, &run.last.sched, 100);
	fill(mf_switch_counters, &run.last.sw, 200);
	sched = run.last.sched;
	sw = run.last.sw;
	clear_sched(&view);
	fill(mf_sched_counters, &run.last.sched, 1000);
	fill(mf_switch_counters, &run.last.sw, 2000);
	run.last.sched.grants = sched.grants + 9;
	run.last.sched.matchings = sched.matchings + 4;
	text = shown();
	assert_table(text, "# Scheduler statistics #", mf_sched_counters, &run.last.sched, &sched);
	assert_table(text, "# Switch statistics #", mf_switch_counters, &run.last.sw, &sw);
	cr_expect_str_eq(value_of(text, "# Scheduler statistics #", NULL, "grants_per_matching"), "2.250");
	free(text);
	run.last.generation = 2; /* of another run nothing was cleared */
	text = shown();
	assert_table(text, "# Scheduler statistics #", mf_sched_counters, &run.last.sched, NULL);
	free(text);
	end();
}

/* A stack of frames has no scheduler: its counters are shown, its bridge's, and the switch's drops. */
Test(show_sched, frames)
{
	char *text;

	begin("{\"stack\": \"tcp\", " NODES "}");
	run.last.generation = 1;
	run.last.stack = (struct counter_list){
		.counter = {mf_counter_sum("segments_sent", 7), mf_counter_max("queue_max", 8)}, .n = 2};
	run.last.bridge = (struct counter_list){.counter = {mf_counter_sum("flooded", 9)}, .n = 1};
	run.last.sw.drop_frame_room = 10;
	clear_sched(&view);
	run.last.stack.counter[0].value = 17;
	run.last.sw.drop_frame_room = 30;
	text = shown();
	cr_expect_null(strstr(text, "Scheduler"), "%s", text);
	cr_expect_str_eq(value_of(text, "# Stack statistics #", NULL, "stack"), "tcp");
	assert_value(text, "# Stack statistics #", NULL, "segments_sent", 10);
	assert_value(text, "# Stack statistics #", NULL, "queue_max", 8);
	cr_expect_str_eq(value_of(text, "# Switch statistics #", NULL, "bridge"), config.tier->bridge.name);
	assert_value(text, "# Switch statistics #", NULL, "flooded", 0);
	assert_value(text, "# Switch statistics #", "drops.switch", "frame_room", 20);
	cr_expect_str_eq(value_of(text, "# Switch statistics #", NULL, "notifications"), "");
	free(text);
	end();
}
