/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records a program's operations in a history (docs/history.md), if there is one. Called where operations
 * begin and complete, in the turns of the node's embedded client.
 */
#ifndef CLIENT_HISTORY_H
#define CLIENT_HISTORY_H

#include "client/client.h"

/** Those of a queue that are under way and recorded. */
struct queue_history;

/** Sets q->history; NULL where nothing is recorded. @return 0 or -ENOMEM */
int queue_history_new(struct memfab_queue *q);
void queue_history_free(struct memfab_queue *q);

/** An operation begins. @return 0, or -ENOMEM: it cannot be recorded */
int queue_history_begin(struct memfab_queue *q, const struct slot *s, mf_time now);
/** A part of the operation has completed. */
void queue_history_part(struct memfab_queue *q, const struct slot *s, uint8_t status);
/** All of it has, so its outcome is known. */
void queue_history_end(struct memfab_queue *q, const struct slot *s, mf_time now);

#endif
