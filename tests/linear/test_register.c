/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histories of a register that others recorded and judged: etcd under Jepsen, verdicts of the checker
 * "porcupine" (vectors/12_linearizability_etcd_register.json says where they come from).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "linear/mf_linear.h"

#define OPS 128
#define STATES (1U << 22)
#define PROCESSES 256
#define NIL UINT64_MAX

static uint64_t value_of(const char *text)
{
	return strcmp(text, "nil") == 0 ? NIL : strtoull(text, NULL, 10);
}

static void invoke(struct mf_linear_op *o, mf_time at, const char *what, const char *text)
{
	*o = (struct mf_linear_op){.call = at, .ret = MF_NEVER};
	if (strcmp(what, "read") == 0) {
		o->kind = MF_LINEAR_READ;
	} else if (strcmp(what, "write") == 0) {
		o->kind = MF_LINEAR_WRITE;
		o->arg[0] = value_of(text);
	} else {
		unsigned long long from, to;

		cr_assert_eq(sscanf(text, "[%llu %llu]", &from, &to), 2, "%s", text);
		o->kind = MF_LINEAR_CAS;
		o->arg[0] = from;
		o->arg[1] = to;
	}
}

/** An :info, and a :read that fails, leave it open: nobody was told. */
static void end(struct mf_linear_op *o, mf_time at, const char *type, const char *text)
{
	bool ok = strcmp(type, "ok") == 0, fail = strcmp(type, "fail") == 0;

	if (o->kind == MF_LINEAR_READ && ok) {
		o->found = MF_LINEAR_VALUE;
		o->value = value_of(text);
	} else if (o->kind == MF_LINEAR_CAS && (ok || fail)) {
		o->found = ok ? MF_LINEAR_EQUAL : MF_LINEAR_UNEQUAL;
	}
	if (ok || (fail && o->kind == MF_LINEAR_CAS))
		o->ret = at;
}

static size_t history(const json_t *events, struct mf_linear_op *op)
{
	int last[PROCESSES]; /* what a process has under way */
	const json_t *event;
	size_t n = 0, i;

	json_array_foreach(events, i, event) {
		size_t process = (size_t)json_integer_value(json_array_get(event, 0));
		const char *type = json_string_value(json_array_get(event, 1));
		const char *what = json_string_value(json_array_get(event, 2));
		const char *text = json_string_value(json_array_get(event, 3));

		cr_assert_lt(process, PROCESSES);
		if (strcmp(type, "invoke") == 0) {
			last[process] = (int)n;
			invoke(&op[n++], i, what, text);
		} else {
			end(&op[last[process]], i, type, text);
		}
	}
	return n;
}

Test(linear_register, histories_of_etcd_are_judged_as_by_others)
{
	char path[4096];
	struct mf_linear *l = mf_linear_new(OPS, STATES);
	json_t *all;
	const json_t *h;
	size_t i, yes = 0;

	cr_assert_not_null(getenv("MF_VECTORS"));
	snprintf(path, sizeof(path), "%s/12_linearizability_etcd_register.json", getenv("MF_VECTORS"));
	all = json_load_file(path, 0, NULL);
	cr_assert_not_null(all, "%s", path);
	cr_assert_eq(json_array_size(json_object_get(all, "histories")), 102);
	json_array_foreach(json_object_get(all, "histories"), i, h) {
		bool linearizable = json_is_true(json_object_get(h, "linearizable"));
		struct mf_linear_result r;
		struct mf_linear_op op[OPS];
		size_t n = history(json_object_get(h, "events"), op);

		cr_assert_eq(mf_linear_check(l, op, n, NIL, &r), 0);
		cr_expect_eq(r.verdict, linearizable ? MF_LINEAR_YES : MF_LINEAR_NO, "history %d: verdict %d",
			     (int)json_integer_value(json_object_get(h, "id")), r.verdict);
		yes += r.verdict == MF_LINEAR_YES;
	}
	cr_expect_eq(yes, 23);
	json_decref(all);
	mf_linear_free(l);
}
