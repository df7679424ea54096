/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the virtual clock: spans arrive in the order in which they were sent, a fixed time later. */
#include <stdlib.h>

#include "wire.h"

struct flight *flight_get(struct flight_pool *p)
{
	struct flight *fl = p->free;

	if (fl != NULL) {
		p->free = fl->next;
		return fl;
	}
	return aligned_alloc(64, (sizeof(*fl) + 63) & ~(size_t)63);
}

void flight_put(struct flight_pool *p, struct flight *fl)
{
	fl->next = p->free;
	p->free = fl;
}

static void free_all(struct flight *fl)
{
	for (struct flight *next; fl != NULL; fl = next) {
		next = fl->next;
		free(fl);
	}
}

void flight_fini(struct flight_pool *p)
{
	free_all(p->free);
}

void wire_init(struct wire *w, const struct link_timing *timing)
{
	*w = (struct wire){
		.timing = timing,
		.scrambler.state = MF_SCRAMBLER_INIT,
		.descrambler.state = MF_SCRAMBLER_INIT,
	};
}

void wire_fini(struct wire *w)
{
	free_all(w->head);
}

/**
 * When a span is handed over. A memory message is acted upon from its first block on; blocks of a
 * frame mean nothing before the /T/.
 */
static mf_time arrival(const struct mf_span *s, mf_time delay)
{
	return (s->flags & MF_SPAN_FRAME ? mf_span_at(s, s->count - 1U) : s->start) + delay;
}

void wire_send(struct wire *w, struct flight *fl, mf_time now)
{
	fl->due = mf_time_max(now, arrival(&fl->span, w->timing->delay));
	fl->next = NULL;
	fl->span.start += w->timing->delay;
	w->busy_until = mf_span_at(&fl->span, fl->span.count - 1U);
	if (w->timing->scramble)
		mf_scramble(&w->scrambler, fl->span.word, fl->span.count);
	if (w->head == NULL)
		w->head = fl;
	else
		w->tail->next = fl;
	w->tail = fl;
}

struct flight *wire_receive(struct wire *w)
{
	struct flight *fl = w->head;

	w->head = fl->next;
	if (w->timing->scramble)
		mf_descramble(&w->descrambler, fl->span.word, fl->span.count);
	return fl;
}
