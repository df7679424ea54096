/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the telemetry. An answer is JSON, made as the result is, and becomes DPDK's structure last
 * (reply.c). Answers run on threads of the telemetry, one at a time; whoever would free what they
 * look at waits for them.
 */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include <jansson.h>
#include <rte_common.h>
#include <rte_telemetry.h>

#include "fabric/mf_fabric_state.h"

#define TELEMETRY_TEXT 128 /**< what an error may say; DPDK has as much for a string */

struct telemetry_query {
	const struct mf_fabric *f;
	const char *file; /**< that it was added with, or NULL */
	unsigned int number; /**< of the fabric in this process */
	/* parameters */
	const char *name; /**< of a node or port; NULL: none was given */
	const char *kind; /**< NULL: all */
	unsigned int first; /**< of a list */
	char error[TELEMETRY_TEXT]; /**< why there is no answer */
};

/** Says why there is no answer. @return NULL */
json_t *telemetry_refuse(struct telemetry_query *q, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Number of the node that is asked for, or -1: there is no such node. */
int telemetry_node(struct telemetry_query *q);

/**
 * Names of nodes or ports from q->first on, as many as fit: {"names", "first", "total"}.
 * @param name  of number i < most; NULL: there is none
 */
json_t *telemetry_names(const struct telemetry_query *q, unsigned int most,
			const char *(*name)(const void *ctx, unsigned int i), const void *ctx);

/* Answers, NULL where q->error says why. */
/* fabric.c: of the whole fabric */
json_t *telemetry_config(struct telemetry_query *q);
json_t *telemetry_fabric(struct telemetry_query *q);
json_t *telemetry_scheduler(struct telemetry_query *q);
json_t *telemetry_switch(struct telemetry_query *q);
json_t *telemetry_watchdog(struct telemetry_query *q);
/* parts.c: without a name, which there are */
json_t *telemetry_node_of(struct telemetry_query *q);
json_t *telemetry_link(struct telemetry_query *q);
json_t *telemetry_port(struct telemetry_query *q);
json_t *telemetry_tunnels(struct telemetry_query *q);
/* spaces.c: without a name, which memory nodes have some */
json_t *telemetry_spaces(struct telemetry_query *q);
/* latency.c */
json_t *telemetry_latency(struct telemetry_query *q);

/**
 * Writes JSON, an object, as DPDK has it. There are no fractions: they become text of their own digits. Names
 * have letters, digits and _; for all else there is a _.
 * @return 0; -E2BIG: it would not fit in a reply; -ENOMEM
 */
int telemetry_reply(const json_t *answer, struct rte_tel_data *out);

#endif
