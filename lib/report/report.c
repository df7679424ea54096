/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people, made of the JSON result alone: the same numbers. Here: the run, its operations. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mf_unit.h"
#include "report/mf_report.h"
#include "report/report.h"

#define COLUMN 10 /* of a latency */
#define LABEL 28

static bool is_virtual(const json_t *result)
{
	return strcmp(report_text(result, "clock"), "virtual") == 0;
}

/** Of a tier; tier NULL: of all that "switches" names. */
static json_int_t listed(const json_t *config, const json_t *tier)
{
	json_int_t n = 0;
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(config, "switches"), i, entry)
		if (tier == NULL || strcmp(report_text(entry, "tier"), report_text(tier, "name")) == 0)
			n += json_integer_value(json_object_get(entry, "count"));
	return n;
}

/** A tier that "switches" does not name has one, if it is not a link between two nodes. */
static json_int_t switches_of(const json_t *config)
{
	json_int_t n = listed(config, NULL);
	json_t *tier;
	size_t i;

	json_array_foreach(json_object_get(config, "tiers"), i, tier)
		n += listed(config, tier) == 0 && json_object_get(tier, "switch") != NULL;
	return n;
}

/** "2 compute, 2 memory": nodes by role. */
static void put_nodes(FILE *out, const json_t *config)
{
	static const char *const role[] = {"compute", "memory", "both", "ethernet"};
	const char *comma = "", *policy;
	char text[REPORT_WIDTH] = "";
	size_t i, len = 0;
	json_t *node;

	for (unsigned int r = 0; r < sizeof(role) / sizeof(role[0]); r++) {
		json_int_t n = 0;

		json_array_foreach(json_object_get(config, "nodes"), i, node)
			if (strcmp(report_text(node, "role"), role[r]) == 0)
				n += json_integer_value(json_object_get(node, "count"));
		if (n == 0)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%lld %s", comma, (long long)n,
					role[r]);
		comma = ", ";
	}
	i = json_array_size(json_object_get(config, "tiers"));
	if (i > 0)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "; %zu tier%s", i, i > 1 ? "s" : "");
	if (i > 0 || json_object_get(config, "switches") != NULL) {
		bool routes = json_object_get(config, "routing") != NULL;

		report_line(out, "nodes", "%s%s %llu switch%s%s%s%s", text, i > 0 ? "," : ";",
			    (unsigned long long)switches_of(config), switches_of(config) == 1 ? "" : "es",
			    routes ? ", " : "", routes ? report_text(config, "routing") : "",
			    routes ? " routing" : "");
		return;
	}
	if (json_object_get(config, "switch") == NULL) {
		report_line(out, "nodes", "%s; a link between them, no switch", text);
		return;
	}
	/* A policy that has parameters is an object with its name. */
	policy = json_is_object(report_at(config, "scheduler/policy")) ? "scheduler/policy/name"
								       : "scheduler/policy";
	report_line(out, "nodes", "%s; switch %s of %llu ports, scheduler %s/%s", text,
		    report_text(config, "switch/name"),
		    (unsigned long long)report_count(config, "switch/ports"), report_text(config, policy),
		    report_text(config, "scheduler/priority"));
}

/** What of it this process plays, where that is not all. */
static void put_roles(FILE *out, const json_t *result)
{
	char text[REPORT_WIDTH] = "";
	size_t i, len = 0;
	json_t *role;

	json_array_foreach(json_object_get(result, "roles"), i, role)
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i > 0 ? ", " : "",
						json_string_value(role));
	if (len > 0)
		report_line(out, "this process", "%s; of the others nothing is known here", text);
}

static void put_fabric(FILE *out, const json_t *result)
{
	const json_t *config = json_object_get(result, "config");
	const char *name = report_text(config, "name");
	mf_time from = report_count(result, "time/measured_from_ps");
	mf_time to = report_count(result, "time/measured_to_ps");
	char a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER];

	report_head(out, result, name[0] != '\0' ? name : "fabric");
	put_nodes(out, config);
	put_roles(out, result);
	report_line(out, "seed", "%llu", (unsigned long long)report_count(config, "seed"));
	if (json_array_size(json_object_get(config, "workload")) == 0)
		report_line(out, "workload",
			    "none: no node asks for anything (key \"workload\" of the file)");
	report_line(out, "measured", "%s, after %s of warm-up; all over after %s",
		    report_time(a, to > from ? to - from : 0), report_time(b, from),
		    report_time(c, report_count(result, "time/ended_ps")));
}

