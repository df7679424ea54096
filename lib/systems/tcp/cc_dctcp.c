/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack "dctcp": Data Center TCP (Alizadeh et al., SIGCOMM 2010). The switch marks what finds more than K
 * octets in its queue, the receiver echoes each packet's mark, and the sender cuts its window by the
 * share of octets that were marked, once a window.
 */
#include "systems/tcp/mf_tcp.h"
#include "systems/tcp/tcp.h"

enum { DCTCP_G = TCP_PARAMS, DCTCP_ALPHA, DCTCP_PARAMS };

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
	{"g", MF_PARAM_REAL, 0.0625, 1e-6, 1, "weight of a new sample in alpha: 1/16"},
	{"alpha", MF_PARAM_REAL, 1, 0, 1, "alpha at the start: RFC 8257, 4.2"},
	{0}};

/*
 * 3.4: K > C x RTT / 7. At 100 Gb/s a full segment and its acknowledgement take 4.04 us with an idle switch
 * (docs/systems/dctcp.md), so C x RTT is 50.5 kB and K > 7.2 kB: eight frames of 1,518 octets are well above.
 */
static const struct mf_param_default marking[] = {{"kmin", 12144}, {"kmax", 12144}, {0}};

static void dctcp_init(const struct tcp *t, struct tcp_conn *c)
{
	c->alpha = t->alpha;
}

static bool dctcp_acked(struct tcp *t, struct tcp_conn *c, uint32_t octets, bool echo)
{
	uint32_t cwnd;

	c->observed += octets;
	c->marked += echo ? octets : 0;
	if (c->una_known >= c->alpha_end) { /* (1) */
		c->alpha += t->g * ((double)c->marked / c->observed - c->alpha);
		c->observed = c->marked = 0;
		c->alpha_end = c->nxt;
	}
	if (echo && !c->recovering && c->una_known > c->cut) { /* (2) */
		cwnd = (uint32_t)(c->cwnd * (1 - c->alpha / 2));
		tcp_cut(t, c, cwnd > 2 * t->mss ? cwnd : 2 * t->mss);
	}
	return !echo;
}

static const struct tcp_cc_ops dctcp = {
	.ecn = true, .echo_each = true, .init = dctcp_init, .acked = dctcp_acked};

static struct mf_stack *create(const struct mf_stack_config *c)
{
	struct mf_stack *s = tcp_create(c, &dctcp, DCTCP_PARAMS);

	if (s != NULL) {
		tcp_of(s)->g = c->param[DCTCP_G];
		tcp_of(s)->alpha = c->param[DCTCP_ALPHA];
	}
	return s;
}

const struct mf_stack_ops stack_dctcp = {.name = "dctcp",
					 .timing = "tcp",
					 .stages = true,
					 .bridge = "fifo",
					 .bridge_defaults = marking,
					 .params = params,
					 .writes_ordered = true,
					 .create = create,
					 TCP_OPS};
