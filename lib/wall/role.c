/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_branch_prediction.h>

#include "base/mf_cycles.h"
#include "record/mf_record.h"
#include "wall/mf_wall_role.h"
#include "wall/ports/mf_port.h"

#define ASK_PERIOD MF_US(10) /**< between looks of a node whether it knows an epoch: then its client begins */

const char *role_name(const struct role *r)
{
	switch (r->kind) {
	case ROLE_SWITCH:
		return mf_config_switch_name(r->f->config, r->index);
	case ROLE_SCHED:
		return mf_config_sched_name(r->f->config, r->index);
	case ROLE_PORT:
		return r->carrier->config->name;
	case ROLE_SLOW:
		return r->f->node[r->index].slow_name;
	default:
		return r->f->config->node[r->index].name;
	}
}

static const struct mf_channel *channel_of(const struct role *r)
{
	switch (r->kind) {
	case ROLE_SWITCH:
		return mf_sw_channel(r->sw);
	case ROLE_SCHED:
		return mf_scheduler_channel(r->sched);
	case ROLE_SLOW:
		return mf_slow_path_role.channel;
	default:
		return r->f->node[r->index].slow != NULL ? &mf_slow_path_node_channel : NULL;
	}
}

static enum role_kind node_kind(const struct mf_fabric *f, unsigned int i)
{
	if (f->config->backup.on)
		return ROLE_REDUNDANT;
	return f->graph->role[i].ends > 1 ? ROLE_ENDS : ROLE_NODE;
}

unsigned int role_all(struct mf_fabric *f, struct role *out)
{
	uint8_t links = fabric_whole(f) ? 3 : 0; /* of a process they come up one by one */
	unsigned int n = 0;

	for (unsigned int k = 0; k < f->graph->switches; k++) {
		if (!fabric_plays_switch(f, k))
			continue;
		if (mf_config_sched_name(f->config, k) != NULL)
			out[n++] = (struct role){
				.kind = ROLE_SCHED, .index = k, .f = f, .sched = f->sw[k].sched};
		out[n++] = (struct role){.kind = ROLE_SWITCH, .index = k, .f = f, .sw = f->sw[k].sw};
	}
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		out[n++] = (struct role){
			.kind = node_kind(f, i), .index = i, .f = f, .links = links, .host = f->node[i].host};
		if (f->node[i].slow != NULL)
			out[n++] =
				(struct role){.kind = ROLE_SLOW, .index = i, .f = f, .slow = f->node[i].slow};
	}
	for (unsigned int i = 0; i < n; i++) {
		struct role *r = &out[i];

		r->channel = channel_of(r);
		if (r->kind != ROLE_SLOW)
			r->first_end =
				f->graph->role[role_is_node(r) ? r->index : f->nodes + r->index].first_end;
	}
	return n;
}

/* Out of line: who records nothing makes no room on its stack for what is packed. */

static __rte_noinline __rte_cold void record_span(const struct role *r, enum record_call call,
						  unsigned int port, mf_time now, const struct mf_span *span)
{
	uint8_t packed[RECORD_SPAN_MAX];

	record_call(r->record, call, port, now, packed, record_pack_span(span, packed));
}

/** Each by itself: so a replay gives them, too. */
static __rte_noinline __rte_cold void record_give(const struct role *r, mf_time now, const void *items,
						  unsigned int n)
{
	const struct mf_item *item = r->channel->in;

	for (unsigned int i = 0; i < n; i++)
		record_items(r->record, RECORD_GIVE, ROLE_CHANNEL, 0, now, item,
			     (const uint8_t *)items + i * (size_t)item->size, 1);
}

static __rte_noinline __rte_cold void record_take(const struct role *r, unsigned int max, mf_time now,
						  const void *items, unsigned int n)
{
	record_items(r->record, RECORD_TAKE, ROLE_CHANNEL, max, now, r->channel->out, items, n);
}

/* inline: programs are compiled as a whole, and these are what every span asks. */

