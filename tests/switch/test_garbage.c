/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonsense at all ports: half-right messages, cut ones, every block type, bad headers, with grants of
 * things that never come. Nothing crashes, and once all has timed out nothing is leaked.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define PORTS 5
#define REQUESTS 64
#define TIMEOUT MF_US(30)

struct fuzz {
	struct mf_rng rng;
	struct mf_switch_config config;
	struct mf_switch *sw;
	mf_time now;
	struct mf_sched_msg demand[4096]; /**< of buffered requests, not answered yet */
	unsigned int demands;
	uint64_t window; /**< granted octets less those given back */
	bool held[2][PORTS];
	struct mf_span span;
};

static unsigned int below(struct fuzz *f, unsigned int n)
{
	return (unsigned int)mf_rng_below(&f->rng, n);
}

static void told(struct fuzz *f, const struct mf_sched_msg *m)
{
	bool hold = m->kind == MF_SCHED_HOLD || m->kind == MF_SCHED_HOLD_SRC;

	switch (m->kind) {
	case MF_SCHED_DEMAND:
		cr_assert(m->src < PORTS && m->dst < PORTS && m->src != m->dst);
		cr_assert_lt(f->demands, 4096);
		if (m->cookie != MF_SCHED_NO_COOKIE)
			f->demand[f->demands++] = *m;
		break;
	case MF_SCHED_FORWARDED:
		cr_assert_geq(f->window, m->size);
		f->window -= m->size;
		break;
	case MF_SCHED_HOLD:
	case MF_SCHED_UNHOLD:
		cr_assert_neq(f->held[0][m->dst], hold);
		f->held[0][m->dst] = hold;
		break;
	case MF_SCHED_HOLD_SRC:
	case MF_SCHED_UNHOLD_SRC:
		cr_assert_neq(f->held[1][m->src], hold);
		f->held[1][m->src] = hold;
		break;
	default:
		break;
	}
}

static void after(struct fuzz *f)
{
	struct mf_sched_msg msg[32];
	uint16_t port[PORTS];
	unsigned int n;

	while ((n = mf_switch_to_sched(f->sw, msg, 32)) > 0)
		for (unsigned int i = 0; i < n; i++)
			told(f, &msg[i]);
	mf_switch_tx_ports(f->sw, port, PORTS);
}

static void grant(struct fuzz *f, struct mf_sched_grant *g)
{
	g->at = g->since = f->now;
	f->window += g->size;
	mf_switch_grant(f->sw, f->now, g);
	after(f);
}

/** Answers a buffered request: grants it, or dismisses it. */
static void answer(struct fuzz *f, unsigned int i)
{
	const struct mf_sched_msg d = f->demand[i];
	struct mf_sched_grant g = rig_grant_of(0, d.src, d.dst, d.id, true, true,
					       below(f, 4) ? 1 + below(f, 300) : 0, d.cookie);

	f->demand[i] = f->demand[--f->demands];
	grant(f, &g);
}

static void random_grant(struct fuzz *f)
{
	uint16_t src = (uint16_t)below(f, PORTS - 1); /* the last one is a plain port */
	struct mf_sched_grant g =
		rig_grant_of(0, src, (uint16_t)((src + 1 + below(f, PORTS - 2)) % (PORTS - 1)),
			     (uint8_t)below(f, 4), below(f, 2), false, 1 + below(f, 300), MF_SCHED_NO_COOKIE);

	g.mega = !g.resp && below(f, 4) == 0;
	g.size = g.mega ? 24 * (1 + below(f, 8)) : g.size;
	if (f->demands > 0 && below(f, 2))
		answer(f, below(f, f->demands));
	else
		grant(f, &g);
}

static uint64_t random_single(struct fuzz *f, unsigned int port)
{
	static const uint8_t kinds[] = {MF_ACK, MF_ERR, MF_GRET, MF_NOTIFY, MF_GRANT};
	const struct mf_msg m = {.kind = kinds[below(f, 5)],
				 .src = (uint16_t)(below(f, 4) ? port : below(f, 8)),
				 .dst = (uint16_t)below(f, PORTS + 1),
				 .id = (uint8_t)below(f, 4),
				 .resp = below(f, 2),
				 .size = 1 + below(f, 500),
				 .status = MF_ERR_RANGE,
				 .of = below(f, 2) ? MF_RREQ : MF_WREQ};

	return mf_proto_put_single(&m);
}

