/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients at the compute nodes of a rig, each of which has one operation of a region of its own under way,
 * and they count together by atomics: so whatever is done twice, late, in part or not at all is seen.
 */
#ifndef CLIENTS_H
#define CLIENTS_H

#include "rig.h"

#define CLIENT_COUNTERS 4
#define CLIENT_OPS_MAX 65536

struct clients_config {
	struct rig_config rig;
	unsigned int depth; /**< clients a node */
	unsigned int ops; /**< of each client */
	bool plain; /**< unacknowledged writes, too: where links keep messages in their order */
	bool large; /**< now and then a transfer of more than MF_MESSAGE_MAX */
};

struct clients;

struct clients *clients_new(const struct clients_config *config);
void clients_free(struct clients *cs);
struct rig *clients_rig(struct clients *cs);
/** Begins. */
void clients_start(struct clients *cs);
/** Runs to the end, then over links that are whole; and looks at all that is left. */
void clients_finish(struct clients *cs);
/** A node's process was started again: what was under way ends without a word, and its clients begin anew. */
void clients_restarted(struct clients *cs, unsigned int node);

struct clients_found {
	uint64_t ok, failed;
	uint64_t wrong; /**< reads or atomics that found what should not be there */
	uint64_t lost; /**< atomics that completed and were not executed */
	uint64_t twice; /**< counts that are more than atomics were begun, or one that was told twice */
	uint64_t under_way; /**< at the end */
	uint64_t demands; /**< that the scheduler still has */
};
const struct clients_found *clients_found(const struct clients *cs);

#endif
