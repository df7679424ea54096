/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of the result that are made of tables of counters: the writer, the tables, the schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "result/mf_result.h"
#include "systems/edm/host/mf_host.h"
#include "systems/edm/sched/mf_sched.h"
#include "systems/edm/switch/mf_switch.h"
#include "systems/frames/mf_frame_host.h"
#include "systems/frames/mf_frame_switch.h"

#define ROWS_MAX 128
#define PATH_MAX_LEN 512

static const struct mf_counter_desc *const tables[] = {
	mf_host_counters, mf_switch_counters, mf_sched_counters, mf_frame_host_table, mf_frame_switch_table};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* The writer */

struct stats {
	uint64_t grants, matchings, longest;
};

#define ROW(section, key, merge, field) MF_COUNTER(section, key, merge, struct stats, field)

static const struct mf_counter_desc small[] = {
	ROW("a", "matchings", MF_SUM, matchings),
	ROW("a", "grants", MF_SUM, grants),
	MF_COUNTER_RATIO("a", "grants_per_matching", struct stats, grants, matchings),
	ROW("a.b", "longest_max", MF_MAX, longest),
	{0},
};

static void assert_written(const char *section, const struct stats *s, const char *text)
{
	json_t *o = section_json(small, section, s);
	char *written = json_dumps(o, JSON_COMPACT);

	cr_expect_str_eq(written, text);
	free(written);
	json_decref(o);
}

/* Rows of the section alone, in their order; a quotient is a real number. */
Test(counters, section)
{
	const struct stats s = {.grants = 10, .matchings = 4, .longest = 7};

	assert_written("a", &s, "{\"matchings\":4,\"grants\":10,\"grants_per_matching\":2.5}");
	assert_written("a.b", &s, "{\"longest_max\":7}");
	assert_written("b", &s, "{}");
	assert_written("a", &(struct stats){.grants = 10},
		       "{\"matchings\":0,\"grants\":10,\"grants_per_matching\":0.0}");
}

Test(counters, behind_what_is_there)
{
	const struct stats s = {.longest = 7};
	json_t *o = json_object();
	char *written;

	result_count(o, "first", 1);
	result_section(o, small, "a.b", &s);
	written = json_dumps(o, JSON_COMPACT);
	cr_expect_str_eq(written, "{\"first\":1,\"longest_max\":7}");
	free(written);
	json_decref(o);
}

/* A counter that was added to a table is the last one of its section, and is merged as the others are. */
Test(counters, one_more_row)
{
	const struct mf_counter_desc more =
		MF_COUNTER("switch", "errors", MF_SUM, struct mf_switch_stats, errors);
	const struct mf_switch_stats s = {.notifications = 3, .errors = 5};
	struct mf_counter_desc table[ROWS_MAX] = {0};
	struct mf_switch_stats sum = {0};
	unsigned int n = 0;
	json_t *o, *before;

	while (mf_switch_counters[n].key != NULL && strcmp(mf_switch_counters[n].section, "switch") == 0)
		n++;
	cr_assert(n > 0 && n + 1 < ROWS_MAX);
	memcpy(table, mf_switch_counters, n * sizeof(*table));
	table[n] = more;
	mf_counters_add(table, &sum, &s);
	mf_counters_add(table, &sum, &s);
	o = section_json(table, "switch", &sum);
	before = section_json(mf_switch_counters, "switch", &sum);
	cr_expect_eq(json_integer_value(json_object_get(o, "errors")), 10);
	cr_expect_eq(json_integer_value(json_object_get(o, "notifications")), 6);
	cr_expect_eq(json_object_size(o), json_object_size(before) + 1);
	json_object_del(o, "errors");
	cr_expect(json_equal(o, before));
	json_decref(o);
	json_decref(before);
}

/* The tables */

/** How the counter at an offset is merged. @return -1: no row has it */
static int merge_of(const struct mf_counter_desc *table, uint16_t offset)
{
	for (const struct mf_counter_desc *row = table; row->key != NULL; row++)
		if (row->offset == offset && row->merge != MF_RATIO)
			return row->merge;
	return -1;
}

