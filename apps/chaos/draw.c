/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "draw.h"

/* Three digits are enough, and can be read in a case. */
double draw_rate(struct mf_rng *r, double lo, double hi)
{
	double rate = lo * pow(hi / lo, mf_rng_double(r)), unit = pow(10, floor(log10(rate)) - 2);

	return round(rate / unit) * unit;
}

json_t *put_object(json_t *in, const char *key)
{
	json_t *o = json_object_get(in, key);

	if (!json_is_object(o)) {
		o = json_object();
		json_object_set_new(in, key, o);
	}
	return o;
}

void put_text(json_t *in, const char *key, const char *text)
{
	json_object_set_new(in, key, json_string(text));
}

void put_time(json_t *in, const char *key, mf_time t)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "ps", t);
	if (t % 1000 == 0)
		snprintf(text, sizeof(text), "%" PRIu64 "ns", t / 1000);
	put_text(in, key, text);
}

void put_number(json_t *in, const char *key, uint64_t n)
{
	json_object_set_new(in, key, json_integer((json_int_t)n));
}

void put_bool(json_t *in, const char *key, bool value)
{
	json_object_set_new(in, key, json_boolean(value));
}
