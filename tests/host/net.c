/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "net.h"

#define SLOTS 32768

void net_config_default(struct net_config *c)
{
	static const mf_time cycles[MF_STAGE_PROPAGATION] = {
		[MF_STAGE_MESSAGE_QUEUE] = 1,     [MF_STAGE_MAKE_REQUEST] = 1,  [MF_STAGE_GRANT_QUEUE] = 4,
		[MF_STAGE_STATE_TABLE] = 1,       [MF_STAGE_DATA_BUFFER] = 1,   [MF_STAGE_MAKE_DATA] = 1,
		[MF_STAGE_GRANT_PARSE] = 1,       [MF_STAGE_GRANT_ENQUEUE] = 1, [MF_STAGE_RREQ_PARSE] = 2,
		[MF_STAGE_MEMORY_CONTROLLER] = 1, [MF_STAGE_DATA_PARSE] = 1,    [MF_STAGE_DATA_ADDRESS] = 1,
		[MF_STAGE_DATA_DELIVER] = 1};

	*c = (struct net_config){.hosts = 2, .memory_nodes = 1, .memory_size = 1 << 20};
	c->host = (struct mf_host_config){.x = 3, .chunk = 256, .queue = 256, .memory_enabled = true};
	for (int i = 0; i < MF_STAGE_PROPAGATION; i++)
		c->host.timing.cost[i] = cycles[i] * NET_PERIOD;
	c->host.mux = (struct mf_mux_config){.policy = MF_MUX_MEMORY_FIRST,
					     .period = NET_PERIOD,
					     .memory_blocks = 16384,
					     .memory_items = 1024,
					     .frames = 16,
					     .frame_bytes = 65536,
					     .quantum = 64};
	c->host.ber_window = MF_US(125);
}

static int host_create(struct net *n, unsigned int i)
{
	struct mf_host_config hc = n->config.host;
	struct mf_memory_config mc = {.size = n->config.memory_size, .numa_node = -1, .dram = NET_DRAM};

	hc.node = (uint16_t)i;
	hc.nodes = (uint16_t)n->config.hosts;
	hc.compute = true;
	if (i >= n->config.hosts - n->config.memory_nodes) {
		n->memory[i] = mf_memory_flat.create(&mc);
		hc.memory_ops = &mf_memory_flat;
		hc.memory = n->memory[i];
	}
	n->host[i] = mf_host_new(&hc);
	n->up[i].slot = mf_table_new(SLOTS, sizeof(struct net_span));
	n->down[i].slot = mf_table_new(SLOTS, sizeof(struct net_span));
	return n->host[i] ? 0 : -1;
}

struct net *net_new(const struct net_config *c, const struct net_hooks *hooks)
{
	struct net *n = calloc(1, sizeof(*n));

	n->config = *c;
	n->hooks = *hooks;
	n->id_rest_min = MF_NEVER;
	for (unsigned int i = 0; i < c->hosts; i++) {
		for (unsigned int j = 0; j < c->hosts; j++)
			n->pair[i][j] = calloc(1, sizeof(struct net_pair));
		if (host_create(n, i)) {
			net_free(n);
			return NULL;
		}
	}
	return n;
}

void net_free(struct net *n)
{
	for (unsigned int i = 0; i < n->config.hosts; i++) {
		for (unsigned int j = 0; j < n->config.hosts; j++)
			free(n->pair[i][j]);
		mf_host_free(n->host[i]);
		mf_memory_flat.destroy(n->memory[i]);
		mf_table_free(n->up[i].slot);
		mf_table_free(n->down[i].slot);
	}
	free(n);
}

uint8_t *net_memory_at(struct net *n, unsigned int host, uint64_t addr, uint32_t len)
{
	const void *place = mf_memory_flat.at(n->memory[host], addr, len);

	return (uint8_t *)(uintptr_t)place;
}

/* ---- links ---- */

static struct net_span *link_put(struct net_link *l, mf_time at)
{
	struct net_span *s;

