/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on links, scheduler, switch, frames, drops, and the run itself. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"

/* Links */

/** A process that has not both ends does not know it. */
static const char *share(const json_t *o, char text[REPORT_WIDTH])
{
	double share = report_real(o, "payload_share_of_memory_blocks");

	text[0] = '\0';
	if (report_at(o, "payload_share_of_memory_blocks") != NULL)
		snprintf(text, REPORT_WIDTH, "; payload is %.2f %% of memory's", share * 100);
	return text;
}

static void put_direction(FILE *out, const json_t *o, const char *name)
{
	struct counts c = {0};
	char text[REPORT_WIDTH];

	if (o == NULL)
		return;
	if (report_at(o, "utilisation_mean") != NULL) {
		report_line(out, name, "%.2f %% of the blocks, framing included (busiest link: %.2f %%)",
			    report_real(o, "utilisation_mean") * 100,
			    report_real(o, "utilisation_busiest") * 100);
		if (report_at(o, "utilisation_payload_mean") != NULL)
			report_line(out, "", "%.2f %% memory payload, without framing",
				    report_real(o, "utilisation_payload_mean") * 100);
		if (report_count(o, "frame_blocks") > 0)
			report_line(out, "",
				    "%.2f %% frames and their gaps, %.2f %% on the link with the fewest",
				    report_real(o, "utilisation_frames_mean") * 100,
				    report_real(o, "utilisation_frames_least") * 100);
	} else if (report_at(o, "payload_octets") != NULL) {
		report_line(out, name, "%s octets of memory payload", count(&c, o, "payload_octets"));
	} else {
		report_line(out, name, "what the ends in this process sent");
	}
	if (report_at(o, "memory_blocks") == NULL)
		return;
	report_line(out, "  blocks", "%s memory, %s frame, %s gap%s", count(&c, o, "memory_blocks"),
		    count(&c, o, "frame_blocks"), count(&c, o, "gap_blocks"), share(o, text));
	report_line(out, "  preemptions", "%s; %s gap blocks filled with memory blocks",
		    count(&c, o, "preemptions"), count(&c, o, "gap_blocks_reused"));
	report_line(out, "  waiting, at most", "%s blocks of frames, %s of memory",
		    count(&c, o, "frame_blocks_waiting_max"), count(&c, o, "memory_backlog_max"));
}

/** Links between switches, or between nodes, both directions. @param o  NULL: there are none */
static void put_between(FILE *out, const json_t *o, const char *name)
{
	put_direction(out, o, name);
	if (o != NULL && report_at(o, "busiest") != NULL)
		report_line(out, "  busiest link", "from %s to %s", report_text(o, "busiest/from"),
			    report_text(o, "busiest/to"));
}

static void put_control(FILE *out, const json_t *o)
{
	struct counts c = {0};

	report_line(out, "control overhead", "%.2f %%: %s /N/ and /G/ of %s memory blocks (paper: %.0f %%)",
		    report_real(o, "share") * 100, count(&c, o, "notification_and_grant_blocks"),
		    count(&c, o, "memory_blocks"), report_real(o, "share_in_paper") * 100);
}

void report_links(FILE *out, const json_t *result)
{
	report_head(out, result, "Links");
	put_direction(out, report_at(result, "links/to_switch"), "nodes to switch");
	put_direction(out, report_at(result, "links/from_switch"), "switch to nodes");
	put_between(out, report_at(result, "links/between_switches"), "switch to switch");
	put_between(out, report_at(result, "links/between_nodes"), "node to node");
	if (report_at(result, "control/share") != NULL)
		put_control(out, json_object_get(result, "control"));
}

/* Scheduler and switch */

static void put_sched(FILE *out, const json_t *o)
{
	struct counts c = {0};

	report_line(out, "demands", "%s, of %s octets", count(&c, o, "demands"),
		    count(&c, o, "demand_octets"));
	report_line(out, "grants", "%s, of %s octets", count(&c, o, "grants"),
		    count(&c, o, "granted_octets"));
	report_line(out, "matchings", "%s, of %.2f grants each, at most %s; at most %s iterations",
		    count(&c, o, "matchings"), report_real(o, "grants_per_matching"),
		    count(&c, o, "matched_max"), count(&c, o, "iterations_max"));
	report_line(out, "longest queue", "%s demands, bound %s; %s left at the end",
		    count(&c, o, "queue_max"), count(&c, o, "queue_bound"), count(&c, o, "entries_left"));
	report_line(out, "memory", "%s octets, by the paper's K*N^2 %s", count(&c, o, "memory_octets"),
		    count(&c, o, "memory_octets_in_paper"));
	report_line(out, "cancelled", "%s demands, of %s octets", count(&c, o, "cancelled"),
		    count(&c, o, "cancelled_octets"));
}

