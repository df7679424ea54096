/* SPDX-License-Identifier: BSD-3-Clause */
/* Who turns a session's fabric when its users need not: a service lcore, or a thread of its own. */
#ifndef SESSION_POLLER_H
#define SESSION_POLLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mf_session;

struct session_poller;

/** A turn by whoever asks, unless another one is at it. @return how much work was found */
unsigned int session_turn(struct mf_session *s);

/** @param thread  start one @return 0 or -errno */
int session_poller_start(struct mf_session *s, bool thread, struct session_poller **out);
/** Behind it nobody turns but users. NULL: nothing */
void session_poller_stop(struct session_poller *p);
/** Whether somebody else turns it. */
bool session_poller_has(const struct session_poller *p);

#endif
