/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the result: how its files write their numbers, and the section that each of them writes. */
#ifndef MF_RESULT_H
#define MF_RESULT_H

#include <jansson.h>
#include <stdint.h>

#include "base/mf_counter.h"
#include "base/mf_hist.h"
#include "role/mf_role.h"

/* put.c */
void result_count(json_t *o, const char *key, uint64_t value);
void result_real(json_t *o, const char *key, double value);
/** Percentiles, and the histogram as pairs of the lowest value of a bucket (ps) and its count. */
json_t *result_hist(const struct mf_hist *h);

struct delivery;
struct fabric_tier;
struct mf_fabric;
struct mf_node;
struct mf_scheduler;
struct mf_sw;
struct mf_mux_stats;
struct mf_window;
struct stage_record;
struct watch_log;

/** Whose numbers are added up: nodes [from, to). */
struct result_nodes {
	unsigned int from, to;
};
struct result_nodes result_all(const struct mf_fabric *f);

/* counters.c: sections that are made of a table */
/** Adds the counters of a section of a table, in their order. @param stats  the structure that it is about */
void result_section(json_t *o, const struct mf_counter_desc *table, const char *section, const void *stats);
/** The same as an object of its own. */
json_t *section_json(const struct mf_counter_desc *table, const char *section, const void *stats);

/** What roles of one kind have counted together: fields that have a row in the table. */
struct result_counts {
	const struct mf_counter_desc *table;
	struct mf_role_stats sum;
};
/** All nodes of this process. */
void result_nodes_counted(const struct fabric_tier *t, struct result_counts *out);
void result_node_counted(const struct mf_node *n, struct result_counts *out);
/** One switch; one scheduler. */
void result_switch_counted(const struct mf_sw *sw, struct result_counts *out);
/** The same of all switches together. */
void result_switches_counted(const struct fabric_tier *t, struct result_counts *sum);
void result_sched_counted(const struct mf_scheduler *s, struct result_counts *out);
/** Adds the counters of another role of the same kind. */
void result_add(struct result_counts *sum, const struct result_counts *one);
json_t *counts_section(const struct result_counts *c, const char *section);
/** A counter by its row, which there must be. */
uint64_t result_value(const struct result_counts *c, const char *section, const char *key);

/** What is told of operations, queries and frames. */
enum result_what {
	RESULT_COUNTS, /**< counters alone */
	RESULT_TIMES, /**< times alone */
	RESULT_WHOLE, /**< both, and rates: of a run that is over */
};

/* operations.c */
/** @param w  what rates are over; RESULT_WHOLE only */
json_t *operations_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what,
			const struct mf_window *w);
json_t *frames_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what);
/* queries.c */
/** NULL: there is no store */
json_t *queries_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what,
		     const struct mf_window *w);

/* phases.c */
json_t *phases_json(const struct mf_fabric *f);

/** What happened to messages, or their octets, in the steady state. */
struct result_flow {
	uint64_t waiting; /**< offered before it, and not over: at clients or under way */
	uint64_t offered, completed;
	uint64_t over; /**< completed and failed */
};

/** Octets of messages that were never begun are put at the mean of the others. */
void result_steady(const struct mf_fabric *f, struct result_flow *messages, struct result_flow *octets);

/* messages_json.c */
/** NULL: no memory */
json_t *messages_json(const struct mf_fabric *f);

/* load.c, virtual clock */
json_t *load_json(const struct mf_fabric *f, const struct mf_window *w);

/* links.c */
/**
 * How long the steady state is for a line, ps: in whole blocks, rounded up. As many may have begun in it, so
 * no more of a line is ever used than all of it.
 */
double result_line_time(const struct mf_fabric *f, uint32_t period);
/** Adds what the multiplexers of one direction have done. @param end  by node */
void mux_json(const struct mf_mux_stats *end, struct result_nodes nodes, json_t *o);
/** Adds links and control, as the multiplexers' counters have them at the end of the run. */
void counters_json(const struct mf_fabric *f, json_t *o);

/* tunnels.c */
/** Adds ports and carried: the ports of this process, and the ends of its links that are there. */
void tunnels_json(const struct mf_fabric *f, json_t *o);

struct snapshot;
/**
 * Virtual clock: where operations waited; waits.c
 * @param nodes  ports that lead to nodes: those of `end` come first
 */
json_t *waits_json(const struct mf_fabric *f, const struct snapshot *end, unsigned int nodes);
/** What the run ran on; machine.c */
json_t *machine_json(void);

/* switch.c */
json_t *sched_json(const struct fabric_tier *t);
json_t *backlog_json(const struct fabric_tier *t);
/** Most blocks of messages that waited at an egress to a node, by its number there. */
uint64_t result_waited(const struct fabric_tier *t, unsigned int number);
/** "memory" and "spaces", where memory has address spaces; virtual_memory.c */
void virtual_memory_json(const struct mf_fabric *f, json_t *o);
/** "regions" and "limits", where there are such; access.c */
void access_json(const struct mf_fabric *f, json_t *o);
json_t *switch_json(const struct fabric_tier *t);
json_t *backup_json(const struct mf_fabric *f);
json_t *drops_json(const struct mf_fabric *f);
/** Adds what the switches and the hosts of a network have thrown away. */
void tier_drops_json(const struct fabric_tier *t, json_t *o);

/* tiers.c */
/** Adds scheduler, switch and backlog of a network; or stack and bridge. */
void forwarding_json(const struct fabric_tier *t, json_t *o);
/** Of hosts with uses: what was sent again, and what came more than once. */
json_t *once_json(const struct fabric_tier *t);
/** All of them, where the file has several. */
json_t *tiers_json(const struct mf_fabric *f);
/** Whether this process plays a switch of a network. */
bool result_has_switch(const struct fabric_tier *t);

/* delivery_json.c */
/** {} where nothing was received. */
json_t *delivery_json(const struct delivery *d);

/* series_json.c */
/** An array of one: a result of several processes has the series of each. */
json_t *series_json(const struct mf_fabric *f);

/* stages_json.c */
/** The table and the timeline. */
json_t *stages_json(const struct mf_fabric *f);
/** Rows of Table 1 for a stack above the MAC; stages_frames.c */
json_t *stages_table_above(const struct stage_record *r, const char *stack);

/* link_guards.c */
/** Sets "disabled" and "local_faults", where there are guards. */
void guards_json(const struct mf_fabric *f, json_t *o);

/** test_patterns.c: "test_patterns" */
json_t *link_tests_json(const struct mf_fabric *f);

/** watchdog.c: "watchdog" */
json_t *watch_json(const struct watch_log *log);

/** cycles.c: adds "cycles" to "run", where something was measured. */
#ifdef MF_WITH_CYCLES
void cycles_json(const struct mf_fabric *f, json_t *run);
#else
static inline void cycles_json(__attribute__((unused)) const struct mf_fabric *f,
			       __attribute__((unused)) json_t *run)
{
}
#endif

/* stack.c: of a stack above the MAC */
json_t *stack_json(const struct fabric_tier *t, struct result_nodes nodes);
json_t *bridge_json(const struct fabric_tier *t);

#endif
