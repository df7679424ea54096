/* SPDX-License-Identifier: BSD-3-Clause */
/* DCTCP: what is marked, what of it is echoed, and what the sender makes of it. */
#include <criterion/criterion.h>
#include <math.h>
#include <rte_tcp.h>

#include "net.h"
#include "net/mf_packet.h"
#include "systems/tcp/tcp.h"

#define K 12144

/* A packet that finds more than K octets in the queue is marked (3.1), and no other. */
Test(dctcp, marked_exactly_at_k)
{
	struct net n;
	uint8_t frame[1514];
	const uint8_t *out;
	unsigned int marked = 0;

	net_init(&n, "dctcp", "fifo", 2);
	net_start(&n);
	for (unsigned int i = 0; i < 20; i++) {
		uint16_t len = i % 3 ? 1514 : 60;

		mf_packet_ipv4(frame, 0, 1, IPPROTO_TCP, 0, i == 19 ? MF_ECN_NOT : MF_ECN_ECT0,
			       (uint16_t)(len - 34));
		n.bridge_ops->frame(n.bridge, 0, i, frame, len);
	}
	n.bridge_ops->run(n.bridge, MF_US(10));
	for (unsigned int i = 0, found = 0; i < 20; i++) {
		uint16_t len = n.bridge_ops->pull(n.bridge, 1, MF_US(10), &out);
		struct mf_packet p;

		cr_assert_eq(len, i % 3 ? 1514 : 60);
		cr_assert(mf_packet_parse(out, len, &p), "the checksum was kept right");
		cr_assert_eq(p.ecn, i == 19 ? MF_ECN_NOT : found > K ? MF_ECN_CE : MF_ECN_ECT0, "%u", i);
		marked += p.ecn == MF_ECN_CE;
		found += len + 4U;
	}
	cr_assert_gt(marked, 4);
	cr_assert_eq(net_bridge_counter(&n, "marked"), marked);
	net_stop(&n);
}

