/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP: what is on the wire, what is lost and comes again, what nobody may send. */
#include <criterion/criterion.h>
#include <rte_tcp.h>
#include <stdio.h>

#include "net.h"
#include "net/mf_packet.h"
#include "systems/tcp/tcp.h"

/* Headers */

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/** RFC 1071, word by word. */
static uint16_t sum_of(const uint8_t *p, uint32_t n, uint32_t sum)
{
	for (uint32_t i = 0; i < n; i++)
		sum += (uint32_t)p[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static uint16_t tcp_sum(const uint8_t *frame)
{
	uint16_t octets = (uint16_t)(be16(frame + 16) - 20);

	return sum_of(frame + 34, octets, sum_of(frame + 26, 8, 6U + octets));
}

struct seen {
	uint8_t frame[64][1600];
	uint16_t len[64];
	unsigned int from[64], n;
};

static mf_time look(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct seen *s = n->ctx;

	cr_assert_eq(sum_of(frame + 14, 20, 0), 0xffff, "IPv4 checksum");
	cr_assert_eq(tcp_sum(frame), 0xffff, "TCP checksum");
	cr_assert_eq(be16(frame + 16) + 14, len, "length");
	if (s->n < 64) {
		memcpy(s->frame[s->n], frame, len);
		s->len[s->n] = len;
		s->from[s->n++] = from;
	}
	return 0;
}

Test(tcp, headers_of_a_read)
{
	static struct seen s;
	struct net n;

	net_init(&n, "tcp", NULL, 3);
	n.script = look;
	n.ctx = &s;
	net_start(&n);
	net_op(&n, 2, 1, MF_OP_READ, 4096, 64);
	net_finish(&n, MF_MS(1));
	net_run(&n, MF_MS(1));
	cr_assert_eq(s.n, 3, "request; response, which acknowledges it; acknowledgement of that");
	cr_assert_eq(s.len[0], 14 + 20 + 20 + 24);
	cr_assert_eq(s.len[1], 14 + 20 + 20 + 24 + 64);
	cr_assert_eq(s.len[2], 14 + 20 + 20);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *f = s.frame[i], *t = f + 34;

		cr_assert_eq(f[23], 6, "protocol");
		cr_assert_eq(f[15] & 3, MF_ECN_NOT);
		cr_assert_eq(be32(f + 26), 0x0a000000 | (i == 1 ? 1U : 2U));
		cr_assert_eq(be32(f + 30), 0x0a000000 | (i == 1 ? 2U : 1U));
		cr_assert_eq(be16(t), TCP_PORT);
		cr_assert_eq(be16(t + 2), TCP_PORT);
		cr_assert_eq(t[12], 5 << 4);
		cr_assert_eq(t[13], i == 2 ? RTE_TCP_ACK_FLAG : RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG);
		cr_assert_eq(be16(t + 14), (1 << 18) >> 3, "window, scaled");
		cr_assert_eq(be16(t + 18), 0, "urgent");
	}
	cr_assert_eq(be32(s.frame[0] + 38), tcp_isn(2, 1));
	cr_assert_eq(be32(s.frame[0] + 42), tcp_isn(1, 2));
	cr_assert_eq(be32(s.frame[1] + 38), tcp_isn(1, 2));
	cr_assert_eq(be32(s.frame[1] + 42), tcp_isn(2, 1) + 24);
	cr_assert_eq(be32(s.frame[2] + 38), tcp_isn(2, 1) + 24);
	cr_assert_eq(be32(s.frame[2] + 42), tcp_isn(1, 2) + 24 + 64);
	net_stop(&n);
}

struct turns {
	unsigned int frames[4], most; /* with data, by receiver; that one was ahead of another */
};

static mf_time count_turns(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct turns *t = n->ctx;

	if (from != 0 || len < 1000 || t->frames[1] + t->frames[2] + t->frames[3] == 24)
		return 0;
	t->frames[mf_packet_node(frame)]++;
	for (unsigned int a = 1; a < 4; a++)
		for (unsigned int b = 1; b < 4; b++)
			if (t->frames[a] > t->frames[b] + t->most)
				t->most = t->frames[a] - t->frames[b];
	return 0;
}

/** Connections that may send at the same time take turns, whatever their numbers. */
Test(tcp, connections_take_turns)
{
	struct turns t = {.most = 0};
	struct net n;

	net_init(&n, "tcp", NULL, 4);
	n.script = count_turns;
	n.ctx = &t;
	net_start(&n);
	for (unsigned int peer = 3; peer > 0; peer--)
		net_op(&n, 0, peer, MF_OP_WRITE, 0, 60000);
	net_finish(&n, MF_MS(1));
	cr_assert_eq(t.most, 1, "%u", t.most);
	net_stop(&n);
}

/* Table 1: 2 x 666.2 ns a way for the stacks, and the delayed ACK where nothing carries it. */
Test(tcp, stages_and_delays)
{
	struct net n;
	mf_time way, line = MF_NS(0);

	net_init(&n, "tcp", NULL, 2);
	net_start(&n);
	net_op(&n, 0, 1, MF_OP_READ, 0, 64);
	net_finish(&n, MF_MS(1));
	line = ((8 + 78 + 16 + 7) / 8 + (8 + 142 + 16 + 7) / 8) * NET_PERIOD;
	way = 2 * (MF_NS(0) + 666200 + 7680) + NET_WAY;
	cr_assert_eq(n.done[0].done, 2 * way + line + MF_NS(82), "%lu", (unsigned long)n.done[0].done);
	n.now = MF_MS(1);
	net_op(&n, 0, 1, MF_OP_WRITE, 0, 64);
	net_finish(&n, MF_MS(2));
	line = ((8 + 142 + 16 + 7) / 8 + (8 + 60 + 16 + 7) / 8) * NET_PERIOD;
	cr_assert_eq(n.done[1].done - MF_MS(1), 2 * way + line + MF_US(1), "%lu",
		     (unsigned long)(n.done[1].done - MF_MS(1)));
	net_stop(&n);
}

/* Losses */

static void with_losses(const char *stack, struct net_losses l, unsigned int ops)
{
	struct net n;

	net_init(&n, stack, NULL, 2);
	n.script = net_lose;
	n.ctx = &l;
	net_start(&n);
	net_traffic(&n, ops);
	if (l.late == 0 && l.count > l.first)
		cr_assert_gt(n.lost, 0, "nothing was lost");
	net_stop(&n);
}

Test(tcp, any_frame_lost)
{
	for (unsigned int data = 0; data < 2; data++)
		for (uint64_t every = 1; every <= 5; every += 2)
			for (uint64_t first = 0; first < 24; first++)
				with_losses("tcp",
					    (struct net_losses){.data = data, .first = first, .every = every},
					    24);
}

Test(tcp, any_frame_late)
{
	for (uint64_t every = 1; every <= 3; every++)
		for (uint64_t first = 0; first < 24; first++)
			for (mf_time late = MF_US(1); late <= MF_MS(1); late *= 10)
				with_losses(
					"tcp",
					(struct net_losses){
						.data = true, .first = first, .every = every, .late = late},
					24);
}

Test(tcp, many_lost)
{
	static const char *const stack[] = {"tcp", "dctcp"};

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct net_losses l = {.share = seed % 2 ? 0.02 : 0.2, .from = 9};

		mf_rng_init(&l.rng, seed, "loss", 0);
		with_losses(stack[seed / 2 % 2], l, 200);
	}
}

