/* SPDX-License-Identifier: BSD-3-Clause */
/* "size" of a workload: one size, or a distribution of sizes. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "config/cfg.h"
#include "workload/mf_workload.h"

const char *const cfg_dist_names[] = {
	[MF_CONFIG_FIXED] = "fixed", [MF_CONFIG_UNIFORM] = "uniform", [MF_CONFIG_LIST] = "list",
	[MF_CONFIG_CDF] = "cdf",     [MF_CONFIG_APP] = "app",         [MF_CONFIG_APP + 1] = NULL};

/* The keys that each distribution has. */
static const struct cfg_field fields[][5] = {
	[MF_CONFIG_FIXED] = {{.key = "dist"}, {.key = "value"}},
	[MF_CONFIG_UNIFORM] = {{.key = "dist"}, {.key = "min"}, {.key = "max"}},
	[MF_CONFIG_LIST] = {{.key = "dist"}, {.key = "values"}, {.key = "weights"}},
	[MF_CONFIG_CDF] = {{.key = "dist"}, {.key = "points"}, {.key = "unit"}, {.key = "file"}},
	[MF_CONFIG_APP] = {{.key = "dist"}, {.key = "name"}},
};

static int size_from(struct cfg *c, const json_t *json, uint64_t least, uint64_t unit, uint32_t *out)
{
	uint64_t v;
	int rc = cfg_size(c, json, least, MF_CONFIG_TRANSFER_MAX / unit, &v);

	*out = rc == 0 ? (uint32_t)(v * unit) : 0;
	return rc;
}

static int one_size(struct cfg *c, const json_t *json, uint64_t unit, uint32_t *out)
{
	return size_from(c, json, 1, unit, out);
}

static int needed_size(struct cfg *c, const json_t *json, const char *key, uint32_t *out)
{
	const json_t *v = json_object_get(json, key);
	int rc;

	if (v == NULL)
		return cfg_fail_key(c, key, "is missing");
	cfg_push(c, key);
	rc = one_size(c, v, 1, out);
	cfg_pop(c);
	return rc;
}

static int read_uniform(struct cfg *c, const json_t *json, struct mf_config_size *s)
{
	int rc = needed_size(c, json, "min", &s->size[0]);

	if (rc == 0)
		rc = needed_size(c, json, "max", &s->size[1]);
	if (rc == 0 && s->size[0] > s->size[1])
		rc = cfg_fail_key(c, "max", "%u is less than min, %u", s->size[1], s->size[0]);
	s->n = 2;
	s->mean = ((double)s->size[0] + s->size[1]) / 2;
	return rc;
}

/* An array of 1 to MF_CONFIG_POINTS_MAX entries. */
static int needed_array(struct cfg *c, const json_t *json, const char *key, const json_t **out)
{
	*out = json_object_get(json, key);
	if (*out == NULL)
		return cfg_fail_key(c, key, "is missing");
	if (!json_is_array(*out) || json_array_size(*out) == 0 ||
	    json_array_size(*out) > MF_CONFIG_POINTS_MAX)
		return cfg_fail_key(c, key, "must be an array of 1 to %u entries", MF_CONFIG_POINTS_MAX);
	return 0;
}

