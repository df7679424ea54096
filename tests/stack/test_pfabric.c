/* SPDX-License-Identifier: BSD-3-Clause */
/* pFabric's stack: any packet lost, probes, the short before the long. */
#include <criterion/criterion.h>

#include "net.h"
#include "systems/pfabric/pfabric.h"

static void with_losses(struct net_losses l, unsigned int ops)
{
	struct net n;

	net_init(&n, "pfabric", NULL, 2);
	n.script = net_lose;
	n.ctx = &l;
	net_start(&n);
	net_traffic(&n, ops);
	if (l.every != 0 && l.late == 0)
		cr_assert_gt(n.lost, 0, "nothing was lost");
	net_run(&n, n.now + MF_MS(1));
	if (l.every > 10 && !l.data && l.late == 0) /* lost acknowledgements: it has come twice */
		cr_assert_gt(net_counter(&n, 0, "duplicates") + net_counter(&n, 1, "duplicates"), 0);
	net_stop(&n);
}

Test(pfabric, any_frame_lost)
{
	for (unsigned int data = 0; data < 2; data++)
		for (uint64_t every = 1; every <= 20; every += 6)
			for (uint64_t first = 0; first < 24; first++)
				with_losses((struct net_losses){.data = data, .first = first, .every = every},
					    24);
}

Test(pfabric, any_frame_late)
{
	for (uint64_t first = 0; first < 24; first++)
		for (mf_time late = MF_US(1); late <= MF_MS(1); late *= 10)
			with_losses(
				(struct net_losses){.data = true, .first = first, .every = 2, .late = late},
				24);
}

Test(pfabric, many_lost)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct net_losses l = {.share = seed % 2 ? 0.02 : 0.3, .from = 9};

		mf_rng_init(&l.rng, seed, "loss", 0);
		with_losses(l, 200);
	}
}

/* Window and timeout come from the fabric: a bandwidth-delay product, and three round trips. */
Test(pfabric, defaults)
{
	const struct pfabric *p;
	struct net n;
	mf_time rtt;

	net_init(&n, "pfabric", NULL, 2);
	net_start(&n);
	p = (const struct pfabric *)n.stack[0];
	net_op(&n, 0, 1, MF_OP_WRITE, 0, PFABRIC_DATA);
	net_finish(&n, MF_MS(1));
	rtt = n.done[0].done; /* both stacks, both ways */
	cr_assert_float_eq((double)p->rto, 3.0 * (double)rtt, 0.05 * 3 * (double)rtt, "%lu, %lu",
			   (unsigned long)p->rto, (unsigned long)rtt);
	cr_assert_float_eq(p->window, (double)rtt / NET_PERIOD / MF_PFABRIC_FULL_BLOCKS, 2, "%g",
			   (double)p->window);
	net_stop(&n);
}

struct outage {
	mf_time until;
	uint64_t data, probes;
};

static mf_time out(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct outage *o = n->ctx;

	(void)len;
	if (from != 0)
		return 0;
	o->data += frame[34] == MF_PFABRIC_DATA && n->now < o->until;
	o->probes += frame[34] == MF_PFABRIC_PROBE;
	return n->now < o->until ? MF_NEVER : 0;
}

/* After five timeouts a flow sends nothing but probes, one a timeout, until one is answered. */
Test(pfabric, probes)
{
	struct outage o = {.until = MF_US(400)};
	const struct pfabric *p;
	struct net n;

	net_init(&n, "pfabric", NULL, 2);
	n.script = out;
	n.ctx = &o;
	net_start(&n);
	p = (const struct pfabric *)n.stack[0];
	net_op(&n, 0, 1, MF_OP_WRITE, 0, 100000);
	net_finish(&n, MF_MS(10));
	cr_assert(net_written(&n, 0, 1, 0, 100000));
	cr_assert_eq(o.data, (uint64_t)p->window + 4, "a window, and one after each of four timeouts");
	cr_assert_float_eq((double)o.probes, (double)(o.until / p->rto - 4 + 1), 1.1, "%lu probes",
			   (unsigned long)o.probes);
	cr_assert_lt(n.done[0].done, o.until + 2 * p->rto + MF_US(100));
	net_stop(&n);
}

/* More messages than numbers for them: those that wait go when others are over. */
Test(pfabric, many_messages)
{
	struct net_losses l = {.share = 0.05, .from = 9};
	struct net n;
	unsigned int i;

	mf_rng_init(&l.rng, 1, "loss", 0);
	net_init(&n, "pfabric", NULL, 2);
	n.script = net_lose;
	n.ctx = &l;
	net_start(&n);
	for (i = 0; i < 250; i++)
		net_op(&n, 0, 1, MF_OP_WRITE_ACK, i * 4096, 1 + i * 13 % 4000);
	for (; i < 500; i++)
		net_op(&n, 1, 0, MF_OP_WRITE_ACK, i * 4096, 1 + i * 13 % 4000);
	net_finish(&n, MF_MS(50));
	for (i = 0; i < 500; i++)
		cr_assert(net_written(&n, i, i < 250, i * 4096, 1 + i * 13 % 4000), "write %u", i);
	cr_assert_gt(net_counter(&n, 0, "flows_waiting") + net_counter(&n, 1, "flows_waiting"), 0);
	net_stop(&n);
}

/** Time of a message of this size to node 0, with long ones of others under way or not. */
static mf_time beside_long(uint64_t len, unsigned int others)
{
	struct net n;
	mf_time time;
	unsigned int i;

	net_init(&n, "pfabric", "pfabric", others + 2);
	net_start(&n);
	for (i = 0; i < others; i++)
		net_op(&n, i + 2, 0, MF_OP_WRITE, (uint64_t)(i + 1) << 22, 2 << 20);
	net_run(&n, MF_US(50));
	i = net_op(&n, 1, 0, MF_OP_WRITE, 0, len);
	net_finish(&n, MF_MS(50));
	time = n.done[i].done - n.done[i].submitted;
	cr_assert(net_written(&n, i, 0, 0, len));
	for (i = 0; i < others; i++)
		cr_assert(net_written(&n, i, 0, (uint64_t)(i + 1) << 22, 2 << 20));
	if (others > 1)
		cr_assert_gt(net_bridge_counter(&n, "drop_lowest") + net_bridge_counter(&n, "drop_arriving"),
			     0);
	net_stop(&n);
	return time;
}

/* What is short has the line to itself, whatever else is under way; what is long ends all the same. */
Test(pfabric, short_before_long)
{
	static const uint64_t sizes[] = {64, 1000, 20000, 200000};

	for (unsigned int k = 0; k < 4; k++) {
		mf_time alone = beside_long(sizes[k], 0), beside = beside_long(sizes[k], 5);

		/* One packet that is being sent, and one that is committed, at its sender's port and here. */
		cr_assert_leq(beside, alone + alone / 20 + MF_NS(500), "%lu octets: %lu, alone %lu",
			      (unsigned long)sizes[k], (unsigned long)beside, (unsigned long)alone);
	}
}
