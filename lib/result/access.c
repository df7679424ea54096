/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: who was let in where, who asked for too much. Only where the file has regions or limits. */
#include "fabric/mf_fabric_regions.h"
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

static json_t *refusals_json(const uint64_t *count)
{
	json_t *o = json_object();

	for (int i = MF_REFUSAL_NONE + 1; i < MF_REFUSALS; i++)
		result_count(o, mf_refusal_name((enum mf_refusal)i), count[i]);
	return o;
}

static json_t *regions_json(const struct mf_regions_stats *s)
{
	json_t *o = json_object();

	result_count(o, "accesses", s->refused[MF_REFUSAL_NONE]);
	json_object_set_new(o, "refused", refusals_json(s->refused));
	result_count(o, "keys_given", s->attached);
	json_object_set_new(o, "keys_refused", refusals_json(s->attach_refused));
	result_count(o, "claimed", s->claimed);
	result_count(o, "released", s->released);
	result_count(o, "shared", s->shared);
	json_object_set_new(o, "owner_refused", refusals_json(s->owner_refused));
	result_count(o, "zeroed_octets", s->zeroed);
	result_count(o, "keys_without_random_bits", s->drawless);
	return o;
}

static json_t *limits_json(const struct mf_fabric *f)
{
	struct result_counts c;

	result_switches_counted(f->tier, &c);
	return counts_section(&c, "limits");
}

static json_t *forged_json(const struct mf_forge_stats *s)
{
	json_t *o = json_object();

	result_count(o, "sent", s->sent);
	result_count(o, "refused", s->refused);
	result_count(o, "let_in", s->let_in);
	result_count(o, "told", s->told);
	result_count(o, "claimed", s->claimed);
	result_count(o, "found", s->found);
	return o;
}

void access_json(const struct mf_fabric *f, json_t *o)
{
	const struct mf_config_limits *l = &f->config->limits;
	struct mf_regions_stats sum;

	if (regions_sum(f, &sum))
		json_object_set_new(o, "regions", regions_json(&sum));
	if (f->forged.sent > 0)
		json_object_set_new(o, "forged", forged_json(&f->forged));
	if ((l->share > 0 || l->rate > 0 || l->outstanding > 0) && fabric_has_switch(f))
		json_object_set_new(o, "limits", limits_json(f));
}
