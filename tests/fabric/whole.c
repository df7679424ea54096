/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "mf_fabric.h"
#include "whole.h"

static json_t *run(const char *text, bool by_block, bool sound)
{
	struct mf_run_options options = {.block_by_block = by_block};
	struct mf_config config;
	struct mf_fabric *f;
	char err[256] = "";
	json_t *all, *result;

	cr_assert_eq(mf_config_parse(text, strlen(text), "test", &config, err, sizeof(err)), 0, "%s\n%s", err,
		     text);
	f = mf_fabric_new(&config, MF_CLOCK_VIRTUAL, err, sizeof(err));
	cr_assert_not_null(f, "%s\n%s", err, text);
	cr_assert_eq(mf_fabric_run(f, &options), 0, "%s", text);
	if (sound)
		cr_assert(mf_fabric_sound(f, err, sizeof(err)), "%s\n%s", err, text);
	all = mf_fabric_result(f);
	result = json_incref(json_object_get(all, "result"));
	json_decref(all);
	mf_fabric_free(f);
	mf_config_free(&config);
	return result;
}

json_t *whole_run(const char *text, bool by_block)
{
	return run(text, by_block, false);
}

json_t *whole_sound(const char *text, bool by_block)
{
	return run(text, by_block, true);
}

double whole_number(const json_t *result, const char *path)
{
	char part[128];
	const json_t *o = result;

	for (const char *p = path; o != NULL && *p != 0; p += strcspn(p, "."), p += *p == '.') {
		snprintf(part, sizeof(part), "%.*s", (int)strcspn(p, "."), p);
		o = json_object_get(o, part);
	}
	cr_assert_not_null(o, "no %s in the result", path);
	return json_number_value(o);
}

struct difference {
	char path[256], text[2048];
	unsigned int n;
};

static void differ_here(struct difference *d, const json_t *a, const json_t *b)
{
	char *x = json_dumps(a, JSON_ENCODE_ANY | JSON_COMPACT);
	char *y = json_dumps(b, JSON_ENCODE_ANY | JSON_COMPACT);
	size_t n = strlen(d->text);

	snprintf(d->text + n, sizeof(d->text) - n, "%s: %.40s, block by block %.40s\n", d->path, x ? x : "-",
		 y ? y : "-");
	free(x);
	free(y);
	d->n++;
}

/** Finds the values in which two results differ, with their paths. */
static void differ(struct difference *d, const json_t *a, const json_t *b)
{
	size_t n = strlen(d->path);
	const char *key;
	json_t *v;

	if (json_equal(a, b))
		return;
	if (!json_is_object(a) || !json_is_object(b)) {
		differ_here(d, a, b);
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)a, key, v) {
		snprintf(d->path + n, sizeof(d->path) - n, ".%s", key);
		differ(d, v, json_object_get(b, key));
		d->path[n] = 0;
	}
}

static void nothing_dropped(const json_t *o, const char *where, const char *text)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)o, key, v) {
		if (json_is_object(v))
			nothing_dropped(v, key, text);
		else
			cr_assert_eq(json_integer_value(v), 0, "drops.%s.%s is %lld\n%s", where, key,
				     (long long)json_integer_value(v), text);
	}
}

/** The same in spans and block by block. */
static void same(const char *text, const json_t *r, const json_t *b)
{
	struct difference d = {0};

	differ(&d, r, b);
	cr_assert_eq(d.n, 0, "%s\n%s", d.text, text);
}

/** All objects below one that are called so no longer have it. */
static void forget(json_t *o, const char *name)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_del(o, name);
	json_object_foreach_safe(o, next, key, v)
		if (json_is_object(v))
			forget(v, name);
}

/** Counts as one what both copies of a message are counted as, before the next use of its id and behind. */
static void join_copies(json_t *r)
{
	json_t *once = json_object_get(r, "once");
	json_int_t n = json_integer_value(json_object_get(once, "copies")) +
		       json_integer_value(json_object_get(once, "old"));

	json_object_set_new(once, "copies", json_integer(n));
	json_object_del(once, "old");
}

json_t *whole_same(const char *text, bool copies, bool backlogs)
{
	json_t *r = run(text, false, false), *b = run(text, true, false);

	for (json_t *x = r; x != NULL; x = x == r ? b : NULL) {
		if (copies)
			join_copies(x);
		if (backlogs)
			forget(x, "memory_backlog_max");
		if (backlogs)
			forget(x, "egress_memory_blocks_max");
	}
	same(text, r, b);
	json_decref(b);
	return r;
}

json_t *whole_check(const char *text, bool by_block)
{
	json_t *r = run(text, false, true);

	nothing_dropped(json_object_get(r, "drops"), "", text);
	cr_assert_eq(whole_number(r, "scheduler.entries_left"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "scheduler.dropped_over_x"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "scheduler.dropped_bad"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "operations.refused"), 0, "%s", text);
	cr_assert_eq(whole_number(r, "frames.missing"), 0, "%s", text);
	cr_assert_gt(whole_number(r, "operations.completed_all") + whole_number(r, "frames.received"), 0,
		     "%s", text);
	cr_assert_leq(whole_number(r, "scheduler.queue_max"), whole_number(r, "scheduler.queue_bound"), "%s",
		      text);
	cr_assert_leq(whole_number(r, "backlog.egress_memory_blocks_max"),
		      whole_number(r, "backlog.egress_memory_blocks_bound"),
		      "backlog %g over its bound %g\n%s", whole_number(r, "backlog.egress_memory_blocks_max"),
		      whole_number(r, "backlog.egress_memory_blocks_bound"), text);
	if (by_block) {
		json_t *b = run(text, true, true);

		same(text, r, b);
		json_decref(b);
	}
	return r;
}