inline bool role_can_rx(const struct role *r, unsigned int port)
{
	if (r->kind == ROLE_SWITCH)
		return mf_sw_can_rx(r->sw);
	if (unlikely(r->kind != ROLE_NODE)) {
		if (r->kind == ROLE_PORT)
			return port_can_put(r->carrier, port);
		if (r->kind == ROLE_REDUNDANT && !(r->links & 1u << port))
			return false;
	}
	return mf_node_can_rx(r->host);
}

inline void role_rx(struct role *r, unsigned int port, mf_time now, const struct mf_span *span)
{
	MF_CYCLES(r->kind == ROLE_SWITCH ? MF_CYCLES_SWITCH_RX : MF_CYCLES_HOST_RX);

	r->given = true;
	if (unlikely(r->record != NULL))
		record_span(r, RECORD_RX, port, now, span);
	if (r->kind == ROLE_SWITCH)
		mf_sw_rx(r->sw, port, now, span);
	else if (likely(r->kind == ROLE_NODE))
		mf_node_rx(r->host, now, span);
	else if (role_is_node(r))
		mf_node_rx_by(r->host, port, now, span);
	else
		port_put(r->carrier, port, span);
}

void role_run(struct role *r, mf_time now)
{
	MF_CYCLES(r->kind == ROLE_SWITCH ? MF_CYCLES_SWITCH_RUN : MF_CYCLES_NODE_RUN);

	r->given = false;
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_RUN, 0, now, NULL, 0);
	if (r->kind == ROLE_SWITCH)
		r->next = mf_sw_run(r->sw, now);
	else if (unlikely(r->kind == ROLE_REDUNDANT) && !mf_node_has_primary(r->host))
		r->next = mf_time_min(mf_below_run(&r->f->node[r->index].below, now), now + ASK_PERIOD);
	else
		r->next = node_run(&r->f->node[r->index], now);
}

/** Nothing is recorded, too: finding nothing resets the credits of a fair multiplexer. */
static __rte_noinline __rte_cold void record_sent(const struct role *r, unsigned int most, unsigned int port,
						  mf_time now, const struct mf_span *span)
{
	uint8_t packed[RECORD_SPAN_MAX];

	record_tx(r->record, most < MF_SPAN_MAX ? most : 0, port, now, packed,
		  span != NULL ? record_pack_span(span, packed) : 0);
}

unsigned int role_tx(struct role *r, unsigned int port, mf_time now, unsigned int most, struct mf_span *out)
{
	MF_CYCLES(r->kind == ROLE_SWITCH ? MF_CYCLES_SWITCH_TX : MF_CYCLES_HOST_TX);
	unsigned int n;

	if (r->kind == ROLE_SWITCH)
		n = mf_sw_tx(r->sw, port, now, most, out);
	else if (r->kind == ROLE_ENDS)
		n = mf_node_tx_by(r->host, port, now, most, out);
	else
		n = mf_node_tx(r->host, now, most, out);
	if (unlikely(r->record != NULL))
		record_sent(r, most, port, now, n > 0 ? out : NULL);
	return n;
}

__rte_always_inline struct mf_span *role_tx_in_place(struct role *r, unsigned int port, mf_time now,
						     struct mf_span *room)
{
	MF_CYCLES(r->kind == ROLE_SWITCH ? MF_CYCLES_SWITCH_TX : MF_CYCLES_HOST_TX);
	struct mf_span *s;

	if (r->kind == ROLE_SWITCH)
		s = mf_sw_tx_in_place(r->sw, port, now, room);
	else if (likely(r->kind <= ROLE_REDUNDANT))
		s = mf_node_tx_in_place(r->host, now, room);
	else if (r->kind == ROLE_ENDS)
		s = mf_node_tx_in_place_by(r->host, port, now, room);
	else
		return port_take(r->carrier, port, now);
	if (unlikely(r->record != NULL))
		record_sent(r, MF_SPAN_MAX, port, now, s);
	return s;
}

void role_short_spans(struct role *r, unsigned int port)
{
	if (r->record != NULL)
		record_call(r->record, RECORD_SHORT_SPANS, port, 0, NULL, 0);
	if (r->kind == ROLE_SWITCH)
		mf_sw_short_spans(r->sw, port);
	else
		mf_mux_short_spans(mf_node_mux(r->host, r->kind == ROLE_ENDS ? port : 0));
}

