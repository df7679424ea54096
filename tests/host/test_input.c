/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes from the link and should not: bad blocks, cut, forged and misplaced messages. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "script.h"
#include "systems/edm/host/mf_host_leaks.h"

static struct script *script_default(void)
{
	struct net_config nc;

	net_config_default(&nc);
	return script_new(&nc);
}

static void inject(struct script *s, unsigned int host, const uint64_t *word, unsigned int count)
{
	net_inject(s->net, host, s->net->now, word, NULL, count);
}

static void inject_single(struct script *s, unsigned int host, const struct mf_msg *m)
{
	uint64_t word = mf_proto_put_single(m);

	inject(s, host, &word, 1);
}

/** A chunk of a write to host 1 that says to be from host 0. @return blocks */
static unsigned int chunk(struct script *s, uint8_t kind, uint32_t offset, uint32_t size, bool last,
			  uint8_t fill, uint64_t *word)
{
	static uint8_t data[MF_MESSAGE_MAX];
	struct mf_msg m = {.kind = kind, .src = 0, .dst = 1, .id = 9, .last = last};

	m.offset = offset;
	m.addr = offset;
	m.size = size;
	memset(data, fill, size);
	return mf_proto_put_chunk(&s->net->config.host.proto, &m, data, word);
}

static void inject_chunk(struct script *s, uint8_t kind, uint32_t offset, uint32_t size, bool last,
			 uint8_t fill)
{
	uint64_t word[MF_BLOCKS_MAX];

	inject(s, 1, word, chunk(s, kind, offset, size, last, fill, word));
}

/** Grants that name nothing, too much, or a part that cannot be, come back or are dropped. */
Test(host_input, grants_of_no_use)
{
	struct script *s = script_default();
	const struct mf_host_stats *st = mf_host_stats(s->net->host[0]);
	uint8_t buf[4096] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 1000, .buf = buf};
	struct mf_msg g = {.kind = MF_GRANT, .dst = 1, .id = 77, .size = 100};
	uint64_t returned = 0;

	for (int resp = 0; resp < 2; resp++) {
		g.resp = resp;
		inject_single(s, 0, &g);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(st->grants_returned, ++returned);
		cr_assert_eq(s->net->returns, returned);
	}
	g.resp = false;
	for (uint16_t dst = 0; dst < 4; dst += 2) {
		g.dst = dst; /* itself, and a node that is not there */
		inject_single(s, 0, &g);
		net_run(s->net, MF_SEC(1));
	}
	cr_assert_eq(st->drop_proto, 2);
	cr_assert_eq(st->grants_returned, returned);

	/* A write that waits for its grants: 100 octets are no unit, 4096 are more than a chunk. */
	s->net->lose_grants = true;
	cr_assert_eq(script_op(s, 0, &op), 0);
	net_run(s->net, MF_SEC(1));
	g.dst = 1;
	g.id = 0;
	for (g.size = 100; g.size < 5000; g.size += 3996) {
		inject_single(s, 0, &g);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(st->grants_returned, ++returned);
	}
	g.size = 256;
	for (int i = 0; i < 5; i++)
		inject_single(s, 0, &g);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 1, "four make it complete");
	cr_assert_eq(s->done[0].status, MF_OK);
	cr_assert_eq(st->grants_returned, ++returned, "and the fifth comes back");
	script_free(s);
}

/** Of a response as of a write: a part that is no unit comes back, since what is behind it could not be
 * placed. */
