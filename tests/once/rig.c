/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "rig.h"

static const struct mf_mux_config mux = {.policy = MF_MUX_MEMORY_FIRST,
					 .period = RIG_PERIOD,
					 .memory_blocks = 65536,
					 .memory_items = 4096,
					 .memory_enabled = true,
					 .frames = 16,
					 .frame_bytes = 65536,
					 .quantum = 64};

static void make_switch(struct rig *r, const struct mf_proto *proto)
{
	struct mf_switch_config *s = calloc(1, sizeof(*s));

	s->ports = RIG_NODES;
	for (unsigned int i = 0; i < RIG_NODES; i++)
		s->port[i] = (struct mf_switch_port_config){
			.up = true, .memory_enabled = true, .mux = mux, .ber_window = MF_US(125)};
	s->proto = *proto;
	s->x = r->config.x;
	s->grant_timeout = MF_US(20);
	s->hold_timeout = MF_US(2);
	s->mac_table = 16;
	r->sw = mf_switch_new(s);
	free(s);
	assert(r->sw != NULL);
}

static void make_sched(struct rig *r, const struct mf_proto *proto)
{
	struct mf_sched_config s = {.ports = RIG_NODES,
				    .chunk = r->config.chunk,
				    .x = r->config.x,
				    .window = 16384,
				    .chunk_overhead = mf_proto_chunk_blocks(proto, 0)};

	for (unsigned int i = 0; i < RIG_NODES; i++)
		s.period[i] = RIG_PERIOD;
	r->sched = mf_sched_pim.create(&s);
	assert(r->sched != NULL);
}

static void make_hosts(struct rig *r, const struct mf_proto *proto)
{
	const struct mf_memory_config mc = {.size = 256 << 20, .numa_node = -1, .dram = MF_NS(80)};

	r->memory = mf_memory_flat.create(&mc);
	for (uint16_t i = 0; i < RIG_NODES; i++) {
		struct mf_host_config hc = {.node = i,
					    .nodes = RIG_NODES,
					    .compute = i != RIG_MEMORY,
					    .memory_ops = i == RIG_MEMORY ? &mf_memory_flat : NULL,
					    .memory = i == RIG_MEMORY ? r->memory : NULL,
					    .x = r->config.x,
					    .chunk = r->config.chunk,
					    .mega = r->config.mega,
					    .queue = 256,
					    .read_timeout = r->config.timeout,
					    .write_timeout = r->config.timeout,
					    .proto = *proto,
					    .use = (uint16_t)(65000 + r->config.seed % 1000),
					    .retries = r->config.retries,
					    .retry_timeout = r->config.retry_timeout,
					    .mux = mux,
					    .memory_enabled = true,
					    .ber_window = MF_US(125)};

		r->host[i] = mf_host_new(&hc);
		assert(r->host[i] != NULL);
	}
}

static void make_wire(struct rig *r, struct rig_wire *w, unsigned int number)
{
	const struct mf_fault_config config = {.rule = r->config.rule,
					       .rules = r->config.rules,
					       .period = RIG_PERIOD,
					       .seed = r->config.seed,
					       .number = number};

	w->r = r;
	w->span = mf_table_new(RIG_WIRE, sizeof(*w->span));
	if (r->config.rules > 0)
		w->fault = mf_fault_new(&config);
	assert(w->span != NULL && (w->fault != NULL) == (r->config.rules > 0));
}

struct rig *rig_new(const struct rig_config *config)
{
	struct rig *r = calloc(1, sizeof(*r));
	const struct mf_proto proto = {.ext = config->once};

	r->config = *config;
	make_switch(r, &proto);
	make_sched(r, &proto);
	make_hosts(r, &proto);
	for (unsigned int i = 0; i < RIG_NODES; i++) {
		make_wire(r, &r->up[i], 2 * i);
		make_wire(r, &r->down[i], 2 * i + 1);
	}
	return r;
}

void rig_free(struct rig *r)
{
	for (unsigned int i = 0; i < RIG_NODES; i++) {
		mf_host_free(r->host[i]);
		mf_fault_free(r->up[i].fault);
		mf_fault_free(r->down[i].fault);
		mf_table_free(r->up[i].span);
		mf_table_free(r->down[i].span);
	}
	mf_memory_flat.destroy(r->memory);
	mf_switch_free(r->sw);
	mf_sched_pim.destroy(r->sched);
	free(r);
}

/* ---- wires ---- */

static void arrive(void *ctx, struct mf_span *s)
{
	struct rig_wire *w = ctx;
	struct rig_span *e = &w->span[w->tail % RIG_WIRE];

	if (w->dead)
		return;
	w->tail++;
	assert(w->tail - w->head <= RIG_WIRE);
	s->start += RIG_DELAY;
	e->at = s->start;
	e->span = *s;
}

static void wire_send(struct rig_wire *w, struct mf_span *s)
{
	if (w->fault != NULL)
		mf_fault_send(w->fault, s, arrive, w);
	else
		arrive(w, s);
}

