/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node with several hosts: one for each of its ends, which are in networks of their own ("tiers" of the
 * fabric file), with numbers of their own. The hosts share the memory of the node and know nothing of each
 * other. An operation goes to the host that reaches its target.
 *
 *      clients
 *         |  operations
 *      hosts          which host reaches a node, and as whom: way[]
 *       |    |
 *     host  host      each of its own system, with its own multiplexer
 *       |    |
 *     end 0 end 1
 */
#include "systems/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/kinds.h"

/* A host that tells of restarts, and its place. */
struct relay {
	struct hosts *of;
	unsigned int at;
};

struct hosts {
	struct mf_node_shell shell;
	unsigned int n;
	unsigned int heard; /* that something came to last */
	unsigned int telling; /* within mf_node_restart_fn: that tells of it */
	struct mf_node_way *way; /* [nodes] */
	mf_node_restart_fn restarted;
	void *restarted_ctx;
	struct relay relay[MF_NODE_HOSTS_MAX];
	struct mf_node *host[MF_NODE_HOSTS_MAX];
	const uint16_t *name[MF_NODE_HOSTS_MAX]; /* the fabric's numbers of the nodes of its network */
};

static void destroy(void *self)
{
	struct hosts *h = self;

	for (unsigned int k = 0; k < h->n; k++)
		mf_node_free(h->host[k]);
	free(h->way);
	free(h);
}

static const struct mf_node_shell *shell_of(const struct mf_node *n)
{
	return (const struct mf_node_shell *)n;
}

static bool config_ok(const struct mf_hosts_config *c)
{
	if (c->hosts == 0 || c->hosts > MF_NODE_HOSTS_MAX || c->node >= c->nodes)
		return false;
	for (unsigned int k = 0; k < c->hosts; k++)
		if (c->name[k][shell_of(c->host[k])->node] != c->node)
			return false;
	for (unsigned int i = 0; i < c->nodes; i++) {
		const struct mf_node_way *w = &c->way[i];

		if (w->host == MF_HOST_NONE)
			continue;
		if (w->host >= c->hosts || w->number >= shell_of(c->host[w->host])->nodes)
			return false;
	}
	return true;
}

struct hosts *hosts_new(const struct mf_hosts_config *c)
{
	struct hosts *h;

	if (!config_ok(c)) {
		errno = EINVAL;
		return NULL;
	}
	h = calloc(1, sizeof(*h));
	if (h == NULL || (h->way = malloc(c->nodes * sizeof(*h->way))) == NULL) {
		free(h);
		errno = ENOMEM;
		return NULL;
	}
	memcpy(h->way, c->way, c->nodes * sizeof(*h->way));
	h->shell = *shell_of(c->host[0]);
	h->shell.node = c->node;
	h->shell.nodes = c->nodes;
	h->shell.submits = h->shell.foresees = false;
	h->n = c->hosts;
	for (unsigned int k = 0; k < c->hosts; k++) {
		h->host[k] = c->host[k];
		h->name[k] = c->name[k];
		h->relay[k] = (struct relay){.of = h, .at = k};
		h->shell.submits |= shell_of(c->host[k])->submits;
	}
	return h;
}

struct mf_node *hosts_at(struct hosts *h, unsigned int end)
{
	return h->host[end];
}

/* ---- the links and time ---- */

static bool can_rx(const void *self)
{
	const struct hosts *h = self;

	for (unsigned int k = 0; k < h->n; k++)
		if (!mf_node_can_rx(h->host[k]))
			return false;
	return true;
}

static void rx(void *self, unsigned int end, mf_time now, const struct mf_span *span)
{
	struct hosts *h = self;

	h->heard = end;
	mf_node_rx(h->host[end], now, span);
}

static unsigned int tx(void *self, unsigned int end, mf_time now, unsigned int max, struct mf_span *out)
{
	struct hosts *h = self;

	return mf_node_tx(h->host[end], now, max, out);
}

static struct mf_span *tx_in_place(void *self, unsigned int end, mf_time now, struct mf_span *room)
{
	struct hosts *h = self;

	return mf_node_tx_in_place(h->host[end], now, room);
}

static struct mf_mux *mux(const void *self, unsigned int end)
{
	const struct hosts *h = self;

	return mf_node_mux(h->host[end], 0);
}

static mf_time run(void *self, mf_time now)
{
	struct hosts *h = self;
	mf_time next = MF_NEVER;

	for (unsigned int k = 0; k < h->n; k++)
		next = mf_time_min(next, mf_node_run(h->host[k], now));
	return next;
}

static mf_time next(const void *self)
{
	const struct hosts *h = self;
	mf_time next = MF_NEVER;

	for (unsigned int k = 0; k < h->n; k++)
		next = mf_time_min(next, mf_node_next(h->host[k]));
	return next;
}

