/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message that is whole within a span takes a shorter way through the switch than one that comes in
 * parts. Random traffic, good and bad, under either clock: what comes of it does not hang on where the
 * spans are cut.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define PORTS 5
#define STEP MF_US(8)
#define ROUNDS 300
#define OWED 512
#define EXPIRES MF_US(100)

/** A chunk that was granted and has not been sent. */
struct owed {
	uint8_t kind, id;
	uint16_t dst;
	bool mega;
	mf_time at;
	uint32_t size; /**< of a mega: of its messages together, on the wire */
};

struct play {
	struct rig r;
	struct mf_rng rng, cut;
	struct owed owed[PORTS][OWED];
	unsigned int owes[PORTS];
	uint8_t id;
	unsigned int seen; /**< descriptors that were looked at */
	struct mf_block stream[4096];
	unsigned int blocks;
};

static struct mf_switch_config config;
static uint64_t word[MF_BLOCKS_MAX];

static unsigned int below(struct play *p, unsigned int n)
{
	return (unsigned int)mf_rng_below(&p->rng, n);
}

static void put(struct play *p, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		p->stream[p->blocks++] = (struct mf_block){
			.word = word[i], .sync = i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA};
}

/** One in eighteen has a wrong bit (none that makes it a chunk), lacks a block or has one too many. */
static void put_damaged(struct play *p, unsigned int n)
{
	unsigned int how = below(p, 54), at = p->blocks;

	if (how == 0)
		word[below(p, n)] ^= UINT64_C(1) << (11 + below(p, 61)) % 64;
	put(p, n);
	if (how == 1 && n > 2) {
		p->stream[at + 1] = p->stream[p->blocks - 1];
		p->blocks = at + 2;
	} else if (how == 2 && n > 1) {
		p->stream[p->blocks] = p->stream[p->blocks - 1];
		p->stream[p->blocks++ - 1] = (struct mf_block){.word = 7, .sync = MF_SYNC_DATA};
	}
}

static uint16_t other(struct play *p, unsigned int port)
{
	return (uint16_t)((port + 1 + below(p, PORTS - 1)) % PORTS);
}

static void put_request(struct play *p, unsigned int port)
{
	struct mf_msg m = {.kind = below(p, 4) ? MF_RREQ : MF_RMWREQ,
			   .src = (uint16_t)port,
			   .dst = other(p, port),
			   .id = p->id++,
			   .op = MF_RMW_CAS,
			   .size = 1 + below(p, 1500),
			   .ext = below(p, 8) == 0};

	if (below(p, 40) == 0)
		m.src = m.dst;
	put_damaged(p, mf_proto_put_request(&p->r.config.proto, &m, word));
}

static void put_single(struct play *p, unsigned int port)
{
	struct mf_msg m = {.kind = below(p, 4) ? MF_NOTIFY : MF_ACK,
			   .src = (uint16_t)port,
			   .dst = other(p, port),
			   .id = p->id++,
			   .mega = below(p, 4) == 0,
			   .size = 1 + below(p, 1500)};

	if (m.mega) {
		m.size = (1 + below(p, 3)) * 8 * mf_proto_chunk_blocks(&p->r.config.proto, 64);
		p->id += 2; /* its other messages have ids, too */
	}
	put_damaged(p, rig_single(&m, word));
}

/** Another chunk of its demand would be taken for the one that does not come. */
static void forget(struct play *p, unsigned int port, const struct owed *o)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < p->owes[port]; i++)
		if (p->owed[port][i].id != o->id || p->owed[port][i].dst != o->dst)
			p->owed[port][n++] = p->owed[port][i];
	p->owes[port] = n;
}

/**
 * Sends what a port owes, the oldest first; sometimes as something else, or never. Of the right length: how
 * much of another leaves before that shows does hang on the spans.
 */
static void put_chunk(struct play *p, unsigned int port, mf_time at)
{
	struct owed o;
	unsigned int n;

	if (p->owes[port] == 0)
		return;
	o = p->owed[port][0];
	memmove(p->owed[port], p->owed[port] + 1, --p->owes[port] * sizeof(o));
	if (at > o.at + EXPIRES / 2) /* a mega of its pair would take what has no circuit any more */
		return;
	if (o.mega) {
		uint32_t one = 8 * mf_proto_chunk_blocks(&p->r.config.proto, 64);

		for (uint32_t sent = 0; sent < o.size; sent += one)
			put(p, rig_chunk(&p->r, MF_WREQ, (uint16_t)port, o.dst, o.id++, 64, word));
		return;
	}
	if (below(p, 20) == 0) {
		forget(p, port, &o);
		return;
	}
	n = rig_chunk(&p->r, o.kind, (uint16_t)port, o.dst, o.id, o.size, word);
	if (below(p, 20) == 0) /* nobody looks at that here */
		word[1 + below(p, n - 2)] ^= 1;
	if (below(p, 20) == 0) { /* not its own */
		n = rig_chunk(&p->r, o.kind, other(p, port), o.dst, o.id, o.size, word);
		forget(p, port, &o);
	} else if (below(p, 20) == 0) { /* nobody granted that */
		n = rig_chunk(&p->r, MF_RRES, (uint16_t)port, o.dst, (uint8_t)(o.id + 128), o.size, word);
		forget(p, port, &o);
	}
	put(p, n);
}

/** A port's messages, back to back: one stream under the wall clock, spans of their own otherwise. */
static void send(struct play *p, mf_time at)
{
	unsigned int port = below(p, PORTS), n = 1 + below(p, 6);
	uint32_t period = p->r.config.port[port].mux.period;

	p->blocks = 0;
	while (n-- > 0) {
		switch (below(p, 4)) {
		case 0:
			put_request(p, port);
			break;
		case 1:
			put_single(p, port);
			break;
		default:
			put_chunk(p, port, at);
			break;
		}
		if (n == 0 || period > 0) {
			rig_blocks(&p->r, at, port, p->stream, p->blocks);
			at += (mf_time)p->blocks * period;
			p->blocks = 0;
		}
	}
}

