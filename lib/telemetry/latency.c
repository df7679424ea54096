/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry: latencies. A histogram of the result has more buckets than a reply has room for, so four or more
 * of them, those of a quarter of a power of two, become one.
 */
#include <string.h>

#include "result/mf_result.h"
#include "telemetry/telemetry.h"

#define QUARTERS_BITS 2

/** The lowest value of the wide bucket that it is in. */
static uint64_t wide_low(uint64_t value)
{
	unsigned int shift;

	if (value < 1U << QUARTERS_BITS)
		return value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - QUARTERS_BITS;
	return value >> shift << shift;
}

static void widen(json_t *hist, const json_t *narrow)
{
	json_t *from = json_array(), *count = json_array(), *pair;
	uint64_t low, last = 0, sum = 0;
	size_t i;

	json_array_foreach(narrow, i, pair) {
		low = wide_low((uint64_t)json_integer_value(json_array_get(pair, 0)));
		if (i == 0 || low != last) {
			json_array_append_new(from, json_integer((json_int_t)low));
			json_array_append_new(count, json_integer(0));
			sum = 0;
		}
		last = low;
		sum += (uint64_t)json_integer_value(json_array_get(pair, 1));
		json_array_set_new(count, json_array_size(count) - 1, json_integer((json_int_t)sum));
	}
	json_object_set_new(hist, "bucket_from_ps", from);
	json_object_set_new(hist, "bucket_count", count);
}

/** Of all histograms below an object. @param buckets  whether there is room for them */
static void shorten(json_t *o, bool buckets)
{
	json_t *narrow = json_incref(json_object_get(o, "histogram_ps")), *value;
	const char *key;

	json_object_del(o, "histogram_ps");
	if (narrow != NULL && buckets)
		widen(o, narrow);
	json_decref(narrow);
	json_object_foreach(o, key, value)
		if (json_is_object(value))
			shorten(value, buckets);
}

/** Operations, frames, and queries to stores, each kind by its name. */
static json_t *all_kinds(const struct mf_fabric *f, struct result_nodes nodes)
{
	json_t *ops = operations_json(f, nodes, RESULT_TIMES, NULL),
	       *frames = frames_json(f, nodes, RESULT_TIMES);
	json_t *o = json_object();

	json_object_set(o, "kinds", json_object_get(ops, "kinds"));
	if (json_object_get(ops, "queries") != NULL)
		json_object_set(o, "queries", json_object_get(ops, "queries"));
	if (json_object_size(frames) > 0)
		json_object_set(o, "frames", frames);
	json_decref(ops);
	json_decref(frames);
	return o;
}

/** One of them, with what it is called in: "read", "frames", "queries/in_all", "queries/read". */
static json_t *one_kind(const json_t *all, const char *kind)
{
	const json_t *queries = json_object_get(all, "queries");

	if (strcmp(kind, "frames") == 0)
		return json_object_get(all, "frames");
	if (strcmp(kind, "queries/in_all") == 0)
		return json_object_get(queries, "in_all");
	if (strncmp(kind, "queries/", 8) == 0)
		return json_object_get(json_object_get(queries, "kinds"), kind + 8);
	return json_object_get(json_object_get(all, "kinds"), kind);
}

json_t *telemetry_latency(struct telemetry_query *q)
{
	struct result_nodes nodes = result_all(q->f);
	json_t *all, *o;
	int i;

	if (q->name != NULL) {
		i = telemetry_node(q);
		if (i < 0)
			return NULL;
		nodes = (struct result_nodes){(unsigned int)i, (unsigned int)i + 1};
	}
	all = all_kinds(q->f, nodes);
	if (q->kind == NULL) {
		shorten(all, false);
		return all;
	}
	o = json_incref(one_kind(all, q->kind));
	json_decref(all);
	if (o == NULL)
		return telemetry_refuse(q, "nothing of kind '%.31s' has begun here", q->kind);
	shorten(o, true);
	return o;
}
