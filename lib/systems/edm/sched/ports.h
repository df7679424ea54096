/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that are busy, held, free: steps (2), (5), (7) of EDM 3.1.1. A port is two, a source and a
 * destination, since links are full duplex.
 *
 * WIRE and PAPER release a port l/B after its grant. WINDOW releases it as far as granted octets have been
 * forwarded; within one matching a port is matched once.
 */
#ifndef MF_SCHED_PORTS_H
#define MF_SCHED_PORTS_H

#include "base/mf_seeded_bug.h"
#include "systems/edm/sched/scan.h"
#include "systems/edm/sched/slot.h"

#define PORTS_FEW 8 /* grants */

/** Makes ports of a word free, but those that are held. @return these are free now */
static inline uint64_t ports_free(struct mf_sched *s, enum sched_side side, unsigned int w, uint64_t ports)
{
	ports &= ~s->held[side].word[w];
	s->free[side].word[w] |= ports;
	return ports;
}

/** Frees destinations of a word and wakes them, if anything is wanted of them. */
static inline void ports_open_dsts(struct mf_sched *s, unsigned int w, uint64_t dsts)
{
	sched_activate(s, w, ports_free(s, SCHED_DST, w, dsts) & s->wanted.word[w]);
}

/** Wakes the destinations that may have waited for sources which are free now. */
static inline void ports_wake(struct mf_sched *s, const struct sched_map *srcs)
{
	struct sched_map asleep = {{0}}, waiting = {{0}};
	uint16_t src[SCHED_LIST];
	unsigned int n;

	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		asleep.word[w] = s->wanted.word[w] & s->free[SCHED_DST].word[w] & ~s->active.word[w];
	if (!sched_map_any(&asleep))
		return;
	if (sched_map_equal(&s->free[SCHED_SRC], &s->all)) {
		waiting = asleep;
	} else {
		n = scan_ports(srcs, s->words, src);
		for (unsigned int i = 0; i < n; i++)
			scan_join(&waiting, s, src[i]);
	}
	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		sched_activate(s, w, waiting.word[w] & asleep.word[w]);
}

/** Frees sources and wakes the destinations that may have waited for them. */
static inline void ports_open_srcs(struct mf_sched *s, struct sched_map *srcs)
{
	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		srcs->word[w] = ports_free(s, SCHED_SRC, w, srcs->word[w]);
	ports_wake(s, srcs);
}

static inline void ports_open(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	struct sched_map srcs = {{0}};

	if (side == SCHED_DST) {
		ports_open_dsts(s, port / 64, UINT64_C(1) << port % 64);
		return;
	}
	sched_set(&srcs, port);
	ports_open_srcs(s, &srcs);
}

static inline bool ports_idle(const struct mf_sched *s, enum sched_side side, unsigned int port)
{
	return s->release[side].at[port] == MF_NEVER && !sched_test(&s->full[side], port);
}

/** When a matching may take a port again that is in use until then. */
static inline mf_time ports_ahead(const struct mf_sched *s, mf_time until)
{
	return until > s->config.ahead ? until - s->config.ahead : 0;
}

/** l/B, B being that of the slower link (D2). */
static inline mf_time ports_duration(const struct mf_sched *s, const struct mf_sched_grant *g)
{
	mf_time period = slot_period(s, g);

	if (s->config.release == MF_RELEASE_PAPER)
		return (g->size * period + 7) / 8;
	return ((g->size + 7) / 8 + (g->mega ? 0 : s->config.chunk_overhead) - MF_SEEDED_BUG(early_release)) *
	       period;
}

/** WINDOW: a port has less left of its window than a chunk, or nothing. */
SCHED_PART void ports_tighten(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	sched_set(&s->tight[side], port);
	s->any_tight = true;
	if (s->outstanding[side][port] >= s->config.window)
		sched_set(&s->full[side], port);
}

/** WINDOW: a port has so many octets more outstanding. */
static inline void ports_load(struct mf_sched *s, enum sched_side side, unsigned int port, uint32_t size)
{
	uint32_t *outstanding = &s->outstanding[side][port];

	*outstanding += size;
	if (sched_rarely(*outstanding > s->roomy))
		ports_tighten(s, side, port);
}

/** ... and nothing else is in its matching, so the port is open again at once. */
static inline void ports_pass(struct mf_sched *s, enum sched_side side, unsigned int port, uint32_t size)
{
	ports_load(s, side, port, size);
	s->free[side].word[port / 64] &= ~s->full[side].word[port / 64];
}

