/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of what a load means: blocks that operations cost, clients of stores, frames. */
#ifndef LOAD_PRIV_H
#define LOAD_PRIV_H

#include "fabric/mf_fabric_state.h"

/** Expected wire blocks of one operation, in a network, on the four link directions that it crosses. */
struct op_blocks {
	double cn_up, cn_down, mn_up, mn_down;
};

/** @param mix  enum mf_mix */
struct op_blocks load_kind_blocks(const struct fabric_tier *t, unsigned int mix, uint64_t size);
void load_add_blocks(struct op_blocks *sum, const struct op_blocks *b, double weight);

/** Of what a client, or the frames of a node, draw. */
uint64_t load_seed(const struct mf_fabric *f, const char *what, unsigned int node);

/* load_ycsb.c */
/** Blocks of a query in the mean. */
struct op_blocks load_query_blocks(const struct fabric_tier *t, const struct mf_config_workload *w);
/** And of their payload alone. */
struct op_blocks load_query_payload(const struct mf_config_workload *w);
/** Client i of a store; what is not of the store is in c already. */
struct mf_client *load_store_client(const struct mf_fabric *f, const struct mf_config_workload *w,
				    unsigned int i, struct mf_client_config *c);
/** Writes all records of a store into the memory of its targets. @return 0 or -ENOMEM */
int load_store(const struct mf_fabric *f, const struct mf_config_workload *w);

#endif