/* Operations */

static void put_counts(FILE *out, const json_t *kinds)
{
	const char *name;
	json_t *kind;

	fprintf(out, "%-*s %15s %12s %19s %19s\n", LABEL, "", "completed", "failed", "rate, 1/s",
		"goodput, Gb/s");
	json_object_foreach((json_t *)(uintptr_t)kinds, name, kind) {
		char done[REPORT_NUMBER], failed[REPORT_NUMBER], rate[REPORT_NUMBER];

		fprintf(out, "%-*s %15s %12s %19s %19.4f\n", LABEL, name,
			report_group(done, report_count(kind, "completed")),
			report_group(failed, report_count(kind, "failed")),
			report_group(rate, (uint64_t)(report_real(kind, "rate_per_s") + 0.5)),
			report_real(kind, "goodput_gbps"));
	}
}

/** The columns beside it count operations that began in the steady state; these are over something else. */
static void put_rates(FILE *out, const json_t *rates)
{
	mf_time from = report_count(rates, "from_ps"), to = report_count(rates, "to_ps");
	const char *reason = report_text(rates, "reason");
	char time[REPORT_NUMBER];

	report_time(time, to > from ? to - from : 0);
	if (report_at(rates, "reason") == NULL) {
		report_line(out, "rates", "of what completed within the steady state, over %s", time);
		return;
	}
	report_line(out, "rates",
		    "over %s, from the first begin to the last end of what was measured:", time);
	report_line(out, "", "%s",
		    strcmp(reason, "steady_state_is_short") == 0
			    ? "the steady state is shorter than its operations took"
			    : "more completed within the steady state than arrived in it");
}

static void put_failed(FILE *out, const json_t *failed)
{
	char n[REPORT_NUMBER];
	const char *cause;
	json_t *count;

	json_object_foreach((json_t *)(uintptr_t)failed, cause, count)
		if (json_integer_value(count) > 0)
			report_line(out, "failed", "%s x %s",
				    report_group(n, (uint64_t)json_integer_value(count)), cause);
}

static void put_sinks(FILE *out, const json_t *sinks)
{
	char a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER];

	report_line(out, "sinks", "%s pieces of writes compared, %s octets; %s of them wrong",
		    report_group(a, report_count(sinks, "writes")),
		    report_group(b, report_count(sinks, "octets")),
		    report_group(c, report_count(sinks, "wrong")));
}

static void put_operations(FILE *out, const json_t *result)
{
	const json_t *o = json_object_get(result, "operations");
	char a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER];

	report_head(out, result, "Operations");
	put_counts(out, json_object_get(o, "kinds"));
	if (json_object_size(json_object_get(o, "kinds")) == 0)
		report_line(out, "measured", "nothing: no operation began in the steady state");
	else
		put_rates(out, json_object_get(o, "rates"));
	report_line(out, "in all", "%s begun, %s completed, %s failed, warm-up and drain included",
		    report_group(a, report_count(o, "begun_all")),
		    report_group(b, report_count(o, "completed_all")),
		    report_group(c, report_count(o, "failed_all")));
	put_failed(out, json_object_get(o, "failed_by_cause"));
	report_line(out, "verified", "%s results, %s of them wrong; %s could not be verified",
		    report_group(a, report_count(o, "verified")),
		    report_group(b, report_count(o, "mismatches")),
		    report_group(c, report_count(o, "unverified")));
	if (json_object_get(o, "sinks") != NULL)
		put_sinks(out, json_object_get(o, "sinks"));
	if (report_count(o, "restarts_seen") > 0)
		report_line(out, "restarts seen",
			    "%s: so often a memory node lost its link, and what was under way, or its memory",
			    report_group(a, report_count(o, "restarts_seen")));
	if (json_object_get(o, "lost_writes") != NULL)
		report_line(out, "writes lost",
			    "%s completed for their senders and never took effect: the fabric dropped them",
			    report_group(a, report_count(o, "lost_writes")));
	report_line(out, "held back", "%s times, because the host's message queue was full",
		    report_group(a, report_count(o, "refused")));
}

