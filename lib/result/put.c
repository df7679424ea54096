/* SPDX-License-Identifier: BSD-3-Clause */
/* How the result writes its numbers. */
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

#define NS 1000.0

struct result_nodes result_all(const struct mf_fabric *f)
{
	return (struct result_nodes){0, f->nodes};
}

void result_count(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

void result_real(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, json_real(value));
}

json_t *result_hist(const struct mf_hist *h)
{
	static const struct {
		const char *key;
		uint32_t ppm;
	} at[] = {{"p50_ns", 500000},
		  {"p90_ns", 900000},
		  {"p99_ns", 990000},
		  {"p99.9_ns", 999000},
		  {"p99.99_ns", 999900}};
	json_t *o = json_object(), *buckets = json_array();

	result_count(o, "count", h->count);
	result_real(o, "mean_ns", mf_hist_mean(h) / NS);
	result_real(o, "min_ns", (double)h->min / NS);
	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		result_real(o, at[i].key, (double)mf_hist_percentile(h, at[i].ppm) / NS);
	result_real(o, "max_ns", (double)h->max / NS);
	for (unsigned int i = 0; i < MF_HIST_BUCKETS; i++)
		if (h->bucket[i] != 0)
			json_array_append_new(buckets, json_pack("[I, I]", (json_int_t)mf_hist_low(i),
								 (json_int_t)h->bucket[i]));
	json_object_set_new(o, "histogram_ps", buckets);
	return o;
}
