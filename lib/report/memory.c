/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on memory with address spaces: one part for each memory node, and what those that ask have seen.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/mf_unit.h"
#include "report/report.h"

static void put_pages(FILE *out, const json_t *memory)
{
	struct counts n = {.used = 0};
	char size[MF_UNIT_LEN];
	json_t *o;
	size_t i;

	json_array_foreach(json_object_get(memory, "pages"), i, o) {
		char name[REPORT_NUMBER];

		snprintf(name, sizeof(name), "pages of %s",
			 mf_unit_put_size(size, report_count(o, "octets")));
		report_line(out, name, "%s in use, %s ready, %s free, %s being zeroed",
			    count(&n, o, "in_use"), count(&n, o, "in_ring"), count(&n, o, "free"),
			    count(&n, o, "being_zeroed"));
	}
}

static void put_node(FILE *out, const json_t *result, const char *name, const json_t *o)
{
	struct counts n = {.used = 0};
	char title[REPORT_WIDTH], time[REPORT_NUMBER];
	const json_t *busy = report_at(o, "slow_path/busy_ps");

	snprintf(title, sizeof(title), "Memory of %s", name);
	report_head(out, result, title);
	report_line(out, "translations", "%s hits, %s misses, %s of them first accesses",
		    count(&n, o, "hits"), count(&n, o, "misses"), count(&n, o, "faults"));
	report_line(out, "without a page", "%s while pages were made, %s when all were in use",
		    count(&n, o, "dry"), count(&n, o, "full"));
	if (json_object_get(o, "beyond_limits") != NULL)
		report_line(out, "beyond limits", "%s first accesses, %s allocations",
			    count(&n, o, "beyond_limits/pages"), count(&n, o, "beyond_limits/entries"));
	report_line(out, "refused", "%s wrong keys, %s spaces that are not there",
		    count(&n, o, "refused/key"), count(&n, o, "refused/space"));
	report_line(out, "", "%s pages that are not there, %s without the right",
		    count(&n, o, "refused/page"), count(&n, o, "refused/right"));
	put_pages(out, o);
	report_line(out, "spaces", "%s, with %s pages allocated", count(&n, o, "spaces"),
		    count(&n, o, "entries"));
	report_line(out, "ended", "%s by their leases, %s since their nodes have begun anew",
		    count(&n, o, "leases_over"), count(&n, o, "left_by_nodes"));
	report_line(out, "allocations", "%s, %.4f retries in the mean, at most %s",
		    count(&n, o, "retries/allocations"), report_real(o, "retries/mean"),
		    count(&n, o, "retries/max"));
	report_line(out, "slow path", "%s tasks begun, %s found too many%s%s", count(&n, o, "tasks/begun"),
		    count(&n, o, "tasks/busy"), busy != NULL ? "; at work for " : "",
		    busy != NULL ? report_time(time, (mf_time)json_integer_value(busy)) : "");
	report_line(out, "state", "%s octets of the fast path, without page table and data",
		    count(&n, o, "state_octets"));
}

static void put_spaces(FILE *out, const json_t *result, const json_t *o)
{
	const json_t *at = json_object_get(o, "ready_at_ps");
	struct counts n = {.used = 0};
	char time[REPORT_NUMBER];

	report_head(out, result, "Address spaces of compute nodes");
	report_line(out, "there", "%s%s%s, %s could not be had", count(&n, o, "ready"),
		    json_is_null(at) ? "" : ", since ",
		    json_is_null(at) ? "" : report_time(time, (mf_time)json_integer_value(at)),
		    count(&n, o, "failed"));
	report_line(out, "asked", "%s tasks, %s times again; %s keys of programs", count(&n, o, "asked"),
		    count(&n, o, "asked_again"), count(&n, o, "joins"));
	report_line(out, "leases", "%s times renewed", count(&n, o, "leases_renewed"));
	report_line(out, "a range took", "%.2f ns in the mean, at most %.2f, from the first request for it",
		    report_real(o, "allocations/mean_ns"), report_real(o, "allocations/max_ns"));
	report_line(out, "waited for a page", "%s times, %s given up", count(&n, o, "waited_for_pages"),
		    count(&n, o, "given_up"));
}

void report_memory(FILE *out, const json_t *result)
{
	const json_t *spaces = json_object_get(result, "spaces");
	const char *name;
	json_t *o;

	json_object_foreach(json_object_get(result, "memory"), name, o)
		put_node(out, result, name, o);
	if (spaces != NULL)
		put_spaces(out, result, spaces);
}
