/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "systems/edm/host/keys.h"

#include "memory/mf_region.h"
#include "systems/edm/host/completions.h"
#include "systems/edm/host/once.h"
#include "systems/edm/proto/mf_proto_inline.h"

/** Of a destination. */
struct attach {
	uint32_t region;
	uint8_t right;
	bool asked; /**< it is under way */
	bool again; /**< who was asked is gone */
};

struct host_keys {
	uint32_t *first; /**< [nodes + 1]: of a node's regions in config.region */
	uint64_t (*key)[MF_RIGHTS]; /**< 0: it has none */
	struct attach *attach; /**< [nodes] */
};

int host_keys_init(struct mf_host *h)
{
	const struct mf_host_config *c = &h->config;
	struct host_keys *k;
	uint32_t i = 0;

	h->attach_op = c->queue;
	if (c->regions == 0)
		return 0;
	h->keys = k = calloc(1, sizeof(*k));
	if (k == NULL)
		return -ENOMEM;
	k->first = calloc(c->nodes + 1u, sizeof(*k->first));
	k->key = calloc(c->regions, sizeof(*k->key));
	k->attach = calloc(c->nodes, sizeof(*k->attach));
	if (k->first == NULL || k->key == NULL || k->attach == NULL)
		return -ENOMEM;
	for (unsigned int node = 0; node <= c->nodes; node++) {
		while (i < c->regions && c->region[i].node < node)
			i++;
		k->first[node] = i;
	}
	return 0;
}

void host_keys_fini(struct mf_host *h)
{
	if (h->keys == NULL)
		return;
	free(h->keys->first);
	free(h->keys->key);
	free(h->keys->attach);
	free(h->keys);
}

static enum mf_right right_of(uint8_t kind)
{
	static const uint8_t right[MF_OPS] = {
		[MF_OP_READ] = MF_RIGHT_READ,       [MF_OP_WRITE] = MF_RIGHT_WRITE,
		[MF_OP_WRITE_ACK] = MF_RIGHT_WRITE, [MF_OP_RMW] = MF_RIGHT_RMW,
		[MF_OP_CALL] = MF_RIGHT_READ, /* no region is called */
	};

	return right[kind];
}

/** The region of a node that has an address, HOST_NIL: none. */
static uint32_t region_at(const struct mf_host *h, uint16_t node, uint64_t addr)
{
	uint32_t from = h->keys->first[node], to = h->keys->first[node + 1];

	while (from < to) {
		uint32_t middle = (from + to) / 2;
		const struct mf_host_region *r = &h->config.region[middle];

		if (addr < r->at)
			to = middle;
		else if (addr - r->at >= r->size)
			from = middle + 1;
		else
			return middle;
	}
	return HOST_NIL;
}

/** Whether an operation is for memory that has keys; of regions themselves anybody may ask. */
static bool needs_key(const struct mf_host *h, uint16_t node, const struct host_op *o)
{
	if (o->c.kind >= MF_OP_RMW && o->rmw >= MF_RMW_OPS)
		return false;
	return h->keys->first[node] != h->keys->first[node + 1];
}

bool host_key_at_hand(const struct mf_host *h, uint16_t node, struct host_op *o)
{
	uint32_t region;

	if (o->key != 0 || !needs_key(h, node, o))
		return true;
	region = region_at(h, node, o->addr);
	if (region != HOST_NIL)
		o->key = h->keys->key[region][right_of(o->c.kind)];
	return o->key != 0;
}

/** The first operation of a destination will not begin. */
static void fail_head(struct mf_host *h, uint16_t node, uint8_t status, mf_time date)
{
	struct host_peer *p = &h->peer[node];
	uint32_t i = p->head;
	struct host_op *o = &h->op[i];

	host_queue_pop(h, p);
	o->issued = o->c.len;
	if (o->c.status == MF_OK)
		o->c.status = status;
	if (o->live == 0)
		host_op_complete(h, i, date);
}