static void put_switch(FILE *out, const json_t *o)
{
	struct counts c = {0};

	report_line(out, "taken in", "%s notifications, %s requests; %s grants given out",
		    count(&c, o, "notifications"), count(&c, o, "requests"), count(&c, o, "grants"));
	report_line(out, "forwarded", "%s chunks of %s blocks, %s requests (%s behind a write)",
		    count(&c, o, "chunks"), count(&c, o, "chunk_blocks"), count(&c, o, "requests_forwarded"),
		    count(&c, o, "requests_behind_a_write"));
	report_line(out, "single blocks", "%s acknowledgements and errors, %s grants that came back",
		    count(&c, o, "acknowledgements_and_errors"), count(&c, o, "grants_returned"));
	report_line(out, "frames", "%s, %s of them flooded; %s addresses learned", count(&c, o, "frames"),
		    count(&c, o, "frames_flooded"), count(&c, o, "addresses_learned"));
}

void report_sched(FILE *out, const json_t *result)
{
	if (json_object_get(result, "scheduler") == NULL)
		return;
	report_head(out, result, "Scheduler");
	put_sched(out, json_object_get(result, "scheduler"));
	report_head(out, result, "Switch");
	put_switch(out, json_object_get(result, "switch"));
}

void report_backlog(FILE *out, const json_t *result)
{
	const json_t *o = json_object_get(result, "backlog");
	char time[REPORT_NUMBER];
	struct counts c = {0};

	if (o == NULL)
		return;
	report_head(out, result, "Egress backlog");
	report_line(out, "memory, at most", "%s blocks, bound %s (grant to arrival differs by %s)",
		    count(&c, o, "egress_memory_blocks_max"), count(&c, o, "egress_memory_blocks_bound"),
		    report_time(time, report_count(o, "grant_to_arrival_difference_ps")));
	report_line(out, "limits in force", "K %s, W %s blocks (0: none)", count(&c, o, "k_blocks"),
		    count(&c, o, "w_blocks"));
}

void report_frames(FILE *out, const json_t *result)
{
	const json_t *o = json_object_get(result, "frames");
	struct counts c = {0};

	if (report_count(o, "sent") == 0 && report_count(o, "received") == 0)
		return;
	report_head(out, result, "Frames");
	report_line(out, "in all", "%s sent, %s received, of %s octets; %s missing", count(&c, o, "sent"),
		    count(&c, o, "received"), count(&c, o, "octets"), count(&c, o, "missing"));
	report_line(out, "not as they should be", "%s gaps, %s duplicated, %s damaged; %s foreign or flooded",
		    count(&c, o, "gaps"), count(&c, o, "duplicated"), count(&c, o, "damaged"),
		    count(&c, o, "foreign"));
	report_line(out, "held back", "%s times, because the line was busy", count(&c, o, "refused"));
}

/* Drops */

/** @return 1 where there were any, so that it is listed */
static unsigned int put_cause(FILE *out, const char *where, const char *cause, uint64_t n)
{
	char name[REPORT_WIDTH], count_text[REPORT_NUMBER];

	if (n == 0)
		return 0;
	snprintf(name, sizeof(name), "%s: %s", where, cause);
	for (char *p = name; *p != '\0'; p++)
		*p = *p == '_' ? ' ' : *p;
	fprintf(out, "%-36s %s\n", name, report_group(count_text, n));
	return 1;
}

void report_drops(FILE *out, const json_t *result)
{
	const json_t *sched = json_object_get(result, "scheduler");
	unsigned int listed = 0;
	const char *where, *cause;
	json_t *o, *n;

	report_head(out, result, "Drops by cause");
	json_object_foreach(json_object_get(result, "drops"), where, o)
		json_object_foreach(o, cause, n)
			listed += put_cause(out, where, cause, (uint64_t)json_integer_value(n));
	listed += put_cause(out, "scheduler", "over X", report_count(sched, "dropped_over_x"));
	listed += put_cause(out, "scheduler", "bad", report_count(sched, "dropped_bad"));
	listed += put_cause(out, "scheduler", "unknown cancel", report_count(sched, "cancel_unknown"));
	if (listed == 0)
		fputs("none\n", out);
}

