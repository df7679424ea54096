/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node with two hosts of different stacks: node 0 has a link to node 1 and one to node 2, without switches.
 * Nodes 1 and 2 have one host each, and memory.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "systems/mf_node.h"
#include "systems/mf_systems.h"

#define NODES 4 /* nobody reaches number 3 */
#define LINKS 2
#define PERIOD 640
#define DELAY MF_NS(100)
#define MEMORY 65536
#define SPANS 64

/* One direction of a link. */
struct line {
	struct mf_span span[SPANS];
	unsigned int head, tail;
};

static struct {
	struct mf_node *node[3]; /* node 0 has both links, node k link k - 1 */
	struct mf_memory *memory[3];
	struct line up[LINKS], down[LINKS]; /* from node 0; to it */
	mf_time now;
	struct mf_completion done[8];
	unsigned int dones;
} rig;

/* In each of two networks there are two nodes: the one with two hosts is number 1 in the second. */
static const uint16_t names[LINKS][2] = {{0, 1}, {2, 0}};
static const struct mf_node_way ways[NODES] = {
	{.host = MF_HOST_NONE}, {.host = 0, .number = 1}, {.host = 1, .number = 0}, {.host = MF_HOST_NONE}};

static struct mf_node *new_host(const char *stack, unsigned int node, uint16_t number)
{
	const struct mf_stack_ops *ops = mf_stack_find(stack);
	double param[MF_PARAMS_MAX] = {0};
	unsigned int i = 0;

	for (const struct mf_param *p = ops->params; p->key != NULL; p++)
		param[i++] = p->value;
	struct mf_frame_host_config c = {.stack = ops,
					 .of = {.node = number,
						.nodes = 2,
						.compute = node == 0,
						.memory_ops = node > 0 ? &mf_memory_flat : NULL,
						.memory = rig.memory[node],
						.queue = 16,
						.rtt = MF_US(1),
						.server = -1,
						.slowest = PERIOD,
						.param = param},
					 .mux = {.period = PERIOD,
						 .frames = 16,
						 .frame_bytes = 65536,
						 .quantum = 16,
						 .memory_blocks = 64,
						 .memory_items = 64},
					 .ber_window = MF_US(125)};

	return mf_node_new_frames(&c);
}

static void setup(void)
{
	const struct mf_memory_config m = {.size = MEMORY, .numa_node = -1};
	const uint16_t *const name[LINKS] = {names[0], names[1]};
	struct mf_node *host[LINKS];
	const struct mf_hosts_config c = {
		.nodes = NODES, .hosts = LINKS, .host = host, .name = name, .way = ways};

	memset(&rig, 0, sizeof(rig));
	for (unsigned int i = 1; i < 3; i++)
		rig.memory[i] = mf_memory_flat.create(&m);
	host[0] = new_host("ethernet", 0, 0);
	host[1] = new_host("rocev2", 0, 1);
	rig.node[0] = mf_node_new_hosts(&c);
	rig.node[1] = new_host("ethernet", 1, 1);
	rig.node[2] = new_host("rocev2", 2, 0);
	for (unsigned int i = 0; i < 3; i++)
		cr_assert_not_null(rig.node[i]);
}

static void teardown(void)
{
	for (unsigned int i = 0; i < 3; i++)
		mf_node_free(rig.node[i]);
	for (unsigned int i = 1; i < 3; i++)
		mf_memory_flat.destroy(rig.memory[i]);
}

/** What the end of a node has to send by now goes on its line. */
static void send(struct mf_node *n, unsigned int end, struct line *to)
{
	struct mf_span *s = &to->span[to->tail % SPANS];

	while (mf_mux_next(mf_node_mux(n, end), rig.now) <= rig.now &&
	       mf_node_tx_by(n, end, rig.now, MF_SPAN_MAX, s) > 0) {
		s->start += DELAY;
		cr_assert_lt(++to->tail - to->head, SPANS);
		s = &to->span[to->tail % SPANS];
	}
}

static void receive(struct line *from, struct mf_node *n, unsigned int end)
{
	while (from->head != from->tail && from->span[from->head % SPANS].start <= rig.now)
		mf_node_rx_by(n, end, rig.now, &from->span[from->head++ % SPANS]);
}

static void step(void)
{
	for (unsigned int k = 0; k < LINKS; k++) {
		receive(&rig.up[k], rig.node[k + 1], 0);
		receive(&rig.down[k], rig.node[0], k);
	}
	for (unsigned int k = 0; k < LINKS; k++) {
		send(rig.node[0], k, &rig.up[k]);
		send(rig.node[k + 1], 0, &rig.down[k]);
	}
	for (unsigned int i = 0; i < 3; i++)
		mf_node_run(rig.node[i], rig.now);
	rig.dones += mf_node_completions(rig.node[0], rig.now, rig.done + rig.dones, 8 - rig.dones);
	rig.now += PERIOD;
}

static void run_for(mf_time t)
{
	for (mf_time end = rig.now + t; rig.now < end;)
		step();
}

