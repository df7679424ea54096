/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: what was offered and what became of it, in warm-up, steady state and drain. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"

#define COLUMN 18

static void put_side(FILE *out, const json_t *o, const char *name)
{
	static const char *const key[] = {"offered", "begun", "completed", "failed"};

	fprintf(out, "%-*s", REPORT_NAME, name);
	for (unsigned int i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		char n[REPORT_NUMBER];

		fprintf(out, " %*s", COLUMN, report_group(n, report_count(o, key[i])));
	}
	fputc('\n', out);
}

static void put_load(FILE *out, const json_t *o, const char *key, const char *name)
{
	char offered[REPORT_NUMBER] = "";
	char path[REPORT_NUMBER];

	snprintf(path, sizeof(path), "offered/%s", key);
	if (report_at(o, path) != NULL)
		snprintf(offered, sizeof(offered), "%.4f offered, ", report_real(o, path));
	snprintf(path, sizeof(path), "achieved/%s", key);
	report_line(out, name, "%s%.4f achieved", offered, report_real(o, path));
}

static void put_flow(FILE *out, const json_t *o)
{
	char a[REPORT_NUMBER], b[REPORT_NUMBER], offered[2 * REPORT_NUMBER] = "";

	if (report_at(o, "flow/offered_per_s") != NULL)
		snprintf(offered, sizeof(offered), "%s offered, ",
			 report_group(a, (uint64_t)(report_real(o, "flow/offered_per_s") + 0.5)));
	report_line(out, "operations, 1/s", "%s%s completed", offered,
		    report_group(b, (uint64_t)(report_real(o, "flow/completed_per_s") + 0.5)));
	offered[0] = '\0';
	if (report_at(o, "flow/offered_gbps") != NULL)
		snprintf(offered, sizeof(offered), "%.4f offered, ", report_real(o, "flow/offered_gbps"));
	report_line(out, "goodput, Gb/s", "%s%.4f completed", offered, report_real(o, "flow/completed_gbps"));
	report_line(out, "not over", "%s operations at the begin of the steady state, %s at its end",
		    report_group(a, report_count(o, "flow/waiting_at_begin")),
		    report_group(b, report_count(o, "flow/waiting_at_end")));
}

void report_load(FILE *out, const json_t *result)
{
	const json_t *o = json_object_get(result, "load"), *saturated = json_object_get(o, "saturated");
	const char *direction = report_text(o, "achieved/busiest/direction");

	if (o == NULL)
		return;
	report_head(out, result, "Load of the steady state");
	put_load(out, o, "wire", "wire");
	put_load(out, o, "payload", "payload");
	report_line(out, "busiest link", "%s, %s; %.4f in the mean of all in that direction",
		    report_text(o, "achieved/busiest/node"),
		    strcmp(direction, "to_switch") == 0 ? "to the switch"
		    : strcmp(direction, "to_node") == 0 ? "to the other node"
							: "from the switch",
		    report_real(o, "achieved/wire_mean"));
	put_flow(out, o);
	if (saturated != NULL)
		report_line(out, "saturated", "%s",
			    json_is_true(saturated) ? "YES: latencies say how long the run was, no more"
						    : "no");
}

void report_phases(FILE *out, const json_t *result)
{
	static const struct {
		const char *key, *name;
	} phase[] = {{"warmup", "warm-up"}, {"steady", "steady state"}, {"drain", "drain"}};
	const json_t *all = json_object_get(result, "phases");
	char a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER];

	report_head(out, result, "Phases");
	fprintf(out, "%-*s %*s %*s %*s %*s\n", REPORT_NAME, "", COLUMN, "offered", COLUMN, "begun", COLUMN,
		"completed", COLUMN, "failed");
	for (unsigned int i = 0; i < sizeof(phase) / sizeof(phase[0]); i++) {
		const json_t *o = json_object_get(all, phase[i].key);

		put_side(out, json_object_get(o, "messages"), phase[i].name);
		put_side(out, json_object_get(o, "octets"), "  octets");
	}
	report_line(out, "not over at the end", "%s under way, of %s octets; %s never begun",
		    report_group(a, report_count(all, "end/under_way")),
		    report_group(b, report_count(all, "end/octets_under_way")),
		    report_group(c, report_count(all, "end/never_begun")));
	if (report_count(all, "end/late_writes") > 0)
		report_line(out, "", "%s writes that had completed for their senders had not taken effect",
			    report_group(a, report_count(all, "end/late_writes")));
	if (report_count(all, "end/drain_enough_ps") > 0)
		report_line(out, "", "at the pace of the drain about %s of it would have been enough",
			    report_time(a, report_count(all, "end/drain_enough_ps")));
	if (report_count(all, "end/not_reached") > 0)
		report_line(out, "not reached",
			    "%s operations of a trace or a limit: the time was over before",
			    report_group(a, report_count(all, "end/not_reached")));
}