static struct mf_span *wire_take(struct rig_wire *w)
{
	struct rig_span *e = &w->span[w->head % RIG_WIRE];

	if (w->fault != NULL && mf_fault_next(w->fault) <= w->r->now)
		mf_fault_run(w->fault, w->r->now, arrive, w);
	if (w->head == w->tail || e->at > w->r->now)
		return NULL;
	w->head++;
	return &e->span;
}

static mf_time wire_next(const struct rig_wire *w)
{
	mf_time at = w->head == w->tail ? MF_NEVER : w->span[w->head % RIG_WIRE].at;

	return mf_time_min(at, w->fault != NULL ? mf_fault_next(w->fault) : MF_NEVER);
}

void rig_heal(struct rig *r)
{
	for (unsigned int i = 0; i < 2 * RIG_NODES; i++) {
		struct rig_wire *w = i < RIG_NODES ? &r->up[i] : &r->down[i - RIG_NODES];

		while (w->fault != NULL && mf_fault_next(w->fault) != MF_NEVER)
			mf_fault_run(w->fault, mf_fault_next(w->fault), arrive, w);
		for (unsigned int k = 0; k < r->config.rules && w->fault != NULL; k++)
			r->fired[k] += mf_fault_fired(w->fault, k);
		mf_fault_free(w->fault);
		w->fault = NULL;
	}
}

/* ---- the loop ---- */

static void host_turn(struct rig *r, unsigned int i)
{
	struct mf_completion c[16];
	struct mf_span span, *s;
	unsigned int n;

	while ((s = wire_take(&r->down[i])) != NULL)
		mf_host_rx(r->host[i], r->now, s);
	mf_host_run(r->host[i], r->now);
	while ((n = mf_host_completions(r->host[i], r->now, c, 16)) > 0)
		for (unsigned int k = 0; k < n; k++)
			r->completed(r->ctx, i, &c[k]);
	while (mf_host_tx(r->host[i], r->now, MF_SPAN_MAX, &span) > 0)
		wire_send(&r->up[i], &span);
}

static void match(struct rig *r)
{
	struct mf_sched_grant g[32];
	struct mf_sched_msg msg;
	unsigned int n, more;

	do {
		for (unsigned int i = 0; i < MF_SCHED_PENDING && mf_switch_to_sched(r->sw, &msg, 1) > 0; i++)
			assert(mf_sched_pim.input(r->sched, &msg) == 0);
		n = mf_sched_pim.run(r->sched, r->now, g, 32);
		for (unsigned int i = 0; i < n; i++)
			mf_switch_grant(r->sw, r->now, &g[i]);
		mf_switch_sched_peek(r->sw, &more);
	} while (n + more > 0);
}

static void switch_turn(struct rig *r)
{
	struct mf_span span, *s;

	for (unsigned int i = 0; i < RIG_NODES; i++)
		while ((s = wire_take(&r->up[i])) != NULL) {
			assert(mf_switch_can_rx(r->sw));
			mf_switch_rx(r->sw, i, r->now, s);
			match(r);
		}
	mf_switch_run(r->sw, r->now);
	match(r);
	for (unsigned int i = 0; i < RIG_NODES; i++)
		while (mf_switch_tx(r->sw, i, r->now, MF_SPAN_MAX, &span) > 0)
			wire_send(&r->down[i], &span);
	match(r);
}

static mf_time next(const struct rig *r)
{
	mf_time t = mf_time_min(mf_switch_next(r->sw), mf_sched_pim.next(r->sched));

	for (unsigned int i = 0; i < RIG_NODES; i++) {
		t = mf_time_min(t, mf_time_min(wire_next(&r->up[i]), wire_next(&r->down[i])));
		t = mf_time_min(t,
				mf_time_min(mf_host_next(r->host[i]), mf_host_tx_next(r->host[i], r->now)));
		t = mf_time_min(t, mf_switch_tx_next(r->sw, i, r->now));
	}
	return t;
}

void rig_run(struct rig *r, mf_time until)
{
	unsigned int same = 0;

	for (;;) {
		mf_time t;

		for (unsigned int i = 0; i < RIG_NODES; i++)
			host_turn(r, i);
		switch_turn(r);
		t = next(r);
		if (t == MF_NEVER || t > until)
			return;
		same = t > r->now ? 0 : same + 1;
		assert(same < 10000);
		r->now = mf_time_max(t, r->now);
	}
}

void rig_cut(struct rig *r, unsigned int node, mf_time time, bool restart)
{
	r->up[node].dead = r->down[node].dead = true;
	r->up[node].head = r->up[node].tail;
	r->down[node].head = r->down[node].tail;
	if (restart)
		assert(mf_host_restart(r->host[node], r->now, node == RIG_MEMORY ? r->memory : NULL) == 0);
	else
		mf_host_link_lost(r->host[node], r->now);
	mf_switch_link_down(r->sw, node, r->now);
	rig_run(r, r->now + time);
	while (!mf_switch_link_up(r->sw, node, r->now))
		rig_run(r, r->now += MF_US(1));
	r->up[node].dead = r->down[node].dead = false;
}