Test(host_input, parts_of_responses)
{
	struct script *s = script_default();
	const struct mf_host_stats *st = mf_host_stats(s->net->host[1]);
	uint8_t buf[1000] = {0}, want[1000];
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = sizeof(buf), .buf = buf};
	struct mf_msg g = {.kind = MF_GRANT, .dst = 0, .id = 0, .resp = true};

	for (unsigned int i = 0; i < sizeof(want); i++)
		want[i] = (uint8_t)(i * 7 + 1);
	memcpy(net_memory_at(s->net, 1, 0, sizeof(want)), want, sizeof(want));
	s->net->lose_grants = true;
	cr_assert_eq(script_op(s, 0, &op), 0);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(st->tx[MF_RRES], 1, "the request grants its first chunk");
	for (g.size = 1; g.size < 256; g.size++) {
		if (g.size % MF_CHUNK_UNIT == 0)
			continue;
		inject_single(s, 1, &g);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(st->tx[MF_RRES], 1, "%u octets", g.size);
	}
	cr_assert_eq(st->grants_returned, 240);
	g.size = 240; /* 744 are left: the last part may be of any size */
	for (int i = 0; i < 4; i++)
		inject_single(s, 1, &g);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(st->tx[MF_RRES], 5);
	cr_assert_eq(s->count, 1);
	cr_assert_eq(s->done[0].status, MF_OK);
	cr_assert_eq(memcmp(buf, want, sizeof(want)), 0);
	script_free(s);
}

/** What waited for room and has left is in no lane any more: what comes behind it need not wait. */
Test(host_input, grants_that_waited)
{
	struct script *s = script_default();
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 64, .buf = buf};
	struct mf_msg g = {.kind = MF_GRANT, .dst = 1, .size = 64};
	struct mf_host *h = s->net->host[0];
	struct mf_host_held held;

	s->net->lose_grants = true;
	for (unsigned int round = 0; round < 3; round++) {
		for (int i = 0; i < 3; i++)
			cr_assert_eq(script_op(s, 0, &op), 0);
		net_run(s->net, MF_SEC(1));
		mf_host_exhaust(h, MF_HOST_MUX, true);
		for (int i = 0; i < 3; i++, g.id++)
			inject_single(s, 0, &g);
		net_run(s->net, MF_SEC(1));
		mf_host_held(h, s->net->now, &held);
		cr_assert(held.jobs == 3 && held.lanes == 3, "%u, %u", held.jobs, held.lanes);
		mf_host_exhaust(h, MF_HOST_MUX, false);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(s->count, 3 * (round + 1));
		mf_host_held(h, s->net->now, &held);
		cr_assert(held.jobs == 0 && held.lanes == 0, "%u, %u", held.jobs, held.lanes);
	}
	script_free(s);
}

/** However many writes may be in a mega-message, it is a chunk at most (docs/fabric-file.md). */
Test(host_input, megas_end_at_a_chunk)
{
	static const struct {
		uint32_t chunk, writes;
	} fit[] = {{256, 3}, {1024, 12}, {4096, 51}};

	for (unsigned int i = 0; i < sizeof(fit) / sizeof(*fit); i++) {
		uint8_t buf[64] = {0};
		struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 64, .buf = buf};
		const struct mf_host_stats *st;
		struct net_config nc;
		struct script *s;

		net_config_default(&nc);
		nc.host.x = 1;
		nc.host.mega = 256;
		nc.host.chunk = fit[i].chunk;
		s = script_new(&nc);
		st = mf_host_stats(s->net->host[0]);
		for (unsigned int k = 0; k < 1 + 2 * fit[i].writes; k++)
			cr_assert_eq(script_op(s, 0, &op), 0);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(s->count, 1 + 2 * fit[i].writes);
		cr_assert_eq(st->tx[MF_NOTIFY], 3, "one alone, and two megas: %lu", st->tx[MF_NOTIFY]);
		cr_assert_eq(st->mega_messages, 2 * fit[i].writes);
		script_free(s);
	}
}

