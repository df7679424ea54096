/* SPDX-License-Identifier: BSD-3-Clause */
/* The output-queued switch: its buffer and its pipeline. */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_fetch.h"
#include "base/mf_table.h"
#include "systems/frames/mf_output_queue.h"

#define SMALLEST 64 /* octets of a frame, with FCS */
#define LINE 64
#define AHEAD 4 /* frames of the pipeline */
#define SHORT 256 /* octets that a short frame has at most */
#define ARRIVALS 4 /* of a port at one instant; more than one only under the wall clock */

static struct oq *oq_of(struct mf_bridge *b)
{
	return (struct oq *)b;
}

static const struct oq *oq_const(const struct mf_bridge *b)
{
	return (const struct oq *)b;
}

static bool *copy_up(const struct mf_bridge_config *c)
{
	bool *up = malloc(c->ports * sizeof(*up));

	return up != NULL ? memcpy(up, c->up, c->ports * sizeof(*up)) : NULL;
}

static int allocate(struct oq *oq, const struct mf_bridge_config *c)
{
	mf_time *delay = malloc(c->ports * sizeof(*delay));
	uint32_t *period = malloc(c->ports * sizeof(*period));

	oq->config.up = copy_up(c);
	oq->config.delay = delay;
	oq->config.period = period;
	oq->frame = mf_table_new(oq->pool[OQ_LONG].first + oq->pool[OQ_LONG].slots, sizeof(*oq->frame));
	for (unsigned int k = 0; k < OQ_POOLS; k++)
		oq->pool[k].slot = mf_table_new(oq->pool[k].slots, oq->pool[k].size);
	if (oq->config.up == NULL || delay == NULL || period == NULL || oq->frame == NULL ||
	    oq->pool[OQ_SHORT].slot == NULL || oq->pool[OQ_LONG].slot == NULL)
		return -ENOMEM;
	memcpy(delay, c->delay, c->ports * sizeof(*delay));
	memcpy(period, c->period, c->ports * sizeof(*period));
	return 0;
}

/** As many as the buffer has octets for; one is being sent, and those of this instant are not let in yet. */
static void set_pools(struct oq *oq)
{
	uint32_t more = 1 + ARRIVALS * oq->config.ports;

	oq->pool[OQ_SHORT] = (struct oq_pool){
		.size = SHORT, .slots = (uint32_t)(oq->buffer / SMALLEST) + more, .free = OQ_NIL};
	oq->pool[OQ_LONG] = (struct oq_pool){.size = (oq->frame_max + LINE - 1) / LINE * LINE,
					     .first = oq->pool[OQ_SHORT].slots,
					     .slots = (uint32_t)(oq->buffer / SHORT) + more,
					     .free = OQ_NIL};
}

struct mf_bridge *oq_new(const struct mf_bridge_config *c, const struct oq_queue_ops *ops,
			 unsigned int params)
{
	struct oq *oq = calloc(1, sizeof(*oq));

	if (oq == NULL)
		return NULL;
	oq->ops = ops;
	oq->config = *c;
	oq->config.up = NULL;
	oq->config.period = NULL;
	oq->config.delay = NULL;
	memcpy(oq->param, c->param, params * sizeof(*oq->param));
	oq->config.param = oq->param;
	oq->buffer = (uint64_t)oq->param[OQ_BUFFER];
	oq->frame_max = (uint32_t)oq->param[OQ_MTU] + MF_PACKET_IP;
	set_pools(oq);
	oq->latency = c->l2_latency + 2 * c->timing.cost[MF_STAGE_MAC];
	oq->queue_next = MF_NEVER;
	errno = ENOMEM;
	if (allocate(oq, c) != 0 || (oq->queue = ops->create(oq)) == NULL) {
		int err = errno;

		oq_free((struct mf_bridge *)oq);
		errno = err;
		return NULL;
	}
	return (struct mf_bridge *)oq;
}

void oq_free(struct mf_bridge *b)
{
	struct oq *oq = oq_of(b);

	if (oq->queue != NULL)
		oq->ops->destroy(oq->queue);
	free((void *)(uintptr_t)oq->config.up);
	free((void *)(uintptr_t)oq->config.period);
	free((void *)(uintptr_t)oq->config.delay);
	mf_table_free(oq->frame);
	mf_table_free(oq->pool[OQ_SHORT].slot);
	mf_table_free(oq->pool[OQ_LONG].slot);
	free(oq);
}

/** A slot for a frame. OQ_NIL: there is none. */
static uint32_t take_slot(struct oq *oq, uint16_t len)
{
	struct oq_pool *p = &oq->pool[len > SHORT];
	uint32_t i = p->free;

	if (i != OQ_NIL)
		p->free = oq->frame[i].next;
	else if (p->fresh < p->slots)
		i = p->first + p->fresh++;
	return i;
}

