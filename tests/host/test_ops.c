/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of all kinds and sizes from several hosts: right data, in order, within X, in either mode. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static const struct client_config mixed = {
	.ops = 400, .depth = 24, .size_max = 20000, .think = MF_US(2), .weight = {5, 3, 3, 3}, .seed = 1};

/** Runs clients to their end. */
static struct clients *run(const struct client_config *cc, const struct net_config *nc)
{
	struct clients *cs = clients_new(cc);
	struct net_hooks hooks = clients_hooks(cs);
	struct net *n = net_new(nc, &hooks);

	cr_assert(n, "errno %d", errno);
	clients_start(cs, n);
	net_run(n, MF_SEC(1));
	return cs;
}

static void check_done(const struct clients *cs)
{
	const struct net *n = cs->net;

	cr_assert(clients_done(cs), "seed %lu: not all operations are done", cs->config.seed);
	cr_assert_eq(cs->mismatches, 0, "seed %lu: %lu wrong results", cs->config.seed, cs->mismatches);
	cr_assert_eq(n->id_reuse, 0, "seed %lu: an id was used twice at once", cs->config.seed);
	for (unsigned int i = 0; i < n->config.hosts; i++) {
		const struct mf_host_stats *s = mf_host_stats(n->host[i]);

		cr_assert_eq(mf_host_outstanding(n->host[i]), 0);
		cr_assert_eq(s->drop_check + s->drop_proto + s->drop_unknown + s->drop_dst + s->drop_room, 0);
		cr_assert_eq(s->timeouts + s->quarantined + s->grants_returned, 0);
		for (int k = 0; k < MF_OPS; k++)
			cr_assert_eq(s->completed[k], s->submitted[k]);
	}
}

/** What the hosts hold in memory is what their clients think. */
static void check_memory(const struct clients *cs)
{
	struct net *n = cs->net;
	unsigned int first = n->config.hosts - n->config.memory_nodes;

	for (unsigned int i = 0; i < n->config.hosts; i++)
		for (unsigned int m = first; m < n->config.hosts; m++)
			cr_assert(memcmp(net_memory_at(n, m, i * cs->region, (uint32_t)cs->region),
					 cs->client[i].shadow[m], cs->region) == 0,
				  "seed %lu: region of %u at %u", cs->config.seed, i, m);
}

static void finish(struct clients *cs)
{
	struct net *n = cs->net;

	clients_free(cs);
	net_free(n);
}

static int x_reached(const struct net *n, int write)
{
	int most = 0;

	for (unsigned int i = 0; i < n->config.hosts; i++)
		for (unsigned int j = 0; j < n->config.hosts; j++)
			most = n->pair[i][j]->active_max[write] > most ? n->pair[i][j]->active_max[write]
								       : most;
	return most;
}

Test(host_ops, mixes_of_several_clients)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct client_config cc = mixed;
		struct net_config nc;
		struct clients *cs;

		net_config_default(&nc);
		nc.hosts = 4;
		nc.memory_nodes = 1 + seed % 3;
		nc.host.chunk = seed % 4 == 0 ? 64 : 256;
		nc.host.proto.check32 = seed % 2;
		cc.seed = seed;
		cs = run(&cc, &nc);
		check_done(cs);
		check_memory(cs);
		finish(cs);
	}
}

/* Everything is dated by the call, and what ends is over at once. */
Test(host_ops, mixes_under_the_wall_clock)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct client_config cc = mixed;
		struct net_config nc;
		struct clients *cs;

		net_config_default(&nc);
		nc.host.mux.period = 0;
		nc.hosts = 4;
		nc.memory_nodes = 1 + seed % 3;
		nc.host.x = 1 + seed % 4 * 5;
		nc.host.mega = seed % 2 * 3;
		nc.host.queue = seed % 3 == 0 ? 4 : 256;
		nc.host.mux.memory_items = seed % 4 == 0 ? 8 : 1024;
		nc.host.read_timeout = nc.host.write_timeout = MF_MS(100);
		cc.seed = seed;
		cs = run(&cc, &nc);
		check_done(cs);
		check_memory(cs);
		finish(cs);
	}
}

