/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "delivery.h"
#include "mf_table.h"

#define NIL UINT32_MAX

struct delivery *delivery_new(const struct mf_fabric *f)
{
	struct delivery *d = calloc(1, sizeof(*d));
	size_t pairs = (size_t)f->nodes * f->nodes;

	if (d == NULL)
		return NULL;
	d->f = f;
	d->in_order = f->config->stack_ops == NULL || f->config->stack_ops->writes_ordered;
	d->free = NIL;
	d->stream = calloc((size_t)f->nodes * DELIVERY_KINDS, sizeof(*d->stream));
	d->pair = malloc(pairs * sizeof(*d->pair));
	d->ids = d->in_order ? 1 : 256;
	d->message = mf_table_new(pairs * DELIVERY_KINDS * d->ids, sizeof(*d->message));
	if (d->stream == NULL || d->pair == NULL || d->message == NULL) {
		delivery_free(d);
		return NULL;
	}
	for (size_t i = 0; i < pairs; i++)
		d->pair[i].head = NIL;
	return d;
}

void delivery_free(struct delivery *d)
{
	if (d == NULL)
		return;
	free(d->stream);
	free(d->pair);
	mf_table_free(d->message);
	free(d->write);
	free(d);
}

static size_t pair_index(const struct delivery *d, uint16_t cn, uint16_t mn)
{
	return (size_t)cn * d->f->nodes + mn;
}

static struct delivery_pair *pair_of(const struct delivery *d, uint16_t cn, uint16_t mn)
{
	return &d->pair[pair_index(d, cn, mn)];
}

static bool grow(struct delivery *d)
{
	uint32_t n = d->writes > 0 ? 2 * d->writes : 1024;
	struct delivery_write *w = realloc(d->write, n * sizeof(*w));

	if (w == NULL) {
		d->incomplete = true;
		return false;
	}
	d->write = w;
	for (uint32_t i = n; i-- > d->writes;) {
		w[i].next = d->free;
		d->free = i;
	}
	d->writes = n;
	return true;
}

/** Link to the write of this id, or to the end of the list. */
static uint32_t *find_write(struct delivery *d, struct delivery_pair *p, uint8_t id, uint32_t *before)
{
	uint32_t *link = &p->head;

	*before = NIL;
	while (*link != NIL && d->write[*link].id != id) {
		*before = *link;
		link = &d->write[*link].next;
	}
	return link;
}

/** Takes the write of this id out. @return its place, until the next call; NIL: there is none */
static uint32_t take_write(struct delivery *d, struct delivery_pair *p, uint8_t id)
{
	uint32_t before, *link = find_write(d, p, id, &before), i = *link;

	if (i == NIL)
		return NIL;
	*link = d->write[i].next;
	if (*link == NIL)
		p->tail = before;
	d->write[i].next = d->free;
	d->free = i;
	return i;
}

void delivery_begun(struct delivery *d, uint16_t cn, uint16_t mn, uint8_t id, mf_time submitted)
{
	struct delivery_pair *p = pair_of(d, cn, mn);
	uint32_t i;

	if (!d->in_order) /* one of this id that is still there has failed */
		take_write(d, p, id);
	if (d->free == NIL && !grow(d))
		return;
	i = d->free;
	d->free = d->write[i].next;
	if (d->free != NIL)
		__builtin_prefetch(&d->write[d->free], 1);
	d->write[i] = (struct delivery_write){.submitted = submitted, .next = NIL, .id = id};
	if (p->head == NIL)
		p->head = i;
	else
		d->write[p->tail].next = i;
	p->tail = i;
}

void delivery_effect(struct delivery *d, uint16_t cn, uint16_t mn, uint8_t id, mf_time done)
{
	struct delivery_pair *p = pair_of(d, cn, mn);
	const struct delivery_write *w;
	uint32_t i;

	/* Where writes are in order those before it that never took effect have failed. */
	while (d->in_order && p->head != NIL && d->write[p->head].id != id)
		take_write(d, p, d->write[p->head].id);
	i = take_write(d, p, id);
	if (i == NIL)
		return;
	w = &d->write[i];
	if (w->submitted != MF_NEVER && w->submitted >= d->f->measure)
		mf_hist_add(&d->effect, done - w->submitted);
}

static void message_received(struct delivery_stream *s, mf_time begin, mf_time end, uint64_t octets,
			     mf_time format)
{
	if (s->messages++ == 0 || begin < s->first)
		s->first = begin;
	s->last = mf_time_max(s->last, end);
	s->octets += octets;
	s->lasting += end - begin;
	s->format += format;
}

void delivery_chunk(struct delivery *d, unsigned int kind, uint16_t cn, uint16_t mn, uint8_t id,
		    uint32_t offset, uint32_t octets, bool last, mf_time first, mf_time done)
{
	size_t place = pair_index(d, cn, mn) * DELIVERY_KINDS + kind;
	struct delivery_message *m = &d->message[place * d->ids + id % d->ids], whole;
	uint16_t to = kind == DELIVERY_READ ? cn : mn;
	uint32_t period = d->f->link[cn].period;

	if (d->f->link[mn].period > period)
		period = d->f->link[mn].period;
	/* Most messages are one chunk: the tables of all pairs stay out of the caches. */
	if (offset == 0 && last && (d->in_order || m->octets == 0)) {
		m = &whole;
		m->octets = 0;
	}
	if (d->in_order ? offset == 0 : m->octets == 0)
		*m = (struct delivery_message){.begin = first};
	m->octets += octets;
	m->format += (mf_time)mf_proto_chunk_blocks(&d->f->config->proto, octets) * period;
	if (last && m->begin >= d->f->measure)
		message_received(&d->stream[to * DELIVERY_KINDS + kind], m->begin, done + period, m->octets,
				 m->format);
	if (last)
		m->octets = 0;
}
