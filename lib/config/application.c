/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of messages of applications, as the paper's Figure 8b has them: in units of 1,460 octets, what a
 * frame carries of a TCP stream.
 *
 * Linear between the points is read as the simulators of flows read it: the size at a probability is
 * interpolated and rounded up to a whole unit. So P(size <= s) is on the line at every whole unit s, a
 * size is a whole number of units, and each of those between two points is as likely.
 */
#include <assert.h>

#include "config/cfg.h"

#define UNIT 1460
#define POINTS 5

const char *const cfg_app_names[] = {"graphlab", "hadoop", "memcached", "spark", "sparksql", NULL};

static const double cum[POINTS] = {0.6, 0.7, 0.8, 0.9, 1};
static const uint16_t units[][POINTS] = {
	{4, 4, 88, 167, 1080}, {4, 4, 88, 167, 920}, {4, 4, 64, 296, 1216},
	{4, 4, 13, 220, 930},  {4, 7, 83, 140, 980},
};
static_assert(sizeof(cfg_app_names) / sizeof(cfg_app_names[0]) == sizeof(units) / sizeof(units[0]) + 1,
	      "each has its points");

/* Whole units from behind the point before to this one: each is as likely. */
static double segment_mean(const uint16_t *u, unsigned int i)
{
	return i == 0 || u[i] == u[i - 1] ? u[i] : (u[i - 1] + 1 + u[i]) / 2.0;
}

int cfg_size_app(struct cfg *c, const json_t *json, struct mf_config_size *s)
{
	const json_t *name = json_object_get(json, "name");
	int rc;

	if (name == NULL)
		return cfg_fail_key(c, "name", "is missing");
	cfg_push(c, "name");
	rc = cfg_enum(c, name, cfg_app_names, &s->app);
	cfg_pop(c);
	if (rc != 0)
		return rc;
	s->unit = UNIT;
	s->n = POINTS;
	for (unsigned int i = 0; i < POINTS; i++) {
		s->weight[i] = cum[i];
		s->size[i] = units[s->app][i] * UNIT;
		s->mean += (cum[i] - (i > 0 ? cum[i - 1] : 0)) * segment_mean(units[s->app], i) * UNIT;
	}
	return 0;
}