/** A mega-message is granted whole, by its first id. */
Test(host_input, grants_of_megas)
{
	struct net_config nc;
	struct script *s;
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 64, .buf = buf};
	struct mf_msg g = {.kind = MF_GRANT, .dst = 1, .size = 240};
	const struct mf_host_stats *st;

	net_config_default(&nc);
	nc.host.x = 1;
	nc.host.mega = 3;
	s = script_new(&nc);
	st = mf_host_stats(s->net->host[0]);
	s->net->lose_grants = true;
	for (int i = 0; i < 5; i++)
		cr_assert_eq(script_op(s, 0, &op), 0);
	inject_single(s, 0, &g);
	net_run(s->net, MF_SEC(1)); /* the first one goes alone; then a mega of three, one waits */
	cr_assert_eq(s->count, 1);
	cr_assert_eq(st->mega_messages, 3);
	for (g.id = 1; g.id < 4; g.id++) { /* writes take ids in turn */
		g.size = g.id == 1 ? 239 : 240;
		inject_single(s, 0, &g);
	}
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 1);
	cr_assert_eq(st->grants_returned, 3);
	g.id = 1;
	inject_single(s, 0, &g);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 4);
	script_free(s);
}

Test(host_input, messages_that_nobody_waits_for)
{
	struct script *s = script_default();
	const struct mf_host_stats *st = mf_host_stats(s->net->host[0]);
	static const uint8_t zero[64];
	struct mf_msg m = {.src = 1, .dst = 0, .id = 3, .size = 64, .last = true};
	uint64_t word[16], n;

	for (uint8_t kind = MF_ACK; kind <= MF_NOTIFY; kind++) {
		m.kind = kind;
		m.status = kind == MF_ERR ? MF_ERR_RANGE : MF_OK;
		inject_single(s, 0, &m);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(st->drop_unknown, (uint64_t)(kind - MF_ACK + 1), "%s", mf_kind_name(kind));
	}
	m.kind = MF_RRES;
	n = mf_proto_put_chunk(&s->net->config.host.proto, &m, zero, word);
	inject(s, 0, word, (unsigned int)n);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(st->drop_unknown, 5);
	for (uint16_t src = 0; src < 4; src += 2) {
		m.src = src; /* from itself, from a node that is not there */
		n = mf_proto_put_chunk(&s->net->config.host.proto, &m, zero, word);
		inject(s, 0, word, (unsigned int)n);
		net_run(s->net, MF_SEC(1));
	}
	cr_assert_eq(st->drop_proto, 2);
	m.dst = 1;
	n = mf_proto_put_chunk(&s->net->config.host.proto, &m, zero, word);
	inject(s, 0, word, (unsigned int)n);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(st->drop_dst, 1);
	cr_assert_eq(st->rx[MF_RRES], 4);
	script_free(s);
}

/** What comes late for an id that is free does nothing to the message that has its entry now. */
Test(host_input, late_for_an_id_that_is_free)
{
	struct script *s = script_default();
	const struct mf_host_stats *st = mf_host_stats(s->net->host[0]);
	uint8_t buf[1024] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE_ACK, .node = 1, .len = 64, .buf = buf};
	struct mf_msg m = {.src = 1, .size = 64, .last = true}, g = {.kind = MF_GRANT, .dst = 1, .size = 256};
	uint64_t word[16];
	unsigned int n;

	cr_assert_eq(script_do(s, 0, &op).status, MF_OK);
	s->net->lose_grants = true;
	op.kind = MF_OP_WRITE;
	op.len = 1024;
	cr_assert_eq(script_op(s, 0, &op), 0);
	net_run(s->net, s->net->now + MF_SEC(1));
	for (m.id = 0; m.id < 2; m.id++) { /* 1 is a write, which has no answer */
		m.kind = MF_ACK;
		inject_single(s, 0, &m);
		m.kind = MF_RRES;
		n = mf_proto_put_chunk(&s->net->config.host.proto, &m, buf, word);
		inject(s, 0, word, n);
		net_run(s->net, s->net->now + MF_SEC(1));
		cr_assert_eq(s->count, 1);
		cr_assert_eq(st->drop_unknown, (uint64_t)(2 * (m.id + 1)));
	}
	m = (struct mf_msg){.kind = MF_ERR, .src = 1, .status = MF_ERR_RANGE, .of = MF_WREQ};
	inject_single(s, 0, &m);
	inject_single(s, 0, &g);
	net_run(s->net, s->net->now + MF_SEC(1));
	cr_assert_eq(s->count, 1);
	cr_assert_eq(st->drop_unknown, 5);
	cr_assert_eq(st->grants_returned, 1);
	g.id = 1;
	for (int i = 0; i < 4; i++)
		inject_single(s, 0, &g);
	net_run(s->net, s->net->now + MF_SEC(1));
	cr_assert_eq(s->count, 2);
	cr_assert_eq(s->done[1].status, MF_OK);
	cr_assert_eq(st->grants_returned, 1);
	script_free(s);
}

