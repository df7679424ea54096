/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on "series": how many steps there are, the longest queue in them, and where they are to be
 * found.
 */
#include "report/report.h"

/** A queue of a step. */
struct longest {
	uint64_t octets;
	const json_t *link;
	json_int_t at; /**< end of the step, ps */
};

static void look(const json_t *series, const json_t *link, const char *key, struct longest *l)
{
	const json_t *queue = json_object_get(link, key), *at = json_object_get(series, "at_ps");

	for (size_t i = 0; i < json_array_size(queue); i++) {
		uint64_t octets = (uint64_t)json_integer_value(json_array_get(queue, i));

		if (octets > l->octets)
			*l = (struct longest){octets, link, json_integer_value(json_array_get(at, i + 1))};
	}
}

void report_series(FILE *out, const json_t *result)
{
	const json_t *all = json_object_get(result, "series");
	char a[REPORT_NUMBER], b[REPORT_NUMBER];
	struct longest l = {0};
	const json_t *series;
	size_t i, k;
	json_t *link;

	if (all == NULL)
		return;
	report_head(out, result, "Series");
	json_array_foreach(all, i, series) {
		const json_t *links = json_object_get(series, "links");

		report_line(out, "steps", "%zu of %s, of %zu directions of links and %zu memories",
			    json_array_size(json_object_get(series, "at_ps")) - 1,
			    report_time(a, (mf_time)json_integer_value(json_object_get(series, "every_ps"))),
			    json_array_size(links), json_array_size(json_object_get(series, "memories")));
		json_array_foreach(links, k, link) {
			look(series, link, "queue_octets", &l);
			look(series, link, "queue_max_octets", &l);
		}
	}
	if (l.octets > 0)
		report_line(out, "longest queue", "%s octets, from %s to %s, in the step to %s",
			    report_group(a, l.octets), report_text(l.link, "from"), report_text(l.link, "to"),
			    report_time(b, (mf_time)l.at));
	report_line(out, "where", "in the JSON result (--json), as series; memfab-report show draws them");
}
