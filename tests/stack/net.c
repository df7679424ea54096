/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "net.h"

static void defaults(const struct mf_param *p, double *param)
{
	for (unsigned int i = 0; p[i].key != NULL; i++)
		param[i] = p[i].value;
}

unsigned int net_param(const struct mf_param *params, const char *key)
{
	unsigned int i = 0;

	while (params[i].key != NULL && strcmp(params[i].key, key) != 0)
		i++;
	cr_assert_not_null(params[i].key, "no parameter %s", key);
	return i;
}

void net_init(struct net *n, const char *stack, const char *bridge, unsigned int nodes)
{
	*n = (struct net){.ops = mf_stack_find(stack),
			  .nodes = nodes,
			  .memory_ops = &mf_memory_flat,
			  .read_timeout = MF_MS(100),
			  .egress_period = NET_PERIOD};
	n->write_timeout = n->read_timeout;
	cr_assert_not_null(n->ops);
	defaults(n->ops->params, n->param);
	if (bridge == NULL)
		return;
	n->bridge_ops = mf_bridge_find(bridge);
	defaults(n->bridge_ops->params, n->bridge_param);
	for (const struct mf_param_default *d = n->ops->bridge_defaults; d != NULL && d->key != NULL; d++)
		n->bridge_param[net_param(n->bridge_ops->params, d->key)] = d->value;
}

static void start_bridge(struct net *n)
{
	bool up[NET_NODES];
	uint32_t period[NET_NODES];
	mf_time delay[NET_NODES];
	struct mf_bridge_config c = {.ports = n->nodes,
				     .up = up,
				     .period = period,
				     .delay = delay,
				     .l2_latency = MF_NS(400),
				     .timing = n->config.timing,
				     .param = n->bridge_param,
				     .wants = &n->wants};

	for (unsigned int i = 0; i < NET_NODES; i++) {
		up[i] = true;
		period[i] = NET_PERIOD;
		delay[i] = NET_LINK;
	}
	n->bridge = n->bridge_ops->create(&c);
	cr_assert_not_null(n->bridge);
}

void net_start(struct net *n)
{
	static const struct mf_memory_config memory = {
		.size = NET_MEMORY, .numa_node = -1, .dram = MF_NS(82)};

	n->config = (struct mf_stack_config){.nodes = (uint16_t)n->nodes,
					     .compute = true,
					     .memory_ops = n->memory_ops,
					     .queue = 1024,
					     .read_timeout = n->read_timeout,
					     .write_timeout = n->write_timeout,
					     .period = NET_PERIOD,
					     .rtt = 2 * NET_WAY,
					     .param = n->param};
	n->config.timing.cost[MF_STAGE_PROTOCOL] = 666200;
	n->config.timing.cost[MF_STAGE_MAC] = 7680;
	for (unsigned int i = 0; i < n->nodes; i++) {
		n->memory[i] = n->memory_ops->create(&memory);
		n->config.memory = n->memory[i];
		n->config.node = (uint16_t)i;
		n->stack[i] = n->ops->create(&n->config);
		cr_assert_not_null(n->stack[i]);
	}
	if (n->bridge_ops != NULL)
		start_bridge(n);
}

void net_stop(struct net *n)
{
	for (unsigned int i = 0; i < n->nodes; i++) {
		n->ops->destroy(n->stack[i]);
		n->memory_ops->destroy(n->memory[i]);
	}
	if (n->bridge != NULL)
		n->bridge_ops->destroy(n->bridge);
	for (unsigned int i = 0; i < n->begun; i++)
		free(n->buffer[i]);
	free(n->flying);
}

void net_restart(struct net *n, unsigned int node, uint32_t incarnation)
{
	n->ops->destroy(n->stack[node]);
	n->config.memory = n->memory[node];
	n->config.node = (uint16_t)node;
	n->config.incarnation = incarnation;
	n->stack[node] = n->ops->create(&n->config);
	cr_assert_not_null(n->stack[node]);
}

void net_content(unsigned int i, uint8_t *octets, uint64_t len)
{
	for (uint64_t k = 0; k < len; k++)
		octets[k] = (uint8_t)(mf_hash64((uint64_t)i << 32 | k / 8) >> k % 8 * 8 | 1); /* no zero */
}