/** One write of 200 segments, of which some are lost. */
static void one_write(uint64_t first, uint64_t every, uint64_t fast, uint64_t timeouts)
{
	struct net_losses l = {.data = true, .first = first, .every = every};
	struct net n;

	net_init(&n, "tcp", NULL, 2);
	n.script = net_lose;
	n.ctx = &l;
	net_start(&n);
	net_op(&n, 0, 1, MF_OP_WRITE, 0, 200 * 1460 - 24);
	net_finish(&n, MF_MS(50));
	cr_assert_eq(n.done[0].status, MF_OK);
	cr_assert(net_written(&n, 0, 1, 0, 200 * 1460 - 24));
	cr_assert_eq(net_counter(&n, 0, "fast_retransmits"), fast, "from %lu: %lu", (unsigned long)first,
		     (unsigned long)net_counter(&n, 0, "fast_retransmits"));
	cr_assert_eq(net_counter(&n, 0, "timeouts"), timeouts, "from %lu: %lu timeouts", (unsigned long)first,
		     (unsigned long)net_counter(&n, 0, "timeouts"));
	if (timeouts == 0) /* what came is not sent again */
		cr_assert_eq(net_counter(&n, 0, "resent_octets"), every * 1460);
	net_stop(&n);
}

Test(tcp, fast_retransmit_and_timeout)
{
	one_write(0, 1, 1, 0); /* found by those behind it */
	one_write(100, 1, 1, 0);
	one_write(100, 4, 1, 0); /* RFC 6582: partial acknowledgements, one recovery */
	one_write(196, 1, 1, 0); /* three duplicates are left */
	one_write(199, 1, 0, 1); /* nothing is behind it */
}

