/* SPDX-License-Identifier: BSD-3-Clause */
/* What others ask of a configuration. Nothing is changed or allocated; any thread may call. */
#ifndef MF_CONFIG_QUERY_H
#define MF_CONFIG_QUERY_H

#include <string.h>

#include "config/mf_config.h"
#include "workload/mf_workload.h"

struct mf_link_config;

/** @param node  its number. @return whether it is in the set */
bool mf_config_has(const struct mf_config_set *set, unsigned int node);
/** What a link of a tier adds to a block's time, one way: PCS, PMA and propagation, ps; virtual clock. */
mf_time mf_config_link_delay(const struct mf_config_tier *tier, const struct mf_config_link *link);
/** An end of a node, in the order of the file. @param k  below node[node].ends, or 0 */
static inline const struct mf_config_end *mf_config_end(const struct mf_config *config, unsigned int node,
							unsigned int k)
{
	const struct mf_config_node *n = &config->node[node];

	return k == 0 ? &n->first : &config->end[n->more + k - 1];
}
/** @return the end of a node in a tier, or NULL: it has none there */
const struct mf_config_end *mf_config_end_in(const struct mf_config *config, unsigned int node,
					     unsigned int tier);
/** @return the first tier, in the order of a's ends, in which both nodes have an end, or -1 */
int mf_config_common_tier(const struct mf_config *config, unsigned int a, unsigned int b);
/** Whether the file has the key "tiers". */
static inline bool mf_config_has_tiers(const struct mf_config *config)
{
	return config->tier->name[0] != '\0';
}
/** @param w  a workload with the key "ycsb". @return the store that its clients share */
struct mf_store mf_config_store(const struct mf_config_workload *w);
/** @param l  what it has in common with `carried` is set, the rest stays */
void mf_config_to_link(const struct mf_config_llr *llr, struct mf_link_config *l);

/** What a node or a switch is called by. */
struct mf_config_member {
	const char *name, *entry; /**< its own name, and that of its entry */
	uint16_t rack; /**< as that of nodes */
};

/**
 * Whether a name means a node or a switch: its own, that of its entry, that of its rack, that of an entry of
 * "racks"; or the last one, a dot, and what its own or its entry's name has behind the dot.
 * @param len  octets of name
 */
bool mf_config_means(const struct mf_config *config, const char *name, size_t len,
		     const struct mf_config_member *m);
/** @return whether a name means the whole rack that a node or a switch is in, or all racks of its entry */
bool mf_config_means_rack(const struct mf_config *config, const char *name, size_t len,
			  const struct mf_config_member *m);
/** @param node  that is up */
struct mf_config_member mf_config_node_member(const struct mf_config *config, unsigned int node);
/** @param sw  below mf_config_switch_count() */
struct mf_config_member mf_config_switch_member(const struct mf_config *config, unsigned int sw);

/**
 * The switches of "switches" that a name means, as mf_config_means() has it.
 * @param set  filled in
 * @return how many
 */
unsigned int mf_config_switches(const struct mf_config *config, const char *name,
				struct mf_config_switch_set *set);

static inline bool mf_config_has_switch(const struct mf_config_switch_set *set, unsigned int sw)
{
	return set->word[sw / 64] >> sw % 64 & 1;
}

/** @return whether a link from one switch to another, by their places in switch_list, is one of these */
bool mf_config_is_between(const struct mf_config_between *b, uint16_t from, uint16_t to);
/** The name of the switch or node at an end of a link between two of these. @param side  0: a, 1: b */
const char *mf_config_trunk_end(const struct mf_config *config, const struct mf_config_trunk *t, int side);
/** @return which of the links of its two switches a link is, from 0, in the order of the file */
unsigned int mf_config_parallel(const struct mf_config *config, unsigned int trunk);
/** @return whether a rule of role TRUNKS is about a link, index in config->trunk. @param up  NULL, or set:
 * whether UP is from its switch a to its switch b */
bool mf_config_fault_has(const struct mf_config *config, const struct mf_config_fault *f, unsigned int trunk,
			 bool *up);

/** @return whether a rule of role NODES is about the link at an end of a node */
bool mf_config_fault_at(const struct mf_config *config, const struct mf_config_fault *f, unsigned int node,
			unsigned int k);

/** Most nodes of a tier, and most ports of a switch there: an address of a message has 9 bits. */
static inline unsigned int mf_config_tier_nodes_max(const struct mf_config_tier *t)
{
	return t->stack_ops != NULL && !t->stack_ops->messages ? MF_NODES_MAX : MF_PORTS_MAX;
}

/** Most nodes of a fabric. */
static inline unsigned int mf_config_nodes_max(const struct mf_config *c)
{
	return mf_config_has_tiers(c) ? MF_NODES_MAX : mf_config_tier_nodes_max(c->tier);
}

/** Whether a node has a memory that stores nothing. */
static inline bool mf_config_is_sink(const struct mf_config_node *n)
{
	return n->memory && strcmp(n->memory_type, mf_memory_sink.name) == 0;
}

/** Whether a node has a memory with address spaces. */
static inline bool mf_config_is_virtual(const struct mf_config_node *n)
{
	return n->memory && strcmp(n->memory_type, mf_memory_virtual.name) == 0;
}

/**
 * Whether all clients of a workload have all of the memory of each target, and no regions: by addresses of a
 * trace, which in memory with spaces are those of a client's region.
 */
static inline bool mf_config_has_all_memory(const struct mf_config_workload *w)
{
	return w->trace.addr != NULL && w->spaces.spaces == 0;
}

/** Whether EDM's scheduler grants what nodes send. Others have a stack above the MAC, and a bridge. */
static inline bool mf_config_schedules(const struct mf_config *c)
{
	return c->tier->stack_ops == NULL;
}

#endif
