/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack "tcp": Reno's congestion control (RFC 5681), and ECN by RFC 3168 where it is asked for. */
#include "systems/tcp/mf_tcp.h"
#include "systems/tcp/tcp.h"

enum { RENO_ECN = TCP_PARAMS, RENO_PARAMS };

static const struct mf_param params[] = {
	{TCP_PARAM_MSS},
	{TCP_PARAM_WINDOW},
	{TCP_PARAM_INIT_CWND},
	{TCP_PARAM_ACK_EVERY},
	{TCP_PARAM_ACK_DELAY},
	{TCP_PARAM_RTO_INIT},
	{TCP_PARAM_RTO_MIN},
	{TCP_PARAM_RTO_MAX},
	{TCP_PARAM_REORDER},
	{"ecn", MF_PARAM_COUNT, 0, 0, 1, "1: ECN as in RFC 3168; the bridge has to mark"},
	{0}};

void tcp_cut(struct tcp *t, struct tcp_conn *c, uint32_t cwnd)
{
	c->cwnd = c->ssthresh = cwnd;
	c->grown = 0;
	c->cut = c->nxt;
	c->cwr = true;
	t->cuts++;
}

void reno_init(const struct tcp *t, struct tcp_conn *c)
{
	(void)t;
	(void)c;
}

/** RFC 3168, 6.1.2: an echo is a loss, once a window. */
static bool reno_acked(struct tcp *t, struct tcp_conn *c, uint32_t octets, bool echo)
{
	(void)octets;
	if (echo && !c->recovering && c->una_known > c->cut)
		tcp_cut(t, c, tcp_half_flight(t, c));
	return !echo;
}

static const struct tcp_cc_ops reno = {.init = reno_init, .acked = reno_acked};
static const struct tcp_cc_ops reno_ecn = {.ecn = true, .init = reno_init, .acked = reno_acked};

static struct mf_stack *create(const struct mf_stack_config *c)
{
	return tcp_create(c, c->param[RENO_ECN] != 0 ? &reno_ecn : &reno, RENO_PARAMS);
}

const struct mf_stack_ops stack_tcp = {.name = "tcp",
				       .timing = "tcp",
				       .stages = true,
				       .bridge = "fifo",
				       .params = params,
				       .writes_ordered = true,
				       .create = create,
				       TCP_OPS};
