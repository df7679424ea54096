/* SPDX-License-Identifier: BSD-3-Clause */
/* When what a node holds may have been lost, by what all clients were told and answered. */
#ifndef HISTORY_LOSS_H
#define HISTORY_LOSS_H

#include "linear/history.h"

/** An operation, in the time of all histories. */
struct item {
	const struct mf_history_record *r;
	const struct mf_history_config *config;
	mf_time call, ret, last; /**< see struct touch */
	uint32_t log; /**< of all histories */
	bool must;
};

/** A client was told that a node may have lost what it held. */
struct cut {
	size_t place; /**< items of the log before it */
	mf_time at;
	uint16_t node;
};

/** Of a log, whose times are below `full`. */
struct told_log {
	const struct item *item;
	size_t items;
	const struct cut *cut;
	size_t cuts;
	mf_time full;
	bool tells; /**< struct mf_history_config */
};

struct node_interval {
	struct interval in;
	uint16_t node;
	bool told; /**< loss: its client is told of each incarnation before that answers it */
};

/** By node, ascending. */
struct node_intervals {
	struct node_interval *at;
	size_t n, capacity;
};

struct losses {
	struct node_intervals loss; /**< apart from each other, when losses_join() is through */
	struct node_intervals alive;
	uint32_t nodes; /**< whose numbers are below */
	bool *once; /**< [nodes]: somebody was told of it */
	struct run *run; /**< [nodes] */
};

static inline bool item_answered(const struct item *i)
{
	return i->r->outcome == MF_HISTORY_OK && i->r->kind != MF_HISTORY_WRITE;
}

/** @return 0 or -ENOMEM */
int losses_init(struct losses *l, uint32_t nodes);
void losses_fini(struct losses *l);
/** @return 0 or -ENOMEM */
int losses_add(struct losses *l, const struct told_log *log);
/** When all logs are in. @return 0 or -ENOMEM */
int losses_join(struct losses *l);

#endif