/** WIRE, PAPER: the ports of a grant are busy with it. */
static inline void ports_take(struct mf_sched *s, const struct mf_sched_grant *g)
{
	mf_time until, release;

	sched_clear(&s->free[SCHED_SRC], g->src);
	sched_clear(&s->free[SCHED_DST], g->dst);
	until = slot_until(s, g, g->at + ports_duration(s, g));
	release = mf_time_max(ports_ahead(s, until), g->at);
	s->until[SCHED_SRC][g->src] = s->until[SCHED_DST][g->dst] = until;
	sched_times_set(&s->release[SCHED_SRC], g->src, release);
	sched_times_set(&s->release[SCHED_DST], g->dst, release);
	s->releases = mf_time_min(s->releases, release);
}

/** All ports that were taken since ports_begin() are busy until the same time. */
static inline void ports_take_even(struct mf_sched *s, enum sched_side side, mf_time until)
{
	struct sched_times *t = &s->release[side];
	struct sched_map taken;

	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		taken.word[w] = s->before[side].word[w] & ~s->free[side].word[w];
	scan_fill(s->until[side], &taken, s->words, until);
	scan_fill(t->at, &taken, s->words, until);
	scan_note(t, scan_in_groups(&taken, s->words), s->words, until);
}

/**
 * The ports of grants that leave now, which are not free any more.
 * @param even  they are all that were taken since ports_begin(), for as many octets
 */
SCHED_PART void ports_take_all(struct mf_sched *s, const struct mf_sched_grant *g, unsigned int n, bool even)
{
	struct sched_times *from = &s->release[SCHED_SRC], *to = &s->release[SCHED_DST];
	mf_time first = MF_NEVER;

	if (even && n > PORTS_FEW && s->period) {
		first = g->at + ports_duration(s, g);
		ports_take_even(s, SCHED_SRC, first);
		ports_take_even(s, SCHED_DST, first);
		n = 0;
	}
	for (; n; n--, g++) {
		mf_time until = g->at + ports_duration(s, g);

		s->until[SCHED_SRC][g->src] = s->until[SCHED_DST][g->dst] = until;
		sched_times_set(from, g->src, until);
		sched_times_set(to, g->dst, until);
		first = mf_time_min(first, until);
	}
	s->releases = mf_time_min(s->releases, first);
}

/**
 * What tells a source to send takes its link in the other direction (D2): the forwarded request, or the
 * one block of a /G/. Such blocks are collected until they make up a chunk, and take its place: ports that
 * were released together stay so, and a matching that is made ahead of the release wastes no block time on
 * either side.
 */
static inline void ports_charge(struct mf_sched *s, unsigned int dst, mf_time at, uint32_t blocks)
{
	struct sched_port *p = s->port + dst;

	if (s->config.release != MF_RELEASE_WIRE)
		return;
	p->debt += blocks;
	if (p->debt < s->chunk_blocks)
		return;
	blocks = slot_charge(s, p->debt);
	s->charge[s->charges++] = (struct sched_charge){at, blocks, dst};
	p->debt -= blocks;
}

/**
 * Charged when the iteration has marked its pairs busy, so that the charge comes on top of a chunk that
 * the same iteration granted.
 */
static inline void ports_settle(struct mf_sched *s)
{
	struct sched_times *busy = &s->release[SCHED_DST];

	for (const struct sched_charge *c = s->charge; c < s->charge + s->charges; c++) {
		struct sched_port *p = s->port + c->dst;
		mf_time *last = s->until[SCHED_DST] + c->dst;
		mf_time until = mf_time_max(*last, c->at) + c->blocks * (mf_time)p->period;
		mf_time release = ports_ahead(s, until);

		*last = until;
		if (busy->at[c->dst] != MF_NEVER) {
			busy->at[c->dst] = mf_time_max(busy->at[c->dst], release);
		} else if (release > s->clock) {
			sched_clear(&s->free[SCHED_DST], c->dst);
			sched_times_set(busy, c->dst, release);
			s->releases = mf_time_min(s->releases, release);
		}
	}
	s->charges = 0;
}

/** Releases what is due at clock. */
static inline void ports_release(struct mf_sched *s)
{
	struct sched_map due;

	scan_due(&s->release[SCHED_DST], s->words, s->clock, &due);
	for (unsigned int w = 0; w < s->words; w++)
		ports_open_dsts(s, w, due.word[w]);
	scan_due(&s->release[SCHED_SRC], s->words, s->clock, &due);
	ports_open_srcs(s, &due);
	s->releases = mf_time_min(s->release[SCHED_SRC].first, s->release[SCHED_DST].first);
}