unsigned int net_op(struct net *n, unsigned int from, unsigned int to, enum mf_op_kind kind, uint64_t addr,
		    uint64_t len)
{
	unsigned int i = n->begun++;
	struct mf_op op = {.kind = (uint8_t)kind,
			   .node = (uint16_t)to,
			   .addr = addr,
			   .len = len,
			   .rmw = MF_RMW_FADD,
			   .arg = {1, 0},
			   .user = i};

	cr_assert_lt(i, NET_OPS);
	op.buf = n->buffer[i] = calloc(1, len + 64);
	if (kind == MF_OP_WRITE || kind == MF_OP_WRITE_ACK)
		net_content(i, n->buffer[i], len);
	cr_assert_eq(n->ops->submit(n->stack[from], n->now, &op), 0);
	return i;
}

bool net_written(const struct net *n, unsigned int i, unsigned int to, uint64_t addr, uint64_t len)
{
	uint8_t *expect = malloc(2 * len), *found = expect + len;
	bool equal;

	net_content(i, expect, len);
	equal = mf_memory_read(n->memory_ops, n->memory[to], addr, (uint32_t)len, found) == MF_OK &&
		memcmp(found, expect, len) == 0;
	free(expect);
	return equal;
}

static void fly(struct net *n, mf_time at, unsigned int from, unsigned int to, const uint8_t *frame,
		uint16_t len)
{
	unsigned int i;

	if (n->flies == n->room) {
		n->room = n->room != 0 ? 2 * n->room : 64;
		n->flying = realloc(n->flying, n->room * sizeof(*n->flying));
	}
	for (i = n->flies++; i > 0 && n->flying[i - 1].at > at; i--)
		n->flying[i] = n->flying[i - 1];
	n->flying[i] = (struct net_frame){.at = at, .from = from, .to = to, .len = len};
	memcpy(n->flying[i].octets, frame, len);
}

static uint64_t blocks_of(uint16_t len)
{
	return (8 + (len < MF_FRAME_MIN ? MF_FRAME_MIN : len) + 4 + 12 + 7) / 8;
}

#define TO_BRIDGE NET_NODES

static void sent(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	mf_time time = blocks_of(len) * NET_PERIOD, more = 0;
	unsigned int to = frame[5];

	n->frames++;
	n->blocks[from] += blocks_of(len);
	n->line[0][from] = n->now + time;
	if (n->script != NULL)
		more = n->script(n, from, frame, len);
	if (more == MF_NEVER) {
		n->lost++;
		return;
	}
	if (n->bridge != NULL)
		fly(n, n->now + time + NET_LINK + more, from, TO_BRIDGE, frame, len);
	else
		fly(n, n->now + time + NET_WAY + more, from, to, frame, len);
}

static void arrive(struct net *n)
{
	while (n->flies > 0 && n->flying[0].at <= n->now) {
		struct net_frame f = n->flying[0];

		memmove(n->flying, n->flying + 1, --n->flies * sizeof(*n->flying));
		if (f.to == TO_BRIDGE)
			n->bridge_ops->frame(n->bridge, f.from, f.at, f.octets, f.len);
		else if (f.to < n->nodes)
			n->ops->frame(n->stack[f.to], f.at, f.octets, f.len);
	}
}

static void take(struct net *n, unsigned int node)
{
	struct mf_completion c[16];
	unsigned int got;

	while ((got = n->ops->completions(n->stack[node], n->now, c, 16)) > 0)
		for (unsigned int i = 0; i < got; i++) {
			cr_assert_lt(c[i].user, n->begun);
			cr_assert(!n->is_done[c[i].user], "operation %lu completes twice",
				  (unsigned long)c[i].user);
			n->is_done[c[i].user] = true;
			n->done[c[i].user] = c[i];
			n->completed++;
		}
}

static void run_nodes(struct net *n)
{
	uint8_t frame[MF_FRAME_MAX];
	uint16_t len;

	for (unsigned int i = 0; i < n->nodes; i++) {
		if (n->ops->next(n->stack[i]) <= n->now)
			n->ops->run(n->stack[i], n->now);
		take(n, i);
		while (n->line[0][i] <= n->now && n->ops->ready(n->stack[i]) <= n->now &&
		       (len = n->ops->pull(n->stack[i], n->now, frame)) != 0)
			sent(n, i, frame, len);
	}
}