static void free_slot(struct oq *oq, uint32_t i)
{
	struct oq_pool *p = &oq->pool[i >= oq->pool[OQ_LONG].first];

	oq->frame[i].next = p->free;
	p->free = i;
}

/** Its octets stay until another frame takes the slot. */
static void give_slot(struct oq *oq, uint32_t i, mf_time now)
{
	if (oq->ops->left != NULL)
		oq->ops->left(oq, i, now);
	oq->used -= oq_size(oq, i);
	oq->inside--;
	free_slot(oq, i);
}

void oq_drop(struct oq *oq, uint32_t i, mf_time now)
{
	give_slot(oq, i, now);
}

/** Into a list, behind what is dated before, or the same and came by a lower port. */
static void insert(struct oq *oq, struct oq_list *l, uint32_t i)
{
	struct oq_frame *f = &oq->frame[i], *tail = &oq->frame[l->tail];
	uint32_t *link = &l->head;

	if (l->frames == 0 || tail->at < f->at || (tail->at == f->at && tail->ingress <= f->ingress)) {
		oq_append(oq, l, i);
		return;
	}
	while (oq->frame[*link].at < f->at ||
	       (oq->frame[*link].at == f->at && oq->frame[*link].ingress <= f->ingress))
		link = &oq->frame[*link].next;
	f->next = *link;
	*link = i;
	l->frames++;
	l->octets += oq_size(oq, i);
}

static void stamp_pipeline(const struct oq *oq, mf_time at)
{
	const struct mf_probe *p = oq->config.probe;
	mf_time mac = oq->config.timing.cost[MF_STAGE_MAC], in = at + mac, out = in + oq->config.l2_latency;

	p->stamp(p->ctx, MF_PROBE_ANY, MF_PROBE_ANY, 0, MF_STAGE_MAC, at, in);
	p->stamp(p->ctx, MF_PROBE_ANY, MF_PROBE_ANY, 0, MF_STAGE_L2, in, out);
	p->stamp(p->ctx, MF_PROBE_ANY, MF_PROBE_ANY, 0, MF_STAGE_MAC, out, out + mac);
}

static void store(struct oq *oq, unsigned int ingress, unsigned int egress, mf_time at, const uint8_t *frame,
		  uint16_t len)
{
	uint32_t i = take_slot(oq, len);

	if (i == OQ_NIL) {
		oq->drop_buffer++;
		return;
	}
	oq->frame[i] = (struct oq_frame){.at = at,
					 .len = len,
					 .ingress = (uint16_t)ingress,
					 .egress = (uint16_t)egress,
					 .class = mf_packet_class(frame, len)};
	memcpy(oq_octets(oq, i), frame, len);
	insert(oq, &oq->arrivals, i);
}

/**
 * Lets a frame into the buffer, if there is room. Those of one instant come here in the order of their
 * ports, and when all that leaves at that instant has left: in whatever order they were received.
 */
static void let_in(struct oq *oq, uint32_t i)
{
	struct oq_frame *f = &oq->frame[i];
	mf_time at = f->at;
	bool may;

	if (f->egress == OQ_CONTROL) {
		oq->ops->control(oq, f->ingress, at, oq_octets(oq, i), f->len);
		free_slot(oq, i);
		return;
	}
	may = oq->ops->admit == NULL || oq->ops->admit(oq, i);
	if (!may || oq->used + oq_size(oq, i) > oq->buffer) {
		oq->drop_buffer += may;
		free_slot(oq, i);
		return;
	}
	oq->used += oq_size(oq, i);
	if (oq->used > oq->used_max)
		oq->used_max = oq->used;
	oq->inside++;
	if (oq->config.probe != NULL)
		stamp_pipeline(oq, at);
	if (oq->ops->arrived != NULL)
		oq->ops->arrived(oq, i, at);
	f->at = at + oq->latency;
	insert(oq, &oq->pipeline, i);
}

static void flood(struct oq *oq, unsigned int port, mf_time at, const uint8_t *frame, uint16_t len)
{
	oq->flooded++;
	for (unsigned int p = 0; p < oq->config.ports; p++)
		if (p != port && oq->config.up[p])
			store(oq, port, p, at, frame, len);
}

/** MAC control frames are for the port itself (IEEE 802.3, 31.1). */
static bool is_control(const uint8_t *frame)
{
	return frame[12] == 0x88 && frame[13] == 0x08;
}

/** The port by which a frame to a node goes on; -1: it is for no node that can be reached. */
static inline int egress_of(const struct oq *oq, int node, const uint8_t *frame, uint16_t len)
{
	const struct mf_bridge_config *c = &oq->config;

	if (__builtin_expect(c->route != NULL, 0))
		return node < 0 ? -1 : c->route(c->route_ctx, (uint16_t)node, frame, len);
	return node >= 0 && (unsigned int)node < c->ports && c->up[node] ? node : -1;
}

