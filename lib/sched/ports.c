/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that are busy, held, free: steps (2), (5), (7) of EDM 3.1.1. A port is two, a source and a
 * destination, since links are full duplex.
 *
 * WIRE and PAPER release a port l/B after its grant; the releases wait in a heap. WINDOW releases it
 * as far as granted octets have been forwarded; within one matching a port is matched once.
 */
#include "core.h"

static bool idle(const struct mf_sched *s, const struct sched_port *p)
{
	if (s->config.release != MF_RELEASE_WINDOW)
		return !p->busy;
	return !p->busy && (!p->outstanding || p->outstanding < s->config.window);
}

/** Makes a port free if it is, and wakes the destinations that have waited for it. */
static void open_port(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	const struct sched_port *p = s->port[side] + port;
	const uint64_t *order = sched_row(s, s->order_array, port);

	if (p->held || !idle(s, p))
		return;
	sched_set(s->free[side], port);
	if (side == SCHED_DST) {
		sched_activate(s, port / 64, UINT64_C(1) << port % 64);
		return;
	}
	for (unsigned int w = 0; w < s->words; w++)
		sched_activate(s, w, (order[2 * w] | order[2 * w + 1]) & s->free[SCHED_DST][w]);
}

static void push(struct mf_sched *s, mf_time time, unsigned int src, unsigned int dst)
{
	struct sched_release *heap = s->release;
	unsigned int i = s->releases++;

	for (; i && heap[(i - 1) / 2].time > time; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = (struct sched_release){time, {src, dst}};
}

static struct sched_release pop(struct mf_sched *s)
{
	struct sched_release *heap = s->release, first = heap[0], last = heap[--s->releases];
	unsigned int i = 0, child, n = s->releases;

	while ((child = 2 * i + 1) < n) {
		child += child + 1 < n && heap[child + 1].time < heap[child].time;
		if (heap[child].time >= last.time)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

/** When a matching may take the port again. */
static mf_time release_time(const struct mf_sched *s, const struct sched_port *p)
{
	return p->until > s->config.ahead ? mf_time_max(p->until - s->config.ahead, p->left) : p->left;
}

/** l/B, B being that of the slower link (D2). */
static mf_time duration(const struct mf_sched *s, const struct mf_sched_grant *g)
{
	uint32_t a = s->config.period[g->src], b = s->config.period[g->dst];
	mf_time period = a > b ? a : b;

	if (s->config.release == MF_RELEASE_PAPER)
		return (g->size * period + 7) / 8;
	return ((g->size + 7) / 8 + (g->mega ? 0 : s->config.chunk_overhead)) * period;
}

mf_time mf_sched_ports_at(const struct mf_sched *s, unsigned int src, unsigned int dst, mf_time decided)
{
	return mf_time_max(decided,
			   mf_time_max(s->port[SCHED_SRC][src].until, s->port[SCHED_DST][dst].until));
}

void mf_sched_ports_take(struct mf_sched *s, const struct mf_sched_grant *g)
{
	struct sched_port *src = s->port[SCHED_SRC] + g->src, *dst = s->port[SCHED_DST] + g->dst;

	src->busy = dst->busy = true;
	sched_clear(s->free[SCHED_SRC], g->src);
	sched_clear(s->free[SCHED_DST], g->dst);
	if (s->config.release == MF_RELEASE_WINDOW) {
		src->outstanding += g->size;
		dst->outstanding += g->size;
		s->matched[s->matches][SCHED_SRC] = g->src;
		s->matched[s->matches++][SCHED_DST] = g->dst;
		return;
	}
	src->until = dst->until = g->at + duration(s, g);
	src->left = dst->left = g->at;
	push(s, release_time(s, src), g->src, g->dst);
}

void mf_sched_ports_charge(struct mf_sched *s, unsigned int dst, mf_time at, uint8_t blocks)
{
	if (s->config.release == MF_RELEASE_WIRE && blocks)
		s->charge[s->charges++] = (struct sched_charge){at, dst, blocks};
}

/*
 * What tells a source to send takes blocks of its link in the other direction. They are collected until
 * they make up a chunk, and take its place: ports that were released together stay so, and a matching
 * that is made ahead of the release wastes no block time on either side.
 *
 * Charged when the iteration has marked its pairs busy, so that the charge comes on top of a chunk that
 * the same iteration granted. A busy port's entry in the heap is put off when it comes up.
 */
void mf_sched_ports_settle(struct mf_sched *s)
{
	for (unsigned int i = 0; i < s->charges; i++) {
		const struct sched_charge *c = s->charge + i;
		struct sched_port *p = s->port[SCHED_DST] + c->dst;

		p->debt += c->blocks;
		if (p->debt < s->chunk_blocks)
			continue;
		p->until = mf_time_max(p->until, c->at) + p->debt * (mf_time)s->config.period[c->dst];
		p->debt = 0;
		if (p->busy || release_time(s, p) <= s->clock)
			continue;
		p->busy = true;
		sched_clear(s->free[SCHED_DST], c->dst);
		push(s, release_time(s, p), SCHED_NO_PORT, c->dst);
	}
	s->charges = 0;
}

static void release(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	s->port[side][port].busy = false;
	open_port(s, side, port);
}

void mf_sched_ports_release(struct mf_sched *s)
{
	while (s->releases && s->release[0].time <= s->clock) {
		struct sched_release r = pop(s);
		unsigned int src = r.port[SCHED_SRC], dst = r.port[SCHED_DST];

		if (src != SCHED_NO_PORT)
			release(s, SCHED_SRC, src);
		if (release_time(s, s->port[SCHED_DST] + dst) > s->clock)
			push(s, release_time(s, s->port[SCHED_DST] + dst), SCHED_NO_PORT, dst);
		else
			release(s, SCHED_DST, dst);
	}
}

void mf_sched_ports_reopen(struct mf_sched *s)
{
	for (unsigned int i = 0; i < s->matches; i++)
		for (int side = SCHED_SRC; side <= SCHED_DST; side++)
			release(s, side, s->matched[i][side]);
	s->matches = 0;
}

void mf_sched_ports_forwarded(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	const unsigned int port[2] = {msg->src, msg->dst};

	for (int side = SCHED_SRC; side <= SCHED_DST; side++) {
		struct sched_port *p = s->port[side] + port[side];

		p->outstanding -= msg->size < p->outstanding ? msg->size : p->outstanding;
		open_port(s, side, port[side]);
	}
}

void mf_sched_ports_hold(struct mf_sched *s, enum sched_side side, unsigned int port, bool held)
{
	s->port[side][port].held = held;
	if (held)
		sched_clear(s->free[side], port);
	else
		open_port(s, side, port);
}
