/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fastpass's arbiter: takes demands in, gives out timeslots. A slot is as long as a frame of the MTU on the
 * wire; in a slot a node sends to one other at most, and one other at most sends to it.
 */
#ifndef FASTPASS_ARBITER_H
#define FASTPASS_ARBITER_H

#include "base/mf_counter.h"
#include "systems/fastpass/fastpass_wire.h"
#include "systems/frames/mf_stack.h"

struct arbiter;

struct arbiter_config {
	uint16_t node, nodes;
	unsigned int batch; /**< slots that a frame can tell */
	mf_time slot;
	mf_time lead; /**< a slot begins so long after its allocation at the earliest */
	mf_time frame; /**< that a control frame takes on the arbiter's link */
	mf_time timeout; /**< of allocations that are not acknowledged */
};

/** @return NULL with errno */
struct arbiter *arbiter_new(const struct arbiter_config *config);
void arbiter_free(struct arbiter *a);

/** A request frame has come: effective at `at`. @return false: it is damaged */
bool arbiter_request(struct arbiter *a, mf_time at, const struct fastpass_frame *f);
/** The next frame to send. @return octets, or 0 */
uint16_t arbiter_pull(struct arbiter *a, mf_time now, uint8_t *frame);
mf_time arbiter_ready(const struct arbiter *a);
void arbiter_run(struct arbiter *a, mf_time now);
mf_time arbiter_next(const struct arbiter *a);
/** @param arbiter  or NULL: all are 0 */
unsigned int arbiter_counters(const struct arbiter *arbiter, struct mf_counter *out);

#endif
