/* SPDX-License-Identifier: BSD-3-Clause */
/* What a scheduler counts, for results. */
#include "systems/edm/sched/mf_sched.h"

#define ROW(key, merge, field) MF_COUNTER("scheduler", key, merge, struct mf_sched_stats, field)
#define RATIO(key, field, per) MF_COUNTER_RATIO("scheduler", key, struct mf_sched_stats, field, per)

const struct mf_counter_desc mf_sched_counters[] = {
	ROW("demands", MF_SUM, demands),
	ROW("demand_octets", MF_SUM, demand_octets),
	ROW("grants", MF_SUM, grants),
	ROW("granted_octets", MF_SUM, granted_octets),
	ROW("matchings", MF_SUM, matchings),
	ROW("iterations", MF_SUM, iterations),
	RATIO("grants_per_matching", grants, matchings),
	ROW("matched_max", MF_MAX, matched_max),
	ROW("iterations_max", MF_MAX, iterations_max),
	ROW("dropped_over_x", MF_SUM, dropped_x),
	ROW("dropped_bad", MF_SUM, dropped_bad),
	ROW("cancelled", MF_SUM, cancelled),
	ROW("cancelled_octets", MF_SUM, cancelled_octets),
	ROW("cancel_unknown", MF_SUM, cancel_unknown),
	ROW("queue_max", MF_MAX, queue_max),
	ROW("queue_bound", MF_SAME, queue_bound),
	ROW("entries_left", MF_LEVEL, entries),
	ROW("entries_max", MF_MAX, entries_max),
	ROW("memory_octets", MF_LEVEL, memory),
	ROW("memory_octets_in_paper", MF_SAME, memory_paper),
	MF_COUNTER("scheduler.more", "refused", MF_SUM, struct mf_sched_stats, refused),
	{0},
};