static mf_time nothing_passes(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	mf_time *sent = n->ctx;

	(void)from;
	(void)frame;
	(void)len;
	if (n->frames <= 8)
		sent[n->frames - 1] = n->now;
	return MF_NEVER;
}

/* RFC 6298, 5.5: the timer doubles, up to its maximum; the operation ends all the same. */
Test(tcp, backoff)
{
	mf_time sent[8] = {0};
	struct net n;

	net_init(&n, "tcp", NULL, 2);
	n.script = nothing_passes;
	n.ctx = sent;
	n.param[TCP_RTO_MAX] = 16e9;
	net_start(&n);
	net_op(&n, 0, 1, MF_OP_READ, 0, 8);
	net_finish(&n, MF_MS(200));
	cr_assert_eq(n.done[0].status, MF_ERR_TIMEOUT);
	cr_assert_eq(n.done[0].done, MF_MS(100));
	for (unsigned int i = 1; i < 8; i++)
		cr_assert_eq(sent[i] - sent[i - 1], mf_time_min(MF_MS(1) << (i - 1), MF_MS(16)), "%u", i);
	net_stop(&n);
}

/* The timer follows the round trip (RFC 6298, 2): 2 x 1.35 us of stacks, 1.2 us of wires. */
Test(tcp, round_trip)
{
	struct net n;
	const struct tcp_conn *c;

	net_init(&n, "tcp", NULL, 2);
	n.param[TCP_RTO_MIN] = 1e6;
	net_start(&n);
	for (unsigned int i = 0; i < 200; i++) {
		net_op(&n, 0, 1, MF_OP_WRITE, 0, 3000);
		net_finish(&n, MF_MS(10));
	}
	c = &((const struct tcp *)n.stack[0])->conn[1];
	cr_assert_gt(c->srtt, MF_NS(4000), "%lu", (unsigned long)c->srtt);
	cr_assert_lt(c->srtt, MF_NS(5500), "%lu", (unsigned long)c->srtt);
	cr_assert_lt(c->rto, MF_NS(9000), "%lu", (unsigned long)c->rto);
	cr_assert_eq(net_counter(&n, 0, "timeouts"), 0);
	net_stop(&n);
}

/* A write that is given up in the middle writes nothing that it does not have, and is in nobody's way. */
struct gone {
	uint64_t from, to, seen;
};

static mf_time gap(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct gone *g = n->ctx;

	(void)len;
	if (from != 0 || be16(frame + 16) <= 40)
		return 0;
	g->seen++;
	return n->now < MF_MS(3) && g->seen > g->from ? MF_NEVER : 0;
}

