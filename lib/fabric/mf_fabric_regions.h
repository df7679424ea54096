/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of the memory nodes of a fabric. */
#ifndef MF_FABRIC_REGIONS_H
#define MF_FABRIC_REGIONS_H

#include "memory/mf_region.h"

struct mf_fabric;

/** Those of a memory node that has its memory, as the file has them; new keys if it had some. 0 or -errno */
int regions_make(struct mf_fabric *f, unsigned int node);
/** The run is recorded or replayed: keys of the seed instead of secret ones. */
void regions_repeat(struct mf_fabric *f);
/**
 * The same of memory with address spaces: secrets of the seed, before anything was asked of it.
 * @param replayed  each role by itself: nodes zero their pages
 * @return 0 or -ENOMEM
 */
int virtual_memory_repeat(struct mf_fabric *f, bool replayed);
/** Where regions are, for those who ask: f->region. @return 0 or -ENOMEM */
int regions_map(struct mf_fabric *f);
/** What all memory nodes have counted together. @return whether any has regions */
bool regions_sum(const struct mf_fabric *f, struct mf_regions_stats *sum);

#endif