static void grant(struct play *p, mf_time at, const struct mf_sched_msg *m, uint32_t size, bool first)
{
	struct mf_sched_grant g = rig_grant_of(at, m->src, m->dst, m->id, m->resp, first, size, m->cookie);

	g.mega = m->mega;
	rig_grant(&p->r, at, &g);
	cr_assert_lt(p->owes[m->src], OWED);
	p->owed[m->src][p->owes[m->src]++] = (struct owed){.kind = m->resp ? MF_RRES : MF_WREQ,
							   .id = m->id,
							   .dst = m->dst,
							   .mega = m->mega,
							   .size = size};
}

/** Grants what was demanded since, whole or in two parts; some demands end before that. */
static void answer(struct play *p, mf_time at)
{
	for (; p->seen < p->r.msgs; p->seen++) {
		const struct mf_sched_msg m = p->r.msg[p->seen];

		if (m.kind != MF_SCHED_DEMAND)
			continue;
		if (below(p, 10) == 0) {
			struct mf_sched_grant g =
				rig_grant_of(at, m.src, m.dst, m.id, m.resp, true, 0, m.cookie);

			rig_grant(&p->r, at, &g);
		} else if (m.size > 800 && !m.mega) {
			grant(p, at, &m, 512, true);
			grant(p, at, &m, m.size - 512, false);
		} else {
			grant(p, at, &m, m.size, true);
		}
	}
}

static struct play *play(uint64_t seed, bool by_cuts)
{
	struct play *p = calloc(1, sizeof(*p));
	uint32_t period = seed % 3 == 0 ? 0 : P; /* the wall clock's, or the virtual one's */
	mf_time at = 0;

	mf_rng_init(&p->rng, seed, "whole", 0);
	mf_rng_init(&p->cut, seed, "whole", 1);
	rig_config(&config, PORTS);
	config.window = period == 0;
	if (period == 0)
		memset(&config.timing, 0, sizeof(config.timing));
	config.proto.check32 = seed & 1;
	config.grant_timeout = EXPIRES;
	config.hold_timeout = MF_US(50);
	for (unsigned int i = 0; i < PORTS; i++) {
		config.port[i].mux.period = period;
		config.port[i].backlog_k = seed & 2 ? 300 : 0;
		config.port[i].source_w = seed & 2 ? 400 : 0;
	}
	if (seed & 4)
		config.port[2].mux.period = 2 * period;
	config.port[PORTS - 1].memory_enabled = config.port[PORTS - 1].mux.memory_enabled = seed & 8;
	rig_start(&p->r, &config, false);
	p->r.cut = by_cuts ? &p->cut : NULL;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		at += STEP;
		send(p, at);
		rig_run(&p->r, at + STEP - 2);
		answer(p, at + STEP - 1);
	}
	rig_run(&p->r, at + MF_MS(1));
	return p;
}

static int by_date(const void *a, const void *b)
{
	const struct mf_sched_msg *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return memcmp(x, y, sizeof(*x));
}

/** Of what a pair's windows get back at one time only the sum counts: a span may have several chunks. */
static void add_up(struct rig *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->msgs; i++) {
		struct mf_sched_msg *last = n > 0 ? &r->msg[n - 1] : NULL, m = r->msg[i];
		uint32_t size = m.size;

		m.size = last != NULL ? last->size : 0;
		if (last != NULL && m.kind == MF_SCHED_FORWARDED && memcmp(last, &m, sizeof(m)) == 0) {
			last->size += size;
			continue;
		}
		m.size = size;
		r->msg[n++] = m;
	}
	r->msgs = n;
}

/** What ends later is told later where it comes in one span with what begins before: only dates count. */
static void sort(struct rig *r)
{
	qsort(r->msg, r->msgs, sizeof(*r->msg), by_date);
	add_up(r);
}

Test(whole, cuts_do_not_matter)
{
	unsigned int seeds = getenv("MF_LONG") ? 2000 : 64;
	struct mf_switch_stats sum = {0};

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct play *a = play(seed, false), *b = play(seed, true);
		const struct mf_switch_stats *s = mf_switch_stats(a->r.sw), *t = mf_switch_stats(b->r.sw);

		sort(&a->r);
		sort(&b->r);
		cr_assert(rig_same(&a->r, &b->r), "seed %llu", (unsigned long long)seed);
		cr_assert_eq(memcmp(s, t, sizeof(*s)), 0, "seed %llu", (unsigned long long)seed);
		sum.requests_forwarded += s->requests_forwarded;
		sum.chunks += s->chunks;
		sum.singles += s->singles;
		sum.parked += s->parked;
		sum.drop_check += s->drop_check;
		sum.drop_proto += s->drop_proto;
		sum.drop_spoof += s->drop_spoof;
		sum.drop_dst += s->drop_dst;
		sum.drop_ungranted += s->drop_ungranted;
		sum.drop_cut += s->drop_cut;
		sum.expired += s->expired;
		rig_stop(&a->r);
		rig_stop(&b->r);
		free(a);
		free(b);
	}
	/* What never happened was not tested. */
	cr_expect(sum.requests_forwarded && sum.chunks && sum.singles && sum.parked);
	cr_expect(sum.drop_check && sum.drop_proto && sum.drop_spoof && sum.drop_dst);
	cr_expect(sum.drop_ungranted && sum.drop_cut && sum.expired);
}
