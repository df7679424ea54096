/* SPDX-License-Identifier: BSD-3-Clause */
/* What others ask of a configuration. Nothing is changed or allocated; any thread may call. */
#ifndef MF_CONFIG_QUERY_H
#define MF_CONFIG_QUERY_H

#include "config/mf_config.h"
#include "workload/mf_workload.h"

struct mf_link_config;

/** @param node  its number. @return whether it is in the set */
bool mf_config_has(const struct mf_config_set *set, unsigned int node);
/** What a link adds to a block's time, one way: PCS, PMA and propagation, ps; virtual clock. */
mf_time mf_config_link_delay(const struct mf_config *config, const struct mf_config_link *link);
/** @param w  a workload with the key "ycsb". @return the store that its clients share */
struct mf_store mf_config_store(const struct mf_config_workload *w);
/** @param l  what it has in common with `carried` is set, the rest stays */
void mf_config_to_link(const struct mf_config_llr *llr, struct mf_link_config *l);

/**
 * The switches of "switches" that a name means: one, or all of an entry. They follow each other in
 * switch_list.
 * @param n  set: how many
 * @return the first one, or -ENOENT
 */
int mf_config_switches(const struct mf_config *config, const char *name, unsigned int *n);

/** @return whether a link from one switch to another, by their places in switch_list, is one of these */
bool mf_config_is_between(const struct mf_config_between *b, uint16_t from, uint16_t to);
/** @return which of the links of its two switches a link is, from 0, in the order of the file */
unsigned int mf_config_parallel(const struct mf_config *config, unsigned int trunk);
/** @return whether a rule of role TRUNKS is about a link, index in config->trunk. @param up  NULL, or set:
 * whether UP is from its switch a to its switch b */
bool mf_config_fault_has(const struct mf_config *config, const struct mf_config_fault *f, unsigned int trunk,
			 bool *up);

/** Whether EDM's scheduler grants what nodes send. Others have a stack above the MAC, and a bridge. */
static inline bool mf_config_schedules(const struct mf_config *c)
{
	return c->stack_ops == NULL;
}

#endif
