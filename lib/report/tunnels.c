/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on links over ports: the ends that this process has, the ports that carry them. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"

static const char *spaced(char *to, size_t capacity, const char *name)
{
	snprintf(to, capacity, "%s", name);
	for (char *p = to; *p != '\0'; p++)
		*p = *p == '_' ? ' ' : *p;
	return to;
}

/** All counters that are not 0 and not told above, three to a line. */
static void put_others(FILE *out, const json_t *counters, const char *const *told)
{
	char name[REPORT_WIDTH], text[REPORT_WIDTH] = "", n[REPORT_NUMBER];
	unsigned int in_line = 0;
	const char *key;
	size_t len = 0;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)counters, key, value) {
		bool above = json_integer_value(value) == 0;

		for (const char *const *t = told; *t != NULL; t++)
			above |= strcmp(*t, key) == 0;
		if (above)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", len > 0 ? ", " : "",
					spaced(name, sizeof(name), key),
					report_group(n, (uint64_t)json_integer_value(value)));
		if (++in_line < 3)
			continue;
		report_line(out, "", "%s", text);
		in_line = 0;
		len = 0;
	}
	if (in_line > 0)
		report_line(out, "", "%s", text);
}

/** Of a link between switches: the one at the other end. */
static const char *other_switch(const json_t *e)
{
	const json_t *between = json_object_get(e, "between");
	const char *first = json_string_value(json_array_get(between, 0));
	const char *second = json_string_value(json_array_get(between, 1));

	if (first == NULL || second == NULL)
		return "";
	return strcmp(first, report_text(e, "end")) == 0 ? second : first;
}

static void put_end(FILE *out, const json_t *e)
{
	static const char *const told[] = {"tx_data_frames", "tx_replayed_frames", "rx_data_frames",
					   "tx_data_blocks", "rx_data_blocks",     NULL};
	char name[REPORT_WIDTH], a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER];
	const json_t *n = json_object_get(e, "counters");

	if (json_object_get(e, "between") != NULL)
		snprintf(name, sizeof(name), "%s to %s", report_text(e, "end"), other_switch(e));
	else
		snprintf(name, sizeof(name), "%s, %s's end", report_text(e, "node"), report_text(e, "end"));
	report_line(out, name, "port %s; round trip %s, with the partner's delay of acknowledgements",
		    report_text(e, "port"),
		    report_time(a, (mf_time)(report_real(e, "round_trip_ns") * 1000)));
	report_line(out, "  sent", "%.4f Gb/s; %s new frames, %s replayed: efficiency %.2f %%",
		    report_real(e, "tx_goodput_gbps"), report_group(a, report_count(n, "tx_data_frames")),
		    report_group(b, report_count(n, "tx_replayed_frames")),
		    json_object_get(e, "tx_efficiency") != NULL ? report_real(e, "tx_efficiency") * 100
								: 100.0);
	report_line(out, "  received", "%.4f Gb/s; %s frames in their order, of %s blocks",
		    report_real(e, "rx_goodput_gbps"), report_group(a, report_count(n, "rx_data_frames")),
		    report_group(c, report_count(n, "rx_data_blocks")));
	put_others(out, n, told);
}

static void put_port(FILE *out, const json_t *p)
{
	static const char *const told[] = {"rx_frames", "rx_octets", "tx_frames", "tx_octets", NULL};
	char name[REPORT_WIDTH], a[REPORT_NUMBER], b[REPORT_NUMBER];
	const json_t *n = json_object_get(p, "counters");

	snprintf(name, sizeof(name), "port %s", report_text(p, "name"));
	report_line(out, name, "%.60s", report_text(p, "device"));
	report_line(out, "  sent", "%s frames, %s octets", report_group(a, report_count(n, "tx_frames")),
		    report_group(b, report_count(n, "tx_octets")));
	report_line(out, "  received", "%s frames, %s octets", report_group(a, report_count(n, "rx_frames")),
		    report_group(b, report_count(n, "rx_octets")));
	put_others(out, n, told);
	if (json_object_get(p, "impaired") == NULL)
		return;
	report_line(out, "  harmed on purpose",
		    "of %s frames sent:", report_group(a, report_count(p, "impaired/frames")));
	put_others(out, json_object_get(p, "impaired"), (const char *const[]){"frames", NULL});
}

void report_tunnels(FILE *out, const json_t *result)
{
	json_t *o;
	size_t i;

	if (json_array_size(json_object_get(result, "carried")) == 0)
		return;
	report_head(out, result, "Links over ports");
	json_array_foreach(json_object_get(result, "carried"), i, o)
		put_end(out, o);
	json_array_foreach(json_object_get(result, "ports"), i, o)
		put_port(out, o);
}