Test(tcp, given_up)
{
	for (uint64_t from = 0; from < 33; from += 3) {
		struct gone g = {.from = from};
		struct net n;
		const uint8_t *octets;
		uint8_t expect[50000];
		unsigned int zeros = 0;

		net_init(&n, "tcp", NULL, 2);
		n.script = gap;
		n.ctx = &g;
		n.write_timeout = MF_MS(2);
		net_start(&n);
		net_op(&n, 0, 1, MF_OP_WRITE, 8192, sizeof(expect));
		net_op(&n, 0, 1, MF_OP_WRITE, 262144, 777); /* behind it, not begun */
		net_run(&n, MF_MS(2) + MF_US(500));
		cr_assert_eq(n.completed, 2);
		cr_assert_eq(n.done[0].status, MF_ERR_UNKNOWN);
		memset(n.buffer[0], 0xee, sizeof(expect)); /* it is the caller's again */
		net_op(&n, 0, 1, MF_OP_WRITE_ACK, 524288, 999);
		n.done[2].status = MF_ERR_RANGE;
		while (n.completed < 3 || n.done[2].status != MF_OK) {
			net_finish(&n, MF_MS(400));
			if (n.done[n.begun - 1].status == MF_OK)
				break;
			net_op(&n, 0, 1, MF_OP_WRITE_ACK, 524288, 999);
			cr_assert_lt(n.begun, 200, "the connection is stuck");
		}
		cr_assert(net_written(&n, n.begun - 1, 1, 524288, 999));
		net_content(0, expect, sizeof(expect));
		octets = mf_memory_flat.at(n.memory[1], 8192, sizeof(expect));
		for (unsigned int i = 0; i < sizeof(expect); i++) {
			cr_assert(octets[i] == 0 || octets[i] == expect[i], "octet %u: %#x", i, octets[i]);
			zeros += octets[i] == 0;
		}
		cr_assert_gt(zeros, 0, "nothing was given up");
		cr_assert_geq(net_counter(&n, 0, "given_up"), 1);
		cr_assert_eq(net_counter(&n, 1, "drop_bad"), 0);
		net_stop(&n);
	}
}

/* A long message alone has the line to itself, but for the headers: 193 blocks a frame here. */
static void line_rate(const char *stack, enum mf_op_kind kind, double header_share)
{
	const uint64_t len = 16 << 20;
	struct net n;
	double rate;

	net_init(&n, stack, NULL, 2);
	net_start(&n);
	net_op(&n, 0, 1, kind, 0, len);
	net_finish(&n, MF_MS(10));
	rate = (double)len * 8 / (double)(n.done[0].done - n.done[0].submitted) * NET_PERIOD / 64;
	cr_assert_gt(rate, 0.98 * header_share, "%s: %g of the line", stack, rate);
	cr_assert_leq(rate, header_share);
	net_stop(&n);
}

Test(tcp, line_rate)
{
	line_rate("tcp", MF_OP_WRITE, 1460.0 / 1544);
	line_rate("tcp", MF_OP_READ, 1460.0 / 1544);
	line_rate("dctcp", MF_OP_WRITE, 1460.0 / 1544);
	line_rate("pfabric", MF_OP_WRITE, 1432.0 / 1544);
	line_rate("pfabric", MF_OP_READ, 1432.0 / 1544);
}

/* What the load is reckoned with (D17) is what is sent. */
static void check_blocks(const char *stack, enum mf_op_kind kind, uint64_t len)
{
	struct mf_op_blocks b;
	struct net n;

	net_init(&n, stack, NULL, 2);
	net_start(&n);
	net_op(&n, 0, 1, kind, 0, len);
	net_finish(&n, MF_MS(10));
	net_run(&n, n.now + MF_US(20));
	b = n.ops->blocks(n.param, (uint8_t)kind, len);
	/* A frame takes whole blocks here: 11 a small one instead of 10.5. */
	cr_assert_float_eq((double)n.blocks[0], b.cn_up, 1 + 0.05 * b.cn_up, "%s, kind %d, %lu: %lu, %g",
			   stack, kind, (unsigned long)len, (unsigned long)n.blocks[0], b.cn_up);
	cr_assert_float_eq((double)n.blocks[1], b.mn_up, 1 + 0.05 * b.mn_up, "%s, kind %d, %lu: %lu, %g",
			   stack, kind, (unsigned long)len, (unsigned long)n.blocks[1], b.mn_up);
	net_stop(&n);
}

