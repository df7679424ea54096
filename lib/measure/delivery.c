/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "measure/mf_delivery.h"
#include "base/mf_table.h"

struct delivery *delivery_new(const struct mf_fabric *f)
{
	struct delivery *d = calloc(1, sizeof(*d));
	size_t pairs = (size_t)f->nodes * f->nodes;

	if (d == NULL)
		return NULL;
	d->f = f;
	d->stream = calloc((size_t)f->nodes * DELIVERY_KINDS, sizeof(*d->stream));
	d->ids = f->config->stack_ops == NULL || f->config->stack_ops->writes_ordered ? 1 : 256;
	d->message = mf_table_new(pairs * DELIVERY_KINDS * d->ids, sizeof(*d->message));
	d->payload = calloc(f->nodes, sizeof(*d->payload));
	if (d->payload == NULL || d->stream == NULL || d->message == NULL) {
		delivery_free(d);
		return NULL;
	}
	return d;
}

void delivery_free(struct delivery *d)
{
	if (d == NULL)
		return;
	free(d->payload);
	free(d->stream);
	mf_table_free(d->message);
	free(d);
}

static size_t pair_index(const struct delivery *d, uint16_t cn, uint16_t mn)
{
	return (size_t)cn * d->f->nodes + mn;
}

void delivery_effect(struct delivery *d, mf_time submitted, mf_time done)
{
	if (submitted >= d->f->measure)
		mf_hist_add(&d->effect, done - submitted);
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

/** What can have crossed a node's line since the begin of the steady state, of what had crossed it as a
 * whole. */
static uint64_t crossed(const struct delivery *d, uint16_t node, uint64_t octets, mf_time done)
{
	uint64_t most = ((done - d->f->measure) / d->f->link[node].period + 1) * 8;

	return octets < most ? octets : most;
}

void delivery_chunk(struct delivery *d, unsigned int kind, uint16_t cn, uint16_t mn, uint32_t id,
		    uint32_t offset, uint32_t octets, bool last, mf_time first, mf_time done)
{
	size_t place = pair_index(d, cn, mn) * DELIVERY_KINDS + kind;
	struct delivery_message *m = &d->message[place * d->ids + id % d->ids], whole;
	bool in_order = d->ids == 1;
	uint16_t to = kind == DELIVERY_READ ? cn : mn, from = kind == DELIVERY_READ ? mn : cn;
	uint32_t period = d->f->link[cn].period;

	if (d->f->link[mn].period > period)
		period = d->f->link[mn].period;
	if (done >= d->f->measure && done < d->f->stop) {
		d->payload[from].up += crossed(d, from, octets, done);
		d->payload[to].down += crossed(d, to, octets, done);
	}
	d->arrived += octets;
	if (done >= d->f->stop)
		d->drained += octets;
	/* Most messages are one chunk: the tables of all pairs stay out of the caches. */
	if (offset == 0 && last && (in_order || m->octets == 0)) {
		m = &whole;
		m->octets = 0;
	}
	if (in_order ? offset == 0 : m->octets == 0)
		*m = (struct delivery_message){.begin = first};
	m->octets += octets;
	m->format += (mf_time)mf_proto_chunk_blocks(&d->f->config->proto, octets) * period;
	if (last && m->begin >= d->f->measure)
		message_received(&d->stream[to * DELIVERY_KINDS + kind], m->begin, done + period, m->octets,
				 m->format);
	if (last)
		m->octets = 0;
}
