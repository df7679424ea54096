/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are to take effect, in order of that time. They come nearly in order, so adding walks back
 * from the end of a ring. Those of one instant are ordered by origin when it has come (mf_sched_msg.at).
 */
#ifndef MF_SCHED_INBOX_H
#define MF_SCHED_INBOX_H

#include "mf_sched.h"

struct inbox_entry {
	mf_time time;
	uint32_t next; /* position of the next of its origin and instant */
	uint16_t origin;
	struct mf_sched_msg msg;
};

struct inbox {
	struct inbox_entry *entry; /* ring */
	uint32_t mask, room;
	uint32_t head, tail; /* positions; equal: empty */
};

static inline struct inbox_entry *inbox_at(const struct inbox *b, uint32_t position)
{
	return b->entry + (position & b->mask);
}

static inline mf_time inbox_time(const struct inbox *b)
{
	return b->head == b->tail ? MF_NEVER : inbox_at(b, b->head)->time;
}

/** @return false: full */
static inline bool inbox_add(struct inbox *b, mf_time time, uint16_t origin, const struct mf_sched_msg *msg)
{
	struct inbox_entry *e;
	uint32_t i = b->tail;

	if (i - b->head == b->room)
		return false;
	for (; i != b->head && inbox_at(b, i - 1)->time > time; i--)
		*inbox_at(b, i) = *inbox_at(b, i - 1);
	e = inbox_at(b, i);
	e->time = time;
	e->origin = origin;
	e->msg = *msg;
	b->tail++;
	return true;
}

/** Forgets what lies before a position. The start of the ring is what is still cached. */
static inline void inbox_drop(struct inbox *b, uint32_t end)
{
	b->head = end;
	if (b->head == b->tail)
		b->head = b->tail = 0;
}

#endif