Test(tcp, expected_blocks)
{
	static const char *const stacks[] = {"tcp", "dctcp", "pfabric"};
	static const uint64_t sizes[] = {8, 64, 1500, 2900, 65536};

	for (unsigned int s = 0; s < 3; s++)
		for (unsigned int k = 0; k < 5; k++)
			for (enum mf_op_kind kind = 0; kind < MF_OP_CALL; kind++)
				check_blocks(stacks[s], kind, kind == MF_OP_RMW ? 8 : sizes[k]);
}

/* Bad input */

static void repair(uint8_t *frame)
{
	uint16_t octets = (uint16_t)(be16(frame + 16) - 20), sum;

	frame[24] = frame[25] = 0;
	sum = (uint16_t)~sum_of(frame + 14, 20, 0);
	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
	if (octets < 20 || octets > 1480)
		return;
	frame[50] = frame[51] = 0;
	sum = (uint16_t)~tcp_sum(frame);
	frame[50] = (uint8_t)(sum >> 8);
	frame[51] = (uint8_t)sum;
}

struct vandal {
	struct mf_rng rng;
	bool repairs;
};

static mf_time spoil(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct vandal *v = n->ctx;
	uint8_t bad[1600] = {0};
	unsigned int to = 1 - from;
	uint16_t cut = len;

	memcpy(bad, frame, len);
	/* Two octets may make up for each other, which a checksum of this kind does not see. */
	for (uint64_t k = mf_rng_below(&v->rng, v->repairs ? 4 : 2); k > 0; k--)
		bad[12 + mf_rng_below(&v->rng, (len < 100 ? len : 100U) - 12)] =
			(uint8_t)mf_rng_next(&v->rng);
	if (mf_rng_below(&v->rng, 4) == 0)
		cut = (uint16_t)(14 + mf_rng_below(&v->rng, len - 13U));
	if (v->repairs && cut == len)
		repair(bad);
	n->ops->frame(n->stack[to], n->now, bad, cut);
	return v->repairs ? 0 : mf_rng_below(&v->rng, 10) == 0 ? MF_NEVER : 0;
}

/* Damaged frames beside the good ones are dropped, and nothing is wrong for it. */
static void vandalised(const char *stack, uint64_t seed, bool repairs)
{
	struct vandal v = {.repairs = repairs};
	struct net n;

	mf_rng_init(&v.rng, seed, "vandal", 0);
	net_init(&n, stack, NULL, 2);
	n.script = spoil;
	n.ctx = &v;
	n.read_timeout = n.write_timeout = repairs ? MF_MS(5) : MF_SEC(1);
	net_start(&n);
	if (!repairs) {
		net_traffic(&n, 64);
		cr_assert_gt(net_counter(&n, 0, "drop_checksum"), 0);
		cr_assert_gt(net_counter(&n, 0, "drop_header"), 0);
	} else { /* whoever can forge checksums can do harm; but it ends */
		for (unsigned int i = 0; i < 64; i++)
			net_op(&n, i % 2, 1 - i % 2, (enum mf_op_kind)(i / 2 % 4), 4096 + i * 8192UL,
			       i / 2 % 4 == MF_OP_RMW ? 8 : 3000);
		net_finish(&n, MF_SEC(1));
	}
	net_stop(&n);
}

Test(tcp, bad_input)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		vandalised("tcp", seed, false);
		vandalised("tcp", seed, true);
		vandalised("dctcp", seed, true);
		vandalised("pfabric", seed, false);
		vandalised("pfabric", seed, true);
	}
}