/** A message as it should be, with ids and sizes that may have been granted. @return blocks */
static unsigned int random_message(struct fuzz *f, unsigned int port, uint64_t *word)
{
	static const uint8_t kinds[] = {MF_WREQ, MF_WREQ_ACK, MF_RRES, MF_RREQ, MF_RMWREQ};
	static uint8_t data[512];
	struct mf_msg m = {.kind = kinds[below(f, 5)],
			   .src = (uint16_t)(below(f, 8) ? port : below(f, 8)),
			   .dst = (uint16_t)below(f, PORTS),
			   .id = (uint8_t)below(f, 4),
			   .last = true,
			   .size = 1 + below(f, 300)};

	if (m.kind == MF_RREQ || m.kind == MF_RMWREQ)
		return mf_proto_put_request(&f->config.proto, &m, word);
	return mf_proto_put_chunk(&f->config.proto, &m, data, word);
}

static void random_span(struct fuzz *f)
{
	unsigned int port = below(f, PORTS), n = 0, how = below(f, 8);
	struct mf_span *s = &f->span;

	*s = (struct mf_span){.start = f->now, .period = f->config.port[port].mux.period};
	if (how < 5) {
		n = random_message(f, port, s->word);
		memset(s->sync, MF_SYNC_DATA, n);
		s->sync[0] = s->sync[n - 1] = MF_SYNC_CTRL;
	} else if (how < 6) {
		s->word[0] = random_single(f, port);
		s->sync[0] = MF_SYNC_CTRL;
		n = 1;
	}
	s->count = (uint16_t)n;
	if (how == 7)
		while (s->count < 1 + below(f, 60))
			mf_span_put(s, below(f, 3) ? MF_SYNC_DATA : (uint8_t)below(f, 4),
				    mf_rng_next(&f->rng));
	while (how == 6 && s->count < 1 + below(f, 30)) /* right types, wrong order */
		mf_span_put(s, MF_SYNC_CTRL,
			    (const uint8_t[]){0x1e, 0x78, 0x87, 0xff, 0x1d, 0xe2, 0x2e, 0x56, 0xa9,
					      0x4b}[below(f, 10)] |
				    mf_rng_next(&f->rng) << 8);
	if (s->count > 0 && below(f, 6) == 0) /* cut, or a bit is wrong */
		s->count = (uint16_t)(1 + below(f, s->count));
	if (s->count > 0 && below(f, 6) == 0)
		s->word[below(f, s->count)] ^= UINT64_C(1) << below(f, 64);
	if (s->count == 0)
		return;
	mf_switch_rx(f->sw, port, f->now, s);
	after(f);
}

/** Lets out what is due. */
static void drain(struct fuzz *f)
{
	struct mf_span s;

	mf_switch_run(f->sw, f->now);
	after(f);
	for (unsigned int p = 0; p < PORTS; p++)
		while (mf_switch_tx(f->sw, p, f->now, MF_SPAN_MAX, &s) > 0) {
			if (p == PORTS - 1) /* nothing of memory to a plain port */
				cr_assert(s.flags & MF_SPAN_FRAME);
			after(f);
		}
}

static void settle(struct fuzz *f)
{
	for (unsigned int i = 0; i < 4000; i++) {
		f->now += MF_NS(50);
		if (f->demands > 0)
			answer(f, 0);
		drain(f);
	}
}

