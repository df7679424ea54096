/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result: messages of the log, from their intended start to their last octet at the receiver; beside that
 * the ratio to the unloaded latency of the same message. In all, by kind, and by size in powers of four.
 */
#include <stdio.h>
#include <string.h>

#include "run/mf_unloaded.h"
#include "measure/mf_fine_hist.h"
#include "fabric/mf_fabric_state.h"
#include "measure/mf_message_log.h"
#include "result/mf_result.h"

#define SIZES 13 /* 4^0 to 4^12 octets and more */
#define ONE (UINT64_C(1) << 32) /* a ratio of 1 */

static_assert(MF_CONFIG_TRANSFER_MAX < 1 << 2 * SIZES, "the last is for all that is left");

struct group {
	uint64_t octets;
	struct fine_hist latency, ratio;
	double unloaded; /**< sum of unloaded latencies, ps */
};

struct summary {
	struct group all, kind[MF_CLIENT_KINDS], size[SIZES];
	uint64_t whole, failed, no_effect, under_way;
};

static bool group_add(struct group *g, const struct message *m, mf_time latency, mf_time unloaded)
{
	if (g->latency.bucket == NULL && (fine_hist_init(&g->latency) != 0 || fine_hist_init(&g->ratio) != 0))
		return false;
	g->octets += m->size;
	fine_hist_add(&g->latency, latency);
	if (unloaded == 0)
		return true;
	g->unloaded += (double)unloaded;
	fine_hist_add(&g->ratio, (uint64_t)((double)latency / (double)unloaded * (double)ONE + 0.5));
	return true;
}

static void group_fini(struct group *g)
{
	fine_hist_fini(&g->latency);
	fine_hist_fini(&g->ratio);
}

static unsigned int size_class(uint32_t size)
{
	return (31 ^ (unsigned int)__builtin_clz(size)) / 2;
}

static bool add(const struct mf_fabric *f, struct summary *s, unsigned int client, const struct message *m)
{
	mf_time latency, unloaded;

	if (!message_whole(m)) {
		s->under_way += m->status == MESSAGE_UNDER_WAY;
		s->no_effect += m->status == MF_OK;
		s->failed += m->status != MESSAGE_UNDER_WAY && m->status != MF_OK;
		return true;
	}
	s->whole++;
	latency = m->last - m->intended;
	unloaded = f->unloaded != NULL ? unloaded_latency(f->unloaded, client, m) : 0;
	return group_add(&s->all, m, latency, unloaded) &&
	       group_add(&s->kind[m->kind], m, latency, unloaded) &&
	       group_add(&s->size[size_class(m->size)], m, latency, unloaded);
}

static bool summarise(const struct mf_fabric *f, struct summary *s)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct message_client *c = &f->messages->client[i];

		for (uint32_t k = 0; k < c->count; k++) {
			struct message m = message_at(c, k);

			if (!add(f, s, i, &m))
				return false;
		}
	}
	return true;
}

/** @param unit  of the values, in which they are told */
static json_t *fine_hist_json(const struct fine_hist *v, const char *suffix, double unit)
{
	static const struct {
		const char *key;
		uint32_t ppm;
	} at[] = {{"p50", 500000}, {"p99", 990000}, {"p99.9", 999000}};
	json_t *o = json_object();
	char key[16];

	snprintf(key, sizeof(key), "mean%s", suffix);
	result_real(o, key, fine_hist_mean(v) / unit);
	snprintf(key, sizeof(key), "min%s", suffix);
	result_real(o, key, (double)v->min / unit);
	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		snprintf(key, sizeof(key), "%s%s", at[i].key, suffix);
		result_real(o, key, (double)fine_hist_percentile(v, at[i].ppm) / unit);
	}
	snprintf(key, sizeof(key), "max%s", suffix);
	result_real(o, key, (double)v->max / unit);
	return o;
}

static json_t *group_json(const struct group *g)
{
	json_t *o = json_object();

	result_count(o, "count", g->latency.count);
	result_count(o, "octets", g->octets);
	json_object_set_new(o, "latency", fine_hist_json(&g->latency, "_ns", 1000));
	if (g->ratio.count > 0) {
		json_object_set_new(o, "normalised", fine_hist_json(&g->ratio, "", (double)ONE));
		result_real(o, "alone_mean_ns", g->unloaded / (double)g->ratio.count / 1000);
	}
	return o;
}

static json_t *summary_json(const struct mf_fabric *f, const struct summary *s)
{
	json_t *o = json_object(), *kinds, *sizes;

	result_count(o, "whole", s->whole);
	result_count(o, "failed", s->failed);
	result_count(o, "no_effect", s->no_effect);
	result_count(o, "under_way", s->under_way);
	if (f->unloaded != NULL)
		result_count(o, "measured_alone", f->unloaded->count);
	if (s->whole == 0)
		return o;
	kinds = json_object();
	sizes = json_array();
	json_object_set_new(o, "all", group_json(&s->all));
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		if (s->kind[k].latency.count > 0)
			json_object_set_new(kinds, mf_client_kind_name((enum mf_client_kind)k),
					    group_json(&s->kind[k]));
	json_object_set_new(o, "kinds", kinds);
	for (unsigned int i = 0; i < SIZES; i++) {
		json_t *size;

		if (s->size[i].latency.count == 0)
			continue;
		size = group_json(&s->size[i]);
		result_count(size, "from_octets", UINT64_C(1) << 2 * i);
		result_count(size, "to_octets", (UINT64_C(4) << 2 * i) - 1);
		json_array_append_new(sizes, size);
	}
	json_object_set_new(o, "sizes", sizes);
	return o;
}

json_t *messages_json(const struct mf_fabric *f)
{
	struct summary s = {0};
	json_t *o = summarise(f, &s) ? summary_json(f, &s) : NULL;

	group_fini(&s.all);
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		group_fini(&s.kind[k]);
	for (unsigned int i = 0; i < SIZES; i++)
		group_fini(&s.size[i]);
	return o;
}
