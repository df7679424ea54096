/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a case. Each class has an entry of the table: what its rule needs beside class and times. */
#include <string.h>

#include "generate.h"

#define RULES_MAX 5

/** A name of an entry of nodes that has a role; "*" where it does not matter. */
static const char *some_nodes(struct draft *d)
{
	const json_t *nodes = json_object_get(d->json, "nodes");
	const json_t *entry = json_array_get(nodes, draw(d->rng, json_array_size(nodes)));

	return draw_often(d->rng, 0.5) ? "*" : json_string_value(json_object_get(entry, "name"));
}

static void on_link(struct draft *d, json_t *rule, double lo, double hi)
{
	static const char *const direction[] = {"both", "both", "up", "down"};

	json_object_set_new(rule, "rate", json_real(draw_rate(d->rng, lo, hi)));
	put_text(rule, "link", some_nodes(d));
	put_text(rule, "direction", DRAW_OF(d->rng, direction));
}

static void of_bits(struct draft *d, json_t *rule)
{
	on_link(d, rule, 1e-7, 2e-5);
}

static void of_blocks(struct draft *d, json_t *rule)
{
	on_link(d, rule, 1e-5, 5e-3);
}

static void of_messages(struct draft *d, json_t *rule)
{
	on_link(d, rule, 3e-4, 4e-2);
}

/** Held up are all behind it, too: in the mean 10 ns a message at most, or a link would never catch up. */
static void delayed(struct draft *d, json_t *rule)
{
	mf_time time = (mf_time)draw_rate(d->rng, 1e4, 3e6);
	double most = 1e4 / (double)time;

	on_link(d, rule, most / 30, most);
	put_time(rule, "time", time);
}

static void reordered(struct draft *d, json_t *rule)
{
	on_link(d, rule, 1e-3, 2e-1);
	put_time(rule, "time", draw_from(d->rng, 1, 2000) * 1000);
}

/** What a rule of each class is made of. */
static const struct entry {
	const char *class;
	void (*make)(struct draft *d, json_t *rule);
} entries[MF_FAULT_CLASSES] = {
	[MF_FAULT_BIT] = {"bit", of_bits},       [MF_FAULT_SYNC] = {"sync", of_blocks},
	[MF_FAULT_TYPE] = {"type", of_blocks},   [MF_FAULT_CUT] = {"cut", of_blocks},
	[MF_FAULT_LOSE] = {"lose", of_messages}, [MF_FAULT_DUPLICATE] = {"duplicate", of_messages},
	[MF_FAULT_DELAY] = {"delay", delayed},   [MF_FAULT_REORDER] = {"reorder", reordered},
};

const char *generate_unknown(void)
{
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		if (entries[i].make == NULL || strcmp(entries[i].class, mf_fault_names[i]) != 0)
			return mf_fault_names[i];
	return NULL;
}

/** Most cases have a few classes; one in eight has all, one in sixteen has none. */
void generate_classes(struct draft *d, const struct classes *classes)
{
	uint64_t kind = draw(d->rng, 16), left = draw_from(d->rng, 1, RULES_MAX), on = 0;

	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		on += classes->on[i];
	if (kind == 0)
		return;
	if (kind <= 2 || left > on)
		left = on;
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++) {
		if (!classes->on[i])
			continue;
		d->has[i] = draw(d->rng, on--) < left;
		left -= d->has[i];
	}
}

/** Faults strike all of the time, or a part of it. */
static void when(struct draft *d, json_t *rule)
{
	mf_time until = d->active;

	if (draw_often(d->rng, 0.3)) {
		mf_time from = draw(d->rng, d->active / 2000) * 1000;

		put_time(rule, "from", from);
		until = from + draw_from(d->rng, 1000, d->active / 2000) * 1000;
	}
	put_time(rule, "until", mf_time_min(until, d->active));
}

void generate_faults(struct draft *d)
{
	json_t *faults = json_array();

	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++) {
		if (!d->has[i])
			continue;
		for (uint64_t n = draw_from(d->rng, 1, 2); n > 0; n--) {
			json_t *rule = json_object();

			put_text(rule, "class", entries[i].class);
			entries[i].make(d, rule);
			when(d, rule);
			json_array_append_new(faults, rule);
		}
	}
	json_object_set_new(d->json, "faults", faults);
}
