/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the handshake run on: a link whose ends have not begun. */
#ifndef HELLO_H
#define HELLO_H

#include "rig.h"

extern struct rig *rig; /**< of the test that runs */

/** A test with a new rig. */
#define HELLO_TEST(suite, name) Test(suite, name, .init = hello_set_up, .fini = hello_tear_down)
void hello_set_up(void);
void hello_tear_down(void);

/** Both ends begin. */
void hello_start(void);
struct mf_link_status hello_status(int end);
/** What an end says in its HELLO. */
struct mf_link_hello hello_of(int end);

/** Filter: half of all frames are lost. */
bool hello_lose_half(struct rig *r, int from, struct mf_link_head *h);

#endif
