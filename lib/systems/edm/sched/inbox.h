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

#include "systems/edm/sched/mf_sched.h"

struct inbox_entry {
	mf_time time;
	uint32_t next; /* position of the next of its origin and instant */
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

/** Names a pair; of the others, HOLD and UNHOLD name a destination, and the rest a source. */
static inline bool inbox_of_pair(const struct mf_sched_msg *msg)
{
	return msg->kind < MF_SCHED_HOLD;
}

/** Whose messages of equal time keep their order: the compute node's, or the port's that is held. */
static inline unsigned int inbox_origin(const struct mf_sched_msg *msg)
{
	bool dst = inbox_of_pair(msg) ? msg->resp : msg->kind <= MF_SCHED_UNHOLD;

	return msg->src ^ ((msg->src ^ msg->dst) & -(unsigned int)dst);
}

static inline struct inbox_entry *inbox_at(const struct inbox *b, uint32_t position)
{
	return b->entry + (position & b->mask);
}

static inline void inbox_add(struct inbox *b, mf_time time, const struct mf_sched_msg *msg)
{
	struct inbox_entry *e;
	uint32_t i = b->tail++;

	for (; i != b->head && inbox_at(b, i - 1)->time > time; i--)
		*inbox_at(b, i) = *inbox_at(b, i - 1);
	e = inbox_at(b, i);
	e->time = time;
	e->msg = *msg;
	b->first = mf_time_min(b->first, time);
}

/** When the last one takes effect. */
static inline mf_time inbox_last(const struct inbox *b)
{
	return b->head == b->tail ? 0 : inbox_at(b, b->tail - 1)->time;
}

/** So many more have been written behind the end, in order. */
static inline void inbox_append(struct inbox *b, uint32_t n)
{
	if (b->head == b->tail)
		b->first = inbox_at(b, b->head)->time;
	b->tail += n;
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

static inline mf_time forwards_last(const struct forwards *f)
{
	return f->head == f->tail ? 0 : forwards_at(f, f->tail - 1)->time;
}

static inline void forwards_append(struct forwards *f, uint32_t n)
{
	if (f->head == f->tail)
		f->first = forwards_at(f, f->head)->time;
	f->tail += n;
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