Test(host_ops, sizes_to_200000)
{
	struct client_config cc = mixed;
	struct net_config nc;
	struct clients *cs;

	net_config_default(&nc);
	cc.size_max = 200000;
	cc.ops = 200;
	cs = run(&cc, &nc);
	check_done(cs);
	check_memory(cs);
	finish(cs);
}

Test(host_ops, x_is_reached_and_kept)
{
	for (uint32_t x = 1; x <= 5; x += 2) {
		struct client_config cc = mixed;
		struct net_config nc;
		struct clients *cs;

		net_config_default(&nc);
		nc.host.x = x;
		cc.think = 0;
		cc.size_max = 500;
		cs = run(&cc, &nc);
		check_done(cs);
		cr_assert_eq(x_reached(cs->net, 0), (int)x, "reads: %d", x_reached(cs->net, 0));
		cr_assert_eq(x_reached(cs->net, 1), (int)x, "writes: %d", x_reached(cs->net, 1));
		finish(cs);
	}
}

/** 128 of each sort take all ids. */
Test(host_ops, all_ids)
{
	struct client_config cc = mixed;
	struct net_config nc;
	struct clients *cs;

	net_config_default(&nc);
	nc.host.x = MF_IDS / 2;
	nc.host.queue = 1024;
	cc.depth = CLIENT_DEPTH_MAX;
	cc.think = 0;
	cc.size_max = 9000;
	cs = run(&cc, &nc);
	check_done(cs);
	finish(cs);
}

Test(host_ops, tiny_queues_and_rings)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct client_config cc = mixed;
		struct net_config nc;
		struct clients *cs;
		uint64_t again = 0, stalls = 0;

		net_config_default(&nc);
		nc.hosts = 3;
		nc.memory_nodes = 2;
		nc.host.queue = 5;
		nc.host.x = 8;
		nc.host.mux.memory_blocks = 64;
		nc.host.mux.memory_items = 8;
		cc.seed = seed;
		cc.think = 0;
		cs = run(&cc, &nc);
		check_done(cs);
		check_memory(cs);
		for (unsigned int i = 0; i < nc.hosts; i++) {
			again += cs->client[i].again;
			stalls += mf_host_stats(cs->net->host[i])->stalls;
		}
		cr_assert_gt(again, 0);
		cr_assert_gt(stalls, 0);
		finish(cs);
	}
}

Test(host_ops, mega_messages)
{
	struct client_config cc = mixed;
	struct net_config nc;
	struct clients *cs;
	const struct mf_host_stats *s;

	net_config_default(&nc);
	nc.host.mega = 4;
	nc.host.chunk = 1024;
	cc.weight[MF_OP_WRITE] = 10;
	cc.think = 0;
	cs = run(&cc, &nc);
	check_done(cs);
	check_memory(cs);
	s = mf_host_stats(cs->net->host[0]);
	cr_assert_gt(s->megas, 0);
	cr_assert_eq(s->megas, cs->net->megas);
	cr_assert_geq(s->mega_messages, 2 * s->megas);
	cr_assert_leq(s->mega_messages, 4 * s->megas);
	cr_assert_leq(x_reached(cs->net, 1), (int)nc.host.x);
	finish(cs);
}

static void compare_logs(const struct clients *a, const struct clients *b)
{
	unsigned int i, k;

	if (!clients_same(a, b, &i, &k)) {
		const struct mf_completion *p = &a->client[i].log[k], *q = &b->client[i].log[k];

		cr_assert_fail("seed %lu host %u completion %u: user %lx/%lx first %lu/%lu done %lu/%lu",
			       a->config.seed, i, k, p->user, q->user, p->first, q->first, p->done, q->done);
	}
}

