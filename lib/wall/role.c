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
		return mf_config_switch_name(r->f->config, r->net);
	case ROLE_SCHED:
		return mf_config_sched_name(r->net);
	case ROLE_PORT:
		return r->carrier->config->name;
	default:
		return r->f->config->node[r->index].name;
	}
}

static const struct role_channel of_switch = {.in = &mf_sched_grant_item, .out = &mf_sched_msg_item};
static const struct role_channel of_sched = {.in = &mf_sched_msg_item, .out = &mf_sched_grant_item};
/* Of other stacks: the switch tells it nothing, and nothing is granted. It is asked all the same. */
static const struct role_channel of_idle_sched = {.out = &mf_sched_grant_item};

static const struct role_channel *channel_of(const struct role *r)
{
	bool frames = r->f->config->stack_ops != NULL;

	switch (r->kind) {
	case ROLE_SWITCH:
		return frames ? NULL : &of_switch;
	case ROLE_SCHED:
		return frames ? &of_idle_sched : &of_sched;
	default:
		return NULL;
	}
}

unsigned int role_all(struct mf_fabric *f, struct role *out)
{
	enum role_kind node = f->config->backup.on ? ROLE_TWIN : ROLE_NODE;
	uint8_t links = fabric_whole(f) ? 3 : 0; /* of a process they come up one by one */
	unsigned int n = 0;

	if (f->part.sw) {
		out[n++] = (struct role){.kind = ROLE_SCHED, .f = f, .sched = f->sched};
		out[n++] = (struct role){.kind = ROLE_SWITCH, .f = f, .sw = f->sw};
	}
	if (f->part.backup) {
		out[n++] = (struct role){.kind = ROLE_SCHED, .f = f, .net = 1, .sched = f->backup.sched};
		out[n++] = (struct role){.kind = ROLE_SWITCH, .f = f, .net = 1, .sw = f->backup.sw};
	}
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].host != NULL)
			out[n++] = (struct role){
				.kind = node, .index = i, .f = f, .links = links, .host = f->node[i].host};
	for (unsigned int i = 0; i < n; i++)
		out[i].channel = channel_of(&out[i]);
	return n;
}

/* Out of line: who records nothing makes no room on its stack for what is packed. */

static __rte_noinline __rte_cold void record_span(const struct role *r, enum record_call call,
						  unsigned int port, mf_time now, const struct mf_span *span)
{
	uint8_t packed[RECORD_SPAN_MAX];

	record_call(r->record, call, port, now, packed, record_pack_span(span, packed));
}

static __rte_noinline __rte_cold void record_give(const struct role *r, mf_time now, const void *item)
{
	record_items(r->record, RECORD_GIVE, ROLE_CHANNEL, 0, now, r->channel->in, item, 1);
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
		if (!(r->links & 1u << port))
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
	else if (r->kind == ROLE_TWIN)
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
	else if (unlikely(r->kind == ROLE_TWIN) && !mf_node_obeys(r->host))
		r->next = mf_time_min(mf_node_run(r->host, now), now + ASK_PERIOD);
	else
		r->next = node_run(&r->f->node[r->index], now);
}

/** Nothing is recorded, too: finding nothing resets the credits of a fair multiplexer. */
static inline void record_tx(const struct role *r, unsigned int port, mf_time now, const struct mf_span *span)
{
	if (likely(r->record == NULL))
		return;
	if (span != NULL)
		record_span(r, RECORD_TX, port, now, span);
	else
		record_call(r->record, RECORD_TX, port, now, NULL, 0);
}

unsigned int role_tx(struct role *r, unsigned int port, mf_time now, struct mf_span *out)
{
	MF_CYCLES(r->kind == ROLE_SWITCH ? MF_CYCLES_SWITCH_TX : MF_CYCLES_HOST_TX);
	unsigned int n;

	if (r->kind == ROLE_SWITCH)
		n = mf_sw_tx(r->sw, port, now, MF_SPAN_MAX, out);
	else
		n = mf_node_tx(r->host, now, MF_SPAN_MAX, out);
	record_tx(r, port, now, n > 0 ? out : NULL);
	return n;
}

__rte_always_inline struct mf_span *role_tx_in_place(struct role *r, unsigned int port, mf_time now,
						     struct mf_span *room)
{
	MF_CYCLES(r->kind == ROLE_SWITCH ? MF_CYCLES_SWITCH_TX : MF_CYCLES_HOST_TX);
	struct mf_span *s;

	if (r->kind == ROLE_SWITCH)
		s = mf_sw_tx_in_place(r->sw, port, now, room);
	else if (likely(role_is_node(r)))
		s = mf_node_tx_in_place(r->host, now, room);
	else
		return port_take(r->carrier, port, now);
	record_tx(r, port, now, s);
	return s;
}

void role_short_spans(struct role *r, unsigned int port)
{
	if (r->record != NULL)
		record_call(r->record, RECORD_SHORT_SPANS, port, 0, NULL, 0);
	if (r->kind == ROLE_SWITCH)
		mf_sw_short_spans(r->sw, port);
	else
		mf_node_short_spans(r->host);
}

