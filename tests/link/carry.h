/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of an LLR run on: a link that carries frames from its node to its switch. */
#ifndef CARRY_H
#define CARRY_H

#include "rig.h"

#define FRAME MF_SPAN_MAX /* blocks: a span fills a frame */

extern struct rig *rig; /**< of the test that runs */

/** Carries whole frames from the node to the switch. */
void carry(uint64_t frames);

/** Frames that the node has sent again. */
uint64_t replayed(void);

/** Filter: 5 % of all frames are lost. count: of the node's DATA. */
bool lose_by_chance(struct rig *r, int from, struct mf_link_head *h);
/** Filter: the 50th DATA frame of the node is lost. count: those that it has sent. */
bool lose_the_50th(struct rig *r, int from, struct mf_link_head *h);

/** A test with a link that is up. */
#define CARRY_TEST(suite, name) Test(suite, name, .init = carry_set_up, .fini = carry_tear_down)
void carry_set_up(void);
void carry_tear_down(void);

#endif
