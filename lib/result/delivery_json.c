/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "config/mf_config_query.h"
#include "measure/mf_delivery.h"
#include "result/mf_result.h"

/** Gb/s = octets * 8 / ps * 1000. */
static double gbps(uint64_t octets, mf_time lasting)
{
	return lasting > 0 ? (double)octets * 8000 / (double)lasting : 0;
}

static void rate(json_t *o, const char *what, uint64_t octets, mf_time lasting, mf_time format)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_gbps", what);
	result_real(o, key, gbps(octets, lasting));
	snprintf(key, sizeof(key), "%s_of_limit", what);
	result_real(o, key, lasting > 0 ? (double)format / (double)lasting : 0);
}

static json_t *kind_json(const struct delivery *d, unsigned int kind)
{
	struct delivery_stream sum = {0};
	mf_time lasting = 0;
	json_t *o;

	for (unsigned int i = 0; i < d->f->nodes; i++) {
		const struct delivery_stream *s = &d->stream[i * DELIVERY_KINDS + kind];

		sum.messages += s->messages;
		sum.octets += s->octets;
		sum.lasting += s->lasting;
		sum.format += s->format;
		lasting += s->last - s->first;
	}
	if (sum.messages == 0)
		return NULL;
	o = json_object();
	result_count(o, "messages", sum.messages);
	result_count(o, "octets", sum.octets);
	/* The blocks of others are not those of chunks, and each network has a limit of its own. */
	if (d->f->tiers == 1 && mf_config_schedules(d->f->config)) {
		result_real(o, "limit_gbps", gbps(sum.octets, sum.format));
		rate(o, "message", sum.octets, sum.lasting, sum.format);
		rate(o, "queue", sum.octets, lasting, sum.format);
	}
	if (kind == DELIVERY_WRITE && d->effect.count > 0 && !d->f->pending.incomplete)
		json_object_set_new(o, "effect", result_hist(&d->effect));
	return o;
}

json_t *delivery_json(const struct delivery *d)
{
	static const char *const name[DELIVERY_KINDS] = {"reads", "writes"};
	json_t *o = json_object();

	for (unsigned int k = 0; k < DELIVERY_KINDS; k++) {
		json_t *kind = kind_json(d, k);

		if (kind != NULL)
			json_object_set_new(o, name[k], kind);
	}
	return o;
}
