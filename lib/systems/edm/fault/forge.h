/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port whose node asks for what it may not (MF_FAULT_FORGE): requests of its own source that are right in
 * all but the key, the right or the place. It knows where regions are, and all keys, and listens to what
 * comes to its port: a grant gets the chunk that it is for, and any answer but the one that tells nothing is
 * counted. And it spies: it claims a region that is nobody's, reads what is there, which has to be nothing,
 * leaves something of its own, and gives the region up.
 */
#ifndef FORGE_H
#define FORGE_H

#include "base/mf_rng.h"
#include "fault/mf_fault.h"

struct fault_forge;

/** @return NULL: no memory */
struct fault_forge *forge_new(const struct mf_fault_config *c);
void forge_free(struct fault_forge *g);

/** Whether there is a region of another node's. */
bool forge_can(const struct fault_forge *g);
/** The next message, if it can. @param word  room for FORGE_BLOCKS @return blocks */
#define FORGE_BLOCKS (MF_REQUEST_BLOCKS_MAX + 16)
unsigned int forge_next(struct fault_forge *g, struct mf_rng *rng, uint64_t *word);

/** A write of its own was granted: its chunk may go. */
bool forge_granted(const struct fault_forge *g);

void forge_hear(struct fault_forge *g, const struct mf_span *span);
const struct mf_forge_stats *forge_stats(const struct fault_forge *g);

#endif
