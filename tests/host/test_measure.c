/* SPDX-License-Identifier: BSD-3-Clause */
/* The wall clock's settings, stamps, frames. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "script.h"
#include "systems/edm/host/mf_host_leaks.h"

/** Without a period and without costs everything goes at once: the data must be as right. */
Test(host_measure, wall_clock)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct client_config cc = {.ops = 600,
					   .depth = 32,
					   .size_max = seed % 2 ? 2000 : 150000,
					   .weight = {4, 3, 3, 3},
					   .seed = seed};
		struct clients *cs = clients_new(&cc);
		struct net_hooks hooks = clients_hooks(cs);
		struct net_config nc;
		struct mf_host_held held;
		struct net *n;

		net_config_default(&nc);
		memset(&nc.host.timing, 0, sizeof(nc.host.timing));
		nc.host.mux.period = 0;
		nc.host.chunk = 4096;
		nc.host.mega = seed % 3 * 4;
		nc.hosts = 3;
		nc.memory_nodes = 2;
		if (seed > 4) {
			nc.host.mux.memory_blocks = 1024;
			nc.host.mux.memory_items = 8;
		}
		n = net_new(&nc, &hooks);
		clients_start(cs, n);
		net_run(n, MF_SEC(1));
		cr_assert(clients_done(cs), "seed %lu", seed);
		cr_assert_eq(cs->mismatches, 0, "seed %lu", seed);
		cr_assert_eq(n->id_reuse, 0, "seed %lu", seed);
		for (unsigned int i = 0; i < nc.hosts; i++) {
			for (unsigned int m = 1; m < nc.hosts; m++)
				cr_assert_eq(memcmp(net_memory_at(n, m, i * cs->region, (uint32_t)cs->region),
						    cs->client[i].shadow[m], cs->region),
					     0, "seed %lu", seed);
			cr_assert_eq(mf_host_run(n->host[i], n->now), MF_NEVER, "nothing to do");
			mf_host_held(n->host[i], n->now, &held);
			cr_assert_eq(held.jobs + held.lanes, 0, "seed %lu: %u lanes", seed, held.lanes);
		}
		clients_free(cs);
		net_free(n);
	}
}

#define STAMPS_MAX 64
struct stamps {
	struct {
		uint16_t cn, mn;
		uint8_t id;
		enum mf_stage stage;
		mf_time from, to;
	} s[STAMPS_MAX];
	unsigned int count;
	mf_time first, done;
	uint32_t octets;
	unsigned int effects;
};

static void stamp(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage, mf_time from,
		  mf_time to)
{
	struct stamps *st = ctx;

	cr_assert_lt(st->count, STAMPS_MAX);
	cr_assert_leq(from, to);
	st->s[st->count].cn = cn;
	st->s[st->count].mn = mn;
	st->s[st->count].id = id;
	st->s[st->count].stage = stage;
	st->s[st->count].from = from;
	st->s[st->count++].to = to;
}

static void effect(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
		   bool last, mf_time first, mf_time done)
{
	struct stamps *st = ctx;

	cr_assert_eq(cn, 0);
	cr_assert_eq(mn, 1);
	cr_assert_eq(id, 0);
	cr_assert_eq(offset, st->octets);
	cr_assert(last);
	st->octets += octets;
	st->effects++;
	st->first = first;
	st->done = done;
}

