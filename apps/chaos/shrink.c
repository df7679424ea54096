/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_unit.h"
#include "campaign.h"
#include "draw.h"
#include "judge.h"
#include "shrink.h"

#define HANGS 12 /* runs, where each that is still wrong takes as long as a run may */

/** The n-th way to make a case smaller by one thing. @return false: there are no more */
typedef bool (*step)(json_t *json, size_t n);

static bool drop_fault(json_t *json, size_t n)
{
	return json_array_remove(json_object_get(json, "faults"), n) == 0;
}

static bool drop_section(json_t *json, size_t n)
{
	static const char *const section[] = {"ethernet", "links", "scheduler", "switch",
					      "proto",    "link",  "regions",   "limits"};

	if (n >= sizeof(section) / sizeof(section[0]))
		return false;
	json_object_del(json, section[n]);
	return true;
}

/** The n-th key of some objects, which has a default. */
static bool drop_key(json_t *json, size_t n)
{
	json_t *in[] = {
		json_object_get(json, "scheduler"), json_object_get(json, "switch"),
		json_object_get(json, "link"),      json_object_get(json, "host"),
		json_object_get(json, "memory"),    json_array_get(json_object_get(json, "workload"), 0)};

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		void *key = json_object_iter(in[i]);

		for (; key != NULL && n > 0; n--)
			key = json_object_iter_next(in[i], key);
		if (key == NULL)
			continue;
		json_object_del(in[i], json_object_iter_key(key));
		return true;
	}
	return false;
}

/** An atomic, writes that are not acknowledged, ...: one kind of operation less. */
static bool drop_kind(json_t *json, size_t n)
{
	json_t *mix = json_object_get(json_array_get(json_object_get(json, "workload"), 0), "mix");
	void *key = json_object_iter(mix);

	for (; key != NULL && n > 0; n--)
		key = json_object_iter_next(mix, key);
	if (key == NULL || json_object_size(mix) == 1)
		return false;
	json_object_del(mix, json_object_iter_key(key));
	return true;
}

static void halve(json_t *in, const char *key, json_int_t least)
{
	json_int_t n = json_integer_value(json_object_get(in, key));

	if (n > least)
		json_object_set_new(in, key, json_integer(n / 2 > least ? n / 2 : least));
}

static bool fewer_nodes(json_t *json, size_t n)
{
	json_t *entry = json_array_get(json_object_get(json, "nodes"), n);

	halve(entry, "count", 1);
	return entry != NULL;
}

/** Fewer racks, switches, links, and nodes of a rack; the places of a fat tree stay as many as its nodes. */
static bool smaller_graph(json_t *json, size_t n)
{
	json_t *of = json_object_get(json_array_get(json_object_get(json, "racks"), 0), "of");
	const struct {
		json_t *in;
		bool drop; /* entries may be taken out */
	} lists[] = {
		{json_object_get(json, "racks"), false}, {json_object_get(json, "switches"), true},
		{json_object_get(json, "links"), true},  {json_object_get(of, "switches"), false},
		{json_object_get(of, "nodes"), true},    {json_object_get(of, "links"), false},
		{json_object_get(json, "nodes"), true},
	};

	if (json_object_get(json, "switches") == NULL && json_object_get(json, "topology") == NULL)
		return false;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		size_t entries = json_array_size(lists[i].in);

		if (n < entries) {
			halve(json_array_get(lists[i].in, n), "count", 1);
			return true;
		}
		n -= entries;
		if (lists[i].drop && n < entries)
			return json_array_remove(lists[i].in, n) == 0;
		n -= lists[i].drop ? entries : 0;
	}
	return false;
}

static bool smaller_tree(json_t *json, size_t n)
{
	static const char *const key[] = {"servers", "tor", "aggregation", "core"};
	json_t *tree = json_object_get(json_object_get(json, "topology"), "fat-tree");

	if (tree == NULL || n >= sizeof(key) / sizeof(key[0]))
		return false;
	halve(tree, key[n], 1);
	return true;
}

static bool less_load(json_t *json, size_t n)
{
	static const char *const key[] = {"depth", "size", "spaces", "pages", "span"};
	json_t *w = json_array_get(json_object_get(json, "workload"), 0);

	if (n >= sizeof(key) / sizeof(key[0]))
		return false;
	halve(w, key[n], strcmp(key[n], "span") == 0 ? 64 : 1);
	return true;
}

/** A fault strikes once, twice, ... on each link and direction; or one way only. */
static bool fewer_faults(json_t *json, size_t n)
{
	static const unsigned int count[] = {1, 3, 10};
	json_t *rule = json_array_get(json_object_get(json, "faults"), n / 5);

	if (n % 5 < 3)
		put_number(rule, "count", count[n % 5]);
	else
		put_text(rule, "direction", n % 5 == 3 ? "up" : "down");
	return rule != NULL;
}

static bool half_the_time(json_t *json, size_t n)
{
	json_t *v = json_object_get(json_object_get(json, "clock"), "virtual");
	const char *text = json_string_value(json_object_get(v, "duration"));
	char *end;
	uint64_t t;

	if (n > 0 || text == NULL)
		return false;
	t = strtoull(text, &end, 10);
	put_time(v, "duration", (strcmp(end, "ns") == 0 ? t * 1000 : t) / 2000 * 1000 + 1000);
	return true;
}

/* First what makes all that follow cheaper to try. */
static const step steps[] = {half_the_time, fewer_nodes,  smaller_graph, smaller_tree, drop_fault,
			     drop_section,  fewer_faults, less_load,     drop_kind,    drop_key};

/** @param twice  whether it differs from itself is what is wrong */
static int run_case(const void *ctx, uint64_t twice, struct verdict *v)
{
	return judge_case(ctx, "case", twice != 0, v);
}

/** Whether the same kind of thing is wrong with it; and what. */
static bool still_wrong(const json_t *json, char reason[REASON_LEN])
{
	static const char *const none[] = {NULL};
	const struct trial t = {.run = run_case, .ctx = json, .classes = none};
	struct verdict v;

	if (campaign_one(&t, verdict_is(reason, "differs"), &v) != 0 || !verdict_alike(v.reason, reason))
		return false;
	memcpy(reason, v.reason, REASON_LEN);
	return true;
}

/** All ways of one step. @return whether one of them was taken */
static bool try_step(step way, json_t **best, char reason[REASON_LEN], unsigned int *runs, unsigned int most)
{
	bool better = false;

	for (size_t n = 0; *runs < most;) {
		json_t *json = json_deep_copy(*best);
		bool more = way(json, n);

		if (more && !json_equal(json, *best) && ++*runs && still_wrong(json, reason)) {
			json_decref(*best);
			*best = json;
			better = true;
			continue;
		}
		json_decref(json);
		if (!more)
			break;
		n++;
	}
	return better;
}

json_t *shrink(const json_t *json, uint64_t runs_max, char reason[REASON_LEN], unsigned int *runs)
{
	json_t *best = json_deep_copy(json);
	uint64_t hangs = runs_max < HANGS ? runs_max : HANGS;
	unsigned int most = (unsigned int)(verdict_is(reason, "hang") ? hangs : runs_max);
	bool better = true;

	*runs = 0;
	while (better && *runs < most) {
		better = false;
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			better |= try_step(steps[i], &best, reason, runs, most);
	}
	return best;
}
