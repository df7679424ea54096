/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a table (base/mf_counter.h), by the names of the result. */
#include <inttypes.h>
#include <string.h>

#include "show.h"

#define NAME_LEN 64

uint64_t show_since(const struct view *v, const struct counters *cleared, enum mf_merge merge, uint64_t now,
		    uint64_t then)
{
	return merge == MF_SUM && cleared != NULL ? view_since(v, cleared, now, then) : now;
}

static uint64_t since(const struct shown_table *t, enum mf_merge merge, uint16_t offset)
{
	uint64_t then = t->cleared != NULL ? mf_counter_at(t->then, offset) : 0;

	return show_since(t->v, t->cleared, merge, mf_counter_at(t->now, offset), then);
}

static void put_row(FILE *out, const struct shown_table *t, const struct mf_counter_desc *row,
		    const char *name)
{
	if (row->merge == MF_RATIO)
		show_line(out, name, "%.3f",
			  mf_counter_ratio(since(t, MF_SUM, row->offset), since(t, MF_SUM, row->per)));
	else
		show_line(out, name, "%" PRIu64, since(t, (enum mf_merge)row->merge, row->offset));
}

/** @param heading  the name of the section stands above its rows, and these are further in */
static void put_section(FILE *out, const struct shown_table *t, const char *section, bool heading)
{
	char name[NAME_LEN];

	if (heading)
		fprintf(out, "  %s\n", section);
	for (const struct mf_counter_desc *row = t->table; row->key != NULL; row++) {
		if (strcmp(row->section, section) != 0)
			continue;
		snprintf(name, sizeof(name), "%s%s", heading ? "  " : "", row->key);
		put_row(out, t, row, name);
	}
}

void show_section(FILE *out, const struct shown_table *t, const char *section)
{
	put_section(out, t, section, true);
}

/** Its rows are read by their keys, and are in no JSON object. */
static bool is_inner(const char *section)
{
	const char *end = strrchr(section, '.');

	return end != NULL && strcmp(end, ".more") == 0;
}

void show_table(FILE *out, const struct shown_table *t)
{
	const char *section = NULL;

	for (const struct mf_counter_desc *row = t->table; row->key != NULL; row++) {
		if ((section != NULL && strcmp(row->section, section) == 0) || is_inner(row->section))
			continue;
		put_section(out, t, row->section, section != NULL);
		section = row->section;
	}
}
