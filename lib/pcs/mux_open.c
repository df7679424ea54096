/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcs/mux_open.h"

int mux_open_init(struct mf_mux *m)
{
	struct mux_open *o = &m->open;

	if (m->period || m->shaped || !m->memory_enabled)
		return 0;
	o->span = aligned_alloc(64, MUX_OPEN_SPANS * sizeof(*o->span));
	if (!o->span)
		return -ENOMEM;
	memset(o->span, 0, MUX_OPEN_SPANS * sizeof(*o->span));
	o->fill = o->span;
	o->room = m->store.word_mask + 1;
	o->longest = MF_SPAN_MAX;
	mux_open_close(m, false);
	return 0;
}

void mux_open_fini(struct mf_mux *m)
{
	free(m->open.span);
}

void mf_mux_short_spans(struct mf_mux *m)
{
	m->open.longest = MUX_MIXED_SPAN;
	mux_open_close(m, m->open.several == 0);
}

void mux_open_close(struct mf_mux *m, bool closed)
{
	struct mux_open *o = &m->open;

	if (!o->span)
		return;
	o->several = closed ? 0 : o->longest;
	o->whole = o->several < o->room ? o->several : o->room;
	mux_open_limit(o);
}

struct mux_open_span *mux_open_room(struct mux_open *o, uint32_t n)
{
	struct mux_open_span *s = o->fill;

	if (!o->several || n > MF_SPAN_MAX || n > o->room - o->blocks)
		return NULL;
	if (s->span.count == 0)
		return s;
	if (o->put - o->get + 1 == MUX_OPEN_SPANS || (o->put + 1) % MUX_OPEN_SPANS == o->given)
		return NULL;
	return mux_open_next(o);
}

/** Something else waits besides these blocks. */
static __attribute__((noinline)) void contend(struct mf_mux *m, mf_time now, uint32_t blocks, bool quiet)
{
	if (m->policy->sent_memory)
		m->policy->sent_memory(m, now, !quiet && mux_frames_pending(m, now), blocks);
	if (!quiet)
		mux_frames_wait(m, now, blocks);
}

/**
 * All are out: begins the one that is filled next. One at a time, the first two in turn do, which are in the
 * cache; several, three are free before the one that is still read.
 */
static inline void begin_again(struct mux_open *o)
{
	uint32_t next = o->given < 3 ? o->given + 1 : 0;

	if (o->put == o->start && o->given < 2)
		next = o->given ^ 1;
	o->start = o->get = o->put = next;
	mux_open_clear(o, &o->span[next]);
	o->limit = o->whole;
}

inline struct mf_span *mux_open_give(struct mf_mux *m, mf_time now)
{
	struct mux_open *o = &m->open;
	struct mux_open_span *s = mux_open_at(o, o->get);
	struct mux_done_ring *d = &m->done;
	uint32_t blocks = s->span.count;
	bool quiet = mux_frames_quiet(m);

	s->span.start = now;
	o->from = 0;
	o->blocks -= blocks;
	o->given = o->get % MUX_OPEN_SPANS;
	if (o->get == o->put) {
		begin_again(o);
	} else {
		o->get++;
		mux_open_limit(o);
	}
	if (quiet && mux_backlog(m) == 0)
		m->fair.credit[0] = m->fair.credit[1] = 0;
	else
		contend(m, now, blocks, quiet);
	m->line_free = now;
	m->memory_last = true;
	if (o->ahead > m->stats.backlog_max)
		m->stats.backlog_max = o->ahead;
	if (o->ahead_message > m->stats.backlog_message_max)
		m->stats.backlog_message_max = o->ahead_message;
	m->stats.memory_blocks += blocks;
	m->stats.messages += s->messages;
	m->stats.waited += s->messages * now - s->ready;
	for (uint32_t i = 0; i < s->cookies; i++)
		d->entry[d->put++ & d->mask] =
			(struct mux_done){.cookie = d->waiting[d->waiting_get++ & d->mask], .at = now};
	return &s->span;
}

void mux_open_copy(struct mf_mux *m, mf_time now, uint32_t n, struct mf_span *out)
{
	struct mux_open *o = &m->open;
	const struct mf_span *s = &mux_open_at(o, o->get)->span;
	uint32_t from = o->from, left = s->count - from;

	if (n > left)
		n = left;
	memcpy(out->word, s->word + from, n * sizeof(*out->word));
	memcpy(out->sync, s->sync + from, n);
	out->count = (uint16_t)n;
	o->from += n;
	if (n == left)
		mux_open_give(m, now);
	else
		mux_open_limit(o);
}