/** Every bit of a chunk, in turn: nothing is written, the drop is counted. */
Test(host_input, a_wrong_bit_anywhere)
{
	struct script *s = script_default();
	const struct mf_host_stats *st = mf_host_stats(s->net->host[1]);
	const uint8_t *mem = net_memory_at(s->net, 1, 0, 24);
	static const uint8_t zero[24];
	uint64_t word[8];
	unsigned int n = chunk(s, MF_WREQ, 0, 24, true, 0xff, word), bits = 0;

	for (unsigned int bit = 0; bit < 64 * n; bit++) {
		if (bit < 8 || (bit >= 64 * (n - 1) && bit < 64 * (n - 1) + 8))
			continue; /* the block types: other messages, or none */
		word[bit / 64] ^= UINT64_C(1) << bit % 64;
		inject(s, 1, word, n);
		word[bit / 64] ^= UINT64_C(1) << bit % 64;
		bits++;
	}
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(memcmp(mem, zero, 24), 0);
	cr_assert_eq(st->drop_check, bits);
	inject(s, 1, word, n);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(mem[23], 0xff);
	script_free(s);
}

/** A message without its end, another one behind it; and one that never ends. */
Test(host_input, cut_and_endless)
{
	for (int mode = 0; mode < 2; mode++) {
		struct net_config nc;
		struct script *s;
		uint64_t *word = calloc(3 * MF_BLOCKS_MAX, sizeof(*word));
		uint8_t *sync = malloc(3 * MF_BLOCKS_MAX);
		const uint8_t *mem;
		unsigned int n;

		net_config_default(&nc);
		nc.block_mode = mode;
		s = script_new(&nc);
		mem = net_memory_at(s->net, 1, 0, 400);
		n = chunk(s, MF_WREQ, 0, 400, true, 0x11, word);
		memset(sync, MF_SYNC_DATA, n);
		sync[0] = MF_SYNC_CTRL;
		net_inject(s->net, 1, 0, word, sync, n - 1);
		inject_chunk(s, MF_WREQ, 0, 300, true, 0x22);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(mf_host_demux(s->net->host[1])->stats.aborts, 1);
		cr_assert_eq(mem[0], 0x22);
		cr_assert_eq(mem[299], 0x22);
		cr_assert_eq(mem[300], 0);

		word[0] = MF_BT_MS;
		memset(sync, MF_SYNC_DATA, 2 * MF_BLOCKS_MAX);
		sync[0] = sync[2 * MF_BLOCKS_MAX - 1] = MF_SYNC_CTRL;
		word[2 * MF_BLOCKS_MAX - 1] = MF_BT_MT;
		net_inject(s->net, 1, s->net->now, word, sync, 2 * MF_BLOCKS_MAX);
		inject_chunk(s, MF_WREQ, 0, 400, true, 0x33);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(mf_host_stats(s->net->host[1])->drop_proto, 1);
		cr_assert_eq(mem[399], 0x33);
		script_free(s);
		free(word);
		free(sync);
	}
}