/* Queries */

static void put_queries(FILE *out, const json_t *result)
{
	const json_t *q = report_at(result, "operations/queries");
	char a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER], d[REPORT_NUMBER];
	const char *name;
	json_t *kind;

	if (q == NULL)
		return;
	report_head(out, result, "Queries");
	fprintf(out, "%-*s %15s %12s %19s %19s\n", LABEL, "", "completed", "failed", "rate, 1/s",
		"of them local");
	json_object_foreach(json_object_get(q, "kinds"), name, kind)
		fprintf(out, "%-*s %15s %12s %19s %19s\n", LABEL, name,
			report_group(a, report_count(kind, "completed")),
			report_group(b, report_count(kind, "failed")),
			report_group(c, (uint64_t)(report_real(kind, "rate_per_s") + 0.5)),
			report_group(d, report_count(kind, "local")));
	report_line(out, "fields", "%s torn, %s absent", report_group(a, report_count(q, "torn_fields")),
		    report_group(b, report_count(q, "absent_fields")));
}

/* Latencies */

static void put_latency(FILE *out, const json_t *hist, const char *name, const char *what, double unit)
{
	static const char *const key[] = {"mean_ns",  "p50_ns",    "p90_ns", "p99_ns",
					  "p99.9_ns", "p99.99_ns", "max_ns"};
	char label[LABEL + 1];

	if (report_count(hist, "count") == 0)
		return;
	snprintf(label, sizeof(label), "%s%s%s", name, what[0] != '\0' ? ", " : "", what);
	fprintf(out, "%-*s", LABEL, label);
	for (unsigned int i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		double value = report_real(hist, key[i]) / unit;

		fprintf(out, " %*.*f", COLUMN - 1, value < 100000 ? 2 : 0, value);
	}
	fputc('\n', out);
}

static void put_latencies(FILE *out, const json_t *result)
{
	static const char *const column[] = {"mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"};
	/* What software does is worth microseconds, what hardware does nanoseconds. */
	double unit = is_virtual(result) ? 1 : 1000;
	const char *name;
	json_t *kind;

	report_head(out, result, unit > 1 ? "Latency, us" : "Latency, ns");
	fprintf(out, "%-*s", LABEL, "");
	for (unsigned int i = 0; i < sizeof(column) / sizeof(column[0]); i++)
		fprintf(out, " %*s", COLUMN - 1, column[i]);
	fputc('\n', out);
	json_object_foreach(json_object_get(json_object_get(result, "operations"), "kinds"), name, kind) {
		put_latency(out, json_object_get(kind, "first_block"), name, "first block", unit);
		put_latency(out, json_object_get(kind, "latency"), name, "completion", unit);
		put_latency(out, json_object_get(kind, "from_intended_start"), name, "from intended", unit);
	}
	json_object_foreach(json_object_get(report_at(result, "operations/queries"), "kinds"), name, kind)
		put_latency(out, json_object_get(kind, "latency"), name, "", unit);
	put_latency(out, report_at(result, "operations/queries/in_all/latency"), "all queries", "", unit);
	put_latency(out, report_at(result, "operations/queries/in_all/remote_latency"), "all queries",
		    "remote", unit);
	put_latency(out, report_at(result, "delivery/writes/effect"), "writes", "effect at memory", unit);
	put_latency(out, report_at(result, "frames/latency"), "frame", "delivery", unit);
}

/* What the receivers see */