/** Asks for a key. @return false: there is no room */
static bool attach_start(struct mf_host *h, uint16_t node, uint64_t addr, mf_time at)
{
	struct attach *a = &h->keys->attach[node];
	uint32_t i = h->attach_op + node;
	struct host_op *o = &h->op[i];
	struct mf_msg m = {.kind = MF_RMWREQ,
			   .src = h->shell.node,
			   .dst = node,
			   .op = MF_RMW_ATTACH,
			   .addr = addr,
			   .ext = true,
			   .arg = {a->right}};
	struct host_state *s;
	uint64_t *word;

	word = mf_mux_put(h->shell.mux, host_request_ready(h, at), host_tie(h, HOST_TIE_REQUEST, node),
			  mf_proto_blocks(&h->config.proto, &m), 0);
	if (word == NULL)
		return false;
	*o = (struct host_op){
		.c = {.kind = MF_OP_RMW, .node = node, .len = 8, .submitted = at, .first = MF_NEVER},
		.addr = addr,
		.issued = 8,
		.live = 1,
		.arg = {a->right},
		.rmw = MF_RMW_ATTACH};
	s = host_state_new(h, node, MF_OP_RMW);
	s->op = i;
	s->piece = 0;
	s->size = 8;
	s->event_at = at;
	host_op_timer_start(h, i, at);
	if (h->config.retries > 0)
		host_timer_start(h, s, HOST_TIMER_RETRY, at);
	host_slot_hold(h, s);
	m.id = s->id;
	host_once_sign(h, s, &m);
	mf_proto_make_request(&h->config.proto, &m, word);
	h->stats.tx[m.kind]++;
	h->stats.attaches++;
	a->asked = true;
	a->again = false;
	return true;
}

enum host_key_state host_key_for(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	struct attach *a = &h->keys->attach[node];

	if (host_key_at_hand(h, node, o))
		return HOST_KEY_THERE;
	/* Whatever ends begins what waits: so does the attach, and a read that has the last place. */
	if (a->asked || h->peer[node].active[0] >= h->config.x)
		return HOST_KEY_WAITS;
	a->region = region_at(h, node, o->addr); /* where there is none the node says so */
	a->right = (uint8_t)right_of(o->c.kind);
	o->asks = attach_start(h, node, o->addr, at);
	return o->asks ? HOST_KEY_WAITS : HOST_KEY_NO_ROOM;
}

/** What the operation that waited for the key is told. */
static uint8_t told(const struct mf_host *h, uint16_t node, uint8_t status)
{
	uint8_t kind = h->op[h->peer[node].head].c.kind;

	if (status == MF_ERR_UNKNOWN && kind == MF_OP_READ)
		return MF_ERR_TIMEOUT;
	return status;
}

void host_key_answered(struct mf_host *h, const struct host_state *s)
{
	struct attach *a = &h->keys->attach[s->node];
	uint32_t head = h->peer[s->node].head;

	a->asked = false;
	if (a->again)
		return;
	if (s->status == MF_OK && a->region != HOST_NIL)
		h->keys->key[a->region][a->right] = h->op[s->op].c.result;
	if (head == HOST_NIL || !h->op[head].asks) /* who asked has waited for too long */
		return;
	h->op[head].asks = false;
	if (s->status == MF_OK)
		h->op[head].key = h->op[s->op].c.result;
	else
		fail_head(h, s->node, told(h, s->node, s->status), s->event_at);
}

void host_key_epoch(struct mf_host *h, const struct host_state *s)
{
	uint32_t region = region_at(h, s->node, h->op[s->op].addr);

	if (region != HOST_NIL)
		memset(h->keys->key[region], 0, sizeof(h->keys->key[region]));
}

void host_keys_forget(struct mf_host *h, uint16_t node)
{
	uint32_t from, to;

	if (!h->keys)
		return;
	from = h->keys->first[node];
	to = h->keys->first[node + 1];
	memset(h->keys->key + from, 0, (to - from) * sizeof(*h->keys->key));
	h->keys->attach[node].again = h->keys->attach[node].asked;
	if (h->peer[node].head != HOST_NIL)
		h->op[h->peer[node].head].key = 0;
}