/* A stack above the MAC, and its bridge */

void report_policy(FILE *out, const json_t *result, const char *what)
{
	const json_t *o = json_object_get(result, what);
	char head[REPORT_WIDTH], name[REPORT_WIDTH], count_text[REPORT_NUMBER];
	const char *key;
	json_t *n;

	if (o == NULL)
		return;
	snprintf(head, sizeof(head), "%s %s", strcmp(what, "stack") == 0 ? "Stack" : "Switch",
		 report_text(o, "name"));
	report_head(out, result, head);
	json_object_foreach(json_object_get(o, "counters"), key, n) {
		snprintf(name, sizeof(name), "%s", key);
		for (char *p = name; *p != '\0'; p++)
			*p = *p == '_' ? ' ' : *p;
		fprintf(out, "%-36s %s\n", name, report_group(count_text, (uint64_t)json_integer_value(n)));
	}
}

/* How the run went */

/** A list with commas, as many of its entries to a line as it has room for. */
static void put_list(FILE *out, const char *name, const char *list)
{
	const size_t capacity = REPORT_WIDTH - REPORT_NAME - 1;

	for (; *list != '\0'; name = "") {
		size_t len = strlen(list), fits = len;

		if (len > capacity)
			for (fits = capacity; fits > 1 && list[fits - 1] != ','; fits--)
				;
		report_line(out, name, "%.*s", (int)fits, list);
		list += fits;
	}
}

static void put_captures(FILE *out, const json_t *captures)
{
	json_t *file;
	size_t i;

	json_array_foreach(captures, i, file) {
		struct counts c = {0};
		const char *name = report_text(file, "file");
		size_t len = strlen(name);

		report_line(out, i == 0 ? "captured" : "", "%s frames, %s dropped: %s%s",
			    count(&c, file, "frames"), count(&c, file, "dropped"), len > 30 ? "..." : "",
			    name + (len > 30 ? len - 30 : 0));
	}
}

/** Roles that had no turns: nothing where all had theirs. */
static void put_watchdog(FILE *out, const json_t *o)
{
	char longest[REPORT_NUMBER];
	const char *role;
	json_t *n;

	if (report_count(o, "paused") > 0) {
		struct counts c = {0};

		report_time(longest, report_count(o, "paused_ps_max"));
		report_line(out, "stopped as a whole", "%s times, at most %s", count(&c, o, "paused"),
			    longest);
	}
	json_object_foreach(json_object_get(o, "roles"), role, n) {
		struct counts c = {0};

		report_time(longest, report_count(n, "longest_ps_max"));
		report_line(out, role, "without a turn: %s stalled, %s asleep, %s without a CPU; at most %s",
			    count(&c, n, "stalled"), count(&c, n, "asleep"), count(&c, n, "descheduled"),
			    longest);
	}
}

void report_run(FILE *out, const json_t *result, const json_t *run)
{
	struct counts c = {0};
	char time[REPORT_NUMBER];

	report_head(out, result, "This run");
	report_line(out, "versions", "memfab %s, %s, gcc %.40s", report_text(run, "memfab"),
		    report_text(run, "dpdk"), report_text(run, "compiler"));
	report_line(out, "machine", "%.50s, %s CPUs, Linux %.20s", report_text(run, "machine/cpu"),
		    count(&c, run, "machine/cpus"), report_text(run, "machine/kernel"));
	report_time(time, (mf_time)(report_real(run, "host_seconds") * 1e12));
	report_line(out, "took", "%s, %.1f %% of %s", time, report_real(run, "cpu_share") * 100,
		    report_count(run, "lcores") > 0 ? "its lcores' time" : "one CPU");
	if (json_is_true(json_object_get(run, "oversubscribed")))
		report_line(out, "oversubscribed",
			    "its lcores had no CPU each: latencies are those of waiting for one");
	if (report_count(run, "events") > 0)
		report_line(out, "events", "%s, %s spans on the links", count(&c, run, "events"),
			    count(&c, run, "spans"));
	put_list(out, "placement", report_text(run, "placement"));
	put_watchdog(out, json_object_get(result, "watchdog"));
	put_captures(out, json_object_get(run, "captures"));
	if (json_is_true(json_object_get(run, "interrupted")))
		report_line(out, "interrupted", "this is what was measured until then");
}