inline bool role_tx_waits(const struct role *r, unsigned int port)
{
	if (r->kind == ROLE_SWITCH)
		return mf_sw_tx_waits(r->sw, port);
	if (unlikely(r->kind == ROLE_PORT))
		return port_waits(r->carrier, port);
	if (unlikely(r->kind == ROLE_ENDS))
		return mf_mux_waits(mf_node_mux(r->host, port));
	return mf_node_tx_waits(r->host);
}

void role_link_lost(struct role *r, unsigned int port, mf_time now)
{
	r->given = true;
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_LINK_LOST, port, now, NULL, 0);
	if (r->kind == ROLE_SWITCH) {
		mf_sw_link_down(r->sw, port, now);
		return;
	}
	if (r->kind == ROLE_REDUNDANT)
		r->links &= (uint8_t) ~(1u << port);
	mf_node_link_down(r->host, r->kind == ROLE_NODE ? 0 : port, now);
}

bool role_link_back(struct role *r, unsigned int port, mf_time now)
{
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_LINK_BACK, port, now, NULL, 0);
	if (r->kind == ROLE_SWITCH)
		return mf_sw_link_up(r->sw, port, now);
	r->given = true;
	if (r->kind == ROLE_REDUNDANT)
		r->links |= (uint8_t)(1u << port);
	mf_node_link_up(r->host, r->kind == ROLE_NODE ? 0 : port, now);
	return true;
}

void role_bear(struct role *r, unsigned int port, mf_time by, mf_time now)
{
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_BEAR, port, now, &by, sizeof(by));
	mf_sw_bear(r->sw, port, by);
}

void role_route(struct role *r, const struct role_route *route, mf_time now)
{
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_ROUTE, 0, now, route, sizeof(*route));
	mf_routes_link(r->f->sw[r->index].routes, route->link, route->up != 0);
}

int role_crash(struct role *r, mf_time now)
{
	r->given = true;
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_CRASH, 0, now, NULL, 0);
	if (r->kind != ROLE_SWITCH) {
		r->links = 0;
		return node_crash(r->f, r->index, now);
	}
	mf_sw_crash(r->sw, now);
	return 0;
}

const struct mf_role_ops *role_ops(const struct role *r)
{
	switch (r->kind) {
	case ROLE_SWITCH:
		return mf_sw_role(r->sw);
	case ROLE_SCHED:
		return mf_scheduler_role(r->sched);
	case ROLE_PORT:
		return NULL;
	case ROLE_SLOW:
		return &mf_slow_path_role;
	default:
		return mf_node_role(r->host);
	}
}

const struct mf_pool_desc *role_pools(const struct role *r)
{
	if (r->kind == ROLE_SWITCH)
		return mf_sw_pools(r->sw);
	return role_is_node(r) ? mf_node_pools(r->host) : NULL;
}

void role_exhaust(struct role *r, unsigned int pool, unsigned int port, bool on, mf_time now)
{
	r->given = true;
	if (unlikely(r->record != NULL))
		record_pool(r->record, on ? RECORD_TAKE_AWAY : RECORD_GIVE_BACK, pool, port, now);
	if (r->kind == ROLE_SWITCH)
		mf_sw_exhaust(r->sw, pool, port, on);
	else
		mf_node_exhaust(r->host, pool, on);
}

/* Channels */

static inline void give_switch(struct role *r, mf_time now, const void *items, unsigned int n)
{
	MF_CYCLES(MF_CYCLES_SWITCH_GRANT);

	if (unlikely(r->record != NULL))
		record_give(r, now, items, n);
	mf_sw_give(r->sw, now, items, n);
}

static inline void give_sched(struct role *r, mf_time now, void *items, unsigned int n)
{
	MF_CYCLES(MF_CYCLES_SCHED_INPUT);

	mf_item_date(r->channel->in, items, n, now);
	if (unlikely(r->record != NULL))
		record_give(r, now, items, n);
	mf_scheduler_give_all(r->sched, items, n);
}