static int by_time(const void *a, const void *b)
{
	const mf_time *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/** The stamps of one operation in an idle fabric, and what the net adds, make up its whole time. */
static mf_time stamped(struct stamps *st)
{
	mf_time sum = 0, at[STAMPS_MAX][2];

	for (unsigned int i = 0; i < st->count; i++) {
		at[i][0] = st->s[i].from;
		at[i][1] = st->s[i].to;
		sum += st->s[i].to - st->s[i].from;
		cr_assert(st->s[i].cn == 0 && st->s[i].mn == 1 && st->s[i].id == 0);
	}
	qsort(at, st->count, sizeof(*at), by_time);
	for (unsigned int i = 1; i < st->count; i++)
		cr_assert_leq(at[i - 1][1], at[i][0], "stages overlap");
	return sum;
}

/** The net's switch stores: the blocks behind the first are waited for there once more. */
static mf_time net_way(unsigned int blocks)
{
	return NET_LINK + NET_SWITCH + NET_LINK + (mf_time)(blocks - 1) * NET_PERIOD;
}

Test(host_measure, stamps_add_up)
{
	for (int check32 = 0; check32 < 2; check32++) {
		for (uint8_t kind = 0; kind < MF_OP_CALL; kind++) {
			struct stamps st = {0};
			struct mf_probe probe = {.stamp = stamp, .effect = effect, .ctx = &st};
			uint8_t buf[64] = {0};
			struct mf_op op = {.kind = kind, .rmw = MF_RMW_CAS, .node = 1, .len = 64, .buf = buf};
			struct mf_msg m = {.kind = kind == MF_OP_RMW ? MF_RMWREQ : MF_RREQ, .op = op.rmw};
			struct net_config nc;
			struct mf_completion c;
			struct script *s;
			mf_time rest;

			net_config_default(&nc);
			nc.host.probe = &probe;
			nc.host.proto.check32 = check32;
			s = script_new(&nc);
			c = script_do(s, 0, &op);
			cr_assert_eq(c.status, MF_OK);
			rest = net_way(mf_proto_chunk_blocks(&nc.host.proto, kind == MF_OP_RMW ? 8 : 64));
			if (kind == MF_OP_READ || kind == MF_OP_RMW) {
				rest += net_way(mf_proto_request_blocks(&nc.host.proto, &m));
				cr_assert_eq(stamped(&st) + rest, c.done - c.submitted, "%s",
					     kind ? "rmw" : "read");
				cr_assert_eq(st.effects, 0);
			} else {
				bool acked = kind == MF_OP_WRITE_ACK;

				rest += net_way(1) + (acked ? net_way(1) : 0);
				cr_assert_eq(stamped(&st) + rest, (acked ? c.done : st.done) - c.submitted);
				cr_assert_eq(st.effects, 1);
				cr_assert_eq(st.octets, 64);
				cr_assert_eq(st.done - st.first,
					     (mf_proto_chunk_blocks(&nc.host.proto, 64) - 1) * NET_PERIOD);
			}
			script_free(s);
		}
	}
}

struct frames {
	uint8_t sent[32][MF_FRAME_MAX];
	uint16_t len[32];
	unsigned int count, got, bad;
};

static void on_frame(void *ctx, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct frames *f = ctx;
	uint16_t want = f->len[f->got] < MF_FRAME_MIN ? MF_FRAME_MIN : f->len[f->got];

	(void)at;
	f->bad += len != want || memcmp(frame, f->sent[f->got], f->len[f->got]) != 0;
	f->got++;
}

/** Frames from a host to another one over a link, under both clocks. */
Test(host_measure, frames)
{
	static struct frames f;
	uint64_t rng = 5;

	for (uint32_t period = 0; period <= NET_PERIOD; period += NET_PERIOD) {
		struct mf_host *host[2];
		struct net_config nc;
		struct mf_span span;
		mf_time now = 0;

		net_config_default(&nc);
		nc.host.mux.period = period;
		nc.host.mux.frames = 32;
		nc.host.mux.frame_bytes = 1 << 20;
		nc.host.nodes = 2;
		memset(&f, 0, sizeof(f));
		for (int i = 0; i < 2; i++) {
			nc.host.node = (uint16_t)i;
			host[i] = mf_host_new(&nc.host);
		}
		mf_host_on_frame(host[1], on_frame, &f);
		for (; f.count < 32; f.count++) {
			f.len[f.count] = (uint16_t)(1 + client_random(&rng) % MF_FRAME_MAX);
			memset(f.sent[f.count], (int)f.count + 1, f.len[f.count]);
			cr_assert(mf_host_send_frame(host[0], 0, f.sent[f.count], f.len[f.count]));
		}
		cr_assert_not(mf_host_send_frame(host[0], 0, f.sent[0], 100), "no room for one more");
		while (f.got < 32) {
			mf_time next = mf_time_min(mf_host_run(host[0], now), mf_host_tx_next(host[0], now));

			cr_assert(next != MF_NEVER || f.got == 31);
			now = next == MF_NEVER ? now + MF_US(1) : next;
			while (mf_host_tx(host[0], now, MF_SPAN_MAX, &span))
				mf_host_rx(host[1], now, &span);
			mf_host_run(host[1], now);
		}
		cr_assert_eq(f.bad, 0);
		mf_host_free(host[0]);
		mf_host_free(host[1]);
	}
}