inline bool role_tx_waits(const struct role *r, unsigned int port)
{
	if (r->kind == ROLE_SWITCH)
		return mf_sw_tx_waits(r->sw, port);
	if (unlikely(r->kind == ROLE_PORT))
		return port_waits(r->carrier, port);
	return mf_node_tx_waits(r->host);
}

void role_link_lost(struct role *r, unsigned int port, mf_time now)
{
	r->given = true;
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_LINK_LOST, port, now, NULL, 0);
	if (r->kind == ROLE_SWITCH) {
		mf_sw_link_down(r->sw, port, now);
	} else if (r->kind == ROLE_TWIN) {
		r->links &= (uint8_t) ~(1u << port);
		mf_node_link_down(r->host, port, now);
	} else {
		mf_node_link_lost(r->host, now);
	}
}

bool role_link_back(struct role *r, unsigned int port, mf_time now)
{
	if (r->kind == ROLE_NODE)
		return true;
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_LINK_BACK, port, now, NULL, 0);
	if (r->kind == ROLE_SWITCH)
		return mf_sw_link_up(r->sw, port, now);
	r->given = true;
	r->links |= (uint8_t)(1u << port);
	mf_node_link_up(r->host, port, now);
	return true;
}

void role_bear(struct role *r, unsigned int port, mf_time by, mf_time now)
{
	if (unlikely(r->record != NULL))
		record_call(r->record, RECORD_BEAR, port, now, &by, sizeof(by));
	mf_sw_bear(r->sw, port, by);
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

void role_exhaust(struct role *r, unsigned int what, bool on, mf_time now)
{
	r->given = true;
	if (unlikely(r->record != NULL))
		record_call(r->record, on ? RECORD_TAKE_AWAY : RECORD_GIVE_BACK, what, now, NULL, 0);
	if (r->kind != ROLE_SWITCH)
		mf_node_exhaust(r->host, (enum mf_host_room)what, on);
	else if (what == ROLE_REQUESTS)
		mf_sw_no_requests(r->sw, on);
	else
		mf_sw_close(r->sw, what, on);
}

unsigned int role_to_sched(struct role *r, mf_time now, struct mf_sched_msg *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_SWITCH_TELL);
	unsigned int n = mf_sw_to_sched(r->sw, out, max);

	if (n > 0 && unlikely(r->record != NULL))
		record_take(r, max, now, out, n);
	return n;
}

inline struct mf_sched_msg *role_sched_peek(struct role *r, mf_time now, unsigned int *n)
{
	MF_CYCLES(MF_CYCLES_SWITCH_TELL);
	struct mf_sched_msg *msg = mf_sw_sched_peek(r->sw, n);

	if (*n > RECORD_ITEMS_MAX)
		*n = RECORD_ITEMS_MAX;
	if (unlikely(r->record != NULL) && *n > 0)
		record_take(r, *n, now, msg, *n);
	return msg;
}

inline void role_grant(struct role *r, mf_time now, const struct mf_sched_grant *grant)
{
	MF_CYCLES(MF_CYCLES_SWITCH_GRANT);

	if (unlikely(r->record != NULL))
		record_give(r, now, grant);
	mf_sw_grant(r->sw, now, grant);
}

static inline void record_input(const struct role *r, mf_time now, struct mf_sched_msg *msg)
{
	msg->at = now;
	if (unlikely(r->record != NULL))
		record_give(r, now, msg);
}

inline void role_inputs(struct role *r, mf_time now, struct mf_sched_msg *msg, unsigned int n)
{
	MF_CYCLES(MF_CYCLES_SCHED_INPUT);
	const struct mf_sched_ops *ops = r->f->sched_ops;

	for (unsigned int i = 0; i < n; i++)
		record_input(r, now, &msg[i]);
	for (unsigned int i = 0; i < n;) {
		if (n > 1)
			i += ops->inputs(r->sched, &msg[i], n - i);
		if (i < n)
			ops->input(r->sched, &msg[i++]); /* one is soon done; what is refused is counted */
	}
}

inline unsigned int role_match(struct role *r, mf_time now, struct mf_sched_grant *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_SCHED_MATCH);
	unsigned int n = r->f->sched_ops->run(r->sched, now, out, max);

	if (unlikely(r->record != NULL))
		record_take(r, max, now, out, n);
	return n;
}

inline unsigned int role_offer(struct role *r, mf_time now, struct mf_sched_msg *msg,
			       struct mf_sched_grant *out, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_SCHED_MATCH);
	unsigned int n;

	record_input(r, now, msg);
	n = r->f->sched_ops->offer(r->sched, msg, now, out, max);
	if (unlikely(r->record != NULL))
		record_take(r, max, now, out, n);
	return n;
}

void role_give(struct role *r, mf_time now, void *item)
{
	if (r->kind == ROLE_SWITCH)
		role_grant(r, now, item);
	else
		role_inputs(r, now, item, 1);
}

unsigned int role_take(struct role *r, mf_time now, void *out, unsigned int max)
{
	return r->kind == ROLE_SWITCH ? role_to_sched(r, now, out, max) : role_match(r, now, out, max);
}