static void check_row(const struct mf_counter_desc *table, const struct mf_counter_desc *row)
{
	size_t len = strlen(row->key);

	for (const struct mf_counter_desc *r = table; r != row; r++) {
		cr_expect(strcmp(r->key, row->key) != 0 || strcmp(r->section, row->section) != 0,
			  "two rows %s of %s", row->key, row->section);
		cr_expect(strcmp(r->section, row->section) != 0 || strcmp(row->section, row[-1].section) == 0,
			  "%s of %s stands apart", row->key, row->section);
	}
	if (row->merge == MF_RATIO) {
		cr_expect_eq(merge_of(table, row->offset), MF_SUM, "%s: the dividend does not add up",
			     row->key);
		cr_expect_eq(merge_of(table, row->per), MF_SUM, "%s: the divisor does not add up", row->key);
		return;
	}
	cr_expect_eq(merge_of(table, row->offset), row->merge, "%s is merged in two ways", row->key);
	/* memfab-report, which merges the results of processes, knows the names alone. */
	cr_expect_eq(row->merge == MF_MAX, len > 4 && strcmp(row->key + len - 4, "_max") == 0, "%s",
		     row->key);
}

Test(counters, tables_are_sound)
{
	for (size_t t = 0; t < TABLES; t++)
		for (const struct mf_counter_desc *row = tables[t]; row->key != NULL; row++)
			check_row(tables[t], row);
}

/* The schema */

static json_t *schema(void)
{
	char path[PATH_MAX_LEN];
	json_error_t error;
	json_t *o;

	cr_assert_not_null(getenv("MF_VECTORS"), "MF_VECTORS names tests/vectors");
	snprintf(path, sizeof(path), "%s/../../docs/result.schema.json", getenv("MF_VECTORS"));
	o = json_load_file(path, 0, &error);
	cr_assert_not_null(o, "%s: %s", path, error.text);
	return o;
}

/** What the schema says of a section of the result: a path with dots. */
static const json_t *described(const json_t *schema, const char *section)
{
	const json_t *o = json_object_get(json_object_get(schema, "properties"), "result");
	char path[PATH_MAX_LEN], *rest = NULL;

	snprintf(path, sizeof(path), "%s", section);
	for (char *name = strtok_r(path, ".", &rest); name != NULL; name = strtok_r(NULL, ".", &rest))
		o = json_object_get(json_object_get(o, "properties"), name);
	cr_assert_not_null(o, "the schema has no section %s", section);
	return o;
}

/** Whether a row is in the schema, or may be there without being named. */
static bool is_known(const json_t *section, const struct mf_counter_desc *row)
{
	const json_t *type = json_object_get(json_object_get(section, "properties"), row->key);
	const char *ref;

	if (type == NULL)
		type = json_object_get(section, "additionalProperties");
	ref = json_string_value(json_object_get(type, "$ref"));
	return ref != NULL && (strcmp(ref, "#/$defs/number") == 0 ||
			       (row->merge != MF_RATIO && strcmp(ref, "#/$defs/count") == 0));
}

/** Telemetry alone has "host"; sections that end in ".more" are not written. */
static bool is_in_result(const char *section)
{
	size_t len = strlen(section);

	if (strcmp(section, "host") == 0 || strncmp(section, "host.", 5) == 0)
		return false;
	return (len < 5 || strcmp(section + len - 5, ".more") != 0);
}

Test(counters, the_schema_accepts_every_row)
{
	json_t *all = schema();

	for (size_t t = 0; t < TABLES; t++)
		for (const struct mf_counter_desc *row = tables[t]; row->key != NULL; row++)
			if (is_in_result(row->section))
				cr_expect(is_known(described(all, row->section), row), "%s of %s", row->key,
					  row->section);
	json_decref(all);
}

static const union {
	struct mf_host_stats host;
	struct mf_switch_stats sw;
	struct mf_sched_stats sched;
	struct mf_role_stats all;
} none;

/** Further counters of a section need no change of the schema; what they are is said. */
static void check_open(const json_t *all, const struct mf_counter_desc *table, const char *section)
{
	const struct mf_counter_desc more = {.key = "surprise", .section = section, .merge = MF_SUM};
	json_t *properties = json_object_get(described(all, section), "properties"), *o;
	const char *key;
	void *it;

	cr_expect(is_known(described(all, section), &more), "%s is closed", section);
	o = section_json(table, section, &none);
	for (it = json_object_iter(properties); it != NULL; it = json_object_iter_next(properties, it)) {
		key = json_object_iter_key(it);
		cr_expect_not_null(json_object_get(o, key), "%s of %s has no row", key, section);
	}
	json_decref(o);
}

