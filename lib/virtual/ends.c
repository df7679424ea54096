/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes with several ends. Those of 1+1 protection send the same by two ends, at one time. Those of others
 * send apart: each end when its own multiplexer has something. At one time the first end goes first.
 */
#include <errno.h>

#include "virtual/virtual.h"

static struct wire *out(const struct virtual *v, unsigned int i, unsigned int end)
{
	return virtual_back(v, &v->node[i].in[end]);
}

/** When an end may send, or what a fault held back goes. */
static mf_time end_next(const struct virtual *v, unsigned int i, unsigned int end)
{
	const struct mf_mux *mux = mf_node_mux(v->f->node[i].host, end);
	const struct wire *w = out(v, i, end);
	mf_time next = mf_mux_next(mux, v->now);

	if (w->fault != NULL)
		next = mf_time_min(next, wire_held(w));
	if (wire_hangs(w))
		next = mf_time_min(next, mf_mux_next_block(mux, v->now));
	next = mf_time_max(v->now, next);
	return v->outages != NULL ? virtual_outage_node_sends(v, i, w, next) : next;
}

mf_time virtual_ends_next(const struct virtual *v, unsigned int i)
{
	mf_time next = MF_NEVER;

	for (unsigned int k = 0; k < v->node[i].ends; k++)
		next = mf_time_min(next, end_next(v, i, k));
	return next;
}

mf_time virtual_ends_arrive(const struct virtual *v, unsigned int i, unsigned int *end)
{
	const struct virtual_node *n = &v->node[i];
	mf_time due = wire_due(&n->in[0]);

	*end = 0;
	for (unsigned int k = 1; k < n->ends; k++)
		if (wire_due(&n->in[k]) < due) {
			due = wire_due(&n->in[k]);
			*end = k;
		}
	return due;
}

/** All blocks of a frame that have begun go at once where a fault may send behind them. */
static int send(struct virtual *v, unsigned int i, unsigned int end)
{
	struct wire *w = out(v, i, end);
	unsigned int max;
	bool more = true;
	int sent = 0, n;

	if (wire_held(w) <= v->now)
		return virtual_fault_release(v, w);
	while (more) {
		max = v->outages != NULL ? virtual_outage_blocks(v, w) : v->max;
		n = (int)mf_node_tx_by(v->f->node[i].host, end, v->now, max, &v->span);
		more = n > 0 && wire_wants_all(w, &v->span);
		if (n > 0)
			n = virtual_send(v, w, &v->span);
		if (n < 0)
			return n;
		sent += n;
	}
	return sent;
}

int virtual_ends_tx(struct virtual *v, unsigned int i)
{
	int n = 0;

	for (unsigned int k = 0; k < v->node[i].ends; k++)
		if (end_next(v, i, k) <= v->now) {
			n = send(v, i, k);
			break;
		}
	virtual_node_after(v, i);
	return n;
}

int virtual_ends_begun(struct virtual *v, unsigned int i)
{
	int n = 0;

	for (unsigned int k = 0; k < v->node[i].ends && n >= 0; k++) {
		if (v->outages != NULL && virtual_outage_node_sends(v, i, out(v, i, k), v->now) > v->now)
			continue;
		while ((n = send(v, i, k)) > 0)
			;
	}
	virtual_node_after(v, i);
	return n;
}

void virtual_ends_tell(struct virtual *v, unsigned int i)
{
	for (unsigned int k = 1; k < v->node[i].ends; k++)
		virtual_hears(v, out(v, i, k));
}
