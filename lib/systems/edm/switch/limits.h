/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a node may ask for, so that one that floods the switch costs the others nothing beyond its share.
 *
 *  - A share of every memory node's link is each compute node's own. Demands within it come first, those
 *    beyond it are served when no other wants the ports (mf_sched_msg.excess): a flood takes what is left.
 *  - More demands than its rate are refused at once, before anything is kept of them.
 *  - Who lets grants expire is not believed for a while: granted chunks that never come count for K and W.
 *  - More demands than `outstanding` at a time are refused, too (outstanding.h).
 *
 * Requests and notifications that are refused are answered, so nobody waits for a timer. With X a pair
 * (3.1.2) these bound all that a node can have at the switch.
 */
#ifndef SYSTEMS_EDM_SWITCH_LIMITS_H
#define SYSTEMS_EDM_SWITCH_LIMITS_H

#include "systems/edm/switch/switch_priv.h"

/* limits.c */
int limits_init(struct mf_switch *sw, const struct mf_switch_config *config);
void limits_fini(struct mf_switch *sw);

/**
 * A demand that comes in by a port, at `at`.
 * @param c, m    compute and memory node of it
 * @param blocks  of its data and of what asks for it
 * @param excess  whether it is beyond the share of its pair
 * @return false: it is refused, and was answered
 */
bool limits_demand(struct mf_switch *sw, const struct mf_msg *m, uint16_t port, uint32_t blocks, mf_time now,
		   mf_time at, bool *excess);
/** A write that was granted from this port has not come. */
void limits_expired(struct mf_switch *sw, uint16_t port, mf_time now);
/** One has. */
void limits_kept(struct mf_switch *sw, uint16_t port);

/** A grant comes back from the scheduler, or a demand that found no place there. */
void limits_granted(struct mf_switch *sw, const struct mf_sched_grant *g);
/** A demand that was within the limits finds no room in the switch. */
void limits_dropped(struct mf_switch *sw, const struct mf_msg *m, uint16_t port);

#endif
