/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that are busy, held, free: steps (2), (5), (7) of EDM 3.1.1. A port is two, a source and a
 * destination, since links are full duplex.
 *
 * WIRE and PAPER release a port l/B after its grant; the releases wait in a calendar. WINDOW releases it
 * as far as granted octets have been forwarded; within one matching a port is matched once.
 */
#include "core.h"

static bool idle(const struct mf_sched *s, const struct sched_port *p, enum sched_side side)
{
	return !p->busy[side] &&
	       (!s->window || !p->outstanding[side] || p->outstanding[side] < s->config.window);
}

/** Makes a port free if it is, and wakes the destinations that have waited for it. */
static void open_port(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	struct sched_port *p = s->port + port;
	const uint64_t *order = sched_order_array(s, port);

	if (p->held[side] || !idle(s, p, side))
		return;
	p->tight[side] = false;
	sched_set(s->free[side], port);
	if (side == SCHED_DST) {
		sched_activate(s, port / 64, (uint64_t) !!s->list[port].count << port % 64);
		return;
	}
	for (unsigned int w = 0; w < s->words; w++)
		sched_activate(s, w, (order[2 * w] | order[2 * w + 1]) & s->free[SCHED_DST][w]);
}

/** When a matching may take the port again. */
static mf_time release_time(const struct mf_sched *s, const struct sched_port *p, enum sched_side side)
{
	mf_time until = p->until[side], left = p->left[side];

	return until > s->config.ahead ? mf_time_max(until - s->config.ahead, left) : left;
}

/** A destination without a source, behind the charge that its link has got. */
static void put_off(struct mf_sched *s, unsigned int dst)
{
	calendar_add(&s->release, 1 + s->ports + dst, release_time(s, s->port + dst, SCHED_DST));
}

/** l/B, B being that of the slower link (D2). */
static mf_time duration(const struct mf_sched *s, const struct mf_sched_grant *g)
{
	uint32_t a = s->port[g->src].period, b = s->port[g->dst].period;
	mf_time period = a > b ? a : b;

	if (s->config.release == MF_RELEASE_PAPER)
		return (g->size * period + 7) / 8;
	return ((g->size + 7) / 8 + (g->mega ? 0 : s->config.chunk_overhead)) * period;
}

static bool fits(const struct mf_sched *s, unsigned int port, enum sched_side side, uint32_t size)
{
	struct sched_port *p = s->port + port;

	return !p->outstanding[side] || p->outstanding[side] + size <= s->config.window;
}

bool mf_sched_ports_fit(const struct mf_sched *s, sched_key key)
{
	unsigned int src = sched_key_src(key), dst = sched_key_dst(key);
	uint32_t size = s->config.chunk;

	if (!sched_key_mega(key) && fits(s, src, SCHED_SRC, size) && fits(s, dst, SCHED_DST, size))
		return true;
	size = sched_next_size(s, s->demand + s->queue[sched_queue(s, src, dst, sched_key_resp(key))]);
	if (fits(s, src, SCHED_SRC, size) && fits(s, dst, SCHED_DST, size))
		return true;
	s->port[src].tight[SCHED_SRC] = s->port[dst].tight[SCHED_DST] = true;
	return false;
}

static void take_window(struct mf_sched *s, const struct mf_sched_grant *g)
{
	s->port[g->src].outstanding[SCHED_SRC] += g->size;
	s->port[g->dst].outstanding[SCHED_DST] += g->size;
	s->matched[s->matches][SCHED_SRC] = g->src;
	s->matched[s->matches++][SCHED_DST] = g->dst;
}

void mf_sched_ports_take(struct mf_sched *s, const struct mf_sched_grant *g)
{
	struct sched_port *src = s->port + g->src, *dst = s->port + g->dst;

	src->busy[SCHED_SRC] = dst->busy[SCHED_DST] = true;
	sched_clear(s->free[SCHED_SRC], g->src);
	sched_clear(s->free[SCHED_DST], g->dst);
	if (s->window) {
		take_window(s, g);
		return;
	}
	src->until[SCHED_SRC] = dst->until[SCHED_DST] = g->at + duration(s, g);
	src->left[SCHED_SRC] = dst->left[SCHED_DST] = g->at;
	s->peer[g->src] = g->dst;
	calendar_add(&s->release, 1 + g->src, release_time(s, src, SCHED_SRC));
}

/*
 * What tells a source to send takes blocks of its link in the other direction. They are collected until
 * they make up a chunk, and take its place: ports that were released together stay so, and a matching
 * that is made ahead of the release wastes no block time on either side.
 */
void mf_sched_ports_charge(struct mf_sched *s, unsigned int dst, mf_time at, uint32_t blocks)
{
	struct sched_port *p = s->port + dst;

	if (s->config.release != MF_RELEASE_WIRE)
		return;
	p->debt += blocks;
	if (p->debt < s->chunk_blocks)
		return;
	s->charge[s->charges++] = (struct sched_charge){at, p->debt, dst};
	p->debt = 0;
}

/*
 * Charged when the iteration has marked its pairs busy, so that the charge comes on top of a chunk that
 * the same iteration granted. A busy port's entry in the calendar is put off when it comes up.
 */
void mf_sched_ports_settle(struct mf_sched *s)
{
	for (const struct sched_charge *c = s->charge; c < s->charge + s->charges; c++) {
		struct sched_port *p = s->port + c->dst;

		p->until[SCHED_DST] =
			mf_time_max(p->until[SCHED_DST], c->at) + c->blocks * (mf_time)p->period;
		if (p->busy[SCHED_DST] || release_time(s, p, SCHED_DST) <= s->clock)
			continue;
		p->busy[SCHED_DST] = true;
		sched_clear(s->free[SCHED_DST], c->dst);
		put_off(s, c->dst);
	}
	s->charges = 0;
}

static void release(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	s->port[port].busy[side] = false;
	open_port(s, side, port);
}

void mf_sched_ports_release(struct mf_sched *s)
{
	while (s->release.first <= s->clock) {
		unsigned int i = calendar_take(&s->release) - 1, dst = i - s->ports;

		if (i < s->ports) {
			dst = s->peer[i];
			release(s, SCHED_SRC, i);
		}
		if (release_time(s, s->port + dst, SCHED_DST) > s->clock)
			put_off(s, dst);
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

static void forwarded(struct mf_sched *s, enum sched_side side, unsigned int port, uint32_t size)
{
	struct sched_port *p = s->port + port;

	p->outstanding[side] -= size < p->outstanding[side] ? size : p->outstanding[side];
	if (p->tight[side] || !sched_test(s->free[side], port))
		open_port(s, side, port);
}

void mf_sched_ports_forwarded(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	forwarded(s, SCHED_SRC, msg->src, msg->size);
	forwarded(s, SCHED_DST, msg->dst, msg->size);
}

void mf_sched_ports_hold(struct mf_sched *s, enum sched_side side, unsigned int port, bool held)
{
	s->port[port].held[side] = held;
	if (held)
		sched_clear(s->free[side], port);
	else
		open_port(s, side, port);
}