/** To the slow path of a node, or from it: both go by when they hear of it. */
static __rte_noinline void give_paths(struct role *r, mf_time now, void *items, unsigned int n)
{
	const struct mf_vm_item *item = items;

	mf_item_date(r->channel->in, items, n, now);
	if (unlikely(r->record != NULL))
		record_give(r, now, items, n);
	if (r->kind == ROLE_SLOW) {
		mf_slow_path_give(r->slow, item, n);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		mf_vm_take(r->f->node[r->index].fast, &item[i]);
}

inline void role_give(struct role *r, mf_time now, void *items, unsigned int n)
{
	if (n == 0)
		return;
	if (r->kind == ROLE_SWITCH)
		give_switch(r, now, items, n);
	else if (likely(r->kind == ROLE_SCHED))
		give_sched(r, now, items, n);
	else
		give_paths(r, now, items, n);
}

bool role_may_come(const struct role *r, const void *item)
{
	if (r->kind == ROLE_SWITCH)
		return mf_sw_possible(r->sw, item);
	if (r->kind == ROLE_SCHED)
		return true;
	return r->kind == ROLE_SLOW ? mf_slow_path_may_come(r->slow, item)
				    : mf_vm_may_take(r->f->node[r->index].fast, item);
}

static inline unsigned int take_switch(struct role *r, mf_time now, void *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_SWITCH_TELL);
	unsigned int n = mf_sw_take(r->sw, out, max);

	if (n > 0 && unlikely(r->record != NULL))
		record_take(r, max, now, out, n);
	return n;
}

static inline unsigned int take_sched(struct role *r, mf_time now, void *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_SCHED_MATCH);
	unsigned int n = mf_scheduler_run(r->sched, now, out, max);

	if (unlikely(r->record != NULL))
		record_take(r, max, now, out, n);
	return n;
}

/** What the slow path does it does when it is asked: it is recorded whether it gives something or not. */
static __rte_noinline unsigned int take_paths(struct role *r, mf_time now, void *out, unsigned int max)
{
	struct mf_vm_item *item = out;
	unsigned int n = 0;

	if (r->kind == ROLE_SLOW)
		n = mf_slow_path_take(r->slow, now, item, max);
	else
		while (n < max && mf_vm_queue_take(mf_vm_out(r->f->node[r->index].fast), &item[n]))
			n++;
	if (unlikely(r->record != NULL) && (n > 0 || r->kind == ROLE_SLOW))
		record_take(r, max, now, out, n);
	return n;
}

inline unsigned int role_take(struct role *r, mf_time now, void *out, unsigned int max)
{
	if (r->kind == ROLE_SWITCH)
		return take_switch(r, now, out, max);
	return likely(r->kind == ROLE_SCHED) ? take_sched(r, now, out, max) : take_paths(r, now, out, max);
}

inline void *role_peek(struct role *r, mf_time now, unsigned int *n)
{
	MF_CYCLES(MF_CYCLES_SWITCH_TELL);
	void *items = mf_sw_peek(r->sw, n);

	if (likely(r->record == NULL)) {
		if (*n > RECORD_ITEMS_MAX)
			*n = RECORD_ITEMS_MAX;
	} else if (*n > 0) {
		*n = 1; /* as it is now: the scheduler dates it anew */
		record_take(r, 1, now, items, 1);
	}
	return items;
}

inline void role_advance(struct role *r, unsigned int n)
{
	mf_sw_advance(r->sw, n);
}

/** One item, as a replay does it: it is given, then the answers are taken. */
static __rte_noinline __rte_cold unsigned int exchange_one(struct role *r, mf_time now, const void *item,
							   unsigned int *given, void *out, unsigned int max)
{
	unsigned int n;

	record_give(r, now, item, 1);
	n = mf_scheduler_exchange(r->sched, now, item, 1, given, out, max);
	record_take(r, max, now, out, n);
	return n;
}

inline unsigned int role_exchange(struct role *r, mf_time now, void *items, unsigned int n,
				  unsigned int *given, void *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_SCHED_MATCH);

	mf_item_date(r->channel->in, items, n, now);
	if (unlikely(r->record != NULL)) {
		assert(n == 1); /* that is recorded, of what role_peek() gave */
		return exchange_one(r, now, items, given, out, max);
	}
	return mf_scheduler_exchange(r->sched, now, items, n, given, out, max);
}
