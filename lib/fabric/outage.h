/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rule of "faults" that is not a link's stage does at one place: it begins and ends, perhaps again and
 * again. When is known of the file and its seed alone, whatever happens.
 */
#ifndef OUTAGE_H
#define OUTAGE_H

#include <stdbool.h>

#include "mf_config.h"
#include "mf_rng.h"

struct outage {
	mf_time at; /**< begins or ends; MF_NEVER: neither any more */
	bool on;
	uint16_t node; /**< nodes: it is the switch */
	const struct mf_config_fault *rule;
	uint64_t times; /**< that it has begun */
	uint64_t round;
	struct mf_rng rng;
};

/** Most that there can be of a file. */
unsigned int outages_max(const struct mf_config *config);
void outage_init(struct outage *o, const struct mf_config *config, unsigned int rule, unsigned int node);
/** What is due at o->at. @return it begins; false: it ends */
bool outage_step(struct outage *o);

#endif
