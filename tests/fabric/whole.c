/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear/mf_history.h"
#include "run/mf_fabric.h"
#include "whole.h"

#define HISTORY (1 << 20) /* octets: more than such a run has */

/** What a run tells beside its result, where that is wanted. */
struct told {
	char *messages, *history;
	size_t messages_len, history_len;
};

static void tell(const struct mf_fabric *f, struct told *t)
{
	FILE *out = open_memstream(&t->messages, &t->messages_len);

	mf_fabric_messages(f, out); /* -ENOENT: the file wants no log */
	fclose(out);
	out = open_memstream(&t->history, &t->history_len);
	cr_assert_eq(mf_history_write(mf_fabric_history(f), out), 0);
	fclose(out);
}

/** @param told  NULL, or what the caller frees */
static json_t *run_with(const char *text, struct mf_run_options options, bool sound, struct told *told)
{
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
	if (told != NULL)
		tell(f, told);
	all = mf_fabric_result(f);
	result = json_incref(json_object_get(all, "result"));
	json_decref(all);
	mf_fabric_free(f);
	mf_config_free(&config);
	return result;
}

static json_t *run(const char *text, bool by_block, bool sound, struct told *told)
{
	return run_with(
		text,
		(struct mf_run_options){.block_by_block = by_block, .history = told != NULL ? HISTORY : 0},
		sound, told);
}

json_t *whole_settled(const char *text, mf_time settle)
{
	return run_with(text, (struct mf_run_options){.settle = settle}, false, NULL);
}

json_t *whole_run(const char *text, bool by_block)
{
	return run(text, by_block, false, NULL);
}

json_t *whole_sound(const char *text, bool by_block)
{
	return run(text, by_block, true, NULL);
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

/** The first line in which two logs differ; they do. */
static void differ_in_line(const char *a, const char *b, const char *text)
{
	size_t from = 0;

	for (size_t i = 0; a[i] == b[i]; i++)
		from = a[i] == '\n' ? i + 1 : from;
	cr_assert_fail("message %.*s, block by block %.*s\n%s", (int)strcspn(a + from, "\n"), a + from,
		       (int)strcspn(b + from, "\n"), b + from, text);
}

json_t *whole_same(const char *text)
{
	struct told s, b;
	json_t *r = run(text, false, false, &s), *by_block = run(text, true, false, &b);

	same(text, r, by_block);
	if (strcmp(s.messages, b.messages) != 0)
		differ_in_line(s.messages, b.messages, text);
	cr_assert(s.history_len == b.history_len && memcmp(s.history, b.history, b.history_len) == 0,
		  "the histories differ\n%s", text);
	json_decref(by_block);
	free(s.messages);
	free(s.history);
	free(b.messages);
	free(b.history);
	return r;
}

json_t *whole_check(const char *text, bool by_block)
{
	json_t *r = run(text, false, true, NULL);

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
		json_t *b = run(text, true, true, NULL);

		same(text, r, b);
		json_decref(b);
	}
	return r;
}