/** A matching begins, or its next iteration. With WINDOW a matching takes a port once. */
static inline void ports_begin(struct mf_sched *s)
{
	s->before[SCHED_SRC] = s->free[SCHED_SRC];
	s->before[SCHED_DST] = s->free[SCHED_DST];
}

/** WINDOW: it is over, its ports may be matched again. */
static inline void ports_reopen(struct mf_sched *s)
{
	struct sched_map src;

	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++) {
		uint64_t dst = s->before[SCHED_DST].word[w] & ~s->free[SCHED_DST].word[w];

		src.word[w] = s->before[SCHED_SRC].word[w] & ~s->free[SCHED_SRC].word[w] &
			      ~s->full[SCHED_SRC].word[w];
		ports_open_dsts(s, w, dst & ~s->full[SCHED_DST].word[w]);
	}
	ports_open_srcs(s, &src);
}

/** WINDOW: a tight port has less outstanding. */
SCHED_PART void ports_loosen(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	if (s->outstanding[side][port] < s->config.window)
		sched_clear(&s->full[side], port);
	if (s->outstanding[side][port] <= s->roomy)
		sched_clear(&s->tight[side], port);
	s->any_tight = sched_map_any(&s->tight[SCHED_SRC]) || sched_map_any(&s->tight[SCHED_DST]);
	if (ports_idle(s, side, port))
		ports_open(s, side, port);
}

static inline void ports_unload(struct mf_sched *s, enum sched_side side, unsigned int port, uint32_t size)
{
	uint32_t before = s->outstanding[side][port], after = before - size;

	s->outstanding[side][port] = after & -(uint32_t)(before > size); /* who knows which ends */
}

/** What was forwarded until now. */
SCHED_PART void ports_forwarded(struct mf_sched *s)
{
	const bool tight = s->any_tight;
	struct forwards *f = &s->forwards;
	uint32_t i = f->head, end = f->tail;
	mf_time now = s->clock;

	for (; i != end && forwards_at(f, i)->time <= now; i++) {
		const struct forwarded *e = forwards_at(f, i);

		ports_unload(s, SCHED_SRC, e->src, e->size);
		ports_unload(s, SCHED_DST, e->dst, e->size);
		if (tight && sched_test(&s->tight[SCHED_SRC], e->src))
			ports_loosen(s, SCHED_SRC, e->src);
		if (tight && sched_test(&s->tight[SCHED_DST], e->dst))
			ports_loosen(s, SCHED_DST, e->dst);
	}
	forwards_drop(f, i);
}

static inline void ports_hold(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	sched_set(&s->held[side], port);
	sched_clear(&s->free[side], port);
}

static inline void ports_unhold(struct mf_sched *s, enum sched_side side, unsigned int port)
{
	sched_clear(&s->held[side], port);
	if (ports_idle(s, side, port))
		ports_open(s, side, port);
}

static inline bool ports_room(const struct mf_sched *s, enum sched_side side, unsigned int port,
			      uint32_t size)
{
	uint64_t outstanding = s->outstanding[side][port];

	return !outstanding | (outstanding + size <= s->config.window);
}

/** Whether a port has room. If not, it is tight. */
static inline bool ports_admit(struct mf_sched *s, enum sched_side side, unsigned int port, uint32_t size)
{
	if (ports_room(s, side, port, size))
		return true;
	ports_tighten(s, side, port);
	return false;
}

/** WINDOW: the next grant of a candidate fits the windows of both its ports (D4). */
static inline bool ports_fit(struct mf_sched *s, sched_key key)
{
	unsigned int src = sched_key_src(key), dst = sched_key_dst(key);
	bool src_admits, dst_admits;
	uint32_t size;

	if (!sched_key_mega(key) && !sched_test(&s->tight[SCHED_SRC], src) &&
	    !sched_test(&s->tight[SCHED_DST], dst))
		return true;
	size = sched_next_size(s, s->demand + s->queue[sched_queue(s, src, dst, sched_key_resp(key))]);
	src_admits = ports_admit(s, SCHED_SRC, src, size);
	dst_admits = ports_admit(s, SCHED_DST, dst, size);
	return src_admits && dst_admits;
}

#endif