static int read_values(struct cfg *c, const json_t *values, struct mf_config_size *s)
{
	int rc = 0;

	cfg_push(c, "values");
	for (s->n = 0; s->n < json_array_size(values) && rc == 0; s->n++) {
		cfg_push_index(c, s->n);
		s->weight[s->n] = 1;
		rc = one_size(c, json_array_get(values, s->n), 1, &s->size[s->n]);
		if (rc == 0 && s->n > 0 && s->size[s->n] <= s->size[s->n - 1])
			rc = cfg_fail(c, "is not larger than the size before it");
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

static int read_weights(struct cfg *c, const json_t *weights, struct mf_config_size *s)
{
	int rc = 0;

	cfg_push(c, "weights");
	if (!json_is_array(weights) || json_array_size(weights) != s->n)
		rc = cfg_fail(c, "must be an array of as many entries as values, %u", s->n);
	for (unsigned int i = 0; i < s->n && rc == 0; i++) {
		cfg_push_index(c, i);
		rc = cfg_real(c, json_array_get(weights, i), 0, 1e9, &s->weight[i]);
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

static int read_list(struct cfg *c, const json_t *json, struct mf_config_size *s)
{
	const json_t *values, *weights = json_object_get(json, "weights");
	int rc = needed_array(c, json, "values", &values);
	double sum = 0;

	if (rc == 0)
		rc = read_values(c, values, s);
	if (rc == 0 && weights != NULL)
		rc = read_weights(c, weights, s);
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < s->n; i++) {
		s->mean += s->weight[i] * s->size[i];
		sum += s->weight[i];
	}
	if (sum == 0)
		return cfg_fail_key(c, "weights", "are all 0");
	s->mean /= sum;
	return 0;
}

void cfg_size_point(struct mf_config_size *s, unsigned int i)
{
	if (i == 0)
		s->mean = s->weight[0] * s->size[0];
	else
		s->mean += (s->weight[i] - s->weight[i - 1]) * ((double)s->size[i] + s->size[i - 1]) / 2;
}

/* [probability, size]: both may only grow. */
static int read_point(struct cfg *c, const json_t *point, uint64_t unit, struct mf_config_size *s)
{
	unsigned int i = s->n;
	int rc;

	if (!json_is_array(point) || json_array_size(point) != 2)
		return cfg_fail(c, "must be a pair [probability, size]");
	cfg_push_index(c, 0);
	rc = cfg_real(c, json_array_get(point, 0), i > 0 ? s->weight[i - 1] : 0, 1, &s->weight[i]);
	cfg_pop(c);
	if (rc != 0)
		return rc;
	cfg_push_index(c, 1);
	rc = size_from(c, json_array_get(point, 1), i == 0 && s->weight[0] == 0 ? 0 : 1, unit, &s->size[i]);
	if (rc == 0 && i > 0 && s->size[i] < s->size[i - 1])
		rc = cfg_fail(c, "is smaller than the size before it");
	cfg_pop(c);
	if (rc != 0)
		return rc;
	cfg_size_point(s, i);
	return 0;
}

static int read_cdf(struct cfg *c, const json_t *json, struct mf_config_size *s)
{
	static const char *const drawn[] = {"points", "unit", NULL};
	uint32_t unit = 1;
	const json_t *points;
	int rc;

	if (json_object_get(json, "file") != NULL) {
		rc = cfg_refuse(c, json, drawn, "the file says it");
		return rc == 0 ? cfg_size_file(c, json_object_get(json, "file"), s) : rc;
	}
	rc = needed_array(c, json, "points", &points);

	if (rc == 0 && json_object_get(json, "unit") != NULL)
		rc = needed_size(c, json, "unit", &unit);
	cfg_push(c, "points");
	for (s->n = 0; rc == 0 && s->n < json_array_size(points); s->n++) {
		cfg_push_index(c, s->n);
		rc = read_point(c, json_array_get(points, s->n), unit, s);
		cfg_pop(c);
	}
	if (rc == 0 && s->weight[s->n - 1] != 1)
		rc = cfg_fail(c, "the last probability must be 1");
	cfg_pop(c);
	return rc;
}

static int read_dist(struct cfg *c, const json_t *json, struct mf_config_size *s)
{
	const json_t *name = json_object_get(json, "dist");
	uint32_t dist;
	int rc;

	if (name == NULL)
		return cfg_fail_key(c, "dist", "is missing");
	cfg_push(c, "dist");
	rc = cfg_enum(c, name, cfg_dist_names, &dist);
	cfg_pop(c);
	if (rc == 0)
		rc = cfg_known(c, json, fields[dist], NULL);
	if (rc != 0)
		return rc;
	s->dist = dist;
	switch (s->dist) {
	case MF_CONFIG_UNIFORM:
		return read_uniform(c, json, s);
	case MF_CONFIG_LIST:
		return read_list(c, json, s);
	case MF_CONFIG_CDF:
		return read_cdf(c, json, s);
	case MF_CONFIG_APP:
		return cfg_size_app(c, json, s);
	default:
		s->n = 1;
		rc = needed_size(c, json, "value", &s->size[0]);
		s->mean = s->size[0];
		return rc;
	}
}

int cfg_size_dist(struct cfg *c, const json_t *json, struct mf_config_size *s)
{
	int rc;

	memset(s, 0, sizeof(*s));
	if (json_is_object(json)) {
		rc = read_dist(c, json, s);
	} else {
		s->n = 1;
		rc = one_size(c, json, 1, &s->size[0]);
		s->mean = s->size[0];
	}
	for (unsigned int i = 0; i < s->n && rc == 0; i++)
		s->max = s->size[i] > s->max ? s->size[i] : s->max;
	return rc;
}

unsigned int mf_config_size_cdf(const struct mf_config_size *size, struct mf_cdf_point *points)
{
	double sum = 0, cum = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < size->n; i++)
		sum += size->weight[i];
	for (unsigned int i = 0; i < size->n; i++) {
		/* A list is steps: level from one size to the next, then upright. */
		if (size->dist == MF_CONFIG_LIST && i > 0)
			points[n++] = (struct mf_cdf_point){.cum = cum, .size = size->size[i]};
		if (size->dist == MF_CONFIG_LIST)
			cum = i + 1 < size->n ? cum + size->weight[i] / sum : 1;
		else
			cum = size->dist >= MF_CONFIG_CDF ? size->weight[i] : 1;
		points[n++] = (struct mf_cdf_point){.cum = cum, .size = size->size[i]};
	}
	return n;
}