	if (l->head == l->tail) /* the first slots, which are in the cache, do for nearly all */
		l->head = l->tail = 0;
	s = &l->slot[l->tail++ % SLOTS];
	assert(l->tail - l->head <= SLOTS);
	s->at = at;
	s->span.count = 0;
	s->span.flags = 0;
	s->span.period = NET_PERIOD;
	return s;
}

static struct net_span *link_head(struct net_link *l, mf_time now)
{
	if (l->head == l->tail || l->slot[l->head % SLOTS].at > now)
		return NULL;
	return &l->slot[l->head % SLOTS];
}

static mf_time link_next(const struct net_link *l)
{
	return l->head == l->tail ? MF_NEVER : l->slot[l->head % SLOTS].at;
}

/** Sends words down: in spans that come with their first block, or block by block. */
static void send_down(struct net *n, unsigned int host, mf_time start, const uint64_t *word,
		      const uint8_t *sync, unsigned int count)
{
	unsigned int most = n->config.block_mode ? 1 : MF_SPAN_MAX;

	for (unsigned int i = 0; i < count;) {
		unsigned int k = count - i < most ? count - i : most;
		mf_time at = start + NET_LINK + (mf_time)i * NET_PERIOD;
		struct net_span *s = link_put(&n->down[host], at);

		s->span.start = at;
		for (; k > 0; k--, i++) {
			bool ctrl = i == 0 || i == count - 1;

			mf_span_put(&s->span, sync ? sync[i] : ctrl ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
		}
	}
}

void net_inject(struct net *n, unsigned int host, mf_time at, const uint64_t *word, const uint8_t *sync,
		unsigned int count)
{
	mf_time start = mf_time_max(at, n->free_at[host]);

	n->free_at[host] = start + (mf_time)count * NET_PERIOD;
	send_down(n, host, start, word, sync, count);
}

static void forward(struct net *n, unsigned int host, mf_time delay, const uint64_t *word, unsigned int count)
{
	net_inject(n, host, n->now + NET_SWITCH + delay, word, NULL, count);
}

/* ---- switch ---- */

static void id_begin(struct net *n, struct net_pair *p, uint8_t id, bool dropped)
{
	if (p->busy[id] && p->dropped[id]) {
		if (n->now - p->dropped[id] < n->id_rest_min)
			n->id_rest_min = n->now - p->dropped[id];
	} else if (p->busy[id]) {
		n->id_reuse++;
	}
	p->busy[id] = true;
	p->dropped[id] = dropped ? n->now : 0;
}

static void activate(struct net_pair *p, bool write)
{
	if (++p->active[write] > p->active_max[write])
		p->active_max[write] = p->active[write];
}

static void grant(struct net *n, unsigned int to, uint16_t dst, uint8_t id, bool resp, uint32_t size)
{
	struct mf_msg g = {.kind = MF_GRANT, .dst = dst, .id = id, .resp = resp, .size = size};
	uint64_t word = mf_proto_put_single(&g);

	if (!n->lose_grants)
		forward(n, to, 0, &word, 1);
}

/** Grants the rest of a demand, chunk by chunk. */
static void grant_all(struct net *n, unsigned int c, unsigned int m, struct net_demand *d)
{
	bool resp = d->m.kind != MF_NOTIFY;
	uint32_t chunk = n->config.host.chunk, size = d->m.kind == MF_RMWREQ ? 8 : d->m.size;

	while (d->granted < size) {
		uint32_t k = size - d->granted < chunk ? size - d->granted : chunk;

		grant(n, resp ? m : c, resp ? (uint16_t)c : (uint16_t)m, d->m.id, resp, k);
		d->granted += k;
	}
}

/** Serves demands of a pair in order: a write must have passed before what is behind it goes on. */
static void pair_serve(struct net *n, unsigned int c, unsigned int m)
{
	struct net_pair *p = n->pair[c][m];

	while (p->head != p->tail) {
		struct net_demand *d = &p->demand[p->head % NET_PAIR_DEMANDS];

		if (d->m.kind != MF_NOTIFY) {
			forward(n, m, 0, d->word, d->words);
			d->granted = n->config.host.chunk;
		}
		grant_all(n, c, m, d);
		if (d->m.kind == MF_NOTIFY)
			return;
		p->head++;
	}
}

static void demand_take(struct net *n, unsigned int c, const struct mf_msg *m, const uint64_t *word,
			unsigned int words, bool dropped)
{
	struct net_pair *p = n->pair[c][m->dst];
	struct net_demand *d;

	if (!m->mega)
		id_begin(n, p, m->id, dropped);
	if (dropped)
		return;
	d = &p->demand[p->tail++ % NET_PAIR_DEMANDS];
	assert(p->tail - p->head <= NET_PAIR_DEMANDS);
	*d = (struct net_demand){.m = *m, .words = words};
	memcpy(d->word, word, words * sizeof(*word));
	activate(p, m->kind == MF_NOTIFY);
	n->megas += m->mega;
	n->behind[m->behind]++;
	if (p->tail - p->head == 1)
		pair_serve(n, c, m->dst);
}

/** Octets of a write have passed, or will not come: the demand at the head of its pair goes on. */
static void write_advances(struct net *n, unsigned int c, unsigned int m, uint32_t octets)
{
	struct net_pair *p = n->pair[c][m];
	struct net_demand *d = &p->demand[p->head % NET_PAIR_DEMANDS];

	if (p->head == p->tail)
		return;
	d->passed += octets;
	if (d->passed < d->m.size)
		return;
	p->active[1]--;
	p->head++;
	pair_serve(n, c, m);
}

static void write_passes(struct net *n, unsigned int c, const struct mf_msg *m, unsigned int words)
{
	struct net_pair *p = n->pair[c][m->dst];

	if (m->last && m->kind == MF_WREQ)
		p->busy[m->id] = false;
	write_advances(n, c, m->dst, p->demand[p->head % NET_PAIR_DEMANDS].m.mega ? 8 * words : m->size);
}

static void response_passes(struct net *n, unsigned int from, const struct mf_msg *m)
{
	struct net_pair *p = n->pair[m->dst][from];

	if (m->kind == MF_RRES && m->last)
		p->active[0]--;
	if (m->kind != MF_RRES || m->last)
		p->busy[m->id] = false;
	n->acks += m->kind == MF_ACK;
	n->errors += m->kind == MF_ERR;
	if (m->kind == MF_ERR && m->of != MF_WREQ_ACK)
		p->active[0]--;
}

/** The pair's id of a message that will not arrive. */
static void id_lost(struct net *n, const struct mf_msg *m)
{
	bool back = m->kind == MF_RRES || m->kind == MF_ACK || m->kind == MF_ERR;
	struct net_pair *p = back ? n->pair[m->dst][m->src] : n->pair[m->src][m->dst];

	p->dropped[m->id] = n->now;
}

static void switch_message(struct net *n, unsigned int from, struct mf_msg *m, const uint64_t *word,
			   unsigned int words)
{
	mf_time delay;

	if (m->kind == MF_ERR && m->of == MF_NOTIFY)
		return; /* given up: this one refuses nothing that is beyond X */
	m->src = (uint16_t)from;
	delay = n->hooks.filter ? n->hooks.filter(n->hooks.ctx, m) : 0;
	if (m->kind == MF_NOTIFY || m->kind == MF_RREQ || m->kind == MF_RMWREQ) {
		demand_take(n, from, m, word, words, delay == NET_DROP);
		return;
	}
	if (m->kind == MF_GRET) {
		n->returns++;
		n->pair[m->resp ? m->dst : from][m->resp ? from : m->dst]->busy[m->id] = false;
		if (!m->resp)
			write_advances(n, from, m->dst, m->size);
		return;
	}
	if (delay == NET_DROP)
		id_lost(n, m);
	else
		forward(n, m->dst, delay, word, words);
	if (m->kind == MF_WREQ || m->kind == MF_WREQ_ACK)
		write_passes(n, from, m, words);
	else if (delay != NET_DROP)
		response_passes(n, from, m);
}

static void switch_block(struct net *n, unsigned int from, uint8_t sync, uint64_t word)
{
	const uint8_t *data;
	struct mf_msg m;
	int err;

	if (!n->in_message[from] && mf_block_type(word) != MF_BT_MS) {
		err = mf_proto_get_single(word, &m);
		assert(!err);
		switch_message(n, from, &m, &word, 1);
		return;
	}
	n->parts[from] = n->in_message[from] ? n->parts[from] : 0;
	n->in_message[from] = n->parts[from] == 0 || sync == MF_SYNC_DATA;
	n->part[from][n->parts[from]++] = word;
	if (n->in_message[from])
		return;
	err = mf_proto_get(&n->config.host.proto, n->part[from], n->parts[from], &m, &data);
	assert(!err && m.src == from);
	switch_message(n, from, &m, n->part[from], n->parts[from]);
}

/* ---- the loop ---- */

/** The switch sees a span when its last block is there: it acts on whole messages only. */
static bool host_send(struct net *n, unsigned int i)
{
	struct mf_span span;
	bool any = false;

	while (mf_host_tx(n->host[i], n->now, n->config.block_mode ? 1 : MF_SPAN_MAX, &span)) {
		mf_time last = mf_span_at(&span, span.count - 1) + NET_LINK;
		struct net_span *s = link_put(&n->up[i], last);

		s->span.start = span.start;
		s->span.flags = span.flags;
		s->span.count = span.count;
		memcpy(s->span.word, span.word, span.count * sizeof(*span.word));
		memcpy(s->span.sync, span.sync, span.count);
		any = true;
	}
	return any;
}

static void host_poll(struct net *n, unsigned int i)
{
	struct mf_completion c[8];
	unsigned int k;

	host_send(n, i);
	mf_host_run(n->host[i], n->now);
	while ((k = mf_host_completions(n->host[i], n->now, c, 8)) > 0)
		for (unsigned int j = 0; j < k; j++)
			n->hooks.completed(n->hooks.ctx, i, &c[j]);
}

static void deliver(struct net *n)
{
	struct net_span *s;

	for (unsigned int i = 0; i < n->config.hosts; i++) {
		while ((s = link_head(&n->up[i], n->now))) {
			n->up[i].head++;
			for (unsigned int b = 0; b < s->span.count; b++)
				switch_block(n, i, s->span.sync[b], s->span.word[b]);
		}
		while ((s = link_head(&n->down[i], n->now))) {
			n->down[i].head++;
			mf_host_rx(n->host[i], n->now, &s->span);
		}
	}
}

static mf_time net_next(struct net *n, mf_time client)
{
	mf_time t = client;

	for (unsigned int i = 0; i < n->config.hosts; i++) {
		t = mf_time_min(t, n->next[i]);
		t = mf_time_min(t, mf_time_min(link_next(&n->up[i]), link_next(&n->down[i])));
	}
	return t;
}

void net_run(struct net *n, mf_time until)
{
	mf_time client = n->now;

	for (;;) {
		deliver(n);
		for (unsigned int i = 0; i < n->config.hosts; i++)
			host_poll(n, i);
		if (n->hooks.client)
			client = n->hooks.client(n->hooks.ctx, n->now);
		else
			client = MF_NEVER;
		for (unsigned int i = 0; i < n->config.hosts; i++) {
			host_send(n, i);
			n->next[i] = mf_time_max(n->now, mf_time_min(mf_host_run(n->host[i], n->now),
								     mf_host_tx_next(n->host[i], n->now)));
		}
		client = net_next(n, client);
		if (client == MF_NEVER || client > until)
			return;
		assert(client >= n->now);
		n->now = client;
	}
}