/** As many requests are taken as there are slots, and not one fewer than at the start. */
static void all_slots_are_there(struct fuzz *f)
{
	uint64_t before = mf_switch_stats(f->sw)->drop_room;

	cr_assert_eq(f->demands, 0);
	for (unsigned int i = 0; i < REQUESTS + 1; i++) {
		const struct mf_msg m = {.kind = MF_RREQ, .src = 0, .dst = 1, .id = (uint8_t)i, .size = 64};
		struct mf_span *s = &f->span;

		f->now += MF_US(1);
		*s = (struct mf_span){.start = f->now, .period = P};
		s->count = (uint16_t)mf_proto_put_request(&f->config.proto, &m, s->word);
		memset(s->sync, MF_SYNC_DATA, s->count);
		s->sync[0] = s->sync[s->count - 1] = MF_SYNC_CTRL;
		mf_switch_rx(f->sw, 0, f->now, s);
		after(f);
	}
	cr_expect_eq(f->demands, REQUESTS);
	cr_expect_eq(mf_switch_stats(f->sw)->drop_room, before + 1);
}

static void sum_up(struct mf_switch_stats *sum, const struct mf_switch_stats *s)
{
	sum->chunks += s->chunks;
	sum->requests_forwarded += s->requests_forwarded;
	sum->parked += s->parked;
	sum->returns += s->returns;
	sum->errors += s->errors;
	sum->drop_check += s->drop_check;
	sum->drop_proto += s->drop_proto;
	sum->drop_spoof += s->drop_spoof;
	sum->drop_dst += s->drop_dst;
	sum->drop_ungranted += s->drop_ungranted;
	sum->drop_room += s->drop_room;
	sum->drop_cut += s->drop_cut;
	sum->expired += s->expired;
}

static void play(uint64_t seed, bool window, unsigned int steps, struct mf_switch_stats *sum)
{
	struct fuzz *f = calloc(1, sizeof(*f));

	mf_rng_init(&f->rng, seed, "garbage", 0);
	rig_config(&f->config, PORTS);
	f->config.requests = REQUESTS;
	f->config.x = REQUESTS / PORTS + 1; /* one port may have all of them */
	f->config.grant_timeout = TIMEOUT;
	f->config.hold_timeout = TIMEOUT / 4;
	f->config.window = window;
	for (unsigned int i = 0; i < f->config.ports; i++) {
		f->config.port[i].backlog_k = 100;
		f->config.port[i].source_w = 150;
	}
	f->config.proto.check32 = seed & 1;
	for (unsigned int i = 0; i < PORTS; i++) {
		f->config.port[i].mux.memory_blocks = seed % 3 ? 1 << 12 : 64; /* tiny ones, too */
		f->config.port[i].mux.memory_items = seed % 3 ? 1 << 10 : 8;
	}
	f->config.port[1].mux.period = 3 * P;
	f->config.port[PORTS - 1].memory_enabled = f->config.port[PORTS - 1].mux.memory_enabled = false;
	f->sw = mf_switch_new(&f->config);
	cr_assert_not_null(f->sw);
	for (unsigned int i = 0; i < steps; i++) {
		f->now += below(f, 3) ? below(f, 400) * P : 0;
		if (below(f, 2))
			random_grant(f);
		else
			random_span(f);
		if (below(f, 3) == 0)
			drain(f);
	}
	settle(f);
	if (window)
		cr_expect_eq(f->window, 0, "seed %llu: %llu octets leaked", (unsigned long long)seed,
			     (unsigned long long)f->window);
	for (unsigned int p = 0; p < PORTS; p++)
		cr_expect(!f->held[0][p] && !f->held[1][p], "seed %llu: port %u is held",
			  (unsigned long long)seed, p);
	cr_expect_eq(mf_switch_stats(f->sw)->drop_descriptor, 0);
	all_slots_are_there(f);
	sum_up(sum, mf_switch_stats(f->sw));
	mf_switch_free(f->sw);
	free(f);
}

Test(garbage, nothing_leaks)
{
	unsigned int seeds = getenv("MF_LONG") ? 1000 : 20;
	struct mf_switch_stats sum = {0};

	for (uint64_t seed = 1; seed <= seeds; seed++)
		play(seed, seed & 2, 5000, &sum);
	/* What never happened was not tested. */
	cr_expect(sum.chunks && sum.requests_forwarded && sum.parked && sum.returns && sum.errors);
	cr_expect(sum.drop_check && sum.drop_proto && sum.drop_spoof && sum.drop_dst);
	cr_expect(sum.drop_ungranted && sum.drop_room && sum.drop_cut && sum.expired);
}