static void put_delivery(FILE *out, const json_t *result)
{
	char n[REPORT_NUMBER];
	const char *name;
	json_t *o;

	if (json_object_size(json_object_get(result, "delivery")) == 0)
		return;
	report_head(out, result, "At the receiver, from first to last block");
	fprintf(out, "%-*s %15s %17s %17s %17s\n", LABEL, "goodput, Gb/s", "messages", "format allows",
		"a message", "all in a row");
	json_object_foreach(json_object_get(result, "delivery"), name, o)
		fprintf(out, "%-*s %15s %17.4f %8.4f %6.2f %% %8.4f %6.2f %%\n", LABEL, name,
			report_group(n, report_count(o, "messages")), report_real(o, "limit_gbps"),
			report_real(o, "message_gbps"), report_real(o, "message_of_limit") * 100,
			report_real(o, "queue_gbps"), report_real(o, "queue_of_limit") * 100);
}

static void put_waits(FILE *out, const json_t *result)
{
	const json_t *o = json_object_get(result, "waits");

	if (o == NULL)
		return;
	report_head(out, result, "Where an operation waits, ns in the mean of the whole run");
	report_line(out, "message queue", "%.2f", report_real(o, "message_queue_ns"));
	if (report_at(o, "lines_between_nodes_ns") != NULL)
		report_line(out, "lines between nodes", "%.2f", report_real(o, "lines_between_nodes_ns"));
	if (json_object_get(json_object_get(result, "links"), "to_switch") == NULL)
		return;
	report_line(out, "line to the switch", "%.2f", report_real(o, "line_to_switch_ns"));
	report_line(out, "scheduler", "%.2f, until the first grant, its own time included",
		    report_real(o, "scheduler_ns"));
	if (report_at(o, "lines_between_switches_ns") != NULL)
		report_line(out, "lines between switches", "%.2f",
			    report_real(o, "lines_between_switches_ns"));
	report_line(out, "line to the node", "%.2f", report_real(o, "line_from_switch_ns"));
}

/** What switches and hosts of each network count, where the file has several. */
static void put_tiers(FILE *out, const json_t *result)
{
	const json_t *tiers = json_object_get(result, "tiers");
	char head[REPORT_WIDTH];
	json_t *tier;
	size_t i;

	json_array_foreach(tiers, i, tier) {
		json_t *one = json_copy(tier); /* heads of sections say the clock */

		json_object_set(one, "clock", json_object_get(result, "clock"));
		snprintf(head, sizeof(head), "Tier %s", report_text(tier, "name"));
		report_head(out, one, head);
		fprintf(out, "%-*s %" PRIu64 " nodes, %" PRIu64 " %s\n", LABEL, "in it",
			report_count(tier, "nodes"), report_count(tier, "switches"),
			report_count(tier, "switches") == 1 ? "switch" : "switches");
		report_sched(out, one);
		report_backlog(out, one);
		report_policy(out, one, "stack");
		report_policy(out, one, "bridge");
		report_drops(out, one);
		json_decref(one);
	}
}

void mf_fabric_report(FILE *out, const json_t *json)
{
	const json_t *result = json_object_get(json, "result");

	fprintf(out, "%s\n",
		is_virtual(result) ? "VIRTUAL CLOCK: what the modelled hardware does"
				   : "WALL CLOCK: what this software does on this machine");
	put_fabric(out, result);
	if (json_object_get(result, "operations") != NULL) {
		put_operations(out, result);
		put_queries(out, result);
		report_phases(out, result);
		report_load(out, result);
		put_latencies(out, result);
	}
	report_messages(out, result);
	if (json_object_get(result, "stack") == NULL) {
		put_delivery(out, result);
		put_waits(out, result);
	}
	if (json_object_get(result, "stages") != NULL)
		report_stages(out, result);
	report_links(out, result);
	report_tunnels(out, result);
	report_sched(out, result);
	report_backlog(out, result);
	report_policy(out, result, "stack");
	report_policy(out, result, "bridge");
	put_tiers(out, result);
	report_frames(out, result);
	report_series(out, result);
	report_tests(out, result);
	report_memory(out, result);
	report_drops(out, result);
	report_run(out, result, json_object_get(json, "run"));
	mf_fabric_report_cycles(out, json_object_get(json, "run"));
}
