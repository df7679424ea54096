/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the result: how its files write their numbers, and the section that each of them writes. */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include <jansson.h>
#include <stdint.h>

#include "base/mf_hist.h"

void result_count(json_t *o, const char *key, uint64_t value);
void result_real(json_t *o, const char *key, double value);
/** Percentiles, and the histogram as pairs of the lowest value of a bucket (ps) and its count. */
json_t *result_hist(const struct mf_hist *h);

struct mf_fabric;
struct mf_host_stats;
struct mf_mux_stats;
struct mf_window;

/** Whose numbers are added up: nodes [from, to). */
struct result_nodes {
	unsigned int from, to;
};
struct result_nodes result_all(const struct mf_fabric *f);

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
void carried_json(const struct mf_fabric *f, json_t *o);

/* switch.c */
json_t *sched_json(const struct mf_fabric *f);
json_t *backlog_json(const struct mf_fabric *f);
/** "regions" and "limits", where there are such; access.c */
void access_json(const struct mf_fabric *f, json_t *o);
json_t *switch_json(const struct mf_fabric *f);
json_t *backup_json(const struct mf_fabric *f);
json_t *drops_json(const struct mf_fabric *f);
/** Of them those of hosts. */
json_t *host_drops_json(const struct mf_host_stats *sum);

/* stack.c: of a stack above the MAC */
json_t *stack_json(const struct mf_fabric *f, struct result_nodes nodes);
json_t *bridge_json(const struct mf_fabric *f);

#endif