/** Blocks one by one give the same completions at the same picoseconds (D18). */
Test(host_ops, block_by_block_is_identical)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct client_config cc = mixed;
		struct net_config nc;
		struct clients *cs[2];

		net_config_default(&nc);
		nc.hosts = 3;
		nc.memory_nodes = 2;
		nc.host.mega = seed % 3;
		cc.seed = seed;
		cc.think = seed % 2 ? MF_US(1) : 0;
		for (int mode = 0; mode < 2; mode++) {
			nc.block_mode = mode;
			cs[mode] = run(&cc, &nc);
			check_done(cs[mode]);
		}
		compare_logs(cs[0], cs[1]);
		finish(cs[0]);
		finish(cs[1]);
	}
}

/** The stages of an idle fabric, added up (Table 1 of the paper). */
Test(host_ops, times_are_the_sums_of_their_stages)
{
	struct net_config nc;
	const struct mf_timing *t = &nc.host.timing;
	mf_time way = NET_LINK + NET_SWITCH + NET_LINK, read, write, got[MF_OPS] = {0};

	net_config_default(&nc);
	for (int kind = MF_OP_READ; kind <= MF_OP_WRITE; kind++) {
		struct client_config cc = {.ops = 1, .depth = 1, .size_max = 1, .seed = 1};
		struct clients *cs;

		cc.weight[kind] = 1;
		cs = run(&cc, &nc);
		check_done(cs);
		got[kind] = cs->client[0].log[0].first - cs->client[0].log[0].submitted;
		finish(cs);
	}
	/* The switch stores: a request's second block and a chunk's third one are waited for there. */
	read = mf_timing_sum(t, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST) + way + NET_PERIOD;
	read += NET_PERIOD + mf_timing_sum(t, MF_STAGE_RREQ_PARSE, MF_STAGE_MEMORY_CONTROLLER) + NET_DRAM;
	read += mf_timing_data_tx(t) + way + 2 * NET_PERIOD;
	read += mf_timing_sum(t, MF_STAGE_DATA_PARSE, MF_STAGE_DATA_DELIVER);
	cr_assert_eq(got[MF_OP_READ], read, "%lu, not %lu", got[MF_OP_READ], read);
	write = mf_timing_sum(t, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST) + way;
	write += mf_timing_grant_rx(t) + mf_timing_data_tx(t);
	cr_assert_eq(got[MF_OP_WRITE], write, "%lu, not %lu", got[MF_OP_WRITE], write);
}

/** D7: every piece of a transfer says what is behind it, so that the scheduler's SRPT may see all of it. */
static void transfer_is_told(enum mf_op_kind kind)
{
	struct client_config cc = {.ops = 1, .depth = 1, .seed = 3, .size_max = 1 << 20};
	struct net_config nc;
	struct clients *cs;
	uint64_t left;

	cc.weight[kind] = 1;
	net_config_default(&nc);
	nc.memory_size = 4 << 20;
	for (;; cc.seed++) {
		cs = run(&cc, &nc);
		check_done(cs);
		left = cs->client[0].log[0].len;
		if (left > 4 * MF_MESSAGE_MAX)
			break;
		finish(cs);
	}
	for (; left > MF_MESSAGE_MAX; left -= MF_MESSAGE_MAX) {
		uint64_t behind = (left - MF_MESSAGE_MAX + MF_BEHIND_UNIT - 1) / MF_BEHIND_UNIT;

		cr_assert_eq(cs->net->behind[behind], 1, "%lu octets", left);
		cs->net->behind[behind]--;
	}
	cr_assert_eq(cs->net->behind[0], 1);
	cs->net->behind[0]--;
	for (unsigned int i = 0; i <= MF_BEHIND_MAX; i++)
		cr_assert_eq(cs->net->behind[i], 0);
	finish(cs);
}

Test(host_ops, srpt_by_transfer)
{
	transfer_is_told(MF_OP_READ);
	transfer_is_told(MF_OP_WRITE);
}
