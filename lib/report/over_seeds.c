/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of the same fabric with several seeds: of each number the mean, and the 95 % interval that
 * Student's t distribution gives for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/mf_report.h"
#include "report/report.h"

#define PATH_MAX_LEN 256

/** t for 95 %, two-sided. */
static double student(size_t freedom)
{
	static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
				   2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
				   2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
	const double z = 1.959964;
	double n = (double)freedom;

	if (freedom <= sizeof(t) / sizeof(t[0]))
		return t[freedom - 1];
	/* The first terms of its expansion by 1/n: right to the third digit from here on. */
	return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

static void append(json_t *values, const char *path, double value)
{
	json_t *list = json_object_get(values, path);

	if (list == NULL) {
		list = json_array();
		json_object_set_new(values, path, list);
	}
	json_array_append_new(list, json_real(value));
}

static void walk(json_t *values, char *path, const json_t *o);

/** Groups of sizes are not the same in all: they are called by the size that they begin with. */
static void walk_sizes(json_t *values, char *path, const json_t *sizes)
{
	size_t len = strlen(path), i;
	json_t *size;

	json_array_foreach(sizes, i, size) {
		const json_t *from = json_object_get(size, "from_octets");

		if (!json_is_integer(from))
			return;
		snprintf(path + len, PATH_MAX_LEN - len, "/%lld", (long long)json_integer_value(from));
		walk(values, path, size);
		path[len] = '\0';
	}
}

/** Numbers, and what is true or false as 1 or 0, with their paths. */
static void walk(json_t *values, char *path, const json_t *o)
{
	size_t len = strlen(path);
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)o, key, v) {
		snprintf(path + len, PATH_MAX_LEN - len, "%s%s", len > 0 ? "/" : "", key);
		if (json_is_object(v))
			walk(values, path, v);
		else if (json_is_array(v))
			walk_sizes(values, path, v);
		else if (json_is_number(v))
			append(values, path, json_number_value(v));
		else if (json_is_boolean(v))
			append(values, path, json_is_true(v));
		path[len] = '\0';
	}
}

static json_t *figure(const json_t *values)
{
	size_t n = json_array_size(values);
	double sum = 0, squares = 0, mean;
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++)
		sum += json_number_value(json_array_get(values, i));
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += pow(json_number_value(json_array_get(values, i)) - mean, 2);
	json_object_set_new(o, "mean", json_real(mean));
	json_object_set_new(o, "ci95",
			    n > 1 ? json_real(student(n - 1) * sqrt(squares / (double)(n - 1) / (double)n))
				  : json_null());
	json_object_set_new(o, "n", json_integer((json_int_t)n));
	json_object_set(o, "values", (json_t *)(uintptr_t)values);
	return o;
}

json_t *mf_fabric_over_seeds(const json_t *seeds)
{
	json_t *values = json_object(), *over = json_object(), *one, *v;
	char path[PATH_MAX_LEN] = "";
	const char *key;
	size_t i;

	json_array_foreach(seeds, i, one) {
		const json_t *result = json_object_get(one, "result");

		json_object_foreach((json_t *)(uintptr_t)result, key, v) {
			if (strcmp(key, "config") == 0 || strcmp(key, "stages") == 0 || !json_is_object(v))
				continue;
			snprintf(path, sizeof(path), "%s", key);
			walk(values, path, v);
		}
	}
	json_object_foreach(values, key, v)
		json_object_set_new(over, key, figure(v));
	json_decref(values);
	return over;
}

/** What a person wants to see of all that. */
static bool is_chief(const char *path)
{
	static const char *const end[] = {"/latency/mean_ns", "/latency/p99_ns",  "/effect/mean_ns",
					  "/effect/p99_ns",   "/normalised/mean", "/normalised/p99",
					  "/completed_gbps",  "load/saturated",   "load/achieved/wire"};

	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		size_t len = strlen(path), n = strlen(end[i]);

		if (len >= n && strcmp(path + len - n, end[i]) == 0)
			return true;
	}
	return false;
}

void mf_fabric_report_seeds(FILE *out, const json_t *json)
{
	const json_t *seeds = json_object_get(json, "seeds");
	const json_t *first = json_object_get(json_array_get(seeds, 0), "result");
	char title[REPORT_WIDTH / 2];
	const char *path;
	json_t *v;

	snprintf(title, sizeof(title), "%zu seeds, mean and 95 %% interval", json_array_size(seeds));
	report_head(out, first, title);
	json_object_foreach(json_object_get(json, "over_seeds"), path, v)
		if (is_chief(path))
			fprintf(out, "%-52s %15.4f +- %-12.4f of %lld\n", path,
				json_number_value(json_object_get(v, "mean")),
				json_number_value(json_object_get(v, "ci95")),
				(long long)json_integer_value(json_object_get(v, "n")));
}