/** D12: an ACK means that every chunk was there, once, in its place. */
Test(host_input, acknowledged_chunks_out_of_place)
{
	struct script *s = script_default();
	const struct mf_host_stats *st = mf_host_stats(s->net->host[1]);
	const uint8_t *mem = net_memory_at(s->net, 1, 0, 1024);

	inject_chunk(s, MF_WREQ_ACK, 256, 256, true, 1); /* without the first */
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->net->errors, 1);
	cr_assert_eq(mem[256], 0);

	inject_chunk(s, MF_WREQ_ACK, 0, 256, false, 2);
	inject_chunk(s, MF_WREQ_ACK, 0, 256, false, 3); /* begins anew */
	inject_chunk(s, MF_WREQ_ACK, 256, 256, true, 4);
	inject_chunk(s, MF_WREQ_ACK, 256, 256, true, 5); /* again: it is over */
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->net->acks, 1);
	cr_assert_eq(s->net->errors, 1);
	cr_assert_eq(mem[0], 3);
	cr_assert_eq(mem[256], 4);

	inject_chunk(s, MF_WREQ_ACK, 0, 256, false, 6);
	inject_chunk(s, MF_WREQ_ACK, 512, 256, false, 7); /* one is missing: the rest is ignored */
	inject_chunk(s, MF_WREQ_ACK, 768, 256, true, 8);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->net->acks, 1);
	cr_assert_eq(s->net->errors, 2);
	cr_assert_eq(mem[512], 0);
	cr_assert_eq(mem[768], 0);
	cr_assert_eq(st->drop_proto, 4);
	script_free(s);
}

/** Response chunks that skip, repeat or exceed are dropped; the read still gets its own. */
Test(host_input, response_chunks_out_of_place)
{
	struct script *s = script_default();
	uint8_t buf[512], junk[512];
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 512, .buf = buf};
	struct mf_msg m = {.kind = MF_RRES, .src = 1, .dst = 0, .id = 0};
	static const struct {
		uint32_t offset, size;
		bool last;
	} bad[] = {{256, 256, true}, {16, 16, false}, {0, 512, false},
		   {0, 528, true},   {0, 256, true},  {0, 1024, false}};

	memset(net_memory_at(s->net, 1, 0, 512), 0x5a, 512);
	memset(junk, 0xee, sizeof(junk));
	cr_assert_eq(script_op(s, 0, &op), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint8_t data[1024] = {0xee};
		uint64_t word[160];

		m.offset = bad[i].offset;
		m.size = bad[i].size;
		m.last = bad[i].last;
		inject(s, 0, word, mf_proto_put_chunk(&s->net->config.host.proto, &m, data, word));
	}
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(mf_host_stats(s->net->host[0])->drop_proto, sizeof(bad) / sizeof(*bad));
	cr_assert_eq(s->count, 1);
	cr_assert_eq(s->done[0].status, MF_OK);
	cr_assert_eq(buf[0], 0x5a);
	cr_assert_eq(buf[511], 0x5a);
	script_free(s);
}

/** A random span: words, or parts of right messages, under random sync headers. */
static unsigned int garbage(struct clients *cs, uint64_t *rng, uint64_t *word, uint8_t *sync)
{
	static const uint8_t type[] = {MF_BT_MS, MF_BT_MT, MF_BT_MST, MF_BT_N, MF_BT_G,
				       MF_BT_C,  MF_BT_S,  MF_BT_T3,  0,       MF_BT_O_C};
	unsigned int n = 1 + (unsigned int)(client_random(rng) % 40);

	for (unsigned int i = 0; i < n; i++) {
		uint64_t x = client_random(rng);

		word[i] = client_random(rng);
		if (x % 4)
			word[i] = (word[i] & ~UINT64_C(0xff)) | type[x / 4 % sizeof(type)];
		sync[i] = x >> 32 & 7 ? MF_SYNC_CTRL : (uint8_t)(x >> 40 & 3);
		if (x >> 48 & 1)
			sync[i] = MF_SYNC_DATA;
		/* A forged grant, ACK or ERR, with a right check. */
		if ((x >> 50 & 7) == 0) {
			struct mf_msg m = {.kind = (uint8_t)(MF_ACK + (x >> 53) % 5),
					   .id = (uint8_t)(x >> 16 & 7),
					   .src = (uint16_t)(x >> 20 & 3),
					   .dst = (uint16_t)(x >> 24 & 3),
					   .status = MF_ERR_RANGE,
					   .resp = x >> 27 & 1,
					   .size = 1 + (x >> 4 & 511)};

			word[i] = mf_proto_put_single(&m);
			sync[i] = MF_SYNC_CTRL;
		}
	}
	cs->faults += n;
	return n;
}