/** A frame that node 1 never sent, for node 0. */
static void forge(struct net *n, uint32_t seq, uint32_t ack, uint8_t flags, uint16_t octets, bool foreign)
{
	uint8_t frame[1600] = {0};
	struct rte_tcp_hdr h = {.src_port = rte_cpu_to_be_16(TCP_PORT),
				.dst_port = rte_cpu_to_be_16(TCP_PORT),
				.sent_seq = rte_cpu_to_be_32(tcp_isn(1, 0) + seq),
				.recv_ack = rte_cpu_to_be_32(tcp_isn(0, 1) + ack),
				.data_off = 5 << 4,
				.tcp_flags = flags,
				.rx_win = 0xffff};

	mf_packet_ipv4(frame, 1, foreign ? 7 : 0, IPPROTO_TCP, 0, MF_ECN_NOT, (uint16_t)(20 + octets));
	memcpy(frame + 34, &h, sizeof(h));
	repair(frame);
	n->ops->frame(n->stack[0], n->now, frame, (uint16_t)(54 + octets));
}

Test(tcp, what_nobody_may_send)
{
	struct net n;

	net_init(&n, "tcp", NULL, 2);
	net_start(&n);
	forge(&n, 0, 0, RTE_TCP_ACK_FLAG, 10, true);
	cr_assert_eq(net_counter(&n, 0, "drop_foreign"), 1);
	forge(&n, 0, 0, RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG, 0, false);
	forge(&n, 0, 0, 0, 0, false);
	cr_assert_eq(net_counter(&n, 0, "drop_header"), 2);
	forge(&n, 0, 1, RTE_TCP_ACK_FLAG, 0, false);
	cr_assert_eq(net_counter(&n, 0, "drop_ack"), 1, "an octet that was never sent");
	forge(&n, 1 << 18, 0, RTE_TCP_ACK_FLAG, 10, false);
	cr_assert_eq(net_counter(&n, 0, "drop_window"), 1);
	forge(&n, 100, 0, RTE_TCP_ACK_FLAG, 10, false);
	cr_assert_eq(net_counter(&n, 0, "out_of_order"), 1);
	forge(&n, (uint32_t)-50, 0, RTE_TCP_ACK_FLAG, 10, false);
	cr_assert_eq(net_counter(&n, 0, "duplicates"), 1);
	forge(&n, 0, 0, RTE_TCP_ACK_FLAG, 24, false); /* a header of zeros */
	cr_assert_eq(net_counter(&n, 0, "drop_bad"), 1);
	forge(&n, 24, 0, RTE_TCP_ACK_FLAG, 24, false);
	cr_assert_eq(net_counter(&n, 0, "drop_bad"), 2, "nothing of it is read any more");
	net_stop(&n);
}

/* Few places for what is behind a gap: what finds none comes again. */
Test(tcp, little_room_behind_a_gap)
{
	struct net_losses l = {.data = true, .first = 60, .every = 1};
	struct net n;

	net_init(&n, "tcp", NULL, 2);
	n.script = net_lose;
	n.ctx = &l;
	n.param[TCP_REORDER] = 3;
	net_start(&n);
	net_op(&n, 0, 1, MF_OP_WRITE, 0, 400000);
	net_finish(&n, MF_MS(100));
	cr_assert(net_written(&n, 0, 1, 0, 400000));
	cr_assert_gt(net_counter(&n, 1, "drop_reorder"), 0);
	net_stop(&n);
}

/* Without a script that loses anything nothing is sent twice, whatever the windows are. */
Test(tcp, windows)
{
	for (unsigned int k = 0; k < 4; k++) {
		struct net n;

		net_init(&n, "tcp", NULL, 2);
		n.param[TCP_WINDOW] = 1 << (14 + k);
		n.param[TCP_INIT_CWND] = 1 + k;
		n.param[TCP_ACK_EVERY] = 1 + k;
		net_start(&n);
		for (unsigned int i = 0; i < 20; i++)
			net_op(&n, 0, 1, MF_OP_WRITE, i * 65536, 1 + 3001 * i);
		net_finish(&n, MF_MS(10));
		for (unsigned int i = 0; i < 20; i++)
			cr_assert(net_written(&n, i, 1, i * 65536, 1 + 3001 * i));
		cr_assert_eq(net_counter(&n, 0, "resent_octets"), 0);
		cr_assert_eq(net_counter(&n, 1, "drop_window"), 0);
		net_stop(&n);
	}
}
