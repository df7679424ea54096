/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Demands of a node that the switch has taken and not granted in full, of all memory nodes together: with
 * mf_switch_limits.outstanding there are never more. X bounds those of each pair (3.1.2) in any case.
 */
#ifndef OUTSTANDING_H
#define OUTSTANDING_H

#include "systems/edm/switch/switch_priv.h"

int outstanding_init(struct mf_switch *sw);
void outstanding_fini(struct mf_switch *sw);

/**
 * Counts a demand of a compute node, unless it is that which has the id already: it comes again.
 * @return false: it is one too many
 */
bool outstanding_take(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id, bool resp);
/** A demand is granted in full, cancelled, refused or dropped. Of one that does not count nothing happens. */
void outstanding_over(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp);
/** All of a port are dropped, of both sides. */
void outstanding_flush(struct mf_switch *sw, uint16_t port);

#endif