void oq_receive(struct mf_bridge *b, unsigned int port, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct oq *oq = oq_of(b);
	int node = mf_packet_node(frame), egress;

	oq->frames++;
	oq->octets += len + OQ_FCS;
	if (is_control(frame)) {
		if (oq->ops->control != NULL)
			store(oq, port, OQ_CONTROL, at, frame, len < SHORT ? len : SHORT);
		else
			oq->drop_control++;
	} else if (len > oq->frame_max) {
		oq->drop_long++;
	} else if ((egress = egress_of(oq, node, frame, len)) == (int)port) {
		oq->drop_self++;
	} else if (egress >= 0) {
		store(oq, port, (unsigned int)egress, at, frame, len);
	} else if (oq->config.route == NULL) {
		flood(oq, port, at, frame, len);
	} else {
		oq->drop_unknown++;
	}
}

/** What leaves the pipeline soon has not been looked at since it came: its octets are fetched. */
static inline void fetch_ahead(const struct oq *oq)
{
	uint32_t i = oq->pipeline.head;
	const uint8_t *octets;

	mf_fetch_only();
	if (oq->pipeline.frames <= AHEAD)
		return;
	for (unsigned int k = 0; k < AHEAD; k++)
		i = oq->frame[i].next;
	octets = oq_octets(oq, i);
	__builtin_prefetch(octets);
	__builtin_prefetch(octets + LINE);
	__builtin_prefetch(&oq->frame[oq->frame[i].next]);
}

/** What leaves the pipeline at a time is in its queue before a port takes something at that time. */
static inline void leave_pipeline(struct oq *oq, mf_time now)
{
	while (oq->pipeline.frames > 0 && oq->frame[oq->pipeline.head].at <= now) {
		uint32_t i = oq_first(oq, &oq->pipeline);

		fetch_ahead(oq);
		oq->ops->put(oq, i, oq->frame[i].at);
	}
}

uint16_t oq_pull(struct mf_bridge *b, unsigned int port, mf_time now, const uint8_t **frame)
{
	struct oq *oq = oq_of(b);
	uint16_t len;
	uint32_t i;

	leave_pipeline(oq, now);
	len = oq->ops->urgent != NULL ? oq->ops->urgent(oq, port, now, frame) : 0;
	if (len != 0)
		return len;
	i = oq->ops->take(oq, port, now);
	if (i == OQ_NIL)
		return 0;
	*frame = oq_octets(oq, i);
	give_slot(oq, i, now);
	return oq->frame[i].len;
}

void oq_link(struct mf_bridge *b, unsigned int port, mf_time now, bool up)
{
	struct oq *oq = oq_of(b);

	if (oq->ops->link != NULL)
		oq->ops->link(oq, port, now, up);
}

void oq_run(struct mf_bridge *b, mf_time now)
{
	struct oq *oq = oq_of(b);

	while (oq->arrivals.frames > 0 && oq->frame[oq->arrivals.head].at <= now)
		let_in(oq, oq_first(oq, &oq->arrivals));
	leave_pipeline(oq, now);
	if (oq->ops->run != NULL && oq->queue_next <= now)
		oq->queue_next = oq->ops->run(oq, now);
}

mf_time oq_next(const struct mf_bridge *b)
{
	const struct oq *oq = oq_const(b);
	mf_time next = oq->pipeline.frames > 0 ? oq->frame[oq->pipeline.head].at : MF_NEVER;

	if (oq->arrivals.frames > 0)
		next = mf_time_min(next, oq->frame[oq->arrivals.head].at);
	return mf_time_min(next, oq->queue_next);
}

bool oq_busy(const struct mf_bridge *b)
{
	return oq_const(b)->inside + oq_const(b)->arrivals.frames > 0;
}

void oq_depth(struct mf_bridge *b, unsigned int port, bool anew, struct mf_queue_depth *out)
{
	struct oq *oq = oq_of(b);

	oq->ops->depth(oq, port, anew, out);
}

unsigned int oq_counters(const struct mf_bridge *b, struct mf_counter *out)
{
	const struct oq *oq = oq_const(b);
	unsigned int n = 0;

	out[n++] = mf_counter_sum("frames", oq->frames);
	out[n++] = mf_counter_sum("octets", oq->octets);
	out[n++] = mf_counter_sum("flooded", oq->flooded);
	out[n++] = mf_counter_max("buffer_max_octets", oq->used_max);
	out[n++] = mf_counter_sum("drop_buffer", oq->drop_buffer);
	out[n++] = mf_counter_sum("drop_long", oq->drop_long);
	out[n++] = mf_counter_sum("drop_self", oq->drop_self);
	out[n++] = mf_counter_sum("drop_control", oq->drop_control);
	if (oq->config.route != NULL)
		out[n++] = mf_counter_sum("drop_unknown", oq->drop_unknown);
	return n + oq->ops->counters(oq, out + n);
}
