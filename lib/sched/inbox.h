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
	uint32_t room;
	uint32_t head, tail; /* positions, head below room, tail up to head + room; equal: empty */
	mf_time first; /* when the earliest takes effect, or MF_NEVER */
};

static inline struct inbox_entry *inbox_at(const struct inbox *b, uint32_t position)
{
	return b->entry + position - (position < b->room ? 0 : b->room);
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
	b->first = mf_time_min(b->first, time);
	return true;
}

/** Forgets what lies before a position. The start of the ring is what is still cached. */
static inline void inbox_drop(struct inbox *b, uint32_t end)
{
	if (end == b->tail) {
		b->head = b->tail = 0;
		b->first = MF_NEVER;
		return;
	}
	b->first = inbox_at(b, end)->time;
	b->tail -= end < b->room ? 0 : b->room;
	b->head = end - (end < b->room ? 0 : b->room);
}

#endif
