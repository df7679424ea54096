/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What breaks at a node or a switch for a time, by one rule of "faults", once or again and again. When it
 * begins and ends follows from the file and its seed alone, whatever happens in the run.
 */
#ifndef MF_OUTAGE_H
#define MF_OUTAGE_H

#include <stdbool.h>

#include "base/mf_rng.h"
#include "config/mf_config.h"

struct outage {
	mf_time at; /**< when it begins or ends next; MF_NEVER: never again */
	bool on; /**< it has begun */
	uint16_t node; /**< number of the node; f->nodes: it is at a switch, or a link of role TRUNKS */
	uint32_t link; /**< of a link, and of what is of one: its number in the graph */
	const struct mf_config_fault *rule;
	uint64_t times; /**< how often it has begun */
	uint64_t round; /**< number of the next one, where it comes again and again */
	struct mf_rng rng;
};

/** How many there can be at most, with this file. */
unsigned int outages_max(const struct mf_config *config);
/** @param node  its number, or f->nodes */
void outage_init(struct outage *o, const struct mf_config *config, unsigned int rule, unsigned int node);
/** The same of the link at an end of a node. @param link  its number in the graph */
void outage_init_end(struct outage *o, const struct mf_config *config, unsigned int rule, unsigned int node,
		     unsigned int end, uint32_t link);
/** The same of a link of role TRUNKS, by its number in the graph. */
void outage_init_trunk(struct outage *o, const struct mf_config *config, unsigned int rule, uint32_t link);
/** Goes on to the next change; o->at is when the one after it is. @return true: it begins, false: it ends */
bool outage_step(struct outage *o);

#endif