/** Marks data of node 0 by a script, and reads what node 1 echoes. */
struct echoes {
	struct mf_rng rng;
	double share;
	uint64_t only; /**< not 0: this one alone */
	uint64_t data, marked, octets, echoed, acknowledged, cwr;
	uint32_t last;
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static mf_time mark(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct echoes *e = n->ctx;
	uint32_t data = len > TCP_HEADERS ? len - TCP_HEADERS : 0, ack = be32(frame + 42);

	if (from == 0 && data != 0) {
		cr_assert_eq(frame[15] & 3, MF_ECN_ECT0, "data are ECN-capable");
		e->cwr += !!(frame[47] & RTE_TCP_CWR_FLAG);
		e->data++;
		if (e->only != 0 ? e->data == e->only : mf_rng_double(&e->rng) < e->share) {
			e->marked++;
			e->octets += data;
			mf_packet_mark(frame, len);
		}
	}
	if (from == 1) {
		cr_assert_eq(frame[15] & 3, MF_ECN_NOT, "pure acknowledgements are not");
		ack -= tcp_isn(0, 1) + 1;
		ack++;
		e->acknowledged++;
		if (frame[47] & RTE_TCP_ECE_FLAG)
			e->echoed += ack - e->last;
		e->last = ack;
	}
	return 0;
}

static struct echoes marks(const char *stack, bool ecn, double share, uint64_t only, uint64_t len,
			   unsigned int ack_every, struct net *n)
{
	struct echoes e = {.share = share, .only = only};

	mf_rng_init(&e.rng, (uint64_t)(share * 100) + ack_every, "marks", 0);
	net_init(n, stack, NULL, 2);
	if (ecn)
		n->param[net_param(n->ops->params, "ecn")] = 1;
	n->script = mark;
	n->ctx = &e;
	n->param[TCP_ACK_EVERY] = ack_every;
	net_start(n);
	net_op(n, 0, 1, MF_OP_WRITE, 0, len);
	net_finish(n, MF_MS(90));
	cr_assert(net_written(n, 0, 1, 0, len));
	return e;
}

/* 3.2: the sender learns exactly how much was marked, delayed acknowledgements or not. */
Test(dctcp, echo_is_exact)
{
	for (unsigned int every = 1; every <= 4; every++)
		for (double share = 0; share <= 1; share += 0.25) {
			struct net n;
			struct echoes e = marks("dctcp", false, share, 0, 1000000, every, &n);

			cr_assert_eq(e.echoed, e.octets, "ACK every %u, share %g: %lu of %lu", every, share,
				     (unsigned long)e.echoed, (unsigned long)e.octets);
			if (share == 0) /* no more acknowledgements than one for so many */
				cr_assert_leq(e.acknowledged, e.data / every + 1 + e.data % every);
			net_stop(&n);
		}
}

/* RFC 3168: the echo lasts until the sender has cut its window, once. */
Test(dctcp, reno_with_ecn)
{
	struct net n;
	struct echoes e = marks("tcp", true, 0, 40, 400000, 2, &n);

	cr_assert_eq(e.marked, 1);
	cr_assert_gt(e.echoed, 2 * 1460, "more than what was marked");
	cr_assert_lt(e.echoed, 60 * 1460, "but it ends");
	cr_assert_eq(e.cwr, 1);
	cr_assert_eq(net_counter(&n, 0, "cuts"), 1);
	cr_assert_eq(net_counter(&n, 0, "resent_octets"), 0);
	net_stop(&n);
}

/* (1): where a constant share is marked alpha becomes that share. */
Test(dctcp, alpha_follows_the_share)
{
	for (double share = 0; share <= 1; share += 0.25) {
		struct net n;
		double alpha;

		marks("dctcp", false, share, 0, 4000000, 2, &n);
		alpha = ((const struct tcp *)n.stack[0])->conn[1].alpha;
		cr_assert_float_eq(alpha, share, 0.2, "%g of the packets: alpha %g", share, alpha);
		net_stop(&n);
	}
}

/** Long flows to node 0, beside each other through a switch. @return mean alpha of their steady state */
static double long_flows(unsigned int flows, double *share, uint64_t *queue, mf_time *rtt)
{
	const mf_time from = MF_US(300), to = MF_US(1200);
	double sum = 0;
	uint64_t samples = 0, before;
	struct net n;

	net_init(&n, "dctcp", "fifo", flows + 1);
	n.param[TCP_ACK_EVERY] = 1;
	n.egress_period =
		flows == 1 ? 2 * NET_PERIOD : NET_PERIOD; /* of one alone the switch is the bottleneck, too */
	net_start(&n);
	net_op(&n, 1, 0, MF_OP_WRITE_ACK, 0, 8);
	net_finish(&n, MF_US(100));
	*rtt = n.done[0].done - n.done[0].submitted;
	for (unsigned int i = 1; i <= flows; i++)
		net_op(&n, i, 0, MF_OP_WRITE, (i - 1) << 23, 8 << 20); /* none is over by then */
	net_run(&n, from);
	before = net_counter(&n, 0, "stream_octets");
	for (mf_time at = from; at < to; at += MF_US(5)) {
		net_run(&n, at);
		for (unsigned int i = 1; i <= flows; i++, samples++)
			sum += ((const struct tcp *)n.stack[i])->conn[0].alpha;
	}
	*share = (double)(net_counter(&n, 0, "stream_octets") - before) / 8 / (double)(to - from) *
		 n.egress_period * 1544 / 1460;
	*queue = net_bridge_counter(&n, "queue_max_octets");
	cr_assert_eq(net_bridge_counter(&n, "drop_buffer"), 0);
	for (unsigned int i = 1; i <= flows; i++)
		cr_assert_eq(net_counter(&n, i, "timeouts"), 0);
	net_stop(&n);
	return sum / (double)samples;
}

/* 3.3: alpha is about sqrt(2 / W), W = (C x RTT + K) / N, in packets; K keeps the line busy. */
Test(dctcp, alpha_of_long_flows)
{
	for (unsigned int flows = 1; flows <= 4; flows++) {
		mf_time rtt;
		uint64_t queue;
		double share, alpha = long_flows(flows, &share, &queue, &rtt);
		double period = flows == 1 ? 2 * NET_PERIOD : NET_PERIOD;
		double w = ((double)rtt / period * 8 + K) / 1538 / flows, model = sqrt(2 / w);

		/* The model's flows are in step; the more there are, the less they are. */
		cr_assert_float_eq(alpha, model, (flows == 1 ? 0.25 : 0.5) * model,
				   "%u flows: alpha %.4f, model %.4f", flows, alpha, model);
		cr_assert_gt(share, 0.95, "%u flows: %g of the line", flows, share);
		cr_assert_lt(queue, 40 * 10 * 1538, "%u flows: %lu", flows, (unsigned long)queue);
	}
}
