/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

uint64_t client_random(uint64_t *rng)
{
	uint64_t z = (*rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct clients *clients_new(const struct client_config *c)
{
	struct clients *cs = calloc(1, sizeof(*cs));

	assert(c->ops <= CLIENT_OPS_MAX && c->depth <= CLIENT_DEPTH_MAX);
	cs->config = *c;
	return cs;
}

static void client_start(struct clients *cs, unsigned int i)
{
	struct client *c = &cs->client[i];

	c->rng = cs->config.seed * 1000 + i;
	cs->fault_rng[i] = cs->config.seed * 2000 + i;
	c->log = calloc(cs->config.ops, sizeof(*c->log));
	for (unsigned int s = 0; s < cs->config.depth; s++)
		c->slot[s].expected = malloc(cs->config.size_max + 8);
	for (unsigned int s = 0; s < cs->config.depth; s++)
		c->slot[s].op.buf = malloc(cs->config.size_max + 8);
	for (unsigned int m = 0; m < cs->net->config.hosts; m++)
		c->shadow[m] = calloc(1, cs->region);
}

void clients_start(struct clients *cs, struct net *n)
{
	cs->net = n;
	cs->region = n->config.memory_size / n->config.hosts / 8 * 8;
	assert(cs->region > cs->config.size_max);
	for (unsigned int i = 0; i < n->config.hosts; i++)
		client_start(cs, i);
}

void clients_free(struct clients *cs)
{
	for (unsigned int i = 0; i < cs->net->config.hosts; i++) {
		struct client *c = &cs->client[i];

		for (unsigned int s = 0; s < cs->config.depth; s++) {
			free(c->slot[s].expected);
			free(c->slot[s].op.buf);
		}
		for (unsigned int m = 0; m < cs->net->config.hosts; m++)
			free(c->shadow[m]);
		free(c->log);
	}
	free(cs);
}

bool clients_done(const struct clients *cs)
{
	for (unsigned int i = 0; i < cs->net->config.hosts; i++)
		if (cs->client[i].done < cs->config.ops)
			return false;
	return true;
}

static bool same(const struct mf_completion *a, const struct mf_completion *b)
{
	return a->user == b->user && a->result == b->result && a->len == b->len &&
	       a->submitted == b->submitted && a->first == b->first && a->done == b->done &&
	       a->kind == b->kind && a->status == b->status && a->node == b->node;
}

bool clients_same(const struct clients *a, const struct clients *b, unsigned int *host, unsigned int *index)
{
	for (*host = 0; *host < a->net->config.hosts; ++*host) {
		const struct client *x = &a->client[*host], *y = &b->client[*host];

		for (*index = 0; *index < x->done; ++*index)
			if (x->done != y->done || !same(&x->log[*index], &y->log[*index]))
				return false;
	}
	return true;
}

static uint8_t draw_kind(struct clients *cs, struct client *c)
{
	unsigned int sum = 0, x, kind = 0;

	for (unsigned int k = 0; k < MF_OPS; k++)
		sum += cs->config.weight[k];
	x = (unsigned int)(client_random(&c->rng) % sum);
	while (x >= cs->config.weight[kind])
		x -= cs->config.weight[kind++];
	return (uint8_t)kind;
}

static uint32_t draw_size(struct clients *cs, struct client *c)
{
	uint64_t x = client_random(&c->rng), cap = cs->config.size_max, sort = x % 10;
	uint64_t most = sort < 6 ? 300 : sort < 9 ? 9000 : cap;

	return (uint32_t)(1 + (x >> 8) % (most < cap ? most : cap));
}

/** Other nodes only; a host that is alone with its memory does nothing. */
static int draw_node(struct clients *cs, struct client *c, unsigned int self)
{
	unsigned int nodes = cs->net->config.memory_nodes, first = cs->net->config.hosts - nodes;
	unsigned int m = first + (unsigned int)(client_random(&c->rng) % nodes);

	if (m == self)
		m = first + (m - first + 1) % nodes;
	return m == self ? -1 : (int)m;
}

static bool draw(struct clients *cs, unsigned int self)
{
	struct client *c = &cs->client[self];
	int node = draw_node(cs, c, self);
	uint64_t x;

	if (node < 0)
		return false;
	c->op = (struct mf_op){.kind = draw_kind(cs, c), .node = (uint16_t)node};
	x = client_random(&c->rng);
	if (c->op.kind == MF_OP_RMW) {
		c->op.rmw = (uint8_t)(x % MF_RMW_OPS);
		c->op.addr = x / 8 % (cs->region / 8 / 16) * 8;
		c->op.arg[0] = client_random(&c->rng);
		c->op.arg[1] = client_random(&c->rng);
	} else {
		c->op.len = draw_size(cs, c);
		c->op.addr = x % (cs->region - c->op.len + 1);
	}
	c->drawn = true;
	return true;
}

static void shadow_rmw(struct client_slot *s, uint8_t *place)
{
	const uint64_t *arg = s->op.arg;
	uint64_t new;

	memcpy(&s->old, place, 8);
	new = s->op.rmw == MF_RMW_CAS    ? (s->old == arg[0] ? arg[1] : s->old)
	      : s->op.rmw == MF_RMW_FADD ? s->old + arg[0]
	      : s->op.rmw == MF_RMW_SWAP ? arg[0]
	      : s->op.rmw == MF_RMW_FOR  ? s->old | arg[0]
					 : s->old &arg[0];
	memcpy(place, &new, 8);
}

static void fill(struct client *c, uint8_t *buf, uint64_t len)
{
	for (uint64_t i = 0; i < len; i += 8) {
		uint64_t x = client_random(&c->rng);

		memcpy(buf + i, &x, 8);
	}
}

/** Half of the compare-and-swaps hit. */
static void prepare(struct clients *cs, struct client *c, struct client_slot *s)
{
	void *buf = s->op.buf;

	s->op = c->op;
	s->op.buf = buf;
	if (s->op.kind == MF_OP_RMW && s->op.arg[1] & 1)
		memcpy(&s->op.arg[0], c->shadow[s->op.node] + s->op.addr, 8);
	if (s->op.kind == MF_OP_WRITE || s->op.kind == MF_OP_WRITE_ACK)
		fill(c, buf, s->op.len);
	else
		memset(buf, 0xa5, cs->config.size_max);
	s->op.user = (uint64_t)(s - c->slot) << 32 | c->issued;
}

static void expect(struct client *c, struct client_slot *s)
{
	uint8_t *place = c->shadow[s->op.node] + s->op.addr;

	if (s->op.kind == MF_OP_RMW)
		shadow_rmw(s, place);
	else if (s->op.kind == MF_OP_READ)
		memcpy(s->expected, place, s->op.len);
	else
		memcpy(place, s->op.buf, s->op.len);
	s->used = true;
}

static bool submit(struct clients *cs, unsigned int self, struct client_slot *s, mf_time now)
{
	struct client *c = &cs->client[self];
	uint64_t rng = c->rng, addr;
	int err;

	prepare(cs, c, s);
	addr = s->op.addr;
	s->op.addr += self * cs->region;
	err = mf_host_submit(cs->net->host[self], now, &s->op);
	s->op.addr = addr;
	if (err == -EAGAIN) {
		c->rng = rng;
		c->again++;
		return false;
	}
	assert(!err);
	expect(c, s);
	c->issued++;
	c->drawn = false;
	if (cs->config.think)
		c->next = now + client_random(&c->rng) % cs->config.think / NET_PERIOD * NET_PERIOD;
	return true;
}

static struct client_slot *free_slot(struct clients *cs, struct client *c)
{
	for (unsigned int s = 0; s < cs->config.depth; s++)
		if (!c->slot[s].used)
			return &c->slot[s];
	return NULL;
}

/** @return when it wants to go on by itself */
static mf_time client_poll(struct clients *cs, unsigned int self, mf_time now)
{
	struct client *c = &cs->client[self];
	struct client_slot *s;

	while (c->issued < cs->config.ops && (s = free_slot(cs, c))) {
		if (c->next > now)
			return c->next;
		if (!c->drawn && !draw(cs, self)) {
			c->issued = c->done = cs->config.ops;
			break;
		}
		if (!submit(cs, self, s, now))
			break;
	}
	return MF_NEVER;
}

static mf_time poll(void *ctx, mf_time now)
{
	struct clients *cs = ctx;
	mf_time next = MF_NEVER;

	for (unsigned int i = 0; i < cs->net->config.hosts; i++)
		next = mf_time_min(next, client_poll(cs, i, now));
	return next;
}

static bool result_right(const struct clients *cs, const struct client_slot *s, const struct mf_completion *c)
{
	uint64_t len = s->op.kind == MF_OP_RMW ? 8 : s->op.len;

	if (c->done < c->first || c->first < c->submitted || c->done > cs->net->now)
		return false;
	if (c->status != MF_OK)
		return cs->config.may_fail && c->len == 0 && c->result == 0;
	if (c->len != len)
		return false;
	if (cs->config.may_fail)
		return true;
	if (s->op.kind == MF_OP_RMW)
		return c->result == s->old;
	return s->op.kind != MF_OP_READ || memcmp(s->op.buf, s->expected, s->op.len) == 0;
}

static void completed(void *ctx, unsigned int host, const struct mf_completion *c)
{
	struct clients *cs = ctx;
	struct client *cl = &cs->client[host];
	struct client_slot *s = &cl->slot[c->user >> 32];

	if (!s->used || c->kind != s->op.kind || c->node != s->op.node || !result_right(cs, s, c))
		cs->mismatches++;
	s->used = false;
	cl->failed[c->status]++;
	cl->log[cl->done++] = *c;
}

static mf_time filter(void *ctx, const struct mf_msg *m)
{
	struct clients *cs = ctx;
	uint64_t x = client_random(&cs->fault_rng[m->src]) % 1000;

	if (x >= cs->config.lost + cs->config.late)
		return 0;
	cs->faults++;
	return x < cs->config.lost ? NET_DROP : cs->config.lateness;
}

struct net_hooks clients_hooks(struct clients *cs)
{
	return (struct net_hooks){.ctx = cs, .filter = filter, .completed = completed, .client = poll};
}