Test(counters, sections_take_further_counters)
{
	json_t *all = schema();

	for (size_t t = 0; t < TABLES; t++)
		for (const struct mf_counter_desc *row = tables[t]; row->key != NULL; row++)
			if (is_in_result(row->section) &&
			    (row == tables[t] || strcmp(row->section, row[-1].section) != 0))
				check_open(all, tables[t], row->section);
	json_decref(all);
}

#define SWITCH(section, key, field)                                                       \
	{                                                                                 \
		mf_switch_counters, section, key, offsetof(struct mf_switch_stats, field) \
	}
#define SCHED(section, key, field)                                                      \
	{                                                                               \
		mf_sched_counters, section, key, offsetof(struct mf_sched_stats, field) \
	}
#define HOST(section, key, field)                                                     \
	{                                                                             \
		mf_host_counters, section, key, offsetof(struct mf_host_stats, field) \
	}
#define FRAMES(section, key, field)                                                                 \
	{                                                                                           \
		mf_frame_switch_table, section, key, offsetof(struct mf_frame_switch_counts, field) \
	}

/* Counters that the result reads by their keys. */
Test(counters, rows_are_found_by_their_keys)
{
	static const struct {
		const struct mf_counter_desc *table;
		const char *section, *key;
		size_t offset;
	} rows[] = {SWITCH("switch.more", "take_overs", takes),
		    SWITCH("switch.more", "demands_taken_down", logged),
		    SWITCH("switch.more", "notification_and_grant_blocks", control_blocks),
		    SWITCH("switch.more", "waited_ps", waited),
		    SWITCH("switch", "grants", grants),
		    SWITCH("switch", "requests_forwarded", requests_forwarded),
		    SWITCH("switch", "chunks", chunks),
		    SWITCH("drops.switch", "not_granted", drop_ungranted),
		    SWITCH("drops.switch", "room", drop_room),
		    SWITCH("drops.switch", "frame_room", drop_frame_room),
		    SWITCH("drops.switch", "descriptors", drop_descriptor),
		    FRAMES("drops.switch", "frame_room", drop_frame_room),
		    FRAMES("drops.switch", "room", drop_room),
		    FRAMES("drops.switch", "protocol", drop_proto),
		    FRAMES("switch.more", "waited_ps", none),
		    SCHED("scheduler", "demands", demands),
		    SCHED("scheduler", "dropped_over_x", dropped_x),
		    SCHED("scheduler", "dropped_bad", dropped_bad),
		    SCHED("scheduler.more", "refused", refused),
		    HOST("once", "copies", copies),
		    HOST("once", "old", old),
		    HOST("host", "grants_ignored", ignored_grants),
		    HOST("host", "requests_fenced", drop_fenced)};
	const struct mf_counter_desc *row;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		row = mf_counter_row(rows[i].table, rows[i].section, rows[i].key);
		cr_assert_not_null(row, "%s of %s", rows[i].key, rows[i].section);
		cr_expect_eq(row->offset, rows[i].offset, "%s of %s", rows[i].key, rows[i].section);
	}
	cr_expect_null(mf_counter_row(mf_switch_counters, "switch", "no_such"));
	cr_expect_null(mf_counter_row(mf_switch_counters, "no.such", "grants"));
}

/* What kinds have in common the result writes in the same order: no key is lost or new. */
Test(counters, kinds_have_the_same_keys)
{
	static const struct {
		const struct mf_counter_desc *edm, *frames;
		const char *section;
	} of[] = {{mf_host_counters, mf_frame_host_table, "drops.hosts"},
		  {mf_host_counters, mf_frame_host_table, "host.rx_messages"},
		  {mf_host_counters, mf_frame_host_table, "host.tx_messages"},
		  {mf_switch_counters, mf_frame_switch_table, "drops.switch"}};
	char *edm, *frames;
	json_t *o;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		o = section_json(of[i].edm, of[i].section, &none);
		edm = json_dumps(o, 0);
		json_decref(o);
		o = section_json(of[i].frames, of[i].section, &none);
		frames = json_dumps(o, 0);
		json_decref(o);
		cr_expect_gt(strlen(edm), 2, "%s", of[i].section);
		cr_expect_str_eq(frames, edm, "%s", of[i].section);
		free(edm);
		free(frames);
	}
}
