/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "measure/mf_delivery.h"

/** Whether writes of a pair, and reads, come one after the other, in all networks. */
static bool all_in_order(const struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->tiers; k++) {
		const struct mf_stack_ops *stack = f->tier[k].config->stack_ops;

		if (stack != NULL && !stack->writes_ordered)
			return false;
	}
	return true;
}

struct delivery *delivery_new(const struct mf_fabric *f)
{
	struct delivery *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->f = f;
	d->stream = calloc((size_t)f->nodes * DELIVERY_KINDS, sizeof(*d->stream));
	d->ids = all_in_order(f) ? 1 : 256;
	d->payload = calloc(fabric_host_ends(f), sizeof(*d->payload));
	if (d->payload == NULL || d->stream == NULL || arriving_init(&d->arriving) != 0) {
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
	arriving_fini(&d->arriving);
	free(d);
}

/** Of the message of a chunk, among those that come in at a time. */
static uint64_t name_of(const struct delivery *d, unsigned int kind, uint16_t cn, uint16_t mn, uint32_t id)
{
	return ((uint64_t)cn * d->f->nodes + mn) * DELIVERY_KINDS * d->ids + kind * d->ids + id % d->ids;
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

/** What can have crossed a node's link since the begin of the steady state, of what had crossed it as a
 * whole. */
static uint64_t crossed(const struct delivery *d, uint32_t link, uint64_t octets, mf_time done)
{
	uint64_t most = ((done - d->f->measure) / d->f->link[link].period + 1) * 8;

	return octets < most ? octets : most;
}

/**
 * The message of a chunk, with what came of it before.
 * @param whole  room for a message that is one chunk
 * @return NULL: it is not counted
 */
static struct arriving_message *message_of(struct delivery *d, uint64_t name, bool begins, bool ends,
					   mf_time first, struct arriving_message *whole)
{
	bool in_order = d->ids == 1;
	struct arriving_message *m;

	*whole = (struct arriving_message){.begin = first};
	if (begins && ends && in_order)
		return whole;
	m = arriving_find(&d->arriving, name);
	if (m == NULL && begins && ends)
		return whole;
	if (m == NULL && in_order && !begins) /* its beginning was lost */
		return NULL;
	if (m == NULL)
		m = arriving_put(&d->arriving, name);
	if (m == NULL)
		d->incomplete = true;
	else if ((in_order && begins) || m->octets == 0)
		*m = (struct arriving_message){.name = m->name, .begin = first};
	return m;
}

void delivery_chunk(struct delivery *d, unsigned int kind, uint16_t cn, uint16_t mn, uint32_t id,
		    uint32_t offset, uint32_t octets, bool last, mf_time first, mf_time done)
{
	uint16_t to = kind == DELIVERY_READ ? cn : mn, from = kind == DELIVERY_READ ? mn : cn;
	const struct fabric_way way = fabric_way_of(d->f, cn, mn);
	const struct fabric_tier *t = way.tier;
	uint32_t cn_link = t->link[way.from], mn_link = t->link[way.to];
	uint32_t from_link = kind == DELIVERY_READ ? mn_link : cn_link,
		 to_link = kind == DELIVERY_READ ? cn_link : mn_link;
	uint32_t period = d->f->link[from_link].period;
	struct arriving_message *m, whole;

	if (d->f->link[to_link].period > period)
		period = d->f->link[to_link].period;
	if (done >= d->f->measure && done < d->f->stop) {
		d->payload[fabric_host_number(d->f, from_link, from)].up +=
			crossed(d, from_link, octets, done);
		if (!t->config->direct)
			d->payload[to_link].down += crossed(d, to_link, octets, done);
	}
	d->arrived += octets;
	if (done >= d->f->stop)
		d->drained += octets;
	m = message_of(d, name_of(d, kind, cn, mn, id), offset == 0, last, first, &whole);
	if (m == NULL)
		return;
	m->octets += octets;
	m->format += (mf_time)mf_proto_chunk_blocks(&t->config->proto, octets) * period;
	if (!last)
		return;
	if (m->begin >= d->f->measure)
		message_received(&d->stream[to * DELIVERY_KINDS + kind], m->begin, done + period, m->octets,
				 m->format);
	if (m != &whole)
		arriving_remove(&d->arriving, m);
}