static void run_bridge(struct net *n)
{
	const uint8_t *frame;

	if (n->bridge == NULL)
		return;
	if (n->bridge_ops->next(n->bridge) <= n->now)
		n->bridge_ops->run(n->bridge, n->now);
	for (unsigned int p = 0; p < n->nodes; p++) {
		uint16_t len;

		if (!(n->wants >> p & 1) || n->line[1][p] > n->now)
			continue;
		len = n->bridge_ops->pull(n->bridge, p, n->now, &frame);
		if (len == 0) {
			n->wants &= ~(UINT64_C(1) << p);
			continue;
		}
		n->line[1][p] = n->now + blocks_of(len) * n->egress_period;
		fly(n, n->line[1][p] + NET_LINK, p, p, frame, len);
	}
}

static mf_time next(const struct net *n)
{
	mf_time at = n->flies > 0 ? n->flying[0].at : MF_NEVER;

	for (unsigned int i = 0; i < n->nodes; i++) {
		at = mf_time_min(at, n->ops->next(n->stack[i]));
		if (n->ops->ready(n->stack[i]) != MF_NEVER)
			at = mf_time_min(at, mf_time_max(n->ops->ready(n->stack[i]), n->line[0][i]));
		if (n->wants >> i & 1)
			at = mf_time_min(at, n->line[1][i]);
	}
	return n->bridge != NULL ? mf_time_min(at, n->bridge_ops->next(n->bridge)) : at;
}

static bool step(struct net *n, mf_time until)
{
	mf_time at = mf_time_max(next(n), n->now);

	if (at > until)
		return false;
	if (at == n->now && next(n) == MF_NEVER)
		return false;
	n->now = at;
	arrive(n);
	run_nodes(n);
	run_bridge(n);
	return true;
}

void net_run(struct net *n, mf_time until)
{
	while (step(n, until))
		;
	n->now = until;
}

void net_finish(struct net *n, mf_time until)
{
	while (n->completed < n->begun && step(n, until))
		;
	cr_assert_eq(n->completed, n->begun, "%u of %u operations are over", n->completed, n->begun);
}

mf_time net_lose(struct net *n, unsigned int from, uint8_t *frame, uint16_t len)
{
	struct net_losses *l = n->ctx;
	bool data = (frame[16] << 8 | frame[17]) > 44;

	(void)len;
	if (l->share != 0 && mf_rng_double(&l->rng) < l->share)
		return MF_NEVER;
	if (from != l->from || data != l->data)
		return 0;
	l->count++;
	if (l->count - 1 >= l->first && l->count - 1 < l->first + l->every)
		return l->late != 0 ? l->late : MF_NEVER;
	return 0;
}

void net_traffic(struct net *n, unsigned int ops)
{
	uint64_t sum[2] = {0};

	for (unsigned int i = 0; i < ops; i++) {
		unsigned int from = i % 2, to = 1 - from;
		static const enum mf_op_kind kinds[] = {MF_OP_WRITE, MF_OP_RMW, MF_OP_WRITE_ACK, MF_OP_READ};
		enum mf_op_kind kind = kinds[i / 2 % 4];
		uint64_t len = kind == MF_OP_RMW ? 8 : 1 + mf_hash64(i) % 9000;

		net_op(n, from, to, kind, kind == MF_OP_RMW ? 0 : 4096 + (uint64_t)i * 16384, len);
		sum[to] += kind == MF_OP_RMW;
	}
	net_finish(n, MF_SEC(2));
	for (unsigned int i = 0; i < ops; i++) {
		const struct mf_completion *c = &n->done[i];

		cr_assert_eq(c->status, MF_OK, "%u: status %u", i, c->status);
		if (c->kind == MF_OP_WRITE || c->kind == MF_OP_WRITE_ACK)
			cr_assert(net_written(n, i, c->node, 4096 + (uint64_t)i * 16384, c->len), "write %u",
				  i);
	}
	for (unsigned int to = 0; to < 2; to++) {
		uint64_t found;

		mf_memory_read(n->memory_ops, n->memory[to], 0, 8, &found);
		cr_assert_eq(found, sum[to], "each RMW once");
	}
}

static uint64_t find(const struct mf_counter *c, unsigned int n, const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	cr_assert(false, "no counter %s", name);
	return 0;
}

uint64_t net_counter(const struct net *n, unsigned int node, const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];

	return find(c, n->ops->counters(n->stack[node], c), name);
}

uint64_t net_bridge_counter(const struct net *n, const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];

	return find(c, n->bridge_ops->counters(n->bridge, c), name);
}
