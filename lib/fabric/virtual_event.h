/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of what breaks at a time under the virtual clock. */
#ifndef VIRTUAL_EVENT_H
#define VIRTUAL_EVENT_H

#include "outage.h"
#include "stall.h"
#include "virtual.h"

enum link_phase { LINK_WHOLE, LINK_DARK, LINK_LOST };

/** A node and its link. */
struct place {
	unsigned int cuts; /**< outages in force that cut the link */
	unsigned int dead; /**< of those, of the process */
	unsigned int none[MF_CONFIG_WHATS]; /**< see exhaust_counts() */
	enum link_phase phase;
	mf_time at; /**< of the next step of the link; MF_NEVER: it waits for the last outage to end */
	struct stalls stalls;
	mf_time guard; /**< corruption disables the link, or it is mended; MF_NEVER: neither */
	mf_time room; /**< how far a receiver may be behind before its sender waits: what its ring holds */
};

struct virtual_events {
	struct place *place; /**< [nodes] */
	struct outage *outage;
	unsigned int outages;
	struct stalls sw, sched; /**< sched: with those of the switch */
	unsigned int no_requests; /**< outages that take away the switch's buffer */
	mf_time closed; /**< the switch takes nothing before: it could tell a stalled scheduler no more */
};

#endif
