/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps of the path of an operation, for stacks above the MAC (mf_timing.h, struct mf_probe). */
#ifndef STAMP_H
#define STAMP_H

#include "systems/frames/mf_stack.h"

static inline bool stack_stamps(const struct mf_stack_config *c)
{
	return c->probe != NULL && c->probe->stamp != NULL;
}

/** @return to */
mf_time stack_stamp(const struct mf_stack_config *c, enum mf_stage stage, mf_time from, mf_time cost);
/** An operation begins; what it sends is made from then on: protocol, MAC. */
void stack_stamp_start(const struct mf_stack_config *c, mf_time from, bool write);
/** What is sent on its path is made from then on. */
void stack_stamp_tx(const struct mf_stack_config *c, mf_time from);
/** What came on its path is taken: MAC, protocol. */
void stack_stamp_rx(const struct mf_stack_config *c, mf_time from);

/** What the memory takes for an access from a time on. @return when it has answered, or taken the data */
mf_time stack_stamp_access(const struct mf_stack_config *c, mf_time from, const struct mf_answer *a);

#endif
