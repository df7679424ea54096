/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wall clock: whole messages that are queued while nothing else waits are written straight into the spans
 * that go out next. So a message that is sent in the turn in which it was made is never copied, and has
 * no item. What is queued behind these spans, in items or as frames, goes out behind them.
 */
#ifndef MUX_OPEN_H
#define MUX_OPEN_H

#include "pcs/mux.h"

int mux_open_init(struct mf_mux *m);
void mux_open_fini(struct mf_mux *m);
/** Nothing goes there from now on; or it does again. */
void mux_open_close(struct mf_mux *m, bool closed);

static inline struct mux_open_span *mux_open_at(const struct mux_open *o, uint32_t position)
{
	return &o->span[position % MUX_OPEN_SPANS];
}

/** Sets how far the span that is filled may be: one of which blocks are out already gets no more. */
static inline void mux_open_limit(struct mux_open *o)
{
	uint32_t most = o->fill->span.count + o->room - o->blocks;

	o->limit = o->from && o->put == o->get ? 0 : most < o->several ? most : o->several;
}

/** A span is filled that has nothing yet. */
static inline void mux_open_clear(struct mux_open *o, struct mux_open_span *s)
{
	s->span.count = 0;
	s->messages = s->cookies = 0;
	s->ready = 0;
	o->fill = s;
}

/** Begins the span behind the last one. */
static inline struct mux_open_span *mux_open_next(struct mux_open *o)
{
	struct mux_open_span *s = mux_open_at(o, ++o->put);

	mux_open_clear(o, s);
	mux_open_limit(o);
	return s;
}

/**
 * Room for n blocks, as the last span may not have as many more: there, or in the next one.
 * @return NULL: there is none
 */
struct mux_open_span *mux_open_room(struct mux_open *o, uint32_t n);

/** Whether a message may go there if there is room: all that waits does so there. */
static inline bool mux_open_takes(const struct mf_mux *m)
{
	return m->open.fill && !m->backlog && mux_frames_quiet(m);
}

/** Not behind the time when the first message was ready: none of its span was later than the last of all. */
static inline mf_time mux_open_oldest(const struct mux_open *o)
{
	const struct mux_open_span *s = mux_open_at(o, o->get);
	mf_time others = (s->messages - 1) * o->ready;

	return s->ready > others ? s->ready - others : 0;
}

/** When those of the first span were ready, in the mean. */
static inline mf_time mux_open_since(const struct mux_open *o)
{
	const struct mux_open_span *s = mux_open_at(o, o->get);

	return s->ready / s->messages;
}

/** A span goes out: it is accounted for. @return it */
struct mf_span *mux_open_give(struct mf_mux *m, mf_time now);

/** The next n blocks at most of the first span, copied. */
void mux_open_copy(struct mf_mux *m, mf_time now, uint32_t n, struct mf_span *out);

#endif
