/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are to take effect, in order of that time. They come nearly in order, so adding walks back
 * from the end of a ring. Those of one instant are ordered by origin when it has come (mf_sched_msg.at).
 *
 * Half of them say that something was forwarded. It makes no difference when such a one is applied among
 * the others of its instant, so they have a ring of their own, of what there is to know.
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
	uint32_t mask;
	uint32_t head, tail; /* positions; equal: empty */
	mf_time first; /* when the earliest takes effect, or MF_NEVER */
};

struct forwarded {
	mf_time time;
	uint16_t src, dst;
	uint32_t size;
};

struct forwards {
	struct forwarded *entry; /* ring, as above */
	uint32_t mask;
	uint32_t head, tail;
	mf_time first;
};

static inline struct inbox_entry *inbox_at(const struct inbox *b, uint32_t position)
{
	return b->entry + (position & b->mask);
}

static inline void inbox_add(struct inbox *b, mf_time time, uint16_t origin, const struct mf_sched_msg *msg)
{
	struct inbox_entry *e;
	uint32_t i = b->tail++;

	for (; i != b->head && inbox_at(b, i - 1)->time > time; i--)
		*inbox_at(b, i) = *inbox_at(b, i - 1);
	e = inbox_at(b, i);
	e->time = time;
	e->origin = origin;
	e->msg = *msg;
	b->first = mf_time_min(b->first, time);
}

/** Forgets what lies before a position. The start of the ring is what is still cached. */
static inline void inbox_drop(struct inbox *b, uint32_t end)
{
	b->head = end;
	if (end == b->tail) {
		b->head = b->tail = 0;
		b->first = MF_NEVER;
		return;
	}
	b->first = inbox_at(b, end)->time;
}

static inline struct forwarded *forwards_at(const struct forwards *f, uint32_t position)
{
	return f->entry + (position & f->mask);
}

static inline void forwards_add(struct forwards *f, mf_time time, const struct mf_sched_msg *msg)
{
	uint32_t i = f->tail++;

	for (; i != f->head && forwards_at(f, i - 1)->time > time; i--)
		*forwards_at(f, i) = *forwards_at(f, i - 1);
	*forwards_at(f, i) = (struct forwarded){time, msg->src, msg->dst, msg->size};
	f->first = mf_time_min(f->first, time);
}

static inline void forwards_drop(struct forwards *f, uint32_t end)
{
	f->head = end;
	if (end == f->tail) {
		f->head = f->tail = 0;
		f->first = MF_NEVER;
		return;
	}
	f->first = forwards_at(f, end)->time;
}

#endif