static void link_down(void *self, unsigned int end, mf_time now)
{
	struct hosts *h = self;

	mf_node_link_down(h->host[end], 0, now);
}

static bool link_up(void *self, unsigned int end, mf_time now)
{
	struct hosts *h = self;

	mf_node_link_up(h->host[end], 0, now);
	return true;
}

static const struct mf_demux *demux(const void *self, unsigned int end)
{
	const struct hosts *h = self;

	return end < h->n ? mf_node_demux_of(h->host[end], 0) : NULL;
}

static const struct mf_demux *heard(const void *self)
{
	const struct hosts *h = self;

	return mf_node_demux(h->host[h->heard]);
}

/* ---- operations and frames ---- */

static int submit(void *self, mf_time now, const struct mf_op *op)
{
	struct hosts *h = self;
	int err = mf_node_check(&h->shell, op, mf_node_len(op));
	struct mf_op own = *op;

	if (err != 0)
		return err;
	if (h->way[op->node].host == MF_HOST_NONE)
		return -EINVAL;
	own.node = h->way[op->node].number;
	return mf_node_submit(h->host[h->way[op->node].host], now, &own);
}

static unsigned int completions(void *self, mf_time now, struct mf_completion *out, unsigned int max)
{
	struct hosts *h = self;
	unsigned int n = 0, more;

	for (unsigned int k = 0; k < h->n && n < max; k++) {
		more = mf_node_completions(h->host[k], now, out + n, max - n);
		for (; more > 0; more--, n++)
			out[n].node = h->name[k][out[n].node];
	}
	return n;
}

static uint32_t outstanding(const void *self)
{
	const struct hosts *h = self;
	uint32_t n = 0;

	for (unsigned int k = 0; k < h->n; k++)
		n += mf_node_outstanding(h->host[k]);
	return n;
}

static void on_frame(void *self, mf_node_frame_fn fn, void *ctx)
{
	struct hosts *h = self;

	for (unsigned int k = 0; k < h->n; k++)
		mf_node_on_frame(h->host[k], fn, ctx);
}

static void restarted(void *ctx, uint16_t node)
{
	struct relay *r = ctx;
	struct hosts *h = r->of;

	h->telling = r->at;
	if (h->restarted != NULL)
		h->restarted(h->restarted_ctx, h->name[r->at][node]);
}

static void on_restart(void *self, mf_node_restart_fn fn, void *ctx)
{
	struct hosts *h = self;

	h->restarted = fn;
	h->restarted_ctx = ctx;
	for (unsigned int k = 0; k < h->n; k++)
		mf_node_on_restart(h->host[k], restarted, &h->relay[k]);
}

static bool link_is_lost(const void *self)
{
	const struct hosts *h = self;

	return mf_node_link_is_lost(h->host[h->telling]);
}

static void under_way(const void *self, uint16_t node, void (*fn)(void *ctx, uint64_t user), void *ctx)
{
	const struct hosts *h = self;

	if (h->way[node].host == h->telling) /* else operations to it go by another host */
		mf_node_under_way(h->host[h->telling], h->way[node].number, fn, ctx);
}

/* ---- what is counted ---- */

void hosts_stats(const struct hosts *h, struct mf_host_stats *out)
{
	struct mf_host_stats s;

	*out = (struct mf_host_stats){0};
	for (unsigned int k = 0; k < h->n; k++) {
		mf_node_stats(h->host[k], &s);
		for (unsigned int i = 0; i < MF_OPS; i++) {
			out->submitted[i] += s.submitted[i];
			out->completed[i] += s.completed[i];
			out->failed[i] += s.failed[i];
		}
		out->tx_octets += s.tx_octets;
		out->rx_octets += s.rx_octets;
		out->waited += s.waited;
		out->drop_proto += s.drop_proto;
		out->drop_unknown += s.drop_unknown;
	}
}

/* What its hosts count has tables of its own: each is asked by itself. */
static const struct mf_counter_desc counters[] = {{0}};

static void stats(const void *self, struct mf_role_stats *out)
{
	(void)self;
	memset(out, 0, sizeof(*out));
}

static const struct mf_requester_ops requester = {.submit = submit,
						  .completions = completions,
						  .outstanding = outstanding,
						  .on_frame = on_frame,
						  .on_restart = on_restart,
						  .link_is_lost = link_is_lost,
						  .under_way = under_way};

const struct mf_role_ops mf_hosts_role = {.kind = "hosts",
					  .destroy = destroy,
					  .can_rx = can_rx,
					  .rx = rx,
					  .tx = tx,
					  .tx_in_place = tx_in_place,
					  .mux = mux,
					  .run = run,
					  .next = next,
					  .link_down = link_down,
					  .link_up = link_up,
					  .demux = demux,
					  .heard = heard,
					  .counters = counters,
					  .stats = stats,
					  .requester = &requester};