/** Nobody crashes, everything submitted ends, and all blocks are accounted for. */
Test(host_input, garbage)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct client_config cc = {.ops = 300,
					   .depth = 16,
					   .size_max = 3000,
					   .think = MF_US(2),
					   .weight = {4, 3, 3, 3},
					   .may_fail = true,
					   .seed = seed};
		struct clients *cs = clients_new(&cc);
		struct net_hooks hooks = clients_hooks(cs);
		struct net_config nc;
		uint64_t rng = seed;
		struct net *n;

		net_config_default(&nc);
		nc.hosts = 3;
		nc.memory_nodes = 2;
		nc.host.mega = 3;
		nc.host.read_timeout = nc.host.write_timeout = MF_US(20);
		n = net_new(&nc, &hooks);
		clients_start(cs, n);
		for (int i = 0; i < 3000; i++) {
			uint64_t word[64];
			uint8_t sync[64];
			unsigned int count = garbage(cs, &rng, word, sync);

			net_run(n, (mf_time)i * MF_NS(200));
			net_inject(n, (unsigned int)(i % 3), (mf_time)i * MF_NS(200), word, sync, count);
		}
		net_run(n, MF_SEC(10));
		cr_assert(clients_done(cs), "seed %lu", seed);
		cr_assert_eq(cs->mismatches, 0, "seed %lu", seed);
		for (unsigned int i = 0; i < 3; i++) {
			const struct mf_demux_stats *d = &mf_host_demux(n->host[i])->stats;

			cr_assert_eq(mf_host_outstanding(n->host[i]), 0);
			cr_assert_eq(d->blocks,
				     d->memory_blocks + d->frame_blocks + d->idle_blocks + d->bad_blocks);
			cr_assert_gt(mf_host_stats(n->host[i])->grants_returned, 0);
		}
		clients_free(cs);
		net_free(n);
	}
}

/** The switch refuses a demand before anything of it was granted: the write ends, whatever its kind. */
Test(host_input, refused_demands)
{
	struct mf_msg err = {.kind = MF_ERR, .src = 1, .status = MF_ERR_RESOURCE, .of = MF_NOTIFY};
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = 64, .buf = buf};
	const struct mf_host_stats *st;
	struct net_config nc;
	struct script *s;

	net_config_default(&nc);
	nc.host.x = 1;
	nc.host.mega = 3;
	s = script_new(&nc);
	st = mf_host_stats(s->net->host[0]);
	s->net->lose_grants = true;
	for (int i = 0; i < 5; i++) {
		op.kind = i % 2 ? MF_OP_WRITE_ACK : MF_OP_WRITE;
		cr_assert_eq(script_op(s, 0, &op), 0);
	}
	inject_single(s, 0, &err); /* the first one; then a mega of three, one waits */
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 1);
	cr_assert_eq(s->done[0].status, MF_ERR_RESOURCE);
	cr_assert_eq(st->mega_messages, 3);
	err.id = 2;
	inject_single(s, 0, &err);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 1, "a mega has the name of its first");
	cr_assert_eq(st->drop_unknown, 1);
	err.id = 1;
	inject_single(s, 0, &err);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 4);
	for (unsigned int i = 1; i < 4; i++)
		cr_assert_eq(s->done[i].status, MF_ERR_RESOURCE);
	err.id = 4;
	inject_single(s, 0, &err);
	inject_single(s, 0, &err);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 5);
	cr_assert_eq(st->drop_unknown, 2, "nothing is left to be refused");
	cr_assert_eq(mf_host_outstanding(s->net->host[0]), 0);
	script_free(s);
}
