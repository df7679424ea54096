/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program's operations say of themselves in a history (docs/history.md): called in the turns of its
 * node's guest, where operations begin and complete, if there is one.
 */
#ifndef CLIENT_HISTORY_H
#define CLIENT_HISTORY_H

#include "client.h"

/** Operations of a queue that are recorded. */
struct queue_history;

/** @return 0 or -ENOMEM; without a history nothing is made */
int queue_history_new(struct memfab_queue *q);
void queue_history_free(struct memfab_queue *q);

/** An operation begins. @return 0, or -ENOMEM: it cannot be recorded */
int queue_history_begin(struct memfab_queue *q, const struct slot *s, mf_time now);
/** A part of it has completed. */
void queue_history_part(struct memfab_queue *q, const struct slot *s, uint8_t status);
/** All of it has. */
void queue_history_end(struct memfab_queue *q, const struct slot *s, mf_time now);

#endif