static int submit(uint16_t node, enum mf_op_kind kind, void *buf, uint64_t len)
{
	const struct mf_op op = {
		.kind = kind, .node = node, .addr = 128, .len = len, .buf = buf, .user = 100 + node};

	return mf_node_submit(rig.node[0], rig.now, &op);
}

static const uint8_t *at(unsigned int node)
{
	return mf_memory_flat.at(rig.memory[node], 128, 8);
}

TestSuite(hosts, .init = setup, .fini = teardown);

Test(hosts, an_operation_goes_to_the_host_that_reaches_its_target)
{
	uint8_t first[600], second[600], back[600] = {0};

	memset(first, 0x11, sizeof(first));
	memset(second, 0x22, sizeof(second));
	cr_assert_eq(submit(1, MF_OP_WRITE, first, sizeof(first)), 0);
	cr_assert_eq(submit(2, MF_OP_WRITE_ACK, second, sizeof(second)), 0);
	cr_expect_eq(mf_node_outstanding(rig.node[0]), 2);
	run_for(MF_US(20));
	cr_expect_eq(rig.dones, 2);
	cr_expect_eq(mf_node_outstanding(rig.node[0]), 0);
	cr_expect_eq(memcmp(at(1), first, sizeof(first)), 0, "by the first link");
	cr_expect_eq(memcmp(at(2), second, sizeof(second)), 0, "by the second one");
	cr_assert_eq(submit(2, MF_OP_READ, back, sizeof(back)), 0);
	run_for(MF_US(20));
	cr_expect_eq(rig.dones, 3);
	cr_expect_eq(rig.done[2].node, 2);
	cr_expect_eq(rig.done[2].user, 102);
	cr_expect_eq(memcmp(back, second, sizeof(back)), 0);
}

Test(hosts, what_it_counts_is_the_sum_over_its_hosts)
{
	struct mf_host_stats sum, one;
	uint8_t data[64] = {1};

	submit(1, MF_OP_WRITE, data, sizeof(data));
	submit(2, MF_OP_WRITE, data, sizeof(data));
	submit(2, MF_OP_WRITE, data, sizeof(data));
	run_for(MF_US(20));
	mf_node_stats(rig.node[0], &sum);
	cr_expect_eq(sum.submitted[MF_OP_WRITE], 3);
	cr_expect_eq(sum.completed[MF_OP_WRITE], 3);
	mf_node_stats(mf_node_host(rig.node[0], 1), &one);
	cr_expect_eq(one.submitted[MF_OP_WRITE], 2);
	cr_expect_eq(mf_node_host(rig.node[1], 0), rig.node[1], "a node with one host is that");
}

Test(hosts, a_link_that_is_lost_leaves_the_other_one)
{
	uint8_t data[64] = {1};

	mf_node_link_down(rig.node[0], 1, rig.now);
	submit(1, MF_OP_WRITE_ACK, data, sizeof(data));
	submit(2, MF_OP_WRITE_ACK, data, sizeof(data));
	run_for(MF_US(20));
	cr_expect_eq(rig.up[1].tail, 0, "nothing goes by it");
	cr_expect_geq(rig.up[0].tail, 1);
	mf_node_link_up(rig.node[0], 1, rig.now);
	run_for(MF_MS(2));
	cr_expect_eq(at(2)[0], 1, "the stack has sent it again");
}

Test(hosts, no_host_reaches_it)
{
	uint8_t data[64];

	cr_expect_eq(submit(3, MF_OP_READ, data, sizeof(data)), -EINVAL);
	cr_expect_eq(submit(0, MF_OP_READ, data, sizeof(data)), -EINVAL, "itself");
	cr_expect_eq(submit(NODES, MF_OP_READ, data, sizeof(data)), -EINVAL);
	cr_expect_eq(mf_node_outstanding(rig.node[0]), 0);
}

Test(hosts, each_end_has_its_own_receiver_and_multiplexer)
{
	struct mf_node *n = rig.node[0];

	cr_expect_neq(mf_node_mux(n, 0), mf_node_mux(n, 1));
	cr_expect_neq(mf_node_demux_of(n, 0), mf_node_demux_of(n, 1));
	cr_expect_null(mf_node_demux_of(n, 2));
	cr_expect_eq(mf_node_demux(n), mf_node_demux_of(n, 0));
}

Test(hosts, what_makes_no_node)
{
	const uint16_t *const name[LINKS] = {names[0], names[1]};
	struct mf_node *host[2] = {mf_node_host(rig.node[0], 0), mf_node_host(rig.node[0], 1)};
	struct mf_node_way way[NODES];
	struct mf_hosts_config c = {.nodes = NODES, .hosts = 0, .host = host, .name = name, .way = way};

	memcpy(way, ways, sizeof(way));
	cr_expect_null(mf_node_new_hosts(&c), "without hosts");
	cr_expect_eq(errno, EINVAL);
	c.hosts = 1;
	cr_expect_null(mf_node_new_hosts(&c), "there is no host 1");
	c.hosts = 2;
	way[1].number = 2;
	cr_expect_null(mf_node_new_hosts(&c), "no such number");
	way[1].number = 1;
	c.node = 3;
	cr_expect_null(mf_node_new_hosts(&c), "its networks know another name of it");
}
